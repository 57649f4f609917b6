#!/usr/bin/python3
"""Runs the conformance cases and the examples without a GPU and prints a summary line last.

Stages: `check` (expected errors and warnings), `compile` (sm_80 and sm_90a), `interpret` where tile-interpret is built.
With --every-step the cases are interpreted in the form that each step of the compiler leaves, and the message names the
first step whose form is wrong.
Cases that do not pass a stage yet stand in not-yet.txt; the exit status is 1 if anything differs from that list.
"""
import argparse
import os
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "..", "utils", "gpu"), HERE]

import refutil
import suite
from interpretation import interpret, interpret_steps
from notyet import NotYet

ARCHITECTURES = ("sm_90a", "sm_80")
EVERY_STEP = os.path.join(HERE, "every-step.txt")


def message_of(diagnostic):
    """The message with everything that belongs to it, as refutil.conveys reads it."""
    parts = [diagnostic.get("message", ""), diagnostic.get("hint", "")]
    return " ".join(p for p in parts + [n.get("message", "") for n in diagnostic.get("notes", [])] if p)


def place_of(diagnostic):
    """(file name, line) of a diagnostic, or (None, None)."""
    place = diagnostic.get("range") or {}
    return os.path.basename(place.get("file", "")) or None, (place.get("begin") or {}).get("line")


def check_diagnostics(case, done):
    """None, or what the diagnostics of a compilation lack of those that the case expects."""
    severity, want = case.expect, case.data["diagnostic"]
    statuses = (1,) if want.get("line") else (1, 2)           # 2: what is wrong is on the command line
    if severity == "error" and done.status not in statuses:
        return f"exit status {done.status}, expected {statuses[-1]}: {done.fault()}"
    if severity == "warning" and done.status != 0:
        return done.fault()
    found = [d for d in done.diagnostics if d.get("severity") == severity]
    if not found:
        return f"no {severity}; the output is {done.text.strip()[:120]!r}"
    reasons = []
    for d in found:
        if not d.get("code"):
            reasons.append(f"no code on {d.get('message')!r}")
            continue
        if suite.NOT_BUILT.match(d["code"]):
            reasons.append(f"{d['code']} {d.get('message')}")
            continue
        file, line = place_of(d)
        lines = [want.get("line"), *want.get("also", [])]
        if want.get("line") is not None and (line not in lines or file != want.get("file", "kernel.tile")):
            reasons.append(f"{d['code']} at {file}:{line}, expected line {want['line']}: {d.get('message')}")
            continue
        missing = refutil.conveys(message_of(d), want["words"])
        if not missing:
            return None
        reasons.append(f"{d['code']} `{message_of(d)}` lacks {missing}")
    return " | ".join(reasons[:2])


def compile_builds(tilec, case, folder):
    """None, or the first fault of compiling every set of constants for every architecture."""
    for name, consts, _ in case.builds():
        for arch in ARCHITECTURES:
            stem = os.path.join(folder, f"{case.name}-{name}.{arch}")
            options = ["-o", stem + (".ptx" if arch == "sm_80" else ".cubin"), f"--json={stem}.json", "--no-header",
                       f"--arch={arch}"]
            fault = suite.compile_case(tilec, case, consts, options).fault()
            if fault:
                return f"{name} {arch}: {fault}"
    return None


def read_quick(path):
    """every-step.txt: case name -> numbers of the runs that `--quick` interprets after every step."""
    with open(path) as f:
        lines = [line.split("#")[0].split() for line in f]
    return {line[0]: [int(n) for n in line[1:]] for line in lines if line}


def judge(args, case, folder):
    """[(stage, fault)] of a case."""
    results = []
    if args.steps:
        if case.expect != "error" and os.path.exists(args.interpreter):
            results.append(("interpret", interpret_steps(args.tilec, args.interpreter, case, folder, args.steps,
                                                         args.archs, args.quick and args.quick[case.name])))
        return results
    if case.expect in ("error", "warning"):
        options = ["-o", os.path.join(folder, case.name + ".cubin"), "--no-header", "--arch=sm_90a"]
        done = suite.compile_case(args.tilec, case, case.builds()[0][1], options)
        results.append(("check", check_diagnostics(case, done)))
    if case.expect in ("result", "warning"):
        results.append(("compile", compile_builds(args.tilec, case, folder)))
        if os.path.exists(args.interpreter):
            results.append(("interpret", interpret(args.interpreter, case, folder)))
    return results


def parse_arguments():
    """The command line, with `steps` (None: the ordinary stages), `archs` and `quick` (None: all runs) worked out."""
    binaries = os.path.join(suite.REPOSITORY, "build", "bin")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("patterns", nargs="*", help="only cases whose name holds one of these")
    parser.add_argument("--tilec", default=os.path.join(binaries, "tilec"))
    parser.add_argument("--interpreter", default=os.path.join(binaries, "tile-interpret"))
    parser.add_argument("--after", metavar="STEP", help="interpret what this step of the compiler leaves")
    parser.add_argument("--every-step", action="store_true", help="interpret what every step of the compiler leaves")
    parser.add_argument("--quick", action="store_true", help="of --every-step: only the runs in every-step.txt")
    parser.add_argument("--arch", help="the architecture of --after (sm_90a) and --every-step (all)")
    parser.add_argument("--verbose", action="store_true", help="also the lines of passing and known cases")
    args = parser.parse_args()
    args.tilec, args.interpreter = os.path.abspath(args.tilec), os.path.abspath(args.interpreter)
    known = suite.interpreted_steps(args.tilec)
    if args.after and args.after not in known:
        parser.error(f"the interpreter can run what these steps leave: {', '.join(known)}")
    args.steps = [args.after] if args.after else known if args.every_step else None
    args.archs = [args.arch] if args.arch else ARCHITECTURES if args.every_step else ["sm_90a"]
    args.quick = read_quick(EVERY_STEP) if args.quick else None
    return args


def main():
    args = parse_arguments()
    not_yet, totals = NotYet(suite.NOT_YET), {}
    cases = [c for c in suite.cases(args.patterns) if not args.quick or c.name in args.quick]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        for case, results in zip(cases, pool.map(lambda c: judge(args, c, folder), cases)):
            for stage, fault in results:
                word, detail = not_yet.verdict(case.name, stage, fault)
                totals[word] = totals.get(word, 0) + 1
                if args.verbose or word in ("FAIL", "PASSES"):
                    print(f"{word:8s} {stage:9s} {case.name:45s} {detail if word != 'not yet' else fault}")
    print(f"{len(cases)} cases: " + ", ".join(f"{n} {w}" for w, n in sorted(totals.items())))
    return 1 if "FAIL" in totals or "PASSES" in totals else 0


if __name__ == "__main__":
    sys.exit(main())
