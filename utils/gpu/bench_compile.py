"""Compiles configurations of peers into their caches on disk, ahead of the measurements. See measure.py."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import bench_peers
import bench_shapes
from driver import Driver
from serve import serve


class Compiler:
    def __init__(self):
        self.driver = Driver()
        self.specs = {s.name: s for s in bench_shapes.problems()}

    def run(self, job):
        bench_peers.module(job["peer"]).prepare(self.specs[job["case"]], tuple(job["configuration"]))
        return {}


if __name__ == "__main__":
    serve(Compiler, Compiler.run)
