"""Results of a run as plain data: choices among configurations, ratios, the table on the screen. Needs no GPU.

A result is a dictionary: set, name, dtype, distribution, unit, work, and rows, one for each peer (ours among them) with
its best configuration, rates and clocks, or with the fault that kept it from being measured.
"""
import math
import statistics

from bench_peers import MODULES, OURS, SECOND

COLUMNS = [*MODULES, SECOND]
NEAR, KEPT = 1.05, 3                           # configurations of a peer that the heats keep: this near, so many


def survivors(heats, near=NEAR, kept=KEPT):
    """Of every peer the fastest configurations that are near its best; heats: {(peer, configuration): time}."""
    found = []
    for peer in {c[0]: None for c in heats}:
        own = sorted((c for c in heats if c[0] == peer), key=heats.get)
        found += [c for c in own[:kept] if heats[c] <= near * heats[own[0]]]
    return found


def middle(readings):
    """The median of every field of some readings."""
    fields = {f: [r[f] for r in readings if r.get(f) is not None] for f in (readings[0] if readings else ())}
    return {f: statistics.median(v) if v else None for f, v in fields.items()}


def row_of(result, peer):
    """The measured row of a peer, or None."""
    return next((r for r in result["rows"] if r["peer"] == peer and "single" in r), None)


def fault_of(result, peer):
    """Why a peer that belongs here was not measured; None where nothing is known."""
    faults = [r["fault"] for r in result["rows"] if r["peer"] == peer and "fault" in r]
    return faults[0] if faults and not row_of(result, peer) else None


def ratio(result, peer, regime="single"):
    """Our rate by the peer's, over 1 where we are faster; None where one was not measured. FA3 runs in another process,
    sustained, beside cuDNN there: its ratio goes by way of cuDNN's."""
    ours, theirs = row_of(result, OURS), row_of(result, peer)
    if peer == SECOND:
        return second_ratio(result, ours)
    return theirs[regime] / ours[regime] if ours and theirs else None


def second_ratio(result, ours):
    vendor = row_of(result, "cuDNN")
    second = next((r for r in result["rows"] if r["peer"] == SECOND and "beside" in r), None)
    return vendor["sustained"] / ours["sustained"] * second["beside"] if ours and vendor and second else None


def rate(result, row, regime="single"):
    """In the result's unit; the times are in milliseconds."""
    return result["work"] / row[regime] / (1e9 if result["unit"] == "TFLOP/s" else 1e6)


def geometric_mean(values):
    return math.exp(sum(math.log(v) for v in values) / len(values)) if values else None


def present(results):
    """The peers that occur, in the order of the columns."""
    found = {r["peer"] for result in results for r in result["rows"]}
    return [p for p in COLUMNS if p in found]


def cell(result, peer, regime="single"):
    """The ratio, why there is none, or nothing."""
    value, fault = ratio(result, peer, regime), fault_of(result, peer)
    return f"{value:.3f}" if value is not None else short(fault) if fault else ""


def short(fault):
    """A word for a table."""
    known = ("not there", "wrong", "hung", "died", "no time")
    return next((w for w in known if w in fault), "failed")


def merged(runs):
    """Results of several runs by name; of one name the last that has our row, or the last."""
    found = {}
    for run in runs:
        for result in run["results"]:
            if row_of(result, OURS) or result["name"] not in found:
                found[result["name"]] = result
    return list(found.values())


def versions(facts):
    """Of the peers that are there, each once."""
    return ", ".join(dict.fromkeys(v for v in facts.get("versions", {}).values() if not v.startswith("not there")))


def sets(results):
    """{set: its results}."""
    found = {}
    for result in results:
        found.setdefault(result["set"], []).append(result)
    return found


def show(results):
    """Prints the table of ratios of single launches, and what failed."""
    for name, group in sets(results).items():
        peers = present(group)
        print(f"\n{name:46s} {'ours':>7s} {'unit':8s} " + " ".join(f"{p:>9s}" for p in peers) + "   (ours by theirs)")
        for result in group:
            ours = row_of(result, OURS)
            own = f"{rate(result, ours):7.0f}" if ours else f"{short(fault_of(result, OURS) or ''):>7s}"
            print(f"{result['name']:46s} {own} {result['unit']:8s} "
                  + " ".join(f"{cell(result, p):>9s}" for p in peers))
        means = [geometric_mean([v for r in group if (v := ratio(r, p)) is not None]) for p in peers]
        print(f"{'geometric mean':46s} {'':16s} " + " ".join(f"{m:9.3f}" if m else f"{'':9s}" for m in means))
    for result in results:
        for r in result["rows"]:
            if "fault" in r and not r["fault"].startswith("not there"):
                print(f"{result['name']}: {r['peer']} {r.get('config', '')}: {r['fault'][:160]}")
