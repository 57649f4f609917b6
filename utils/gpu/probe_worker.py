"""Executes forms of the probe on one device, each of which answers with a report; see serve.py."""
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]               # refutil.py lies beside this folder in a pack

import numpy as np

from driver import Driver
from launcher import Launcher, Tensor
from serve import serve

STORAGE = {"u8": np.uint8, "u32": np.uint32, "u64": np.uint64}
# Mantissa bits and width of the elements of a result type.
FLOATS = {"f64": (52, 64), "f32": (23, 32), "tf32": (23, 32), "bf16": (7, 16), "bf16x2": (7, 16), "f16": (10, 16),
          "f16x2": (10, 16), "e4m3x2": (3, 8), "e5m2x2": (2, 8)}
NAN = {"f64": 0x7ff0 << 48, "f32": 0x7f800000, "tf32": 0x7f800000, "bf16": 0x7f80, "bf16x2": 0x7f80, "f16": 0x7c00,
       "f16x2": 0x7c00, "e4m3x2": 0x7e, "e5m2x2": 0x7c}


def elements(values, result):
    """One uint64 an element; packed results are taken apart."""
    values = np.asarray(values).astype(np.uint64).reshape(-1)
    if not result.endswith("x2"):
        return values
    width = np.uint64(FLOATS[result][1])
    return np.stack([values & np.uint64((1 << int(width)) - 1), values >> width], -1).reshape(-1)


def ordered(patterns, width):
    """Integers in the order of the floats that the patterns stand for."""
    sign = 1 << (width - 1)
    return np.array([-(int(p) - sign) if int(p) & sign else int(p) for p in patterns], object)


def close(got, want, allowed):
    """Where two arrays of patterns of f32 differ by at most `allowed`."""
    with np.errstate(invalid="ignore"):
        return np.abs(got.astype(np.uint32).view(np.float32) - want.astype(np.uint32).view(np.float32)) <= allowed


def compare(got, want, entry):
    """{count, wrong, nans, worst, first, nan}: nans: NaNs of other bits, nan: the first; worst: distance in ulps."""
    result, ulps = entry["result"], entry["ulps"]
    got, want = elements(got, result), elements(want, result)
    differ = got != want
    report = {"count": got.size, "nans": 0, "worst": 0, "wrong": 0, "first": None}
    if result in FLOATS:
        width = FLOATS[result][1]
        magnitude = np.uint64((1 << (width - 1)) - 1)
        both = ((got & magnitude) > NAN[result]) & ((want & magnitude) > NAN[result])
        both &= differ
        report["nans"] = int(both.sum())
        differ &= ~both
        if both.any():
            at = int(np.flatnonzero(both)[0])
            report["nan"] = f"device {int(got[at]):#x}, simulator {int(want[at]):#x}"
        if entry.get("absolute") and result == "f32":
            differ &= ~close(got, want, entry["absolute"])
        if ulps is not None:
            at = np.flatnonzero(differ)
            distance = np.abs(ordered(got[at], width) - ordered(want[at], width))
            report["worst"] = int(max(distance, default=0))
            differ[at] = distance > ulps
    report["wrong"] = int(differ.sum())
    if report["wrong"]:
        at = int(np.flatnonzero(differ)[0])
        report["first"] = f"element {at}: device {int(got[at]):#x}, simulator {int(want[at]):#x}"
        report["at"] = at
    return report


class Bench:
    """Device memory for the arrays of a family, uploaded once."""

    def __init__(self, driver, arrays):
        self.driver, self.arrays, self.addresses = driver, arrays, {}

    def tensor(self, key):
        array = self.arrays[key]
        if key not in self.addresses:
            self.addresses[key] = self.driver.allocate(array.nbytes)
            self.driver.upload(self.addresses[key], np.ascontiguousarray(array).view(np.uint8).reshape(-1))
        return Tensor(self.addresses[key], array.shape)

    def run(self, image, entry, dtype):
        """The output of a probe."""
        count = entry["out"][1]
        out = self.driver.allocate(count * dtype.itemsize)
        self.driver.fill(out, 0, count * dtype.itemsize)
        arguments = {name: self.tensor(key) for name, key in entry["inputs"].items()}
        arguments["D"] = Tensor(out, (count,))
        _, launches = Launcher(entry["kernel"], self.driver).plan(arguments)
        for ready in launches:
            self.driver.launch(self.driver.function(image, ready.entry), ready)
        self.driver.synchronize()
        result = np.frombuffer(bytes(self.driver.download(out, count * dtype.itemsize)), dtype)
        self.driver.free(out)
        return result

    def free(self):
        for address in self.addresses.values():
            self.driver.free(address)


class Worker:
    """Keeps the arrays of one family on the device."""

    def __init__(self, root):
        self.root, self.driver, self.family, self.bench = root, Driver(), None, None

    def load(self, family):
        if self.bench:
            self.bench.free()
        stem = os.path.join(self.root, family)
        with open(stem + ".json") as f:
            self.entries = json.load(f)
        self.bench, self.results = Bench(self.driver, np.load(stem + ".inputs.npz")), np.load(stem + ".results.npz")
        self.family = family

    def run(self, job):
        if job["family"] != self.family:
            self.load(job["family"])
        entry, image = self.entries[job["index"]], os.path.join(self.root, self.family + ".cubin")
        if entry["refused"]:
            self.bench.run(image, entry, np.dtype(STORAGE[entry["out"][0]]))
            return {"count": 1, "nans": 0, "worst": 0, "wrong": 1, "first": "the device runs what the simulator refuses"}
        want = self.results[entry["entry"]]
        got = self.bench.run(image, entry, want.dtype)
        report = compare(got, want, entry)
        if report["wrong"] or report["nans"]:
            np.save(os.path.join(job["out"], entry["entry"] + ".npy"), got)
        if "at" in report:
            report["operands"] = [hex(int(self.bench.arrays[k][report["at"]])) for k in entry["inputs"].values()
                                  if report["at"] < self.bench.arrays[k].size]
        return report


if __name__ == "__main__":
    serve(lambda: Worker(sys.argv[1]), lambda worker, job: {"report": worker.run(job)})
