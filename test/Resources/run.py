#!/usr/bin/python3
"""Compiles every variant of every example for sm_90a and sm_80 and requires that ptxas spills nothing, uses no local
memory and serialises no product.

    run.py [--tilec FILE] [--arch ARCH]... [--verbose] [--update] [EXAMPLE...]

spilling.txt lists the variants that do not manage it yet, with the reason; one that has come to manage it must leave
the list. --update rewrites the list: known reasons stay, whoever adds a line writes its reason. The last line counts.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "..", "utils", "gpu"), os.path.join(HERE, "..", "Conformance")]

import suite

LISTED = os.path.join(HERE, "spilling.txt")
ROW = re.compile(r"^(\w+) +(\d+) +(\d+) +(\d+) +(\d+) +(\d+)$", re.M)
SERIALISED = re.compile(r"W060[23].*")


def read_listed(path):
    """spilling.txt, lines `EXAMPLE CONSTANTS ARCH VARIANT reason`: (example, constants, arch, variant) -> reason."""
    with open(path) as f:
        lines = [line.split(None, 4) for line in f if line.strip() and not line.startswith("#")]
    return {tuple(parts[:4]): parts[4].strip() for parts in lines}


def measure(args, case, tag, consts, arch, folder):
    """{(example, constants, arch, variant): None or what is wrong} of one compilation."""
    path = os.path.join(folder, f"{case.name}-{tag}-{arch}.cubin")
    command = [args.tilec, case.source, *suite.definitions(consts), "-o", path, "--no-header", f"--arch={arch}",
               "--resource-usage", "-Wperf"]
    done = subprocess.run(command, capture_output=True, text=True)
    key = lambda variant: (case.name, tag, arch, variant)
    if done.returncode:
        return {key("-"): f"tilec exits with {done.returncode}: {done.stderr.strip()[:200]}"}
    faults = {}
    for entry, _, spilled, stack, _, _ in ROW.findall(done.stderr):
        words = [f"{n} bytes {what}" for n, what in ((spilled, "spilled"), (stack, "of local memory")) if int(n)]
        faults[key(entry)] = ", ".join(words) or None
    for message in SERIALISED.findall(done.stderr):
        entry = next((e for e in re.findall(r"`(\w+)`", message) if key(e) in faults), "-")
        faults[key(entry)] = message
    return faults or {key("-"): "no table of resources"}


def update(faults, listed):
    """Rewrites spilling.txt: faults, as measure() gives them, of all examples."""
    with open(LISTED) as f:
        head = [line for line in f if line.startswith("#")]
    with open(LISTED, "w") as f:
        f.writelines(head)
        for key, fault in sorted(faults.items()):
            if fault:
                f.write(f"{' '.join(key)} {listed.get(key, fault)}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("patterns", nargs="*", help="only examples whose name holds one of these")
    parser.add_argument("--tilec", default=os.path.join(suite.REPOSITORY, "build", "bin", "tilec"))
    parser.add_argument("--arch", action="append", help="only this architecture")
    parser.add_argument("--verbose", action="store_true", help="also the listed variants")
    parser.add_argument("--update", action="store_true", help="rewrite spilling.txt, after a run over everything")
    args = parser.parse_args()
    args.tilec = os.path.abspath(args.tilec)
    cases = [c for c in suite.cases(args.patterns) if c.name.startswith("example-")]
    tasks = [(case, tag, consts, arch) for case in cases for tag, consts, _ in case.builds()
             for arch in args.arch or ("sm_90a", "sm_80")]
    listed, found, failed = read_listed(LISTED), {}, 0
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        for faults in pool.map(lambda t: measure(args, *t, folder), tasks):
            found.update(faults)
            for key, fault in faults.items():
                if bool(fault) != (key in listed):
                    failed += 1
                    print(f"FAIL {' '.join(key)}: {fault or 'is good: remove it from spilling.txt'}", flush=True)
                elif fault and args.verbose:
                    print(f"listed {' '.join(key)}: {fault}: {listed[key]}")
    everything = not args.patterns and not args.arch
    for key in sorted(set(listed) - set(found)) if everything else ():
        failed += 1
        print(f"FAIL {' '.join(key)}: is in spilling.txt but does not exist")
    print(f"{len(found)} variants, {len(set(found) & set(listed))} listed, {failed} failed")
    if args.update and everything:
        update(found, listed)
        return 0
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
