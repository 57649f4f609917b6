#!/usr/bin/python3
"""Compiles every variant of every example for sm_90a and sm_80 and requires that ptxas spills nothing, uses no local
memory and serialises no product.

    run.py [--tilec FILE] [--arch ARCH]... [EXAMPLE...]

The last line counts.
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

ROW = re.compile(r"^(\w+) +(\d+) +(\d+) +(\d+) +(\d+) +(\d+)$", re.M)
SERIALISED = re.compile(r"W060[23].*")


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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("patterns", nargs="*", help="only examples whose name holds one of these")
    parser.add_argument("--tilec", default=os.path.join(suite.REPOSITORY, "build", "bin", "tilec"))
    parser.add_argument("--arch", action="append", help="only this architecture")
    args = parser.parse_args()
    args.tilec = os.path.abspath(args.tilec)
    cases = [c for c in suite.cases(args.patterns) if c.name.startswith("example-")]
    tasks = [(case, tag, consts, arch) for case in cases for tag, consts, _ in case.builds()
             for arch in args.arch or ("sm_90a", "sm_80")]
    variants = failed = 0
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        for faults in pool.map(lambda t: measure(args, *t, folder), tasks):
            variants += len(faults)
            for key, fault in faults.items():
                if fault:
                    failed += 1
                    print(f"FAIL {' '.join(key)}: {fault}", flush=True)
    print(f"{variants} variants, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
