#!/usr/bin/python3
"""Runs the conformance cases and the examples without a GPU and prints a summary line last.

Stages: `check` (expected errors and warnings), `compile` (sm_80 and sm_90a), `interpret` where tile-interpret is built.
Cases that do not pass a stage yet stand in not-yet.txt; the exit status is 1 if anything differs from that list.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "..", "utils", "gpu"), HERE]

import numpy as np

import refutil
import suite
from buffers import tagged
from notyet import NotYet
from signature import parameters

ARCHITECTURES = ("sm_90a", "sm_80")


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
        if d["code"].startswith("E03"):
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


class Interpretation:
    """One run of a case through tile-interpret; arrays travel as .npy files of storage values, dimensions as
    numbers."""

    def __init__(self, binary, case, run, folder, program=None):
        """program: the case in a later form than its source, an .mlir file."""
        self.binary, self.case, self.run, self.folder, self.program = binary, case, run, folder, program
        self.inputs, self.expected, self.tolerance = case.make(run)
        with open(case.source) as f:
            self.parameters = parameters(f.read(), run["kernel"])

    def path(self, name):
        return os.path.join(self.folder, name + ".npy")

    def arguments(self):
        args, dims = [], {}
        for p in self.parameters:
            given = self.inputs.get(p.name)
            if p.shape is None:
                if given is not None:
                    args += ["--in", f"{p.name}={suite.value(given)}"]
                continue
            if given is None and p.name not in self.expected:
                continue                                   # an optional parameter that this run leaves out
            shape = np.shape(self.expected[p.name] if p.name in self.expected else given)
            names = [e if re.fullmatch(r"[A-Za-z_]\w*", e) and e not in self.run["consts"] else None for e in p.shape]
            dims.update({e: n for e, n in zip(names, shape) if e})
            if given is not None and given.steps is not None:
                args += ["--steps", f"{p.name}={','.join(map(str, given.steps))}"]
            if p.access != "out":
                np.save(self.path(p.name), np.asarray(given))
                args += ["--in", f"{p.name}={self.path(p.name)}"]
            if p.access != "in":
                args += ["--out", f"{p.name}={self.path(p.name + '.result')}"]
        return args + [x for n, v in dims.items() for x in ("--in", f"{n}={v}")]

    def fault(self):
        """None, or what is wrong."""
        program = [self.program] if self.program else [os.path.basename(self.case.source),
                                                       *suite.definitions(self.run["consts"])]
        command = [self.binary, *program, f"--kernel={self.run['kernel']}", *self.arguments()]
        try:
            done = subprocess.run(command, cwd=os.path.dirname(self.case.source), capture_output=True, text=True,
                                  timeout=120)
        except subprocess.TimeoutExpired:
            return "runs longer than 120 s"
        refusal = self.run.get("launch_error")
        if refusal is not None:
            missing = refutil.conveys(done.stderr, refusal) if done.returncode else "a refusal"
            return f"lacks {missing}: {done.stderr.strip()[-160:]}" if missing else None
        if done.returncode:
            return f"exit status {done.returncode}: {' '.join(done.stderr.split())[-200:]}"
        for name, want in self.expected.items():
            type_name = next(p.type for p in self.parameters if p.name == name)
            got = refutil.values(tagged(np.load(self.path(name + ".result")), type_name))
            fault = refutil.compare(got, want, self.tolerance[name])
            if fault:
                return f"{name}: {fault}"
        return None


def interpret(binary, case, folder, lower=None):
    """None, or the first fault of the runs. lower(consts, tag) -> (fault, program) gives the form to run."""
    programs = {name: lower(consts, name) for name, consts, _ in case.builds()} if lower else {}
    for fault, _ in programs.values():
        if fault:
            return fault
    for i, run in enumerate(case.runs()):
        if run.get("large") or run.get("alias") or (lower and "launch_error" in run):
            continue
        own = os.path.join(folder, f"{case.name}-{i}")
        os.makedirs(own)
        program = programs[suite.tag(run["consts"])][1] if lower else None
        fault = Interpretation(binary, case, run, own, program).fault()
        shutil.rmtree(own)
        if fault:
            return f"{case.data['runs'][i]}: {fault}"
    return None


def lowering(tilec, case, folder, step, arch):
    """How to bring a case to the form after a step of the compiler."""
    def lower(consts, name):
        program = os.path.join(folder, f"{case.name}-{name}.{step}.mlir")
        options = ["-o", program, f"--stop-after={step}", "--no-header", f"--arch={arch}"]
        return suite.compile_case(tilec, case, consts, options).fault(), program
    return lower


def judge(args, case, folder):
    """[(stage, fault)] of a case."""
    results = []
    if case.expect in ("error", "warning"):
        options = ["-o", os.path.join(folder, case.name + ".cubin"), "--no-header", "--arch=sm_90a"]
        done = suite.compile_case(args.tilec, case, case.builds()[0][1], options)
        results.append(("check", check_diagnostics(case, done)))
    if case.expect in ("result", "warning"):
        if not args.after:
            results.append(("compile", compile_builds(args.tilec, case, folder)))
        if os.path.exists(args.interpreter):
            lower = lowering(args.tilec, case, folder, args.after, args.arch) if args.after else None
            results.append(("interpret", interpret(args.interpreter, case, folder, lower)))
    return results


def main():
    binaries = os.path.join(suite.REPOSITORY, "build", "bin")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("patterns", nargs="*", help="only cases whose name holds one of these")
    parser.add_argument("--tilec", default=os.path.join(binaries, "tilec"))
    parser.add_argument("--interpreter", default=os.path.join(binaries, "tile-interpret"))
    parser.add_argument("--after", help="interpret what this step of the compiler leaves (tilec --list-passes)")
    parser.add_argument("--arch", default="sm_90a", help="the architecture of --after")
    parser.add_argument("--verbose", action="store_true", help="also the lines of passing and known cases")
    args = parser.parse_args()
    args.tilec, args.interpreter = os.path.abspath(args.tilec), os.path.abspath(args.interpreter)
    not_yet, totals = NotYet(suite.NOT_YET), {}
    cases = suite.cases(args.patterns)
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
