"""Executes jobs on one device: reads a JSON job a line, answers a JSON result a line. See supervisor.py.

A sticky device error ends the process after its answer; the supervisor starts another.
"""
import json
import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]               # refutil.py lies beside this folder in a pack

import numpy as np

import refutil
import simulated
from driver import Driver, DriverError
from execute import Fault, execute


class Worker:
    """Caches reflections and references over the jobs of one process."""

    def __init__(self, root):
        self.root, self.driver = root, Driver()
        self.reflections, self.cases = {}, {}

    def run(self, job):
        path = os.path.join(self.root, job["json"])
        if path not in self.reflections:
            with open(path) as f:
                self.reflections[path] = json.load(f)
        folder = os.path.join(self.root, "cases", job["case"])
        if folder not in self.cases:
            self.cases[folder] = refutil.load(folder)
        case, make = self.cases[folder]
        run = refutil.full_run(case, job["run"])
        outputs = {} if job.get("simulated") else None
        variant = execute(self.driver, self.reflections[path], os.path.join(self.root, job["image"]), make, run,
                          job.get("repeat", True), job.get("exact", False), outputs)
        return {"variant": variant, "differs": self.differing(job, outputs)} if outputs else {"variant": variant}

    @staticmethod
    def differing(job, outputs):
        """The outputs whose bits are not the simulator's; their arrays go to the folder `keep`."""
        names = [n for n, array in outputs.items() if simulated.digest(array) != job["simulated"].get(n)]
        for n in names if job.get("keep") else ():
            np.save(os.path.join(job["keep"], f"{job['number']}-{n}.npy"), outputs[n])
        return names


def main():
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)                                          # whatever else prints must not break the protocol
    worker = Worker(sys.argv[1])
    print(json.dumps({"ready": worker.driver.sm_count}), file=answers)
    for line in sys.stdin:
        start, answer, fatal = time.monotonic(), {}, False
        try:
            answer.update(worker.run(json.loads(line)))
        except Fault as e:
            answer["fault"] = str(e)
        except DriverError as e:
            answer["fault"], fatal = str(e), e.sticky
        except Exception as e:                             # a fault of the harness is reported, never hidden
            answer["fault"] = f"{type(e).__name__}: {e}"
        answer["seconds"] = round(time.monotonic() - start, 3)
        print(json.dumps(answer), file=answers)
        if fatal:
            answers.flush()
            os._exit(3)                                    # no clean-up: the context is gone


if __name__ == "__main__":
    main()
