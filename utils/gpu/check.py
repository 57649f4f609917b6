"""Executes a pack on the GPU and prints a table last: one line a build, then totals. Python 3.12, numpy, libcuda."""
import argparse
import json
import os
import shutil
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
sys.path[:0] = [HERE, ROOT]

import numpy as np

import simulated
from notyet import NotYet
from supervisor import run_parallel, starts


def jobs_of(entry, large, digests=None, keep=None):
    """The jobs of a build, in order; digests: the simulator's of each run; keep: a folder for outputs that differ."""
    if entry["fault"]:
        return []
    jobs = []
    for r in entry["runs"]:
        if large or not r.get("large"):
            jobs.append({"case": entry["case"], "json": entry["json"], "image": entry["image"], "repeat": entry["repeat"], "run": r})
            name = simulated.key(entry, r)
            if digests and name in digests:
                jobs[-1].update(simulated=digests[name], keep=keep, name=name)
    return jobs


def first_fault(jobs):
    """(runs that passed, first fault or None, runs never started)"""
    passed = sum("result" in j and "fault" not in j["result"] for j in jobs)
    missing = sum("result" not in j for j in jobs)
    for j in jobs:
        if "fault" in j.get("result", {}):
            return passed, f"{json.dumps(j['run'])}: {j['result']['fault']}", missing
    return passed, None, missing


def judge(entry, jobs, not_yet):
    """(word, counts, detail) of a build."""
    if entry["fault"]:
        word, detail = not_yet.verdict(entry["case"], entry["arch"], entry["fault"])
        if entry["not_built"] and word == "FAIL":
            word = "not built"
        return word, "", entry["fault"] if word == "FAIL" else detail
    passed, fault, missing = first_fault(jobs)
    if fault is None and missing:
        return "not run", f"{passed}/{len(jobs)}", f"{missing} runs were not started"
    word, detail = not_yet.verdict(entry["case"], entry["arch"], fault)
    return word, f"{passed}/{len(jobs)}", detail if word != "not yet" else f"{detail} [{fault}]"


def sanitizer(tool):
    """The command before python3 that runs it under a tool of compute-sanitizer."""
    return ["compute-sanitizer", "--tool", tool, "--target-processes", "all", "--show-backtrace", "no"]


def sanitize(entries, tool, deadline, workers):
    """Rows of one compute-sanitizer tool over the first and the last run of each build."""
    groups = []
    for entry in entries:
        jobs = [dict(j, exact=True) for j in jobs_of(entry, False) if "launch_error" not in j["run"]]
        groups.append([jobs[0], jobs[-1]] if len(jobs) > 1 else jobs)
    run_parallel(ROOT, groups, deadline, workers, limit=90, prefix=sanitizer(tool))
    return [(entry, *sanitized(jobs)) for entry, jobs in zip(entries, groups)]


def sanitized(jobs):
    """(word, counts, detail) of a build's runs under compute-sanitizer."""
    notes = [n.strip("= ") for j in jobs for n in j.get("notes", []) if tool_says_error(n)]
    passed, fault, missing = first_fault(jobs)
    detail = notes[0] if notes else fault or ""
    word = "FAIL" if detail else "not run" if missing else "pass"
    return word, f"{passed}/{len(jobs)}", detail


def tool_says_error(note):
    """Whether a line of compute-sanitizer reports a defect."""
    defects = ("Invalid", "Uninitialized", "Error:", "Race", "Potential", "Misaligned", "Illegal", "Warning: Race")
    return note.startswith("=========") and note.strip("= ").startswith(defects)


def sanitizer_tables(passing, deadline, workers):
    """(title, rows) of each tool, over the builds that pass without it."""
    problem = "it is not installed"
    if shutil.which("compute-sanitizer"):
        problem = starts(ROOT, sanitizer("memcheck"))
    if problem:
        return [(f"compute-sanitizer does not work here: {problem}", [])]
    hopper, ampere = ([e for e in passing if e["arch"] == a] for a in ("sm_90a", "sm_80"))
    # racecheck follows neither bulk copies nor wgmma nor waits on mbarriers: only builds without them
    chosen = {"memcheck": hopper, "initcheck": hopper[::3], "racecheck": [e for e in ampere if not uses_mbarriers(e)][::2]}
    return [(tool, sanitize(entries, tool, deadline, workers)) for tool, entries in chosen.items()]


def uses_mbarriers(entry):
    """Whether the PTX of a build synchronises by mbarriers."""
    with open(os.path.join(ROOT, entry["image"])) as f:
        return "mbarrier" in f.read()


def show(title, rows, quiet):
    """Prints a table and its totals; returns whether something failed."""
    print(f"\n== {title}")
    totals = {}
    for entry, word, counts, detail in rows:
        totals[word] = totals.get(word, 0) + 1
        if not (quiet and word in ("pass", "not yet", "not built")):
            print(f"{word:9s} {counts:>7s} {entry['case']:44s} {entry['arch']:7s} {entry['tag']:24s} {detail[:240]}")
    print("total: " + (", ".join(f"{n} {word}" for word, n in sorted(totals.items())) or "nothing was run"))
    return any(w in totals for w in ("FAIL", "PASSES"))


def show_simulated(jobs, folder, path):
    """Prints how many runs have the simulator's bits, and keeps the outputs of the others."""
    ran = [j for j in jobs if "simulated" in j and "differs" in j.get("result", {})]
    if not ran:
        return
    differing = [j for j in ran if j["result"]["differs"]]
    print(f"\n== the simulator: {len(ran)} runs, {len(ran) - len(differing)} with equal bits, {len(differing)} not")
    kept = {f"{j['name']} | {n}": np.load(os.path.join(folder, f"{j['number']}-{n}.npy"))
            for j in differing for n in j["result"]["differs"]}
    for name, array in kept.items():
        print(f"other bits {array.size:8d} elements {name}")
    if path:
        np.savez_compressed(path, **kept)


def parse():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("patterns", nargs="*", help="only cases whose name holds one of these")
    p.add_argument("--arch", action="append", help="only this architecture (default: all of the pack)")
    p.add_argument("--large", action="store_true", help="also the runs marked large")
    p.add_argument("--no-sanitizer", action="store_true")
    p.add_argument("--quiet", action="store_true", help="leave out lines of passing and known cases")
    p.add_argument("--workers", type=int, default=4)
    p.add_argument("--limit", type=float, default=20, help="seconds a run may take")
    p.add_argument("--budget", type=float, default=540, help="seconds after which nothing new is started")
    p.add_argument("--keep", help="write the outputs whose bits are not the simulator's to this .npz file")
    p.add_argument("--json", help="write all results to this file")
    return p.parse_args()


def main():
    args = parse()
    start = time.monotonic()
    deadline = start + args.budget
    with open(os.path.join(ROOT, "manifest.json")) as f:
        manifest = json.load(f)
    manifest = [e for e in manifest if (not args.patterns or any(p in e["case"] for p in args.patterns))
                and (not args.arch or e["arch"] in args.arch)]
    not_yet = NotYet(os.path.join(ROOT, "not-yet.txt"))
    folder = tempfile.TemporaryDirectory()
    digests = simulated.load(ROOT)
    groups = {i: jobs_of(e, args.large, digests, folder.name) for i, e in enumerate(manifest)}
    for number, job in enumerate(j for g in groups.values() for j in g):
        job["number"] = number
    functional = deadline if args.no_sanitizer else start + 0.7 * args.budget
    run_parallel(ROOT, [g for g in groups.values() if g], functional, args.workers, limit=args.limit)
    judged = [(e, *judge(e, groups[i], not_yet)) for i, e in enumerate(manifest)]
    tables = [(f"results, {time.monotonic() - start:.0f} s", judged)]
    if not args.no_sanitizer:
        tables += sanitizer_tables([e for e, word, _, _ in judged if word == "pass"], deadline, args.workers)
    if args.json:
        with open(args.json, "w") as f:
            json.dump([dict(e, jobs=groups[i]) for i, e in enumerate(manifest)], f)
    failed = [show(title, rows, args.quiet) for title, rows in tables]
    show_simulated([j for g in groups.values() for j in g], folder.name, args.keep)
    return 1 if any(failed) else 0


if __name__ == "__main__":
    sys.exit(main())
