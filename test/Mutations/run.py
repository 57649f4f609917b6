#!/usr/bin/python3
"""Breaks programs in every way of mutations.py and requires that the verifier or the interpreter objects.

    run.py [--tilec FILE] [--interpreter FILE] [--verbose] [SUBJECT...]

A mutation survives if the mutated program gives the right results for all runs of its subject under all seeds, that is,
orders of processes. survivors.txt has the reason for each kind of survivor; one that is not there fails, and so does a
reason that no survivor needs. The last line counts.
"""
import argparse
import os
import re
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [os.path.join(ROOT, "utils", "gpu"), os.path.join(ROOT, "test", "Conformance"), HERE]

import refutil
import suite
from interpretation import Interpretation
from mutations import kernels, mutations

SEEDS = (1, 2, 3)
# Case and runs: they cross tile edges, wrap every ring, have no, one and two tiles of the inner loop, and several tiles a
# block where blocks are persistent.
GEMM = [{"M": 136, "N": 264, "K": k} for k in (392, 0, 64, 128)] + [{"M": 130, "N": 258, "K": 320}] + \
    [{"M": 264, "N": 520, "K": 72}, {"M": 13, "N": 264, "K": 72}] + \
    [{"M": 129, "N": 257, "K": k, "offset": 1} for k in (335, 0, 64)]
ATTENTION = [dict({"B": 1, "H": 2, "HK": 1}, **run) for run in (
    {"S": 130, "T": 779}, {"S": 420, "T": 430}, {"S": 3, "T": 0}, {"S": 300, "T": 128},
    {"S": 260, "T": 203, "low": True})]
HIDDEN = {"B": 1, "H": 2, "HK": 1, "S": 130, "T": 203, "hidden": True}
# Six and ten tiles of 128 queries, and of 256, on the interpreter's four multiprocessors: a last round of blocks that is not
# full, backwards and forwards.
ROUNDS = [{"B": 1, "H": h, "HK": 1, "S": s, "T": 40} for h in (3, 5) for s in (130, 260)]
# Products in flight: no, one, two and four tiles of keys.
IN_FLIGHT = [{"B": 1, "H": 1, "HK": 1, "S": s, "T": t} for s, t in ((2, 0), (150, 256), (400, 410), (300, 128))] + \
    [dict(HIDDEN, H=1)] + ROUNDS
SUBJECTS = (
    ("example-gemm", [dict(run, kernel="gemm") for run in GEMM]),
    ("example-attention", [dict(run, consts={"D": 64, "causal": False}) for run in ATTENTION] +
     [dict(run, consts={"D": 64, "causal": True}) for run in ATTENTION + [HIDDEN] + ROUNDS] +
     [dict(run, consts={"D": 128, "causal": True}) for run in IN_FLIGHT]),
    ("example-softmax", [{"M": 3, "N": 1000}, {"M": 2, "N": 1001}, {"M": 2, "N": 1002}]),
    ("example-softmax-stream", [{"M": 2, "N": 9000}, {"M": 2, "N": 9001}]),
    ("149-groups-in-turns",
     [{"kernel": "wide", "M": m, "N": n, "K": k} for m, n, k in ((60, 1160, 328), (130, 1352, 72), (9, 776, 0))]),
    ("130-products-of-computed-factors",
     [{"kernel": k, "M": 65, "N": 68, "K": n} for k in ("scaled", "by_column") for n in (200, 231, 0, 16, 128)]),
)
MALFORMED = re.compile(r"undeclared|expected|redefinition|custom op")


class Survivors:
    """survivors.txt: lines `REGEX reason`; the expression is sought in `CASE ARCH KERNEL (LOOPS) KIND: OPERATION`."""

    def __init__(self, path):
        self.reasons, self.used = [], set()
        with open(path) as f:
            for line in f:
                if line.strip() and not line.startswith("#"):
                    pattern, reason = line.strip().split(" # ")
                    self.reasons.append((re.compile(pattern), reason))

    def reason(self, survivor):
        for pattern, reason in self.reasons:
            if pattern.search(survivor):
                self.used.add(reason)
                return reason
        return None

    def unused(self):
        return [reason for _, reason in self.reasons if reason not in self.used]


def first_fault(interpretations, folder, text):
    """None, or the first fault of a module's runs under all seeds."""
    with tempfile.NamedTemporaryFile("w", suffix=".mlir", dir=folder, delete=False) as f:
        f.write(text)
    try:
        for seed in SEEDS:
            for interpretation in interpretations:
                fault = interpretation.fault(f.name, seed)
                if fault:
                    return fault
        return None
    finally:
        os.unlink(f.name)


def check(args, subject, arch, folder):
    """(number of mutations, [survivor]) of one case for one architecture."""
    name, chosen = subject
    (case,) = [c for c in suite.cases() if c.name == name]
    groups = {}
    for number, part in enumerate(chosen):
        run = refutil.full_run(case.data, part)
        groups.setdefault(suite.tag(run["consts"]), []).append((number, run))
    count, survivors = 0, []
    for tag, runs in groups.items():
        program = os.path.join(folder, f"{name}-{tag}-{arch}.mlir")
        options = ["-o", program, "--no-header", f"--arch={arch}",
                   "--stop-after=" + suite.interpreted_steps(args.tilec)[-1]]
        fault = suite.compile_case(args.tilec, case, runs[0][1]["consts"], options).fault()
        if fault:
            raise SystemExit(f"{name} {arch}: {fault}")
        interpretations = []
        for number, run in runs:
            own = os.path.join(folder, f"{name}-{number}-{arch}")
            os.makedirs(own)
            interpretations.append(Interpretation(args.interpreter, case, run, own))
        with open(program) as f:
            module = f.read()
        for kernel, lines, rebuild in kernels(module):
            served = [i for i in interpretations if not first_fault([i], folder, rebuild(lines))]
            for mutation in mutations(lines) if served else []:
                count += 1
                label = f"{name} {arch} {kernel} ({mutation.place}) {mutation.kind}: {mutation.text}"
                fault = first_fault(served, folder, rebuild(mutation.lines))
                if fault is None:
                    survivors.append(label)
                elif fault.startswith("exit status") and MALFORMED.search(fault):
                    raise SystemExit(f"{label}: the mutation is malformed: {fault}")
                elif args.verbose:
                    print(f"killed {label}\n    {fault}")
    return count, survivors


def main():
    binaries = os.path.join(suite.REPOSITORY, "build", "bin")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("subjects", nargs="*", help="only cases whose name holds one of these")
    parser.add_argument("--tilec", default=os.path.join(binaries, "tilec"))
    parser.add_argument("--interpreter", default=os.path.join(binaries, "tile-interpret"))
    parser.add_argument("--verbose", action="store_true", help="also what each mutation is caught by")
    args = parser.parse_args()
    args.tilec, args.interpreter = os.path.abspath(args.tilec), os.path.abspath(args.interpreter)
    known, total, explained, failed = Survivors(os.path.join(HERE, "survivors.txt")), 0, 0, 0
    tasks = [(s, arch) for s in SUBJECTS for arch in ("sm_90a", "sm_80")
             if not args.subjects or any(p in s[0] for p in args.subjects)]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        for count, survivors in pool.map(lambda t: check(args, *t, folder), tasks):
            total += count
            for survivor in survivors:
                reason = known.reason(survivor)
                explained, failed = explained + bool(reason), failed + (not reason)
                if not reason or args.verbose:
                    print(f"survives: {survivor}" + (f"\n    {reason}" if reason else ""), flush=True)
    for reason in known.unused() if not args.subjects else []:
        failed += 1
        print(f"no mutation survives for this reason: {reason}")
    print(f"{total} mutations, {total - explained - failed} caught, {explained} survive with a reason, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
