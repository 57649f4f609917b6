"""Executes jobs on one device; see serve.py."""
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]               # refutil.py lies beside this folder in a pack

import numpy as np

import refutil
import simulated
from driver import Driver
from execute import Fault, execute
from serve import serve


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


if __name__ == "__main__":
    serve(lambda: Worker(sys.argv[1]), Worker.run, told=(Fault,))
