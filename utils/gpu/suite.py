"""The test cases, their builds (one for each set of constants) and their compilation."""
import functools
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
REPOSITORY = os.path.dirname(os.path.dirname(HERE))
CONFORMANCE = os.path.join(REPOSITORY, "test", "Conformance")
EXAMPLES = os.path.join(REPOSITORY, "test", "Examples")
NOT_YET = os.path.join(CONFORMANCE, "not-yet.txt")
NOT_BUILT = re.compile(r"E03(0[1-9]|10|[4-9]\d)$")   # diagnostics of language parts that are not built yet

sys.path.insert(0, CONFORMANCE)
import refutil


class Case:
    """One folder with a case.json. Cases of examples name their source, relative to the repository."""

    def __init__(self, folder):
        self.folder = folder
        self.data, self.make = refutil.load(folder)
        examples = os.path.dirname(folder) == EXAMPLES
        self.name = ("example-" if examples else "") + os.path.basename(folder)
        self.source = (os.path.join(REPOSITORY, self.data["source"]) if "source" in self.data
                       else os.path.join(folder, "kernel.tile"))
        self.expect = self.data["expect"]

    def runs(self):
        return [refutil.full_run(self.data, r) for r in self.data.get("runs", [])]

    def builds(self):
        """[(tag, consts, [index of a run...])], one for each set of constants, in order of first use."""
        found = {}
        for i, run in enumerate(self.runs()):
            found.setdefault(tag(run["consts"]), (run["consts"], []))[1].append(i)
        if not found:
            found[tag(self.data.get("consts", {}))] = (self.data.get("consts", {}), [])
        return [(t, consts, runs) for t, (consts, runs) in found.items()]


def tag(consts):
    """A file-name part for a set of constants."""
    return ",".join(f"{n}={value(v)}" for n, v in sorted(consts.items())) or "default"


def value(v):
    """A constant as the command line takes it."""
    return str(v).lower() if isinstance(v, bool) else str(v)


def definitions(consts):
    return [x for n, v in consts.items() for x in ("-D", f"{n}={value(v)}")]


def cases(patterns=()):
    """All cases in order, of those whose name holds one of the patterns."""
    found = []
    for root in (EXAMPLES, CONFORMANCE):
        for name in sorted(os.listdir(root)) if os.path.isdir(root) else []:
            if os.path.isfile(os.path.join(root, name, "case.json")):
                found.append(Case(os.path.join(root, name)))
    return [c for c in found if not patterns or any(p in c.name for p in patterns)]


class Compilation:
    """What one run of tilec gave: exit status, diagnostics (dictionaries of the JSON format), raw text."""

    def __init__(self, status, text):
        self.status, self.text = status, text
        self.diagnostics = parse_diagnostics(text)

    @property
    def not_built(self):
        return self.status == 1 and any(NOT_BUILT.match(d.get("code") or "") for d in self.diagnostics)

    def fault(self):
        """None, or a line that says why there is no output."""
        if self.status == 0:
            return None
        errors = [d for d in self.diagnostics if d.get("severity") == "error"]
        first = f"{errors[0].get('code')} {errors[0].get('message')}" if errors else self.text.strip()[-200:]
        return f"tilec exits with {self.status}: {' '.join(first.split())}"


@functools.lru_cache
def interpreted_steps(tilec):
    """The steps of the compiler after which tile-interpret can run the program, in order."""
    text = subprocess.run([tilec, "--list-passes"], capture_output=True, text=True, check=True).stdout
    steps = [line.split()[0] for line in text.splitlines() if line.strip()]
    return steps[steps.index("irgen"):steps.index("lower-to-nvvm")]


def parse_diagnostics(text):
    """The diagnostics of --diagnostics-format=json: one array or object with a list, or one object a line."""
    try:
        whole = json.loads(text)
        return whole.get("diagnostics", [whole]) if isinstance(whole, dict) else whole
    except ValueError:
        pass
    found = []
    for line in text.splitlines():
        if line.startswith("{"):
            try:
                found.append(json.loads(line))
            except ValueError:
                continue
    return found


def compile_case(tilec, case, consts, options, limit=120):
    """Runs tilec on a case's source in the source's folder."""
    command = [tilec, os.path.basename(case.source), *definitions(consts), *options, "--diagnostics-format=json"]
    try:
        done = subprocess.run(command, cwd=os.path.dirname(case.source), capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return Compilation(-1, f"tilec runs longer than {limit} s")
    return Compilation(done.returncode, done.stderr or done.stdout)
