"""Runs jobs through worker processes that may hang or die: a time-out or a death fails one job, never the rest."""
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
START_LIMIT = 120                                          # seconds for a worker to create its context
WORKER = os.path.join(HERE, "worker.py")


class WorkerProcess:
    """One worker, its answers read by a thread so that waiting can time out. prefix: command before python3; script:
    what it runs."""

    def __init__(self, root, prefix=(), log=None, script=None):
        command = [*prefix, sys.executable, script or WORKER, root]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True,
                                        start_new_session=True)
        self.lines = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        self.other = []                                    # lines that are no answers: the sanitizer's
        ready = self.answer(START_LIMIT)
        if ready is None or "ready" not in ready:
            self.kill()
            raise RuntimeError("the worker does not start: " + " | ".join(self.other[-5:]))

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def answer(self, limit):
        """The next answer; None where the worker ends or `limit` seconds pass (then `timed_out`)."""
        self.timed_out, end = False, time.monotonic() + limit
        while True:
            try:
                line = self.lines.get(timeout=max(0.0, end - time.monotonic()))
            except queue.Empty:
                self.timed_out = True
                return None
            if line is None:
                return None
            if line.startswith("{"):
                return json.loads(line)
            self.other.append(line.rstrip())

    def drain(self, seconds):
        """Takes in what the sanitizer prints a little after an answer."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                line = self.lines.get(timeout=max(0.0, end - time.monotonic()))
            except queue.Empty:
                return
            if line is None:
                self.lines.put(None)
                return
            self.other.append(line.rstrip())

    def send(self, job):
        try:
            self.process.stdin.write(json.dumps(job) + "\n")
            self.process.stdin.flush()
        except OSError:
            pass                                           # the missing answer says so

    def kill(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)    # the worker may be a child of the sanitizer
        except ProcessLookupError:
            pass
        self.process.wait()
        self.process.stdin.close()

    def close(self):
        """Ends the worker after its last job; collects what it still prints."""
        self.process.stdin.close()
        try:
            self.process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self.kill()
        while True:
            line = self.lines.get()
            if line is None:
                return
            self.other.append(line.rstrip())


def run_jobs(root, jobs, deadline, limit=30, large_limit=120, prefix=(), log=None, script=None):
    """Executes the jobs in order; sets job["result"], a worker's answer. Jobs after the deadline get none."""
    worker = None
    for job in jobs:
        if time.monotonic() > deadline:
            break
        try:
            worker = worker or WorkerProcess(root, prefix, log, script)
        except RuntimeError as e:
            job["result"] = {"fault": str(e)}
            continue
        last = job
        worker.other.clear()
        worker.send({k: v for k, v in job.items() if k != "result"})
        answer = worker.answer(large_limit if job["run"].get("large") else limit)
        timed_out = worker.timed_out
        if prefix:
            worker.drain(0.1)
        job["notes"] = list(worker.other)
        if answer is None:
            answer = {"fault": "hung" if timed_out else "the worker process died"}
        job["result"] = answer
        if timed_out or worker.process.poll() is not None or _dies(worker, answer):
            worker.kill()
            worker = None
    if worker:
        worker.other.clear()
        worker.close()
        last["notes"] += worker.other                      # whatever came late


def _dies(worker, answer):
    """Whether the worker ends after this answer (a sticky error); waits for a moment, as the exit takes one."""
    if "fault" not in answer:
        return False
    try:
        worker.process.wait(timeout=0.3)
        return True
    except subprocess.TimeoutExpired:
        return False


def run_parallel(root, groups, deadline, workers, **options):
    """Executes groups of jobs on several workers at once; the jobs of a group follow each other on one worker."""
    pending = queue.Queue()
    for g in groups:
        pending.put(g)

    def jobs():
        while True:
            try:
                group = pending.get_nowait()
            except queue.Empty:
                return
            yield from group

    threads = [threading.Thread(target=lambda: run_jobs(root, jobs(), deadline, **options)) for _ in range(workers)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()


def starts(root, prefix):
    """None where a worker starts after the command `prefix`, else why it does not."""
    try:
        WorkerProcess(root, prefix).close()
        return None
    except RuntimeError as e:
        return str(e)
