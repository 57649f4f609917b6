"""Measures problems one after another in one process: every candidate is checked, then all are timed. See measure.py.

A job names a problem and the candidates to leave out. Before every step that could hang the supervisor is told which
candidate is at work and for how long at most, so that it knows whom to leave out when it has to start another process.
"""
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
sys.path.insert(0, HERE)

import torch

import bench_peers
import bench_problems
import bench_shapes
from bench_peers import OURS
from bench_timing import Timer
from driver import Driver
from launcher import Launcher, Tensor
from serve import serve

FIRST_LAUNCH, MAKING = 120, 120                # seconds that a candidate's first launch, and a problem's tensors, may take


class Kernel:
    """A packed kernel; bind() gives a function that launches it on the current stream."""

    def __init__(self, driver, build):
        with open(os.path.join(ROOT, build["json"])) as f:
            kernels = json.load(f)["kernels"]
        self.driver, self.image = driver, os.path.join(ROOT, build["image"])
        self.launcher = Launcher(next(k for k in kernels if k["name"] == build["kernel"]), driver)

    def bind(self, **arguments):
        given = {n: Tensor(a.data_ptr(), a.shape) if torch.is_tensor(a) else a for n, a in arguments.items()}
        variant, launches = self.launcher.plan(given)
        ready = [(self.driver.function(self.image, l.entry), l) for l in launches]
        spaces = list(self.launcher.workspaces.values())
        cleared = [w for w in spaces if w.clear]

        def go():
            stream = torch.cuda.current_stream().cuda_stream
            for w in cleared:
                self.driver.fill(w.address, 0, w.size, stream)
            for function, launch in ready:
                self.driver.launch(function, launch, stream)
        go.variant, go.release = variant, lambda: [self.driver.free(w.address) for w in spaces]
        return go


def outputs(launch, results):
    """Runs it on poisoned outputs; gives what it returned, or the outputs."""
    for r in results:
        r.poison()
    given = launch()
    torch.cuda.synchronize()
    if given is None:
        return [r.tensor for r in results]
    return list(given) if isinstance(given, tuple) else [given]


def checked(launch, problem, twice):
    """The largest relative error of the launch's results; raises ValueError where one is wrong. A peer may return the
    first result alone. twice: a second launch must give equal bits."""
    results = getattr(launch, "results", problem.results)
    got = outputs(launch, results)
    errors = [r.error(t) for r, t in zip(results, got)]
    for e, r in zip(errors, results):
        if not e <= r.limit:
            raise ValueError(f"wrong: relative error {e:.1e}")
    if twice:
        first = [t.clone() for t in got]
        if not all(torch.equal(a, b) for a, b in zip(first, outputs(launch, results))):
            raise ValueError("wrong: two launches give different bits")
    return max(errors)


class Worker:
    def __init__(self):
        torch.zeros(1, device="cuda")
        torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
        self.driver = Driver()
        self.specs = {s.name: s for s in bench_shapes.problems()}
        with open(os.path.join(ROOT, "bench.json")) as f:
            self.builds = json.load(f)
        self.timers = {}

    def run(self, job):
        self.excluded = {tuple(e) for e in job["exclude"]}
        return self.facts() if job.get("facts") else self.measure(job)

    def facts(self):
        properties = torch.cuda.get_device_properties(0)
        versions = {}
        for peer in bench_peers.MODULES:
            versions[peer], _ = self.present(peer)
        clocks = self.timer(False).clocks
        return dict(device=properties.name, multiprocessors=properties.multi_processor_count, cuda=torch.version.cuda,
                    driver=clocks.driver(), pytorch=torch.__version__, versions=versions, highest_clocks=clocks.most(),
                    idle_clocks=clocks.now())

    def timer(self, quick):
        if quick not in self.timers:
            self.timers[quick] = Timer(lambda c, seconds: self.tell(dict(doing=list(c), seconds=seconds)), quick)
        return self.timers[quick]

    def measure(self, job):
        """{rows, faults} of a problem; see bench_results.py."""
        spec = self.specs[job["case"]]
        self.tell(dict(doing=["", ""], seconds=MAKING))
        problem = bench_problems.make(spec)
        self.faults, self.facts_of = [], {}
        candidates = {**self.ours(problem), **self.theirs(problem, job["peers"])}
        rows = [dict(self.facts_of[c], peer=c[0], config=c[1], **times)
                for c, times in self.timer(job.get("quick", False)).duel(candidates).items()]
        for launch in candidates.values():
            getattr(launch, "release", lambda: None)()
        del candidates, problem
        torch.cuda.empty_cache()
        return dict(rows=rows, faults=self.faults)

    def ours(self, problem):
        found = {}
        for b in self.builds:
            if b["family"] != problem.spec.family:
                continue
            if b["fault"]:
                self.faults.append(dict(peer=OURS, config=b["tag"], fault=b["fault"]))
            else:
                self.add(found, (OURS, b["tag"]), lambda: Kernel(self.driver, b).bind(**problem.arguments), problem)
        return found

    def theirs(self, problem, peers):
        found = {}
        for peer, configurations in bench_peers.configurations(problem.spec).items():
            if peer not in peers:
                continue
            version, module = self.present(peer)
            if module is None:
                self.faults.append(dict(peer=peer, fault=version))
                continue
            for c in configurations:
                self.add(found, (peer, bench_peers.label(c)), lambda: module.bind(peer, problem, c), problem)
        return found

    def present(self, peer):
        """(version, module) of a peer, or (why it is not there, None)."""
        if (peer, bench_peers.IMPORT) in self.excluded:
            return "not there: it cannot be imported in this process", None
        self.tell(dict(doing=[peer, bench_peers.IMPORT], seconds=FIRST_LAUNCH))
        try:
            module = bench_peers.module(peer)
            return module.version(peer), module
        except Exception as e:                 # an installation can be broken in many ways
            return f"not there: {type(e).__name__}: {e}"[:200], None

    def add(self, found, candidate, bind, problem):
        """Binds and checks a candidate; a fault is noted and leaves it out."""
        if candidate in self.excluded:
            return
        self.tell(dict(doing=list(candidate), seconds=FIRST_LAUNCH))
        fault = None
        try:
            launch = bind()
            if launch is not None:
                error = checked(launch, problem, candidate[0] == OURS)
                launch()
                found[candidate] = launch
                self.facts_of[candidate] = dict(error=error, variant=getattr(launch, "variant", None))
        except Exception as e:
            fault = f"{type(e).__name__}: {e}"[:400]
            self.faults.append(dict(peer=candidate[0], config=candidate[1], fault=fault))
        self.survive(fault)

    def survive(self, fault):
        """Ends the process where an error on the device has spoilt it; another one continues."""
        try:
            torch.cuda.synchronize()
        except Exception as e:
            self.tell(dict(last_words=fault or f"{type(e).__name__}: {e}"[:400]))
            os._exit(3)


if __name__ == "__main__":
    serve(Worker, Worker.run, told=(ValueError,))
