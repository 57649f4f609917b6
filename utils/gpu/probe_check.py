"""Runs the probe of a pack on the GPU, compares it with the simulator's results, and prints a table last."""
import argparse
import json
import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
sys.path[:0] = [HERE, ROOT]

import numpy as np

from driver import Driver
from launcher import Launcher, Tensor

# Mantissa bits and width of the elements of a result type.
FLOATS = {"f64": (52, 64), "f32": (23, 32), "tf32": (23, 32), "bf16": (7, 16), "bf16x2": (7, 16), "f16": (10, 16),
          "f16x2": (10, 16), "e4m3x2": (3, 8), "e5m2x2": (2, 8)}
NAN = {"f64": 0x7ff0 << 48, "f32": 0x7f800000, "tf32": 0x7f800000, "bf16": 0x7f80, "bf16x2": 0x7f80, "f16": 0x7c00,
       "f16x2": 0x7c00, "e4m3x2": 0x7e, "e5m2x2": 0x7c}
# Allowed error of sums in units of the largest result; see include/tilec/Simulator/Mma.h.
SUMS = {"sum": 2.0 ** -19, "sum8": 2.0 ** -10}


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


def compare(got, want, entry):
    """{count, wrong, nans, worst, first}: nans: NaNs of other bits; worst: distance, in ulps or as a part of the sum."""
    result, ulps = entry["result"], entry["ulps"]
    if isinstance(ulps, str):
        return compare_sums(got, want, result, SUMS[ulps])
    got, want = elements(got, result), elements(want, result)
    differ = got != want
    report = {"count": got.size, "nans": 0, "worst": 0, "wrong": 0, "first": None}
    if result in FLOATS:
        width = FLOATS[result][1]
        magnitude = np.uint64((1 << (width - 1)) - 1)
        both = ((got & magnitude) > NAN[result]) & ((want & magnitude) > NAN[result])
        report["nans"] = int((differ & both).sum())
        differ &= ~both
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


def compare_sums(got, want, result, allowed):
    kind = np.float16 if result == "f16" else np.float32
    a, b = got.view(kind).astype(np.float64), want.view(kind).astype(np.float64)
    allowed = max(allowed, 2.0 ** -9 if result == "f16" else 0)
    scale = np.abs(b).max()
    error = np.abs(a - b) / scale
    wrong = ~(error <= allowed)
    report = {"count": a.size, "nans": 0, "worst": float(f"{error.max():.3g}"), "wrong": int(wrong.sum()), "first": None}
    if wrong.any():
        at = int(np.flatnonzero(wrong)[0])
        report["first"] = f"element {at}: device {a[at]!r}, simulator {b[at]!r}"
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


def check_family(driver, name, kept):
    """The reports of a family's forms."""
    stem = os.path.join(ROOT, name)
    with open(stem + ".json") as f:
        entries = json.load(f)
    bench, results = Bench(driver, np.load(stem + ".inputs.npz")), np.load(stem + ".results.npz")
    reports = []
    for entry in entries:
        want = results[entry["entry"]]
        got = bench.run(stem + ".ptx", entry, want.dtype)
        report = dict(compare(got, want, entry), name=entry["name"], family=name)
        if report["wrong"] or report["nans"]:
            kept[entry["entry"]] = got
            if "at" in report:
                report["operands"] = [hex(int(bench.arrays[k][report["at"]])) for k in entry["inputs"].values()
                                      if report["at"] < bench.arrays[k].size]
        reports.append(report)
    bench.free()
    return reports


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("families", nargs="*")
    parser.add_argument("--out", default=ROOT, help="where results.json and device.npz go")
    args = parser.parse_args()
    with open(os.path.join(ROOT, "pack.json")) as f:
        manifest = json.load(f)
    driver, reports, kept, started = Driver(), [], {}, time.monotonic()
    rows = []
    for name in args.families or manifest["families"]:
        found = check_family(driver, name, kept)
        reports += found
        rows.append((name, len(found), sum(r["count"] for r in found), sum(r["wrong"] > 0 for r in found),
                     sum(r["nans"] > 0 for r in found), max(r["worst"] for r in found)))
        for r in found:
            if r["wrong"] or r["nans"]:
                print(f"{name}: {r['name']}: {r['wrong']} of {r['count']} differ, {r['nans']} NaNs; {r['first']} "
                      f"{r.get('operands', '')}", flush=True)
    with open(os.path.join(args.out, "results.json"), "w") as f:
        json.dump(reports, f, indent=1)
    np.savez_compressed(os.path.join(args.out, "device.npz"), **kept)
    print(f"{'family':16s} {'forms':>6s} {'values':>9s} {'differ':>7s} {'NaN bits':>9s} {'worst':>10s}")
    for row in rows:
        print(f"{row[0]:16s} {row[1]:6d} {row[2]:9d} {row[3]:7d} {row[4]:9d} {row[5]:10.3g}")
    wrong = sum(r["wrong"] > 0 for r in reports)
    print(f"{len(reports)} forms, {wrong} differ, {len(manifest['missing'])} not simulated, "
          f"{time.monotonic() - started:.0f} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
