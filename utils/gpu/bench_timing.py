"""Times launches in two regimes. Needs PyTorch.

single: one launch after an idle gap, in random order, the L2 cache flushed before it. sustained: blocks of back-to-back
launches with a flush between, blocks in random order. Only figures of one such duel may be compared: the card's clock
moves with its power.
"""
import ctypes
import random
import statistics
import time

import torch

from bench_results import middle, survivors

FLUSH_BYTES = 256 << 20                        # several times the 50 MB of L2
GAP = 0.006                                    # seconds of idling before a single launch
HOLDS = (600000, 2400000, 9600000)             # cycles that the device waits so that the host's launch time does not show
HIGHEST_CLOCK = 2e9                            # Hz: a hold is at least this short
HEATS, SINGLES, ROUNDS, BLOCK_MS = 3, 15, 3, 40


class Clocks:
    """Clocks of the multiprocessors and the memory in MHz, power in W, read through NVML; None without it."""

    SM, MEMORY = 1, 2                          # nvmlClockType_t

    def __init__(self):
        try:
            self.library, self.device = ctypes.CDLL("libnvidia-ml.so.1"), ctypes.c_void_p()
            if self.library.nvmlInit_v2() or self.library.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(self.device)):
                self.library = None
        except OSError:
            self.library = None

    def _read(self, function, *which):
        value = ctypes.c_uint()
        if self.library is None or getattr(self.library, function)(self.device, *which, ctypes.byref(value)):
            return None
        return value.value

    def now(self):
        power = self._read("nvmlDeviceGetPowerUsage")
        return dict(sm=self._read("nvmlDeviceGetClockInfo", self.SM),
                    memory=self._read("nvmlDeviceGetClockInfo", self.MEMORY), watts=power and power // 1000)

    def driver(self):
        text = ctypes.create_string_buffer(96)
        if self.library is None or self.library.nvmlSystemGetDriverVersion(text, len(text)):
            return None
        return text.value.decode()

    def most(self):
        """The highest clocks that the card may take."""
        return dict(sm=self._read("nvmlDeviceGetMaxClockInfo", self.SM),
                    memory=self._read("nvmlDeviceGetMaxClockInfo", self.MEMORY))


def event():
    return torch.cuda.Event(enable_timing=True)


def shuffled(names):
    return random.sample(list(names), len(names))


class Timer:
    """tell(candidate, seconds): called before every step, with the time that it may take."""

    def __init__(self, tell, quick):
        self.flush = torch.empty(FLUSH_BYTES, dtype=torch.uint8, device="cuda")
        self.tell, self.clocks = tell, Clocks()
        self.singles, self.rounds = (SINGLES // 2, 1) if quick else (SINGLES, ROUNDS)

    def once(self, launch):
        """Milliseconds of one launch after an idle gap; again with a longer hold where the host was too slow for it."""
        for hold in HOLDS:
            time.sleep(GAP)
            self.flush.zero_()
            a, z = event(), event()
            begin = time.perf_counter()
            torch.cuda._sleep(hold)
            a.record()
            launch()
            z.record()
            spent = time.perf_counter() - begin
            torch.cuda.synchronize()
            if spent < hold / HIGHEST_CLOCK:
                break
        return a.elapsed_time(z)

    def block(self, launch, once):
        """(milliseconds of each launch of a block with its first quarter left out, clocks under way)."""
        count = max(8, int(BLOCK_MS / (once + 0.08)))
        events = [(event(), event()) for _ in range(count)]
        torch.cuda._sleep(HOLDS[-1])           # gives the host a lead
        for a, z in events:
            self.flush.zero_()
            a.record()
            launch()
            z.record()
        clocks = self.clocks.now()
        torch.cuda.synchronize()
        return [a.elapsed_time(z) for a, z in events][count // 4:], clocks

    def singly(self, candidates, repetitions):
        """{candidate: median of single launches}, all candidates in random order in every round."""
        times = {c: [] for c in candidates}
        for _ in range(repetitions):
            for c in shuffled(candidates):
                self.tell(c, 10)
                times[c].append(self.once(candidates[c]))
        return {c: statistics.median(t) for c, t in times.items()}

    def duel(self, candidates):
        """candidates: {(peer, configuration): launch}. Heats of single launches leave few configurations of a peer,
        single launches the best one, which alone runs sustained.
        Gives {(peer, configuration): {single, sustained, clocks}} of the best ones."""
        heats = self.singly(candidates, HEATS)
        single = self.singly({c: candidates[c] for c in survivors(heats)}, self.singles)
        best = [min((c for c in single if c[0] == peer), key=single.get) for peer in {c[0]: None for c in single}]
        sustained, clocks = ({c: [] for c in best} for _ in range(2))
        for _ in range(self.rounds):
            for c in shuffled(best):
                self.tell(c, 20)
                time.sleep(0.05)
                times, seen = self.block(candidates[c], single[c])
                sustained[c] += times
                clocks[c].append(seen)
        return {c: dict(single=single[c], sustained=statistics.median(sustained[c]), clocks=middle(clocks[c]))
                for c in best}
