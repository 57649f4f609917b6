"""Runs of a case through tile-interpret: from its source, or in the form that a step of the compiler leaves."""
import os
import re
import shutil
import subprocess

import numpy as np

import refutil
import suite
from buffers import tagged
from signature import parameters


class Interpretation:
    """One run of a case through tile-interpret; arrays travel as .npy files of storage values, dimensions as
    numbers."""

    def __init__(self, binary, case, run, folder):
        self.binary, self.case, self.run, self.folder = binary, case, run, folder
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

    def fault(self, program=None, seed=1):
        """None, or what is wrong. program: the case in a later form than its source, an .mlir file."""
        program = [program] if program else [os.path.basename(self.case.source), *suite.definitions(self.run["consts"])]
        command = [self.binary, *program, f"--kernel={self.run['kernel']}", f"--seed={seed}", *self.arguments()]
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


def is_interpreted(run):
    """Whether the interpreter can follow a run: no size or aliasing beyond it."""
    return not run.get("large") and not run.get("alias")


def interpret(binary, case, folder):
    """None, or the first fault of the runs of the source."""
    for i, run in enumerate(case.runs()):
        if not is_interpreted(run):
            continue
        own = os.path.join(folder, f"{case.name}-{i}")
        os.makedirs(own)
        fault = Interpretation(binary, case, run, own).fault()
        shutil.rmtree(own)
        if fault:
            return f"{case.data['runs'][i]}: {fault}"
    return None


class Forms:
    """A case, compiled with one set of constants for one architecture, after each step of the compiler."""

    def __init__(self, tilec, case, consts, arch, folder):
        """fault: None, or why the case does not compile."""
        os.makedirs(folder)
        self.steps = suite.interpreted_steps(tilec)
        self.folder, self.dumps = folder, os.path.join(folder, "dumps")
        options = ["-o", os.path.join(folder, "last.mlir"), "--no-header", f"--arch={arch}", "--dump-after=all",
                   f"--dump-dir={self.dumps}", f"--stop-after={self.steps[-1]}"]
        self.fault = suite.compile_case(tilec, case, consts, options).fault()

    def programs(self, steps):
        """(step, .mlir file) of those of the steps that change the program, in order."""
        names = {re.sub(r"^\d+-after-|\.mlir$", "", name): name for name in os.listdir(self.dumps)}
        before = None
        for step in self.steps:
            if step not in steps:
                continue
            path = os.path.join(self.dumps, names[step])
            with open(path) as f:
                text = f.read()
            if text != before:
                yield step, path
            before = text


def interpret_steps(tilec, interpreter, case, folder, steps, archs, chosen=None):
    """None, or the first fault, with the step that causes it. chosen: the numbers of the runs, or None for all."""
    for arch in archs:
        for tag, consts, numbers in case.builds():
            runs = [i for i in numbers if (chosen is None or i in chosen) and is_interpreted(case.runs()[i])
                    and "launch_error" not in case.runs()[i]]
            if not runs:
                continue
            own = os.path.join(folder, f"{case.name}-{tag}-{arch}")
            forms = Forms(tilec, case, consts, arch, own)
            if forms.fault:
                return f"{tag} {arch}: {forms.fault}"
            for i in runs:
                interpretation = Interpretation(interpreter, case, case.runs()[i], own)
                for step, program in forms.programs(steps):
                    fault = interpretation.fault(program)
                    if fault:
                        return f"after {step} for {arch}: {case.data['runs'][i]}: {fault}"
            shutil.rmtree(own)
    return None
