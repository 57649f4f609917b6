#!/usr/bin/python3
"""Runs the conformance cases and the examples in the simulator, for sm_90a and sm_80, and prints a summary line last.

The PTX of the whole compiler runs with every check of the simulator; results are compared with the references of the
cases. Runs marked large are left out, and with --quick all but a few of each kernel. Cases that do not pass stand in
not-yet.txt under the stage `simulate`.

--seeds=50 simulates every run in 50 orders of its warps and moments of its asynchronous work. That takes hours:
--state=FILE keeps what has passed, so that the command can be stopped and called again; --seconds=S stops by itself;
--shard=I/N takes a part of the runs.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "..", "utils", "gpu"), HERE]

import numpy as np

import refutil
import suite
import seedruns
from buffers import POISON, tagged
from notyet import NotYet

ARCHITECTURES = ("sm_90a", "sm_80")
QUICK_RUNS = 2                                 # of each kernel and set of constants
QUICK_WORK = 1 << 21                           # product of all dimensions of a quick run, at most


class Simulation:
    """One run of a case through tile-run; arrays travel as .npy files of storage values."""

    def __init__(self, binary, case, run, folder, image, options):
        """image: path of the PTX without its extension; the reflection lies beside it."""
        self.binary, self.run, self.folder, self.image, self.options = binary, run, folder, image, options
        self.inputs, self.expected, self.tolerance = case.make(run)
        with open(image + ".json") as f:
            kernels = json.load(f)["kernels"]
        self.arguments = next(k for k in kernels if k["name"] == run["kernel"])["arguments"]

    def path(self, name):
        return os.path.join(self.folder, name + ".npy")

    def bind_tensor(self, a, dims, command):
        name, given = a["name"], self.inputs.get(a["name"])
        if given is None and name not in self.expected:
            return
        shape = np.shape(self.expected[name] if name in self.expected else given)
        dims.update({e: n for e, n in zip(a["shape"], shape) if isinstance(e, str)})
        if given is not None and given.steps is not None:
            command += ["--steps", f"{name}={','.join(map(str, given.steps))}"]
        if given is not None and given.offset:
            command += ["--offset", f"{name}={given.offset}"]
        if a["access"] != "out":
            np.save(self.path(name), np.asarray(given))
            command.append(f"{name}={self.path(name)}")
        if name in self.expected:
            command += ["--out", f"{name}={self.path(name + '.result')}"]

    def command(self, options):
        command, dims = [], {}
        for a in self.arguments:
            if a["kind"] == "tensor":
                self.bind_tensor(a, dims, command)
            elif a["name"] in self.inputs:
                command.append(f"{a['name']}={suite.value(self.inputs[a['name']])}")
        known = {a["name"] for a in self.arguments if a["kind"] == "dim"} - set(self.inputs)
        command += [f"{n}={v}" for n, v in dims.items() if n in known]
        return [self.binary, "--ptx", self.image + ".ptx", "--json", self.image + ".json", "--kernel",
                self.run["kernel"], "--simulate", "--quiet", *self.options, *options, *command]

    def fault(self, limit, options=()):
        """None, or what is wrong."""
        try:
            done = subprocess.run(self.command(options), capture_output=True, text=True, timeout=limit)
        except subprocess.TimeoutExpired:
            return f"runs longer than {limit} s"
        refusal = self.run.get("launch_error")
        if refusal is not None:
            missing = refutil.conveys(done.stderr, refusal) if done.returncode else "a refusal"
            return f"lacks {missing}: {done.stderr.strip()[-160:]}" if missing else None
        if done.returncode:
            return f"exit status {done.returncode}: {' '.join(done.stderr.split())[:300]}"
        for a in self.arguments:
            if a["name"] in self.expected:
                fault = self.compare(a["name"], a["type"])
                if fault:
                    return f"{a['name']}: {fault}"
        return None

    def compare(self, name, type_name):
        got, want = np.load(self.path(name + ".result")), self.expected[name]
        fault = refutil.compare(refutil.values(tagged(got, type_name)), want, self.tolerance[name])
        mask = np.ma.getmaskarray(want) if isinstance(want, np.ma.MaskedArray) else None
        if fault or mask is None or not mask.any() or name in self.inputs:
            return fault
        stored = np.frombuffer(np.ascontiguousarray(got)[mask].tobytes(), np.uint8)
        return "an element that is never stored has changed" if (stored != POISON).any() else None


def work(run):
    product = 1
    for value in run.values():
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            product *= value
    return product


def selected(case, quick):
    """Numbers of the runs that are simulated. Quick: of each kernel and set of constants the largest that are not too
    large, and a small one."""
    chosen, groups = [], {}
    for i, run in enumerate(case.data["runs"] if case.data.get("runs") else []):
        if run.get("large") or run.get("alias"):
            continue
        if not quick:
            chosen.append(i)
        elif "launch_error" not in run and work(run) <= QUICK_WORK:
            full = case.runs()[i]
            groups.setdefault((full["kernel"], suite.tag(full["consts"])), []).append((work(run), i))
    for runs in groups.values():
        runs.sort()
        chosen += sorted({i for _, i in runs[-QUICK_RUNS + 1:] + runs[len(runs) // 3:][:1]})
    return chosen


class Judge:
    """Compiles and simulates cases; collects the time of every run."""

    def __init__(self, args, folder):
        self.args, self.folder = args, folder
        self.times = []
        self.seeds = seedruns.SeedPlan(args.seeds, args.first_seed, args.state, args.seconds, args.shard)
        self.runner = seedruns.digest(args.runner) if args.state else ""

    def compile(self, case, consts, arch):
        """(fault, path without extension)."""
        stem = os.path.join(self.folder, f"{case.name}-{suite.tag(consts)}.{arch}")
        options = ["-o", stem + ".ptx", f"--json={stem}.json", "--no-header", f"--arch={arch}", "--lineinfo"]
        return suite.compile_case(self.args.tilec, case, consts, options).fault(), stem

    def simulate(self, case, arch, i, image):
        """None, or the first fault of a run under all its seeds."""
        own = os.path.join(self.folder, f"{case.name}-{arch}-{i}")
        os.makedirs(own)
        simulation = Simulation(self.args.runner, case, case.runs()[i], own, image, self.args.option)
        program = f"{self.runner} {seedruns.digest(image + '.ptx')}" if self.args.state else ""
        fault = None
        for label, options in self.seeds.options():
            key = f"{case.name} {arch} {json.dumps(case.data['runs'][i])} {label} {program}"
            if not self.seeds.wanted(key):
                continue
            started = time.monotonic()
            fault = simulation.fault(self.args.limit, options)
            self.times.append((time.monotonic() - started, f"{case.name} {arch} {case.data['runs'][i]} {label}"))
            if fault:
                fault = f"{label}: {fault}" if label else fault
                break
            self.seeds.note(key)
        shutil.rmtree(own)
        return fault

    def judge(self, task):
        """None, or the first fault of a case on an architecture."""
        case, arch = task
        images, runs = {}, case.runs()
        for i in selected(case, self.args.quick):
            if not self.seeds.chosen(f"{case.name} {arch} {i}"):
                continue
            tag = suite.tag(runs[i]["consts"])
            if tag not in images:
                images[tag] = self.compile(case, runs[i]["consts"], arch)
            fault, image = images[tag]
            if fault:
                return fault
            fault = self.simulate(case, arch, i, image)
            if fault:
                return f"{case.data['runs'][i]}: {fault}"
        return None


def main():
    binaries = os.path.join(suite.REPOSITORY, "build", "bin")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("patterns", nargs="*", help="only cases whose name holds one of these")
    parser.add_argument("--tilec", default=os.path.join(binaries, "tilec"))
    parser.add_argument("--runner", default=os.path.join(binaries, "tile-run"))
    parser.add_argument("--arch", action="append", help="sm_90a and sm_80 unless given")
    parser.add_argument("--quick", action="store_true", help="a few runs of each kernel")
    parser.add_argument("--limit", type=float, default=300, help="seconds that one run may take")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--option", action="append", default=[], help="for tile-run, such as --option=--seed=7")
    parser.add_argument("--seeds", type=int, default=0, help="seeds of each run; schedules alternate with them")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--state", help="file of what has passed")
    parser.add_argument("--seconds", type=float, help="begin nothing new after so many")
    parser.add_argument("--shard", type=seedruns.parse_shard, default=(0, 1), metavar="I/N", help="a part of the runs")
    parser.add_argument("--times", action="store_true", help="print the slowest runs")
    parser.add_argument("--verbose", action="store_true", help="also the lines of passing and known cases")
    args = parser.parse_args()
    args.tilec, args.runner = os.path.abspath(args.tilec), os.path.abspath(args.runner)
    not_yet, totals = NotYet(suite.NOT_YET), {}
    cases = [c for c in suite.cases(args.patterns) if c.expect in ("result", "warning")]
    tasks = [(case, arch) for case in cases for arch in args.arch or ARCHITECTURES]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(args.jobs) as pool:
        judge = Judge(args, folder)
        faults = {}
        for (case, arch), fault in zip(tasks, pool.map(judge.judge, tasks)):
            if fault:
                faults.setdefault(case.name, f"{arch}: {fault}")
            if arch != tasks[-1][1]:
                continue
            # A part of the runs may not show why a case is on the list.
            if case.name not in faults and (args.shard[1] > 1 or args.seconds) and not_yet.reason(case.name, "simulate"):
                continue
            word, detail = not_yet.verdict(case.name, "simulate", faults.get(case.name))
            totals[word] = totals.get(word, 0) + 1
            if args.verbose or word in ("FAIL", "PASSES"):
                print(f"{word:8s} simulate  {case.name:45s} {detail or ''}", flush=True)
    if args.times:
        for seconds, name in sorted(judge.times, reverse=True)[:30]:
            print(f"{seconds:8.1f} s  {name}")
    if judge.seeds.left_out:
        print(f"{judge.seeds.left_out} runs were not begun in time")
    print(f"{len(cases)} cases, {len(judge.times)} runs: " + ", ".join(f"{n} {w}" for w, n in sorted(totals.items())))
    return 1 if "FAIL" in totals or "PASSES" in totals else 0


if __name__ == "__main__":
    sys.exit(main())
