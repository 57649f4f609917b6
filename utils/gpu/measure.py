"""Measures packed kernels beside their peers and prints tables of ratios last. Needs PyTorch.

All candidates of a problem run in one process, each after its result was checked (bench_worker.py, bench_timing.py).
A candidate that hangs or kills the process is left out and the problem measured again in another one. Peers that compile
do so in other processes ahead of the measurements (bench_compile.py). FlashAttention-3 runs in a process of its own.

--peers FOLDER: what the user has prepared; tilelang and fa3, folders of Python packages, and cutile, of images made by
cutile_build.py. A peer that cannot be imported is `not there`. Nothing is downloaded.
"""
import argparse
import datetime
import json
import os
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
sys.path.insert(0, HERE)

import bench_peers
import bench_results
import bench_shapes
from bench_peers import OURS, PEERS_FOLDER, SECOND
from supervisor import WorkerProcess, run_parallel

COMPILE_LIMIT, COMPILERS = 90, max(1, min(12, (os.cpu_count() or 2) - 4))
FIRST_WORD = 120                               # seconds until a job says what it does
TRIES = 6                                      # processes that one problem may cost
SECOND_SECONDS = 30                            # of the budget that are kept for FlashAttention-3


class Ahead:
    """Compilation in other processes; the first problems come first."""

    def __init__(self, specs, peers, deadline, log, script=os.path.join(HERE, "bench_compile.py")):
        self.jobs = {s.name: [dict(case=s.name, peer=p, configuration=list(c), run={})
                              for p, configurations in bench_peers.configurations(s).items()
                              if p in bench_peers.COMPILED and p in peers for c in configurations]
                     for s in specs}
        groups = [[job] for jobs in self.jobs.values() for job in jobs]
        self.thread = threading.Thread(daemon=True, target=lambda: run_parallel(
            ROOT, groups, deadline, min(COMPILERS, max(1, len(groups))), limit=COMPILE_LIMIT, log=log, script=script))
        self.thread.start()

    def wait(self, name, deadline):
        """Waits for the problem's jobs; the candidates that did not compile, with the reason."""
        while self.thread.is_alive() and time.monotonic() < deadline \
                and any("result" not in j for j in self.jobs[name]):
            time.sleep(0.05)
        found = []
        for j in self.jobs[name]:
            fault = j.get("result", {"fault": "no time to compile"}).get("fault")
            if fault:
                found.append(dict(peer=j["peer"], config=bench_peers.label(j["configuration"]), fault=f"compiling: {fault}"))
        return found


class Session:
    """The process that measures, replaced when it hangs or dies."""

    def __init__(self, log, start=None):
        self.absent = []                       # faults of peers whose import ended the process
        self.worker, self.start = None, start or (
            lambda: WorkerProcess(ROOT, log=log, script=os.path.join(HERE, "bench_worker.py")))

    def ask(self, job):
        """(the answer, None), or (None, (peer, configuration, what it did)) where the process hung or died."""
        try:
            self.worker = self.worker or self.start()
        except RuntimeError as e:
            return None, ("", "", str(e))
        self.worker.send(job)
        doing, limit, words = ("", ""), FIRST_WORD, None
        while True:
            message = self.worker.answer(limit)
            if message is None:
                what = "hung" if self.worker.timed_out else "the process died"
                self.close()
                return None, (*doing, f"{what}: {words}" if words else what)
            if "doing" in message:
                doing, limit = tuple(message["doing"]), message["seconds"]
            elif "last_words" in message:
                words = message["last_words"]
            else:
                return message, None

    def facts(self):
        """The card and the versions, or what went wrong."""
        for _ in range(TRIES):
            answer, guilty = self.ask(dict(facts=True, exclude=[[f["peer"], f["config"]] for f in self.absent]))
            if answer or not guilty[0]:
                break
            self.absent.append(dict(peer=guilty[0], config=guilty[1], fault=guilty[2]))
        return answer or dict(fault=guilty[2])

    def measure(self, job, known=()):
        """Rows and faults of a problem. Candidates that cost a process are left out in the next try."""
        blamed = [*self.absent, *known]
        for _ in range(TRIES):
            answer, guilty = self.ask(dict(job, exclude=[[f["peer"], f["config"]] for f in blamed]))
            if answer is not None and "fault" not in answer:
                return merge(answer, blamed)
            if answer is not None or not guilty[0]:
                fault = answer["fault"] if answer else guilty[2]
                return merge(dict(rows=[], faults=[dict(peer=OURS, config="", fault=fault)]), blamed)
            blamed.append(dict(peer=guilty[0], config=guilty[1], fault=guilty[2]))
        return merge(dict(rows=[], faults=[dict(peer=OURS, config="", fault="too many processes died")]), blamed)

    def close(self):
        if self.worker:
            self.worker.kill()
        self.worker = None


def merge(answer, blamed):
    """The answer with the faults known before; a peer with faults alone gets a row that says so."""
    faults = [*answer["faults"], *blamed]
    measured = {r["peer"] for r in answer["rows"] if "fault" not in r}
    missing = {}
    for f in faults:
        if f["peer"] not in measured:
            missing.setdefault(f["peer"], f)
    return dict(rows=[*(r for r in answer["rows"] if "fault" not in r), *missing.values()], faults=faults)


def second_process(results, folder, seconds):
    """FlashAttention-3 beside cuDNN for the results that have attention; adds its rows."""
    wanted = {r["name"]: r for r in results if r["set"] == "attention" and bench_results.row_of(r, "cuDNN")}
    if not wanted:
        return
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(
        [os.path.join(folder or "", "fa3"), os.environ.get("PYTHONPATH", "")]))
    command = [sys.executable, os.path.join(HERE, "peer_fa3.py"), *wanted]
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=seconds)
        lines, why = done.stdout, done.stderr.strip().splitlines()[-1:] or [f"it ended with {done.returncode}"]
    except subprocess.TimeoutExpired as e:
        lines, why = (e.stdout or b"").decode(), ["no time"]
    rows = {}
    for line in lines.splitlines():
        if line.startswith("{"):
            row = json.loads(line)
            rows[row.pop("case")] = row
    fault = f"not there: {why[0]}" if "ModuleNotFoundError" in why[0] else why[0]
    for name, result in wanted.items():
        result["rows"].append(rows.get(name, dict(peer=SECOND, fault=fault)))


def facts_of(session, args):
    facts = session.facts()
    facts.update(date=str(datetime.date.today()), quick=args.quick, regimes=dict(
        single="median of single launches in random order, each after an idle gap and a flush of L2",
        sustained="median of launches in blocks of 40 ms in random order, L2 flushed before each launch"))
    return facts


def header(facts):
    return (f"{facts['date']}, {facts.get('device')}, driver {facts.get('driver')}, CUDA {facts.get('cuda')}, "
            f"PyTorch {facts.get('pytorch')}; {bench_results.versions(facts)}")


def prepare_environment(args, caches):
    """What the processes inherit: where packages and images lie, and caches that nobody else shares."""
    if args.peers:
        folder = os.path.abspath(args.peers)
        os.environ[PEERS_FOLDER] = folder
        os.environ["PYTHONPATH"] = os.pathsep.join(
            p for p in (os.path.join(folder, "tilelang"), os.environ.get("PYTHONPATH")) if p)
    for variable, name in (("TRITON_CACHE_DIR", "triton"), ("TILELANG_CACHE_DIR", "tilelang"),
                           ("TORCHINDUCTOR_CACHE_DIR", "inductor")):
        os.environ[variable] = os.path.join(caches, name)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("patterns", nargs="*", help="only problems whose set, name or kernel holds one of these; "
                        "a+b: both")
    parser.add_argument("--filter", action="append", default=[], help="the same as a pattern")
    parser.add_argument("--rank", type=int, default=3, help="1: the most important problems, 2: the usual shapes too, 3: all")
    parser.add_argument("--peers", help="folder with prepared peers")
    parser.add_argument("--only", action="append", help="measure beside this peer alone (may be repeated)")
    parser.add_argument("--without", action="append", default=[], help="leave this peer out (may be repeated)")
    parser.add_argument("--budget", type=float, default=1e9, help="seconds; the most important problems come first")
    parser.add_argument("--json", default="bench-results.json", help="the results (default: %(default)s)")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions")
    parser.add_argument("--cache", help="folder that keeps what the peers compile (default: a temporary one)")
    parser.add_argument("--list", action="store_true", help="name the problems and stop")
    args = parser.parse_args()
    args.only = [p for p in (args.only or bench_results.COLUMNS) if p not in args.without]
    return args


def run(args, specs, caches, log):
    """Measures what the time allows; gives the results and how many problems are left."""
    start = time.monotonic()
    seconds = SECOND_SECONDS if SECOND in args.only and any(s.kind == "attention" for s in specs) else 0
    end = start + args.budget
    deadline = max(end - seconds, start + args.budget / 2)
    session, results = Session(log), []
    ahead = Ahead(specs, args.only, deadline, log)
    facts = facts_of(session, args)
    run = dict(facts=facts, results=results)
    for spec in specs:
        known = ahead.wait(spec.name, deadline)
        if time.monotonic() > deadline:
            break
        found = session.measure(dict(case=spec.name, peers=args.only, quick=args.quick), known)
        results.append(dict(set=spec.set, name=spec.name, family=spec.family, dtype=spec.dtype, sizes=spec.sizes,
                            distribution=spec.distribution, work=spec.work, unit=spec.unit, **found))
        print(f"{time.monotonic() - start:6.1f} s {spec.name}", flush=True)
        save(args.json, run)
    session.close()
    if seconds:
        second_process(results, args.peers, max(5, end - time.monotonic()))
        save(args.json, run)
    return run, specs[len(results):]


def save(path, run):
    with open(path, "w") as f:
        json.dump(run, f, indent=0)


def main():
    args = parse()
    specs = bench_shapes.problems(args.patterns + args.filter, args.rank)
    if args.list:
        print("\n".join(f"{s.rank} {s.set}: {s.name}" for s in specs))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        prepare_environment(args, args.cache or folder)
        with open(os.path.join(folder, "log"), "a+") as log:
            results, left = run(args, specs, args.cache or folder, log)
            if any("died" in f["fault"] or "start" in f["fault"] for r in results["results"] for f in r["faults"]):
                log.seek(0)
                print("the processes' last words:\n" + log.read()[-3000:])
        print(header(results["facts"]))
        bench_results.show(results["results"])
        for peer, version in results["facts"].get("versions", {}).items():
            if version.startswith("not there"):
                print(f"{peer}: {version}")
        if left:
            print(f"no time for {len(left)} problems, from `{left[0].name}` on")
    return 0


if __name__ == "__main__":
    sys.exit(main())
