"""probe pack DIR: kernels around single instructions, their inputs, and what the simulator makes of them."""
import bisect
import json
import os
import re
import shutil
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import pack
import probe_cluster
import probe_kernels
import probe_memory
import probe_scalar
import probe_tma

WORKERS = os.cpu_count()


def assemble(ptxas, stem, probes):
    """Writes stem.ptx and stem.cubin of the probes whose instructions exist, and returns those: ptxas names the lines of
    the others."""
    while True:
        text = probe_kernels.HEADER + "".join(sorted({p.declarations for p in probes}))
        ends = []
        for p in probes:
            text += p.ptx(declarations=False)
            ends.append(text.count("\n"))
        with open(stem + ".ptx", "w") as f:
            f.write(text)
        done = subprocess.run([ptxas, "-arch=sm_90a", stem + ".ptx", "-o", stem + ".cubin"], capture_output=True, text=True)
        if done.returncode == 0:
            return probes
        wrong = {bisect.bisect_left(ends, int(n)) for n in re.findall(r"line (\d+); error", done.stderr)}
        if not wrong:
            raise SystemExit(f"{stem}: {done.stderr[:1000]}")
        probes = [p for i, p in enumerate(probes) if i not in wrong]


def simulate(runner, probe, folder):
    """(result or None, message of a failure)"""
    stem = os.path.join(folder, probe.entry)
    with open(stem + ".ptx", "w") as f:
        f.write(probe_kernels.HEADER + probe.ptx())
    with open(stem + ".json", "w") as f:
        json.dump({"version": 1, "kernels": [probe.reflection()]}, f)
    command = [runner, "--ptx", stem + ".ptx", "--json", stem + ".json", "--simulate", "--quiet", "D=zeros", "--out",
               f"D={stem}.D.npy"]
    for name, (_, array) in probe.inputs.items():
        np.save(f"{stem}.{name}.npy", array)
        command.append(f"{name}={stem}.{name}.npy")
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        return None, " ".join(done.stderr.split())[:200]
    return np.load(f"{stem}.D.npy"), None


class Family:
    """The probes that share a PTX file."""

    def __init__(self, name):
        self.name, self.probes, self.results, self.arrays = name, [], {}, {}

    def entry(self, probe):
        inputs = {}
        for name, (kind, array) in probe.inputs.items():
            key = f"{kind}-{hash(array.tobytes()) & (1 << 60) - 1:x}"
            self.arrays[key] = array
            inputs[name] = key
        return {"entry": probe.entry, "name": probe.name, "result": probe.result, "ulps": probe.ulps,
                "absolute": probe.absolute, "inputs": inputs, "refused": probe.refused,
                "out": probe.out, "kernel": probe.reflection()}

    def stem(self, folder):
        return os.path.join(folder, self.name.replace(" ", "-"))

    def write(self, folder):
        stem = self.stem(folder)
        with open(stem + ".json", "w") as f:
            json.dump([self.entry(p) for p in self.probes], f)
        np.savez_compressed(stem + ".inputs.npz", **self.arrays)
        np.savez_compressed(stem + ".results.npz", **self.results)


def probes():
    found = [probe_kernels.scalar_probe(form) for form in probe_scalar.forms()]
    found += probe_kernels.collective_probes()
    found += probe_tma.tensor_probes()
    found += probe_memory.memory_probes()
    found += probe_cluster.cluster_probes()
    for number, probe in enumerate(found):
        probe.entry = f"probe{number}"
    return found


def run(folder, runner, ptxas, patterns):
    if not pack.fresh(folder):
        return 2
    families, missing, absent = {}, [], 0
    for probe in probes():
        if not patterns or any(t in probe.name or t in probe.family for t in patterns):
            families.setdefault(probe.family, Family(probe.family)).probes.append(probe)
    with tempfile.TemporaryDirectory() as temporary, ThreadPoolExecutor(WORKERS) as pool:
        existing = pool.map(lambda family: assemble(ptxas, family.stem(folder), family.probes), families.values())
        for family, chosen in zip(families.values(), existing):
            absent += len(family.probes) - len(chosen)
            family.probes = []
            for probe, (result, fault) in zip(chosen, pool.map(lambda p: simulate(runner, p, temporary), chosen)):
                if probe.refused:
                    fault = None if fault else "the simulator runs what the device refuses"
                if fault:
                    missing.append({"name": probe.name, "family": probe.family, "fault": fault})
                    continue
                family.probes.append(probe)
                if not probe.refused:
                    family.results[probe.entry] = result
            family.write(folder)
    with open(os.path.join(folder, "pack.json"), "w") as f:
        json.dump({"families": [f.replace(" ", "-") for f in families], "missing": missing}, f, indent=1)
    pack.copy_modules(folder)
    shutil.copy(os.path.join(pack.suite.CONFORMANCE, "refutil.py"), folder)
    pack.write_run(folder, "probe_check.py")
    for entry in missing:
        print(f"not simulated: {entry['name']}: {entry['fault']}")
    print(f"{sum(len(f.probes) for f in families.values())} forms in {folder}, {len(missing)} not simulated, "
          f"{absent} that ptxas refuses left out")
    return 0
