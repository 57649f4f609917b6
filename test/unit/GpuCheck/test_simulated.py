"""Tests of the comparison of a GPU's outputs with the simulator's, without either."""
import contextlib
import io
import json
import os
import sys
import tempfile
import unittest

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
sys.path[:0] = [os.path.join(ROOT, "utils", "gpu"), os.path.join(ROOT, "test", "Conformance")]

import check
import simulated
import suite
import worker


class Digests(unittest.TestCase):
    def test_bits_and_shape_count(self):
        a = np.array([[0.0, 1.0]], np.float32)
        self.assertEqual(simulated.digest(a), simulated.digest(a.copy()))
        self.assertNotEqual(simulated.digest(a), simulated.digest(-a))
        self.assertNotEqual(simulated.digest(a), simulated.digest(a.reshape(2)))

    def test_a_worker_keeps_what_differs(self):
        same, other = np.arange(4, dtype=np.float32), np.ones(4, np.float32)
        with tempfile.TemporaryDirectory() as folder:
            job = {"simulated": {"Y": simulated.digest(same), "Z": simulated.digest(same)}, "keep": folder, "number": 3}
            self.assertEqual(worker.Worker.differing(job, {"Y": same, "Z": other}), ["Z"])
            self.assertEqual(os.listdir(folder), ["3-Z.npy"])

    def test_jobs_carry_the_digests_of_their_runs(self):
        run = {"N": 5}
        entry = {"case": "c", "arch": "sm_80", "tag": "default", "json": "j", "image": "i", "repeat": True, "fault": None,
                 "runs": [run, {"N": 6}]}
        jobs = check.jobs_of(entry, False, {simulated.key(entry, run): {"Y": "abc"}}, "folder")
        self.assertEqual([j.get("simulated") for j in jobs], [{"Y": "abc"}, None])


class Comparison(unittest.TestCase):
    """On a case of the suite, of whose outputs one run is changed by hand."""

    def compare(self, change):
        case = next(c for c in suite.cases(["example-softmax"]) if c.name == "example-softmax")
        index = next(i for i, r in enumerate(case.data["runs"]) if simulated.comparable(r) and 0 not in r.values())
        _, expected, _ = case.make(case.runs()[index])
        output = next(iter(expected))
        array = np.asarray(np.ma.getdata(expected[output]), np.float32)
        key = f"{case.name} sm_80 default {json.dumps(case.data['runs'][index], sort_keys=True)} | {output}"
        with tempfile.TemporaryDirectory() as folder:
            ours, theirs = os.path.join(folder, "ours.npz"), os.path.join(folder, "theirs.npz")
            np.savez(ours, **{key + " | f32": array})
            np.savez(theirs, **{key: change(array)})
            text = io.StringIO()
            with contextlib.redirect_stdout(text):
                status = simulated.compare(ours, theirs)
        return status, text.getvalue()

    def test_within_the_tolerance(self):
        status, text = self.compare(lambda a: np.nextafter(a, np.float32(np.inf)))
        self.assertEqual(status, 0, text)
        self.assertIn("near example-softmax", text)

    def test_beyond_the_tolerance(self):
        status, text = self.compare(lambda a: a + np.float32(1))
        self.assertEqual(status, 1)
        self.assertIn("FAIL example-softmax", text)


if __name__ == "__main__":
    unittest.main()
