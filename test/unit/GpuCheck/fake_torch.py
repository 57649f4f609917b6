"""Stands for the parts of PyTorch that bench_timing.py uses: a device whose launches take as long as they say."""
import sys
import types


class Event:
    def __init__(self, enable_timing):
        self.at = None

    def record(self):
        self.at = device.clock

    def elapsed_time(self, other):
        return other.at - self.at


class Device:
    """clock: milliseconds of launches so far; host: seconds that the host took to start them."""

    def __init__(self):
        self.clock, self.host, self.holds, self.log = 0.0, 0.0, [], []

    def kernel(self, name, milliseconds, host=1e-5):
        def launch():
            self.log.append(name)
            self.clock += milliseconds
            self.host += host
        return launch

    def time(self):
        """Stands for the module time."""
        return types.SimpleNamespace(sleep=lambda seconds: None, perf_counter=lambda: self.host)


class Memory:
    def zero_(self):
        device.log.append("flush")


device = Device()


def install():
    """Puts the stand-in where `import torch` finds it; gives its device."""
    torch = types.ModuleType("torch")
    torch.uint8 = None
    torch.empty = lambda *shape, **more: Memory()
    torch.cuda = types.SimpleNamespace(Event=Event, synchronize=lambda: None, _sleep=device.holds.append)
    sys.modules["torch"] = torch
    return device
