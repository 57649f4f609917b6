"""Tests of utils/gpu without a GPU: host expressions, launch planning, buffers, execution, supervision."""
import ctypes as C
import os
import struct
import sys
import tempfile
import time
import unittest

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
sys.path[:0] = [os.path.join(ROOT, "utils", "gpu"), os.path.join(ROOT, "test", "Conformance"), HERE]

import refutil
import supervisor
from buffers import Buffer
from driver import Driver, DriverError
from execute import Fault, execute
from fake_cuda import FakeCuda
from hostexpr import UnknownName, evaluate, text
from launcher import Launcher, LaunchError, Tensor, pack_scalar
from notyet import NotYet


def scale_kernel(**changes):
    """A kernel `scale(X: f32[N], a: f32, out Y: f32[N])` with a vector variant and a general one."""
    kernel = {
        "name": "scale",
        "arguments": [
            {"kind": "tensor", "name": "X", "type": "f32", "access": "in", "shape": ["N"], "strides": [1]},
            {"kind": "scalar", "name": "a", "type": "f32"},
            {"kind": "tensor", "name": "Y", "type": "f32", "access": "out", "shape": ["N"], "strides": [1]},
            {"kind": "dim", "name": "N"}],
        "contracts": [],
        "variants": [variant("scale__fast", [["aligned", "X", 16], ["eq", ["rem", "N", 4], 0]]),
                     variant("scale__any", [])]}
    kernel.update(changes)
    return kernel


def variant(name, when):
    params = [{"kind": "pointer", "tensor": "X"}, {"kind": "scalar", "name": "a", "type": "f32"},
              {"kind": "pointer", "tensor": "Y"}, {"kind": "int", "value": "N", "type": "i64"}]
    return {"name": name, "when": when, "launches": [
        {"entry": name, "grid": [["ceil_div", "N", 32], 1, 1], "block": 64, "cluster": [1, 1, 1], "shared": 0,
         "params": params}]}


def floats(address, count):
    return np.ctypeslib.as_array((C.c_float * count).from_address(address))


def scale(grid, params):
    """What the kernel does, on host memory."""
    x, y, n = (struct.unpack("<Q", params[i])[0] for i in (0, 2, 3))
    floats(y, n)[:] = floats(x, n) * struct.unpack("<f", params[1])[0]


def make(run):
    x = np.arange(run["N"], dtype=np.float64)
    y = refutil.output("f32", x.shape, (1,), run.get("offset", 0))
    return ({"X": refutil.tensor("f32", x, None, run.get("offset", 0)), "a": 3.0, "Y": y}, {"Y": 3 * x},
            {"Y": refutil.exact()})


class HostExpressions(unittest.TestCase):
    def check(self, want, expr, **values):
        self.assertEqual(evaluate(expr, values, lambda t, n: t == "A"), want, expr)

    def test_arithmetic_floors_and_divides_by_zero_to_zero(self):
        self.check(-4, ["div", -7, 2])
        self.check(1, ["rem", -7, 2])
        self.check(0, ["div", "M", 0], M=5)
        self.check(0, ["rem", "M", 0], M=5)
        self.check(-3, ["ceil_div", -7, 2])
        self.check(4, ["ceil_div", 7, 2])
        self.check(16, ["align_up", 9, 8])
        self.check(0, ["ceil_div", 7, 0])
        self.check(6, ["add", 1, 2, 3])
        self.check(-(2 ** 63), ["add", 2 ** 63 - 1, 1])

    def test_comparisons_and_logic(self):
        self.check(1, ["and", ["lt", 1, 2], ["ge", "A.stride0", 4]], **{"A.stride0": 4})
        self.check(0, ["or", ["ne", 1, 1], ["gt", 1, 1]])
        self.check(1, ["not", ["le", 2, 1]])
        self.check(1, ["gt", "scale", 0], scale=0.25)
        self.check(1, ["aligned", "A", 16])
        self.check(0, ["aligned", "B", 16])

    def test_floats_are_compared(self):
        for half in (0.5, np.float32(0.5), np.float16(0.5)):
            self.check(1, ["ge", "scale", 2.0 ** -40], scale=half)
            self.check(0, ["ge", "scale", 1], scale=half)
        for op in ("ge", "gt", "le", "lt", "eq"):
            self.check(0, [op, "scale", 1], scale=float("nan"))

    def test_malformed(self):
        with self.assertRaises(UnknownName):
            evaluate("Q", {})
        for bad in (["frob", 1, 2], ["sub", 1], ["sub", 3, 2, 1], ["not", 1, 2]):
            with self.assertRaises(ValueError):
                evaluate(bad, {})

    def test_text(self):
        self.assertEqual(text(["div", ["add", "K", 15], 16]), "(K + 15) / 16")
        self.assertEqual(text(["min", "M", 3]), "min(M, 3)")


class Planning(unittest.TestCase):
    def plan(self, kernel, **arguments):
        return Launcher(kernel, Driver(FakeCuda())).plan(arguments)

    def test_variants_by_size_and_alignment(self):
        y = Tensor(4096, [8])
        self.assertEqual(self.plan(scale_kernel(), X=Tensor(256, [8]), Y=y, a=1)[0], "scale__fast")
        self.assertEqual(self.plan(scale_kernel(), X=Tensor(260, [8]), Y=y, a=1)[0], "scale__any")
        name, launches = self.plan(scale_kernel(), X=Tensor(256, [33]), Y=Tensor(4096, [33]), a=1)
        self.assertEqual((name, launches[0].grid, launches[0].block), ("scale__any", (2, 1, 1), 64))
        self.assertEqual(launches[0].params[3], struct.pack("<q", 33))

    def test_least_cost_wins(self):
        kernel = scale_kernel()
        kernel["variants"][0]["cost"] = ["mul", "N", 3]
        for cost, name in ((24, "scale__fast"), (25, "scale__fast"), (23, "scale__any")):
            kernel["variants"][1]["cost"] = cost
            self.assertEqual(self.plan(kernel, X=Tensor(256, [8]), Y=Tensor(4096, [8]), a=1)[0], name)

    def test_variants_by_ranges_of_scalars(self):
        kernel = scale_kernel()
        kernel["variants"][0]["when"] += [["ge", "a", 2.0 ** -40], ["le", "a", 2 ** 40]]
        for name, values in (("scale__fast", (1, 0.125, 2.0 ** -40, 2.0 ** 40)),
                             ("scale__any", (0, -1, 2.0 ** -41, 2.0 ** 41, float("nan"), float("inf")))):
            for a in values:
                self.assertEqual(self.plan(kernel, X=Tensor(256, [8]), Y=Tensor(4096, [8]), a=a)[0], name, a)

    def test_empty_outputs_launch_nothing(self):
        self.assertEqual(self.plan(scale_kernel(), X=Tensor(1, [0]), Y=Tensor(1, [0]), a=1), ("scale__fast", []))

    def test_refusals_name_the_argument(self):
        kernel = scale_kernel(contracts=[{"condition": ["le", "N", 8], "text": "N <= 8"}])
        x = Tensor(256, [8])
        for words, arguments in (
                ("N <= 8", dict(X=Tensor(256, [9]), Y=Tensor(4096, [9]), a=1)),
                ("`Y` is 7, expected N = 8", dict(X=x, Y=Tensor(4096, [7]), a=1)),
                ("`a` is missing", dict(X=x, Y=Tensor(4096, [8]))),
                ("2 dimensions, expected 1", dict(X=x, Y=Tensor(4096, [2, 4]), a=1)),
                ("`X` and `Y` overlap", dict(X=x, Y=Tensor(256 + 28, [8]), a=1)),
                ("strides (2,)", dict(X=Tensor(256, [8], [2]), Y=Tensor(4096, [8]), a=1))):
            with self.assertRaises(LaunchError) as e:
                self.plan(kernel, **arguments)
            self.assertIn(words, str(e.exception))

    def test_neighbours_do_not_overlap(self):
        self.plan(scale_kernel(), X=Tensor(256, [8]), Y=Tensor(256 + 32, [8]), a=1)

    def test_shape_expressions_and_dynamic_strides(self):
        kernel = scale_kernel()
        kernel["arguments"][2].update(shape=[["mul", "N", 2]], dynamic_strides=True)
        kernel["variants"] = [{"name": "v", "when": [], "launches": [
            {"entry": "v", "grid": [1, "sm_count", 1], "block": 32, "cluster": [2, 1, 1], "shared": 100, "params": [
                {"kind": "int", "value": "Y.stride0", "type": "i32"}]}]}]
        _, (ready,) = self.plan(kernel, X=Tensor(256, [4]), Y=Tensor(4096, [8], [3]), a=1)
        self.assertEqual((ready.grid, ready.cluster, ready.shared, ready.params),
                         ((1, 132, 1), (2, 1, 1), 100, [struct.pack("<i", 3)]))
        with self.assertRaises(LaunchError):
            self.plan(kernel, X=Tensor(256, [4]), Y=Tensor(4096, [9], [3]), a=1)

    def test_no_variant_and_unknown_parameter(self):
        kernel = scale_kernel(variants=[variant("v", [["gt", "N", 100]])])
        with self.assertRaises(LaunchError):
            self.plan(kernel, X=Tensor(256, [8]), Y=Tensor(4096, [8]), a=1)
        kernel = scale_kernel(variants=[variant("v", [])])
        kernel["variants"][0]["launches"][0]["params"] = [{"kind": "magic"}]
        with self.assertRaises(ValueError):
            self.plan(kernel, X=Tensor(256, [8]), Y=Tensor(4096, [8]), a=1)

    def test_scalars(self):
        self.assertEqual(pack_scalar("bf16", 1.0), b"\x80\x3f")
        self.assertEqual(pack_scalar("f32", 2), struct.pack("<f", 2.0))
        self.assertEqual(pack_scalar("bool", 1), b"\x01")
        self.assertEqual(pack_scalar("u64", 2 ** 64 - 1), b"\xff" * 8)

    def test_workspaces(self):
        kernel = scale_kernel(workspaces=[{"name": "W", "bytes": ["mul", "N", 4], "clear": True}])
        kernel["variants"][1]["launches"][0]["params"].append({"kind": "pointer", "tensor": "W"})
        cuda = FakeCuda()
        launcher = Launcher(kernel, Driver(cuda))
        _, (ready,) = launcher.plan(dict(X=Tensor(260, [9]), Y=Tensor(4096, [9]), a=1))
        w = launcher.workspaces["W"]
        self.assertEqual((w.size, w.clear, ready.params[4]), (36, True, struct.pack("<Q", w.address)))
        self.assertIn(w.address, cuda.memory)

    def test_tensor_map_parameters(self):
        kernel = scale_kernel()
        kernel["variants"][0]["when"] = []
        kernel["variants"][0]["launches"][0]["params"] = [
            {"kind": "tensormap", "tensor": "X", "type": "f32", "dims": ["N", 3], "strides": [["mul", "N", 4]],
             "box": [32, 1], "swizzle": 128, "l2": 128}]
        cuda = FakeCuda()
        _, (ready,) = Launcher(kernel, Driver(cuda)).plan(
            dict(X=Tensor(256, [8]), Y=Tensor(4096, [8]), a=1))
        self.assertEqual(cuda.maps, [(7, 256, [8, 3], [32], [32, 1], 3, 2)])
        self.assertEqual(len(ready.params[0]), 128)
        kernel["variants"][0]["launches"][0]["params"][0]["dims"] = [0, "N"]
        Launcher(kernel, Driver(cuda)).plan(dict(X=Tensor(512, [8]), Y=Tensor(4096, [8]), a=1))
        self.assertEqual(cuda.maps[1], (7, 256, [1, 8], [256], [32, 1], 3, 2))


class Execution(unittest.TestCase):
    def device(self, kernel=scale):
        kernels = {"scale__fast": kernel, "scale__any": kernel}
        return Driver(FakeCuda(kernels, {n: [8, 4, 8, 8] for n in kernels}))

    def run_scale(self, run, kernel=scale, reflection=None):
        with tempfile.NamedTemporaryFile() as image:
            return execute(self.device(kernel), {"kernels": [reflection or scale_kernel()]}, image.name, make,
                           dict(run, kernel="scale", consts={}))

    def test_passes_at_every_size_and_base(self):
        for n in (0, 1, 31, 32, 33):
            for offset in (0, 1):
                self.run_scale({"N": n, "offset": offset})

    def test_finds_wrong_elements_strays_and_irreproducible_results(self):
        def wrong(grid, p):
            scale(grid, p)
            floats(struct.unpack("<Q", p[2])[0], 1)[0] = 7

        def stray(grid, p):
            scale(grid, p)
            y, n = (struct.unpack("<Q", p[i])[0] for i in (2, 3))
            floats(y, n + 1)[n] = 7

        def input_changed(grid, p):
            scale(grid, p)
            floats(struct.unpack("<Q", p[0])[0], 1)[0] = 7

        turns = []

        def unsteady(grid, p):
            scale(grid, p)
            turns.append(1)
            floats(struct.unpack("<Q", p[2])[0], 1)[0] = -0.0 if len(turns) > 1 else 0.0

        for kernel, words in ((wrong, "1 of 8 wrong"), (stray, "after the tensor at byte 32"),
                              (lambda g, p: None, "wrong"), (input_changed, "input has changed"),
                              (unsteady, "other bits")):
            with self.assertRaisesRegex(Fault, words):
                self.run_scale({"N": 8}, kernel)

    def test_launch_errors_are_expected_or_faults(self):
        kernel = scale_kernel(contracts=[{"condition": ["lt", "N", 8], "text": "N < 8"}])
        self.assertEqual(self.run_scale({"N": 8, "launch_error": ["N"]}, reflection=kernel), "refused")
        self.assertEqual(self.run_scale({"N": 4, "alias": ["X", "Y"], "launch_error": ["overlap"]}), "refused")
        with self.assertRaisesRegex(Fault, "accepts"):
            self.run_scale({"N": 7, "launch_error": ["N"]}, reflection=kernel)
        with self.assertRaisesRegex(Fault, "refuses"):
            self.run_scale({"N": 8}, reflection=kernel)
        with self.assertRaisesRegex(Fault, "lacks"):
            self.run_scale({"N": 8, "launch_error": ["Q"]}, reflection=kernel)

    def test_workspaces_are_clear_or_poisoned(self):
        for clear in (True, False):
            kernel = scale_kernel(workspaces=[{"name": "W", "bytes": 64, "clear": clear}])
            for v in kernel["variants"]:
                v["launches"][0]["params"][3] = {"kind": "pointer", "tensor": "W"}
            seen = []

            def keep(grid, p):
                seen.append(C.string_at(struct.unpack("<Q", p[3])[0], 64))
                scale(grid, p[:3] + [struct.pack("<q", 8)])

            self.run_scale({"N": 8}, keep, kernel)
            self.assertEqual(seen, [bytes(64) if clear else b"\xff" * 64] * 2)

    def test_driver_errors(self):
        with self.assertRaises(DriverError) as e:
            self.run_scale({"N": 8}, lambda g, p: 700)
        self.assertTrue(e.exception.sticky)
        self.assertIn("CUDA_ERROR_FAKE (700)", str(e.exception))

    def test_cluster_and_shared_memory(self):
        kernel = scale_kernel()
        kernel["variants"][0]["launches"][0].update(cluster=[2, 1, 1], shared=100000)
        device = self.device()
        with tempfile.NamedTemporaryFile() as image:
            execute(device, {"kernels": [kernel]}, image.name, make, {"N": 64, "kernel": "scale", "consts": {}})
        self.assertEqual(device.lib.launches[0], ("scale__fast", (2, 1, 1), (64, 1, 1), (2, 1, 1), 100000))
        self.assertEqual(device.lib.shared["scale__fast", 8], 100000)
        self.assertFalse(device.lib.memory)


class Buffers(unittest.TestCase):
    def setUp(self):
        self.device = Driver(FakeCuda())

    def test_strided_contents_match_refutil(self):
        x = refutil.tensor("bf16", np.arange(12).reshape(3, 4), (7, 1), 3)
        b = Buffer(self.device, "bf16", x.shape, x.steps, x.offset, x)
        body = b.image[b.lead:b.lead + len(refutil.memory(x))].tobytes()
        self.assertEqual(body, refutil.memory(x))
        self.assertEqual((b.tensor().address - b.base) % 256, 6)
        self.assertTrue(np.array_equal(refutil.values(b.decode(b.fetch())), refutil.values(x)))

    def test_transposed_and_broadcast_steps(self):
        for steps in ((1, 3), (0, 1)):
            x = refutil.tensor("f64", np.broadcast_to(np.arange(4.0), (3, 4)), steps)
            b = Buffer(self.device, "f64", x.shape, steps, 0, x)
            self.assertTrue(np.array_equal(np.asarray(b.decode(b.fetch())), np.asarray(x)))

    def test_packed_types(self):
        for name, lo, hi in (("u2", 0, 4), ("u4", 0, 16), ("i4", -8, 8)):
            x = refutil.tensor(name, np.random.default_rng(0).integers(lo, hi, (3, 4)))
            b = Buffer(self.device, name, x.shape, contents=x)
            self.assertTrue(np.array_equal(refutil.values(b.decode(b.fetch())), refutil.values(x)), name)

    def test_strays_in_gaps(self):
        b = Buffer(self.device, "f32", (2, 2), (4, 1), 0)
        for byte, where in ((8, "in a gap"), (-1, "before"), (24, "after")):
            image = b.fetch().copy()
            image[b.lead + byte] = 1
            self.assertIn(where, b.stray(image))
        self.assertIsNone(b.stray(b.fetch()))


FAKE_WORKER = """
import json, os, sys, time
print(json.dumps({"ready": 1}), flush=True)
for line in sys.stdin:
    job = json.loads(line)
    if job["do"] == "hang": time.sleep(100)
    if job["do"] == "die": os._exit(1)
    print("========= a note", flush=True)
    print(json.dumps({"fault": "bad"} if job["do"] == "sticky" else {"pid": os.getpid()}), flush=True)
    if job["do"] == "sticky": os._exit(3)
"""


class Supervision(unittest.TestCase):
    def test_a_hang_a_death_and_a_sticky_error_fail_one_job_each(self):
        jobs = [{"do": d, "run": {}} for d in ("go", "hang", "go", "die", "go", "sticky", "go", "go")]
        with tempfile.NamedTemporaryFile("w", suffix=".py") as script:
            script.write(FAKE_WORKER)
            script.flush()
            kept, supervisor.WORKER = supervisor.WORKER, script.name
            try:
                supervisor.run_jobs("", jobs, time.monotonic() + 60, limit=2)
            finally:
                supervisor.WORKER = kept
        results = [j["result"] for j in jobs]
        self.assertEqual([r.get("fault") for r in results],
                         [None, "hung", None, "the worker process died", None, "bad", None, None])
        self.assertEqual(len({r["pid"] for r in results if "pid" in r}), 4)
        self.assertEqual(jobs[0]["notes"], ["========= a note"])

    def test_nothing_starts_after_the_deadline(self):
        jobs = [{"do": "go", "run": {}}]
        supervisor.run_jobs("", jobs, time.monotonic() - 1)
        self.assertNotIn("result", jobs[0])


class NotYetList(unittest.TestCase):
    def test_verdicts(self):
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as f:
            f.write("# a comment\n001-a compile sorts are not built\n002-b sm_80,sm_90a hangs\n")
            f.flush()
            listed = NotYet(f.name)
        self.assertEqual(listed.verdict("001-a", "sm_90a", "x"), ("not yet", "sorts are not built"))
        self.assertEqual(listed.verdict("001-a", "check", "x"), ("FAIL", "x"))
        self.assertEqual(listed.verdict("001-a", "compile", None)[0], "PASSES")
        self.assertEqual(listed.verdict("002-b", "sm_80", "x"), ("not yet", "hangs"))
        self.assertEqual(listed.verdict("003-c", "sm_80", None), ("pass", ""))
        self.assertEqual(listed.verdict("003-c", "sm_80", "x"), ("FAIL", "x"))


if __name__ == "__main__":
    unittest.main()
