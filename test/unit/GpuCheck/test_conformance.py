"""Tests of the conformance runner's parts: diagnostics, signatures, builds, calls of the interpreter."""
import json
import os
import stat
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
sys.path[:0] = [os.path.join(ROOT, "utils", "gpu"), os.path.join(ROOT, "test", "Conformance")]

import run
import suite
from signature import parameters


class FakeCase:
    def __init__(self, expect="error", name="999-x", **diagnostic):
        self.expect, self.name, self.data = expect, name, {"diagnostic": diagnostic}


def diagnostic(line=3, code="E0201", message="`K` is declared already", severity="error", file="kernel.tile", **more):
    return dict(severity=severity, code=code, message=message, range={"file": file, "begin": {"line": line}}, **more)


def done(status, *diagnostics):
    return suite.Compilation(status, json.dumps(list(diagnostics)))


class Diagnostics(unittest.TestCase):
    def check(self, case, compilation):
        return run.check_diagnostics(case, compilation)

    def test_line_words_code_and_status(self):
        case = FakeCase(line=3, words=["K", "already|twice"])
        self.assertIsNone(self.check(case, done(1, diagnostic())))
        self.assertIsNone(self.check(case, done(1, diagnostic(message="`K`", notes=[{"message": "twice"}]))))
        self.assertIn("line 3", self.check(case, done(1, diagnostic(line=4))))
        self.assertIn("line 3", self.check(case, done(1, diagnostic(file="other.tile"))))
        self.assertIn("lacks", self.check(case, done(1, diagnostic(message="`k` is declared already"))))
        self.assertIn("no code", self.check(case, done(1, diagnostic(code=""))))
        self.assertIn("exit status 0", self.check(case, done(0, diagnostic())))
        self.assertIn("exit status 70", self.check(case, done(70, diagnostic())))
        self.assertIn("no error", self.check(case, done(1)))

    def test_not_built_is_no_expected_error(self):
        self.assertIn("E0301", self.check(FakeCase(line=3, words=["K"]), done(1, diagnostic(code="E0301"))))

    def test_warnings_compile(self):
        case = FakeCase("warning", line=3, words=["K"])
        self.assertIsNone(self.check(case, done(0, diagnostic(severity="warning", code="W0501"))))
        self.assertIn("no warning", self.check(case, done(0)))
        self.assertIn("exits with 1", self.check(case, done(1, diagnostic(severity="warning"))))

    def test_formats(self):
        one = diagnostic()
        texts = [json.dumps(x) for x in ([one], {"diagnostics": [one]}, one)]
        for text in texts + [json.dumps(one) + "\nrest"]:
            self.assertEqual(suite.parse_diagnostics(text), [one])
        self.assertEqual(suite.parse_diagnostics("crash"), [])
        self.assertTrue(done(1, diagnostic(code="E0302")).not_built)
        self.assertFalse(done(1, diagnostic(code="E0212")).not_built)
        self.assertFalse(done(1, diagnostic(code="E0312")).not_built)


class Signatures(unittest.TestCase):
    def read(self, source, kernel):
        return [(p.access, p.name, p.type, p.shape) for p in parameters(source, kernel)]

    def test_every_form(self):
        source = """
        kernel f<lse: bool = false, BM: index = (1 + 2)>(X: f16[M, (N + 1) / 2] strides dynamic, // a [comment]
                 inout Y: i32[N] strides [ld, 1], ld: dim, s: f32, out L: f32[M] if lse) where N <= 8 {}"""
        self.assertEqual(self.read(source, "f"), [
            ("in", "X", "f16", ["M", "(N + 1) / 2"]), ("inout", "Y", "i32", ["N"]), ("in", "ld", "dim", None),
            ("in", "s", "f32", None), ("out", "L", "f32", ["M"])])

    def test_type_parameters(self):
        source = "kernel g<T: type = f32>(X: T[N], out Y: i8[N]) {}\ninstantiate g<T = bf16> as g_bf16"
        self.assertEqual([p[2] for p in self.read(source, "g")], ["f32", "i8"])
        self.assertEqual([p[2] for p in self.read(source, "g_bf16")], ["bf16", "i8"])


class Cases(unittest.TestCase):
    def test_builds_group_runs_by_constants(self):
        (case,) = suite.cases(["068-optional-output"])
        builds = case.builds()
        self.assertEqual(sorted(i for _, _, runs in builds for i in runs), list(range(len(case.runs()))))
        self.assertIn("BN=64,lse=true", [name for name, _, _ in builds])
        self.assertEqual(suite.definitions({"lse": True, "BN": 64}), ["-D", "lse=true", "-D", "BN=64"])

    def test_every_listed_case_exists(self):
        names = {c.name for c in suite.cases()}
        listed = {name for name, _ in run.NotYet(suite.NOT_YET).entries}
        self.assertEqual(listed - names, set())

    def test_every_case_that_compiles_is_interpreted_after_every_step(self):
        quick, not_yet = run.read_quick(run.EVERY_STEP), run.NotYet(suite.NOT_YET)
        runs = {c.name: len(c.runs()) for c in suite.cases()
                if c.expect != "error" and c.runs() and not not_yet.reason(c.name, "compile")}
        self.assertEqual(set(quick), set(runs))
        for name, numbers in quick.items():
            self.assertTrue(numbers and max(numbers) < runs[name], name)

    def test_examples_name_their_sources(self):
        for case in suite.cases(["example-"]):
            self.assertTrue(os.path.exists(case.source), case.source)

    def test_every_run_calls_the_interpreter(self):
        """A stand-in for tile-interpret that only notes its arguments: all outputs are asked for by name."""
        for name in ("038-permuted", "068-optional", "066-dynamic", "118-index"):
            (case,) = suite.cases([name])
            with tempfile.TemporaryDirectory() as folder:
                fake = os.path.join(folder, "fake")
                with open(fake, "w") as f:
                    f.write(f"#!/bin/sh\necho \"$@\" > {folder}/args\nexit 1\n")
                os.chmod(fake, os.stat(fake).st_mode | stat.S_IXUSR)
                self.assertIn("exit status 1", run.interpret(fake, case, folder))
                with open(os.path.join(folder, "args")) as f:
                    words = f.read()
                for output in case.make(case.runs()[0])[1]:
                    self.assertIn(f"--out {output}=", words)


if __name__ == "__main__":
    unittest.main()
