"""Shapes for choices.c, and the variants that the launcher in Python takes for them.

    choices.py shapes > FILE; choices.py variants REFLECTION MULTIPROCESSORS < FILE
"""
import json
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "utils", "gpu"))

from launcher import Launcher, Tensor


class Device:
    """Answers what a launcher asks before it launches."""

    def __init__(self, multiprocessors):
        self.sm_count = multiprocessors

    def allocate(self, size):
        return 1 << 20

    def encode_tensor_map(self, *_):
        return bytes(128)


def shapes():
    random.seed(1)
    yield from ((8192, 8192, 8192, 0), (1024, 1024, 1024, 0), (8192, 1280, 8192, 0), (16, 8192, 8192, 0), (1, 1, 1, 2),
                (4095, 4097, 4104, 0), (128, 28672, 8192, 0), (1, 8192, 0, 0))
    for _ in range(300):
        m, n, k = (int(2 ** random.uniform(0, 14)) for _ in range(3))
        yield m, n * 8 if random.random() < 0.8 else n, k * 8, random.choice((0, 0, 0, 2))


def main():
    if sys.argv[1] == "shapes":
        for shape in shapes():
            print(*shape)
        return
    with open(sys.argv[2]) as f:
        kernel = next(k for k in json.load(f)["kernels"] if k["name"] == "product")
    launcher = Launcher(kernel, Device(int(sys.argv[3])))
    for line in sys.stdin:
        m, n, k, offset = map(int, line.split())
        variant, _ = launcher.plan({"A": Tensor(1 << 40 | offset, (m, k)), "B": Tensor(1 << 44, (n, k)),
                                    "C": Tensor(1 << 46, (m, n))})
        print(variant)


if __name__ == "__main__":
    main()
