"""Markdown tables and a plot from the JSON files of runs. Needs no GPU."""
import json
import os

import bench_plot
from bench_peers import OURS, SECOND
from bench_results import (cell, fault_of, geometric_mean, merged, present, rate, ratio, row_of, sets, short, versions)
from bench_shapes import SETS

READ = "read"
TABLES, PLOT = "performance-tables.md", "performance-ratios.svg"


def line(cells):
    return "| " + " | ".join(str(c) for c in cells) + " |"


def table(heads, rows):
    return [line(heads), line(["---"] * len(heads)), *(line(r) for r in rows)]


def both(result, peer):
    """The ratio of single launches and, after a slash, of sustained ones; of FA3 there is only the latter."""
    single = cell(result, peer)
    sustained = ratio(result, peer, "sustained")
    if peer == SECOND or sustained is None:
        return single
    return f"{single} / {sustained:.3f}"


def mean(group, peer, regime):
    value = geometric_mean([v for r in group if (v := ratio(r, peer, regime)) is not None])
    return "" if value is None else f"**{value:.3f}**"


def ratios(name, group):
    """The table of a set: our rate, then our rate by each peer's."""
    peers = [p for p in present(group) if any(ratio(r, p) is not None or fault_of(r, p) for r in group)]
    unit = group[0]["unit"]
    rows, read = [], READ in peers
    for r in group:
        ours = row_of(r, OURS)
        own = [f"{rate(r, ours):.0f}", clock(ours)] if ours else [short(fault_of(r, OURS) or "no build"), ""]
        rows.append([r["name"], *own, *([weights(r, OURS), weights(r, READ)] if read else []), *(both(r, p) for p in peers)])
    rows.append(["geometric mean", "", "", *(["", ""] if read else []), *(" / ".join(m for m in (mean(group, p, "single"),
                                             "" if p == SECOND else mean(group, p, "sustained")) if m) for p in peers)])
    distributions = sorted({r["distribution"] for r in group})
    return [f"### {SETS.get(name, name).capitalize()}", "",
            f"Inputs {' or '.join(distributions)}. Ours by theirs, single launches / sustained.", "",
            *table(["", f"ours, {unit}", "MHz", *(["weights, GB/s", "bare read, GB/s"] if read else []), *peers], rows), ""]


def weights(result, peer):
    """At what rate the weights, N x K of 16 bits, are read."""
    row = row_of(result, peer)
    return f"{2 * result['sizes']['n'] * result['sizes']['k'] / row['single'] / 1e6:.0f}" if row else ""


def clock(row):
    value = (row.get("clocks") or {}).get("sm")
    return "" if value is None else f"{value:.0f}"


def details(results):
    """What every peer took, and how fast it was."""
    rows = []
    for r in results:
        for x in r["rows"]:
            if "single" in x:
                clocks = x.get("clocks") or {}
                watts = "" if clocks.get("watts") is None else f"{clocks['watts']:.0f}"
                rows.append([r["name"], x["peer"], x["config"] + (f", {x['variant']}" if x.get("variant") else ""),
                             f"{x['single']:.4f}", f"{rate(r, x):.1f}", f"{rate(r, x, 'sustained'):.1f}", r["unit"],
                             clock(x), watts, f"{x['error']:.1e}"])
            elif x["peer"] == SECOND and "beside" in x:
                where = f"{x.get('config', '')}, in its own process; cuDNN there {x['vendor_there']:.4f} ms"
                rows.append([r["name"], SECOND, where, "", "",
                             f"{r['work'] / x['sustained_there'] / 1e9:.1f}", r["unit"], "", "", f"{x['error']:.1e}"])
    return ["### Configurations", "", *table(["problem", "", "configuration", "ms, single", "rate, single", "sustained", "",
                                              "MHz, sustained", "W", "relative error"], rows), ""]


def failures(results):
    rows = [[r["name"], f["peer"], f.get("config", ""), f["fault"].replace("|", "/").replace("\n", " ")[:160]]
            for r in results for f in r.get("faults", []) if not f["fault"].startswith("not there")]
    return ["### Left out", "", *table(["problem", "", "configuration", "why"], rows), ""] if rows else []


def origin(facts):
    """One line a run: the card and the versions."""
    missing = [p for p, v in facts.get("versions", {}).items() if v.startswith("not there")]
    highest = (facts.get("highest_clocks") or {}).get("sm")
    text = (f"- {facts['date']}: {facts.get('device')}, driver {facts.get('driver')}, CUDA {facts.get('cuda')}, PyTorch "
            f"{facts.get('pytorch')}, at most {highest} MHz; {versions(facts)}.")
    return text + (f" Not there: {', '.join(missing)}." if missing else "") + (" Few repetitions." if facts["quick"] else "")


def markdown(runs):
    results = merged(runs)
    grouped = sets(results)
    parts = ["## Beside the peers", "", *(origin(r["facts"]) for r in runs), ""]
    for regime, what in runs[0]["facts"].get("regimes", {}).items():
        parts.append(f"{regime}: {what}.")
    parts += ["FA3: sustained, from its time by cuDNN's in its own process.", "",
              f"![Our rate by each peer's]({PLOT})", ""]
    for name in [*(n for n in SETS if n in grouped), *(n for n in grouped if n not in SETS)]:
        parts += ratios(name, grouped[name])
    return "\n".join(parts + details(results) + failures(results))


def write(paths, folder):
    """Reads the runs; where several have a problem, the last one counts. Writes the tables and the plot."""
    runs = []
    for path in paths:
        with open(path) as f:
            runs.append(json.load(f))
    os.makedirs(folder, exist_ok=True)
    for name, text in ((TABLES, markdown(runs)), (PLOT, bench_plot.svg(merged(runs)))):
        with open(os.path.join(folder, name), "w") as f:
            f.write(text + "\n")
        print(os.path.join(folder, name))
