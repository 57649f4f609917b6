"""The simulator's outputs beside a GPU's: digests travel in the pack, arrays of runs whose bits differ come back.

`gpu-check pack DIR --simulate` runs every case of the pack in the simulator and writes DIR/simulated.json (a digest of each
output) and DIR.simulated.npz (the outputs, which stay here). `DIR/run --keep FILE` compares digests on the GPU and keeps the
outputs that differ. `gpu-check compare DIR.simulated.npz FILE` compares those within the tolerances of their cases.
"""
import hashlib
import json
import os
import tempfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import suite

NAME = "simulated.json"


def key(entry, run):
    """The name of a run of a build."""
    return f"{entry['case']} {entry['arch']} {entry['tag']} {json.dumps(run, sort_keys=True)}"


def digest(array):
    array = np.ascontiguousarray(array)
    return hashlib.sha1(str(array.shape).encode() + array.tobytes()).hexdigest()[:16]


def file_digest(path):
    with open(path, "rb") as f:
        return hashlib.sha1(f.read()).hexdigest()


def comparable(run):
    """Whether a run has outputs in the simulator: not those that are refused, large, or share memory on purpose."""
    return not (run.get("large") or run.get("alias") or "launch_error" in run)


class Simulator:
    """Runs the builds of a pack in tile-run. cache: a folder of earlier outputs, by the program, the simulator and the run."""

    def __init__(self, tilec, runner, limit, cache=None):
        import simulate                                     # beside the cases, which only the machine that packs has
        self.simulation, self.tilec, self.runner, self.limit, self.cache = simulate.Simulation, tilec, runner, limit, cache
        self.version = file_digest(runner)
        if cache:
            os.makedirs(cache, exist_ok=True)

    def outputs(self, task):
        """(key, {output: (array, element type)} or the text of a fault)"""
        case, entry, index, image = task
        if not self.cache:
            return self.run(task)
        name = key(entry, case.data["runs"][index])
        state = f"{name} {self.version} {file_digest(image + '.ptx')}"
        path = os.path.join(self.cache, hashlib.sha1(state.encode()).hexdigest() + ".npz")
        if os.path.exists(path):
            with np.load(path) as kept:
                return name, {n.rsplit(" ", 1)[0]: (kept[n], n.rsplit(" ", 1)[1]) for n in kept.files}
        name, found = self.run(task)
        if not isinstance(found, str):
            np.savez_compressed(path + ".new.npz", **{f"{n} {kind}": a for n, (a, kind) in found.items()})
            os.replace(path + ".new.npz", path)
        return name, found

    def run(self, task):
        """The same, without looking what there is."""
        case, entry, index, image = task
        with tempfile.TemporaryDirectory() as folder:
            run = self.simulation(self.runner, case, case.runs()[index], folder, image, [])
            fault = run.fault(self.limit)
            types = {a["name"]: a.get("type") for a in run.arguments}
            found = fault or {n: (np.load(run.path(n + ".result")), types[n]) for n in run.expected}
        return key(entry, case.data["runs"][index]), found

    def compile(self, task):
        """The path of a build's PTX, without extension; None where it does not compile."""
        case, entry, consts, folder = task
        stem = os.path.join(folder, f"{case.name}-{entry['tag']}.{entry['arch']}")
        options = ["-o", stem + ".ptx", f"--json={stem}.json", "--no-header", f"--arch={entry['arch']}"]
        return stem if suite.compile_case(self.tilec, case, consts, options).fault() is None else None


def simulate_all(built, simulator, patterns, workers):
    """({key: {output: (array, element type)}}, {key: fault}) of all runs that are comparable."""
    arrays, faults = {}, {}
    cases = {c.name: c for c in suite.cases(patterns)}
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(workers) as pool:
        builds, work = [], []
        for entry in (e for e in built if e["fault"] is None):
            case = cases[entry["case"]]
            _, consts, indices = next(b for b in case.builds() if b[0] == entry["tag"])
            chosen = [i for i in indices if comparable(case.data["runs"][i])]
            if chosen:
                builds.append(((case, entry, consts, folder), chosen))
        for ((case, entry, _, _), chosen), image in zip(builds, pool.map(simulator.compile, [task for task, _ in builds])):
            work += [(case, entry, i, image) for i in chosen if image]
        for name, found in pool.map(simulator.outputs, work):
            (faults if isinstance(found, str) else arrays)[name] = found
    return arrays, faults


def write(folder, built, simulator, patterns, workers=os.cpu_count()):
    """Adds the simulator's results to a pack; returns a line that tells how many."""
    arrays, faults = simulate_all(built, simulator, patterns, workers)
    with open(os.path.join(folder, NAME), "w") as f:
        json.dump({k: {n: digest(a) for n, (a, _) in outputs.items()} for k, outputs in arrays.items()}, f, indent=0)
    np.savez_compressed(folder + ".simulated.npz", **{f"{k} | {n} | {kind}": a for k, outputs in arrays.items()
                                                             for n, (a, kind) in outputs.items()})
    for name, fault in faults.items():
        print(f"not simulated: {name}: {fault[:200]}")
    return f"{len(arrays)} runs simulated, {len(faults)} not"


def load(folder):
    """{key: {output: digest}} of a pack; empty without any."""
    path = os.path.join(folder, NAME)
    if not os.path.exists(path):
        return {}
    with open(path) as f:
        return json.load(f)


#
# Comparing what differs
#

def find_run(cases, name):
    """(case, full run) of a key."""
    case_name, _, rest = name.split(" ", 2)
    run = json.loads(rest[rest.index("{"):])
    case = cases[case_name]
    return case, next(full for raw, full in zip(case.data["runs"], case.runs()) if raw == run)


def different(a, b):
    """The number of elements of other bits."""
    raw = [np.ascontiguousarray(x).reshape(-1, 1).view(np.uint8) for x in (a, b)]
    return int((raw[0] != raw[1]).any(1).sum())


def compare(simulated, kept):
    """Prints what differs and how much; returns 1 if something is not within its tolerance."""
    import refutil
    from buffers import tagged
    ours, theirs = np.load(simulated), np.load(kept)
    cases, wrong = {c.name: c for c in suite.cases()}, 0
    typed = {name.rsplit(" | ", 1)[0]: name for name in ours.files}
    for name in theirs.files:
        if name not in typed:
            print(f"FAIL {name}: the simulator has no such output")
            wrong += 1
            continue
        run, output = name.rsplit(" | ", 1)
        case, full = find_run(cases, run)
        tolerance = case.make(full)[2]
        got, want, kind = theirs[name], ours[typed[name]], typed[name].rsplit(" | ", 1)[1]
        differ = different(got, want)
        values = [np.asarray(refutil.values(tagged(a, kind)), np.float64) for a in (got, want)]
        fault = refutil.compare(values[0], values[1], tolerance[output])
        wrong += fault is not None
        print(f"{'FAIL' if fault else 'near'} {name}: {differ} of {got.size} differ{f': {fault}' if fault else ''}")
    print(f"{len(theirs.files)} outputs differ in bits, {wrong} of them by more than the tolerance of their case")
    return 1 if wrong else 0
