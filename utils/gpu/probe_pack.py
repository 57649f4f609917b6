"""probe pack DIR: kernels around single instructions, their inputs, and what the simulator makes of them."""
import json
import os
import shutil
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import pack
import probe_kernels
import probe_scalar

WORKERS = os.cpu_count()


def assembles(ptxas, probe, folder):
    """Whether the instruction exists."""
    path = os.path.join(folder, probe.entry + ".ptx")
    with open(path, "w") as f:
        f.write(probe_kernels.HEADER + probe.ptx())
    done = subprocess.run([ptxas, "-arch=sm_90a", path, "-o", os.devnull], capture_output=True)
    return done.returncode == 0


def simulate(runner, probe, folder):
    """(result or None, message of a failure)"""
    stem = os.path.join(folder, probe.entry)
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
                "absolute": probe.absolute, "inputs": inputs,
                "out": probe.out, "kernel": probe.reflection()}

    def write(self, folder, ptxas):
        stem = os.path.join(folder, self.name.replace(" ", "-"))
        declarations = {p.declarations for p in self.probes}
        with open(stem + ".ptx", "w") as f:
            f.write(probe_kernels.HEADER + "".join(sorted(declarations)))
            for p in self.probes:
                declared, p.declarations = p.declarations, ""
                f.write(p.ptx())
                p.declarations = declared
        subprocess.run([ptxas, "-arch=sm_90a", stem + ".ptx", "-o", stem + ".cubin"], check=True)
        with open(stem + ".json", "w") as f:
            json.dump([self.entry(p) for p in self.probes], f)
        np.savez_compressed(stem + ".inputs.npz", **self.arrays)
        np.savez_compressed(stem + ".results.npz", **self.results)


def probes():
    found = [probe_kernels.scalar_probe(form) for form in probe_scalar.forms()]
    found += probe_kernels.collective_probes()
    for number, probe in enumerate(found):
        probe.entry = f"probe{number}"
    return found


def run(folder, runner, ptxas, patterns):
    if not pack.fresh(folder):
        return 2
    families, missing, absent = {}, [], []
    chosen = [p for p in probes() if not patterns or any(t in p.name or t in p.family for t in patterns)]
    with tempfile.TemporaryDirectory() as temporary, ThreadPoolExecutor(WORKERS) as pool:
        real = list(pool.map(lambda p: assembles(ptxas, p, temporary), chosen))
        absent = [p.name for p, exists in zip(chosen, real) if not exists]
        chosen = [p for p, exists in zip(chosen, real) if exists]
        for probe, (result, fault) in zip(chosen, pool.map(lambda p: simulate(runner, p, temporary), chosen)):
            if fault:
                missing.append({"name": probe.name, "family": probe.family, "fault": fault})
                continue
            family = families.setdefault(probe.family, Family(probe.family))
            family.probes.append(probe)
            family.results[probe.entry] = result
    for family in families.values():
        family.write(folder, ptxas)
    with open(os.path.join(folder, "pack.json"), "w") as f:
        json.dump({"families": [f.replace(" ", "-") for f in families], "missing": missing}, f, indent=1)
    pack.copy_modules(folder)
    shutil.copy(os.path.join(pack.suite.CONFORMANCE, "refutil.py"), folder)
    pack.write_run(folder, "probe_check.py")
    for entry in missing:
        print(f"not simulated: {entry['name']}: {entry['fault']}")
    print(f"{sum(len(f.probes) for f in families.values())} forms in {folder}, {len(missing)} not simulated, "
          f"{len(absent)} that ptxas refuses left out")
    return 0
