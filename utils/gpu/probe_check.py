"""Runs the probe of a pack on the GPU, compares it with the simulator's results, and prints a table last.

Forms run in a worker process, which is replaced when one of them faults or hangs.
"""
import argparse
import json
import os
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
sys.path[:0] = [HERE, ROOT]

import numpy as np

import probe_table
import supervisor


def jobs(families, patterns, folder):
    for family in families:
        with open(os.path.join(ROOT, family + ".json")) as f:
            for index, entry in enumerate(json.load(f)):
                if not patterns or any(p in entry["name"] or p in family for p in patterns):
                    yield {"family": family, "index": index, "name": entry["name"], "entry": entry["entry"],
                           "refused": entry["refused"],
                           "out": folder, "run": {}}


def report_of(job):
    answer = job.get("result", {"fault": "not run: the time was over"})
    if job["refused"] and "CUDA_ERROR" in answer.get("fault", ""):
        return {"count": 1, "wrong": 0, "nans": 0, "worst": 0, "first": None, "refused": answer["fault"], "name": job["name"],
                "family": job["family"]}
    found = answer.get("report") or {"count": 0, "wrong": 0, "nans": 0, "worst": 0, "first": None,
                                     "fault": answer["fault"]}
    return dict(found, name=job["name"], family=job["family"])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("patterns", nargs="*", help="only forms or families whose name holds one of these")
    parser.add_argument("--out", default=ROOT, help="where results.json and device.npz go")
    parser.add_argument("--minutes", type=float, default=9, help="forms that are not run by then are left out")
    args = parser.parse_args()
    with open(os.path.join(ROOT, "pack.json")) as f:
        manifest = json.load(f)
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        work = list(jobs(manifest["families"], args.patterns, folder))
        supervisor.run_jobs(ROOT, work, started + 60 * args.minutes, limit=8,
                            script=os.path.join(HERE, "probe_worker.py"))
        kept = {name[:-4]: np.load(os.path.join(folder, name)) for name in sorted(os.listdir(folder))}
    reports = [report_of(job) for job in work]
    with open(os.path.join(args.out, "results.json"), "w") as f:
        json.dump({"forms": reports, "missing": manifest["missing"]}, f, indent=1)
    np.savez_compressed(os.path.join(args.out, "device.npz"), **kept)
    for r in reports:
        if r["wrong"] or r["nans"] or "fault" in r:
            print(probe_table.line(r))
    print(probe_table.summary(reports))
    wrong, faults = sum(r["wrong"] > 0 for r in reports), sum("fault" in r for r in reports)
    print(f"{len(reports)} forms, {wrong} differ, {faults} fault, {len(manifest['missing'])} not simulated, "
          f"{time.monotonic() - started:.0f} s")
    return 1 if wrong or faults else 0


if __name__ == "__main__":
    sys.exit(main())
