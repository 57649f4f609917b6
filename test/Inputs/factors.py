"""Factors for factors.c, and the variants that the launcher in Python takes for them.

    factors.py numbers > FILE; factors.py variants REFLECTION < FILE
"""
import json
import sys

import numpy as np

from choices import Device, Launcher, Tensor

INSIDE = (0.125, 0x3800, 0x3f80)                            # 0.125, 0.5, 1
NUMBERS = (
    ("1", "9.094947e-13", "9.094946e-13", "1.0995116e12", "1.0995117e12", "0", "-0", "-0.125", "nan", "inf", "-inf",
     "1e-40", "3e38"),
    (0x3c00, 0x1400, 0x13ff, 0x6400, 0x6401, 0x0000, 0x8000, 0xb800, 0x7e00, 0x7c00, 0x0001),
    (0x3f80, 0x2b80, 0x2b7f, 0x5380, 0x5381, 0x0000, 0x8000, 0xbf80, 0x7fc0, 0x7f80, 0x0001))


def numbers():
    for position, values in enumerate(NUMBERS):
        for value in values:
            line = list(INSIDE)
            line[position] = value
            print(line[0], *(f"{bits:x}" for bits in line[1:]))


def variants(path):
    with open(path) as f:
        launcher = Launcher(json.load(f)["kernels"][0], Device(132))
    for line in sys.stdin:
        a, b, c = line.split()
        values = {"a": np.float32(a), "b": np.uint16(int(b, 16)).view(np.float16),
                  "c": (np.uint32(int(c, 16)) << np.uint32(16)).view(np.float32)}
        tensors = {"Q": Tensor(1 << 40, (128, 64)), "K": Tensor(1 << 44, (256, 64)), "O": Tensor(1 << 46, (128,))}
        print(launcher.plan({**tensors, **values})[0])


if __name__ == "__main__":
    numbers() if sys.argv[1] == "numbers" else variants(sys.argv[2])
