"""Which seeds and schedules a run of a case is simulated with, which of them have passed already, and when to stop."""
import hashlib
import os
import threading
import time
import zlib

SCHEDULES = ("late", "random", "late", "random", "early")


class SeedPlan:
    """seeds: how many of each run, from `first` on; 0: one run with the options as they are.

    state: a file of what has passed, so that a later call goes on where one ended; the programs are part of the key.
    seconds: after them nothing new begins. shard: (i, n), the i-th of n parts of all runs.
    """

    def __init__(self, seeds=0, first=0, state=None, seconds=None, shard=(0, 1)):
        self.seeds, self.first, self.state, self.shard = seeds, first, state, shard
        self.deadline = time.monotonic() + seconds if seconds else None
        self.passed, self.lock, self.left_out, self.done = set(), threading.Lock(), 0, 0
        if state and os.path.exists(state):
            with open(state) as f:
                self.passed = set(f.read().split("\n"))

    def chosen(self, name):
        return zlib.crc32(name.encode()) % self.shard[1] == self.shard[0]

    def options(self):
        """[(label, options of tile-run)] of a run."""
        if not self.seeds:
            return [("", [])]
        numbers = range(self.first, self.first + self.seeds)
        return [(f"seed {n} {SCHEDULES[n % len(SCHEDULES)]}", [f"--seed={n}", f"--schedule={SCHEDULES[n % len(SCHEDULES)]}"])
                for n in numbers]

    def wanted(self, key):
        """Whether a run is still to be made."""
        if key in self.passed:
            return False
        if self.deadline and time.monotonic() > self.deadline:
            with self.lock:
                self.left_out += 1
            return False
        return True

    def note(self, key):
        """A run has passed."""
        with self.lock:
            self.done += 1
            if self.state:
                with open(self.state, "a") as f:
                    f.write(key + "\n")


def digest(*paths):
    """A short name of the contents of files."""
    state = hashlib.sha1()
    for path in paths:
        with open(path, "rb") as f:
            state.update(f.read())
    return state.hexdigest()[:12]


def parse_shard(text):
    index, count = map(int, text.split("/"))
    if not 0 <= index < count:
        raise ValueError("expected I/N with 0 <= I < N")
    return index, count
