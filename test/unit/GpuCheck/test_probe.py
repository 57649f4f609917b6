"""Tests of the probe's device side without a GPU: comparisons, the worker, the table."""
import json
import os
import sys
import tempfile
import types
import unittest

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
sys.path[:0] = [os.path.join(ROOT, "utils", "gpu"), os.path.join(ROOT, "test", "Conformance")]

import probe_check
import probe_table
import probe_worker
import supervisor


def compare(got, want, result, **entry):
    entry = dict({"result": result, "ulps": None, "absolute": None}, **entry)
    return probe_worker.compare(np.array(got, np.uint64), np.array(want, np.uint64), entry)


class Comparison(unittest.TestCase):
    def test_equal_bits(self):
        report = compare([1, 2, 3], [1, 5, 3], "u32")
        self.assertEqual((report["wrong"], report["first"], report["at"]), (1, "element 1: device 0x2, simulator 0x5", 1))

    def test_other_nans_are_counted_apart(self):
        report = compare([0x7fc00000, 0x7f800000], [0x7fffffff, 0x7fffffff], "f32")
        self.assertEqual((report["nans"], report["wrong"]), (1, 1))
        self.assertEqual(report["nan"], "device 0x7fc00000, simulator 0x7fffffff")

    def test_an_absolute_error_is_allowed_besides(self):
        near = [0x3495f600], [0x3438aa3a]
        self.assertEqual(compare(*near, "f32", ulps=8)["wrong"], 1)
        self.assertEqual(compare(*near, "f32", ulps=8, absolute=2.0 ** -22)["wrong"], 0)


class FakeBench:
    def __init__(self, driver, arrays):
        self.arrays = arrays

    def run(self, image, entry, dtype):
        return np.array([7, 8], dtype)

    def free(self):
        pass


class Running(unittest.TestCase):
    def test_a_worker_compares_a_form(self):
        with tempfile.TemporaryDirectory() as folder:
            entry = {"entry": "probe0", "name": "add", "result": "u32", "ulps": None, "inputs": {"A": "key"}, "refused": False}
            with open(os.path.join(folder, "integer.json"), "w") as f:
                json.dump([entry], f)
            np.savez(os.path.join(folder, "integer.inputs.npz"), key=np.array([3, 4]))
            np.savez(os.path.join(folder, "integer.results.npz"), probe0=np.array([7, 9], np.uint32))
            kept = probe_worker.Driver, probe_worker.Bench
            probe_worker.Driver, probe_worker.Bench = lambda: types.SimpleNamespace(sm_count=1), FakeBench
            try:
                report = probe_worker.Worker(folder).run({"family": "integer", "index": 0, "out": folder})
            finally:
                probe_worker.Driver, probe_worker.Bench = kept
            self.assertEqual((report["wrong"], report["operands"]), (1, ["0x4"]))
            self.assertEqual(list(np.load(os.path.join(folder, "probe0.npy"))), [7, 8])

    def test_a_form_that_faults_is_marked_and_the_others_run(self):
        script = ('import json, os, sys\nprint(json.dumps({"ready": 1}), flush=True)\nfor line in sys.stdin:\n'
                  '    bad = json.loads(line)["index"] == 1\n'
                  '    good = {"report": {"count": 2, "wrong": 0, "nans": 0, "worst": 0, "first": None}}\n'
                  '    print(json.dumps({"fault": "ILLEGAL"} if bad else good), flush=True)\n'
                  '    if bad: os._exit(3)\n')
        jobs = [{"family": "warp", "index": i, "name": f"form{i}", "run": {}, "refused": False} for i in range(3)]
        with tempfile.TemporaryDirectory() as folder:
            worker, results = os.path.join(folder, "worker.py"), os.path.join(folder, "results.json")
            with open(worker, "w") as f:
                f.write(script)
            supervisor.run_jobs("", jobs, float("inf"), script=worker)
            reports = [probe_check.report_of(j) for j in jobs]
            self.assertEqual([r.get("fault") for r in reports], [None, "ILLEGAL", None])
            with open(results, "w") as f:
                json.dump({"forms": reports, "missing": []}, f)
            page = probe_table.page(results, "a device")
        self.assertIn("| warp | 3 | 4 | 0 | 0 | 0 | 1 | 0 |", page)
        self.assertIn("## Forms that fault\n- `form1`: ILLEGAL\n", page)


    def test_what_the_simulator_refuses_must_fault(self):
        job = {"family": "tensor copies", "name": "form", "refused": True}
        faults = probe_check.report_of(dict(job, result={"fault": "cuCtxSynchronize: CUDA_ERROR_ILLEGAL_INSTRUCTION (715)"}))
        self.assertEqual((faults["wrong"], "fault" in faults), (0, False))
        hangs = probe_check.report_of(dict(job, result={"fault": "hung"}))
        self.assertEqual(hangs["fault"], "hung")
        ran = {"report": {"count": 1, "wrong": 1, "nans": 0, "worst": 0, "first": "the device runs what the simulator refuses"}}
        self.assertEqual(probe_check.report_of(dict(job, result=ran))["wrong"], 1)


if __name__ == "__main__":
    unittest.main()
