#!/usr/bin/python3
"""Compiles random valid programs, plans and broken programs, and runs what the compiler's steps leave, without a GPU.

    fuzz.py [--seed N] [--count N] [--seconds N] [--limit N] [--jobs N] [--keep DIR] [--bin DIR]
            [--mode valid|plans|broken|all]

Valid programs must compile or be refused for a limit of the target; tile-interpret must give the results of a numpy
evaluation for the source and for the module after the last step. So must plans: usual kernels with random tile sizes
and annotations. Broken programs (mutations of sources) must end with
diagnostics. The exit status is 1 if anything else happens; --keep gets the programs and what went wrong.
"""
import argparse
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [os.path.join(ROOT, "utils", "gpu"), os.path.join(ROOT, "test", "Conformance")]

import numpy as np

import mutation
import refutil
import suite
from buffers import tagged
from generator import Generator
from plans import Plan

ARCHITECTURES = ("sm_80", "sm_86", "sm_89", "sm_90a")
LIMIT_SECONDS = 20                            # of one compilation, on an idle machine
# Words that belong to libraries, not to a user's program.
FOREIGN = re.compile(r"EXXXX|E\d{4}:|\b(mlir|llvm|tilegpu|nvvm|ptxas|scf|arith)\b|'tile\.|assertion|stack dump", re.I)
REFUSALS = re.compile(r"E04\d\d|E07\d\d")


class Outcome:
    """One run of a program. status: its exit status, -1 after the limit; diagnostics; text: standard error."""

    limit = LIMIT_SECONDS

    def __init__(self, command, folder, seconds=None):
        seconds = seconds or Outcome.limit
        # A process group of its own, so that ptxas ends with tilec.
        process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   start_new_session=True)
        try:
            _, text = process.communicate(timeout=seconds)
            self.status, self.text = process.returncode, text.decode(errors="replace")
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            self.status, self.text = -1, f"runs longer than {seconds} s"
        self.diagnostics = suite.parse_diagnostics(self.text)

    def fault(self):
        """None, or what no input may cause."""
        if self.status not in (0, 1, 2):
            return f"exit status {self.status}: {self.text.strip()[-300:]}"
        for d in self.diagnostics:
            words = " ".join(x.get(key, "") for x in [d, *d.get("notes", [])] for key in ("message", "hint"))
            if FOREIGN.search(words):
                return f"{d.get('code')} speaks of the compiler: {words}"
            if d.get("code") == "E0009" or d.get("severity") == "error" and not d.get("code"):
                return f"a fault of the compiler as the user's error: {words}"
            if re.match("E0[24]", d.get("code") or "") and d["code"] != "E0290" and not d.get("range"):
                return f"{d.get('code')} has no place: {words}"
        if self.status and not self.text.strip():
            return f"exit status {self.status} without a word"
        return None

    def first(self):
        """The first error in a line."""
        errors = [d for d in self.diagnostics if d.get("severity") == "error"] or [{"message": self.text[:300]}]
        line = ((errors[0].get("range") or {}).get("begin") or {}).get("line")
        return f"{errors[0].get('code')} at line {line}: {errors[0].get('message')}"

    def codes(self):
        return [d.get("code") or "" for d in self.diagnostics if d.get("severity") == "error"]


class Tools:
    """Where tilec and tile-interpret are."""

    folder = os.path.join(ROOT, "build", "bin")

    @classmethod
    def path(cls, name):
        return os.path.join(cls.folder, name)


def tilec(folder, *arguments):
    return Outcome([Tools.path("tilec"), *arguments, "--diagnostics-format=json"], folder)


class Interpretation:
    """Runs of one program on one set of inputs."""

    def __init__(self, program, sizes, seed, folder):
        self.program, self.sizes, self.folder = program, sizes, folder
        self.inputs = program.inputs(sizes, np.random.default_rng(seed))
        self.arguments = []
        for name, contents in self.inputs.items():
            np.save(self.path(name), np.asarray(contents))
            self.arguments += ["--in", f"{name}={self.path(name)}"]
        for name, value in [*sizes.items(), *program.scalars.items()]:
            self.arguments += ["--in", f"{name}={value}"]
        self.outputs = [t for t in program.tensors.values() if t.access != "in"]
        for t in self.outputs:
            self.arguments += ["--out", f"{t.name}={self.path(t.name + '.result')}"]

    def path(self, name):
        return os.path.join(self.folder, name + ".npy")

    def fault(self, source, expected):
        """None, or how the results of a source or module differ from `expected`."""
        command = [Tools.path("tile-interpret"), source, "--kernel=" + self.program.name, *self.arguments]
        done = Outcome(command, self.folder, seconds=15)
        if done.status == -1:
            return None                                        # the interpreter is slow, which says nothing
        if done.status:
            return f"tile-interpret: {' '.join(done.text.split())[-300:]}"
        for t in self.outputs:
            got = refutil.values(tagged(np.load(self.path(t.name + ".result")), t.type))
            want = expected[t.name]
            tolerance = refutil.close(0.02, 0.02) if t.inexact else refutil.exact()
            fault = refutil.compare(got, np.asarray(want, np.float64 if want.dtype.kind == "f" else None), tolerance)
            if fault:
                return f"{t.name}: {fault}"
        return None


def check_valid(seed, folder):
    """[(what, detail)] for one generated program."""
    rng = random.Random(seed)
    generator = Generator(seed, rng.choice((256, 1024, 4096, 16384, 32768)), annotations=seed % 4 == 3)
    return check_results(generator.generate(), generator.sizes, seed, rng, folder)


def check_plan(seed, folder):
    """One usual kernel with random decisions."""
    plan = Plan(seed)
    return check_results(plan.program, plan.sizes, seed, random.Random(seed), folder)


def check_results(program, sizes, seed, rng, folder):
    """Compiles a program and compares its results, for two choices of sizes, with those of its reference."""
    path = os.path.join(folder, "k.tile")
    with open(path, "w") as f:
        f.write(program.text)
    arch = rng.choice(ARCHITECTURES)
    done = tilec(folder, "k.tile", "-o", "k.cubin", "--arch=" + arch)
    if done.fault():
        return [(f"compile {arch}", done.fault())]
    if done.status:
        refused = [c for c in done.codes() if not REFUSALS.match(c)]
        return [(f"compile {arch}", f"refused: {done.first()}")] if refused else []
    arch = rng.choice(("sm_80", "sm_90a"))
    last = suite.interpreted_steps(Tools.path("tilec"))[-1]
    module = tilec(folder, "k.tile", "-o", "k.mlir", "--no-header", "--stop-after=" + last, "--arch=" + arch)
    for turn in range(2):
        run = Interpretation(program, sizes(), seed * 2 + turn, folder)
        expected = program.expected(run.sizes, run.inputs)
        chosen = ",".join(f"{n}={v}" for n, v in run.sizes.items())
        fault = run.fault("k.tile", expected)
        if fault:
            return [(f"interpret source, {chosen}", fault)]
        fault = module.status == 0 and run.fault("k.mlir", expected)
        if fault:
            return [(f"interpret {arch} {chosen} after {first_wrong_step(run, folder, arch, expected)}", fault)]
    return []


def first_wrong_step(run, folder, arch, expected):
    """The step of the compiler that leaves a program with other results."""
    for step in suite.interpreted_steps(Tools.path("tilec")):
        tilec(folder, "k.tile", "-o", "s.mlir", "--no-header", "--stop-after=" + step, "--arch=" + arch)
        if run.fault("s.mlir", expected):
            return step
    return "no single step"


def check_broken(seed, folder):
    """One mutation of an example, a case or a generated program."""
    text, options = mutation.mutate(seed)
    with open(os.path.join(folder, "k.tile"), "wb") as f:
        f.write(text)
    arch = random.Random(seed).choice(ARCHITECTURES)
    done = tilec(folder, "k.tile", "-o", "k.cubin", "--arch=" + arch, *options)
    fault = done.fault()
    if not fault and done.status and os.path.exists(os.path.join(folder, "k.cubin")):
        fault = "an output in spite of errors"
    return [(f"compile {arch}", fault)] if fault else []


CHECKS = {"valid": check_valid, "plans": check_plan, "broken": check_broken}


def check(task, keep):
    """(task, faults) of a task, which is a mode and a seed; `keep` gets the source and the faults."""
    mode, seed = task
    with tempfile.TemporaryDirectory() as folder:
        try:
            faults = CHECKS[mode](seed, folder)
        except Exception as error:                             # the program stays for whoever mends the generator
            faults = [("generator", repr(error))]
            if keep is None:
                raise
        if faults and keep and os.path.exists(os.path.join(folder, "k.tile")):
            os.makedirs(keep, exist_ok=True)
            with open(os.path.join(folder, "k.tile"), "rb") as source, \
                    open(os.path.join(keep, f"{mode}-{seed}.tile"), "wb") as target:
                target.write(source.read() + "".join(f"\n// {w}: {' '.join(d.split())}\n" for w, d in faults).encode())
    return task, faults


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=1 << 30)
    parser.add_argument("--seconds", type=float, default=60, help="start nothing after so long")
    parser.add_argument("--limit", type=float, default=LIMIT_SECONDS, help="seconds for one compilation")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", help="a folder for the programs that fail")
    parser.add_argument("--bin", default=Tools.folder, help="the folder of tilec and tile-interpret")
    parser.add_argument("--mode", choices=(*CHECKS, "all"), default="all")
    args = parser.parse_args()
    Outcome.limit, Tools.folder = args.limit, os.path.abspath(args.bin)
    modes = tuple(CHECKS) if args.mode == "all" else (args.mode,)
    end, done, failed = time.monotonic() + args.seconds, 0, 0
    tasks = [(mode, seed) for seed in range(args.seed, args.seed + min(args.count, 100000)) for mode in modes]
    with ThreadPoolExecutor(args.jobs) as pool:
        for start in range(0, len(tasks), 2 * args.jobs):
            if time.monotonic() > end:
                break
            for (mode, seed), faults in pool.map(lambda t: check(t, args.keep), tasks[start:start + 2 * args.jobs]):
                done += 1
                failed += bool(faults)
                for what, detail in faults:
                    print(f"{mode} {seed}: {what}: {detail}", flush=True)
    print(f"{done} programs, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
