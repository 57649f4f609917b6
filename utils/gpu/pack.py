"""gpu-check pack DIR: compiles every case for every set of constants into a self-contained folder."""
import json
import os
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor

import simulated
import suite

LIMIT = 64 << 20                               # bytes of a pack
ARCHITECTURES = {"sm_90a": "cubin", "sm_80": "ptx"}          # the second goes through the driver's own assembler
RUN = """#!/bin/bash
# Runs what this folder holds on the GPU; `./run --help` lists the options.
exec python3 "$(cd "$(dirname "$0")" && pwd)/gpu/{script}" "$@"
"""


def fresh(folder):
    """Makes the folder; says so and returns False where it holds something already."""
    if os.path.exists(folder) and os.listdir(folder):
        print(f"{folder} is not empty", file=sys.stderr)
        return False
    os.makedirs(folder, exist_ok=True)
    return True


def copy_modules(folder):
    here = os.path.dirname(os.path.abspath(__file__))
    shutil.copytree(here, os.path.join(folder, "gpu"), ignore=shutil.ignore_patterns("__pycache__"))


def write_run(folder, script):
    """The command of a pack: runs a module of its gpu folder."""
    path = os.path.join(folder, "run")
    with open(path, "w") as f:
        f.write(RUN.format(script=script))
    os.chmod(path, 0o755)


def build(tilec, case, tag, consts, arch, folder):
    """Compiles one build; returns its manifest entry without runs."""
    stem = f"images/{case.name}/{tag}.{arch}"
    image, reflection = f"{stem}.{ARCHITECTURES[arch]}", f"{stem}.json"
    options = ["-o", os.path.join(folder, image), f"--json={os.path.join(folder, reflection)}", "--no-header",
               f"--arch={arch}"]
    done = suite.compile_case(tilec, case, consts, options)
    fault = done.fault()
    if fault is None and not os.path.exists(os.path.join(folder, reflection)):
        fault = "tilec writes no reflection"
    return {"case": case.name, "tag": tag, "arch": arch, "image": image, "json": reflection, "fault": fault,
            "not_built": done.not_built}


def maps_tensors(path):
    """Whether a kernel of the reflection takes a tensor map."""
    with open(path) as f:
        return '"tensormap"' in f.read()


def entries(tilec, folder, patterns, workers=2):
    """The manifest: every build with the runs that use it."""
    work = []
    for case in suite.cases(patterns):
        if case.make is None:
            continue
        os.makedirs(os.path.join(folder, "images", case.name), exist_ok=True)
        work += [(case, t, consts, runs, arch) for arch in ARCHITECTURES for t, consts, runs in case.builds()]
    with ThreadPoolExecutor(workers) as pool:
        built = list(pool.map(lambda w: build(tilec, w[0], w[1], w[2], w[4], folder), work))
    for entry, (case, _, _, runs, _) in zip(built, work):
        entry["runs"] = [case.data["runs"][i] for i in runs]
        with open(case.source) as f:
            entry["repeat"] = "atomic" not in f.read()
        if entry["fault"] is None:
            entry["maps"] = maps_tensors(os.path.join(folder, entry["json"]))
    return built


def copy_support(folder, patterns):
    """References, helpers, the runner and the list of cases that do not pass yet."""
    copy_modules(folder)
    for name in ("refutil.py", "not-yet.txt"):
        shutil.copy(os.path.join(suite.CONFORMANCE, name), folder)
    for case in suite.cases(patterns):
        if case.make is not None:
            target = os.path.join(folder, "cases", case.name)
            os.makedirs(target)
            for name in ("case.json", "reference.py"):
                shutil.copy(os.path.join(case.folder, name), target)
    write_run(folder, "check.py")


def pack(folder, tilec, patterns, runner=None, cache=None):
    """Writes the pack, with the results of the simulator `runner` if there is one; returns the exit status."""
    if not fresh(folder):
        return 2
    built = entries(tilec, folder, patterns)
    copy_support(folder, patterns)
    with open(os.path.join(folder, "manifest.json"), "w") as f:
        json.dump(built, f, indent=0)
    if runner:
        print(simulated.write(folder, built, simulated.Simulator(tilec, runner, limit=300, cache=cache), patterns))
    failed = [b for b in built if b["fault"] and not b["not_built"]]
    for b in failed:
        print(f"{b['case']} {b['tag']} {b['arch']}: {b['fault']}")
    size = sum(os.path.getsize(os.path.join(d, n)) for d, _, names in os.walk(folder) for n in names)
    refused = sum(bool(b["not_built"]) for b in built)
    print(f"{len(built)} builds, {refused} not built yet, {len(failed)} failed; {size / 2 ** 20:.1f} MiB")
    if size > LIMIT:
        print(f"gpu-check: the pack is larger than {LIMIT >> 20} MiB", file=sys.stderr)
        return 1
    return 0
