"""Operands of the probe: special values of each type, then random patterns."""
import zlib

import numpy as np

COUNT = 2048

SPECIAL = {
    "f16": (0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x0400, 0x3c00, 0xbc00, 0x3c01, 0x4000, 0x3800, 0x7bff, 0xfbff,
            0x7c00, 0xfc00, 0x7e00, 0x7d01, 0xfe00),
    "bf16": (0x0000, 0x8000, 0x0001, 0x8001, 0x007f, 0x0080, 0x3f80, 0xbf80, 0x3f81, 0x4000, 0x3f00, 0x7f7f, 0xff7f,
             0x7f80, 0xff80, 0x7fc0, 0x7f81, 0xffc0),
    "f32": (0, 1 << 31, 1, 0x80000001, 0x007fffff, 0x00800000, 0x3f800000, 0xbf800000, 0x3f800001, 0x40000000,
            0x3f000000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001, 0xffc00000,
            0x477fe000, 0x477ff000, 0x43e00000, 0x43e80000, 0x3f808000, 0x3f818000, 0x3f801000, 0x4f000000, 0x5f000000,
            0x40600000, 0xc0200000, 0x33000000, 0x33000001),
    "f64": (0, 1 << 63, 1, (1 << 63) + 1, (1 << 52) - 1, 1 << 52, 0x3ff0 << 48, 0xbff0 << 48, 0x4000 << 48,
            0x3fe0 << 48, 0x7fefffffffffffff, 0xffefffffffffffff, 0x7ff0 << 48, 0xfff0 << 48, 0x7ff8 << 48,
            (0x7ff0 << 48) + 1, 0x3ff0000010000000, 0x3ff0000030000000, 0x47efffffe0000000, 0x47effffff0000000,
            0x36a0000000000000, 0x3690000000000000, 0x41dfffffffc00000, 0x43e0000000000000, 0xc3e0000000000000),
}


def integers(bits):
    top = 1 << (bits - 1)
    return (0, 1, 2, 3, 7, 8, top - 1, top, top + 1, 2 * top - 1, 2 * top - 2, 0x55555555 & (2 * top - 1), 127, 128, 255)


def specials(name):
    """Patterns of a type, and the width of its random ones."""
    if name in ("f16x2", "bf16x2"):
        values = SPECIAL[name[:-2]]
        return [a | b << 16 for a, b in zip(values, values[1:] + values[:1])], 32
    if name in ("e4m3x2", "e5m2x2"):
        return [a | (255 - a) << 8 for a in range(256)], 16
    if name == "tf32":
        return list(SPECIAL["f32"]), 32
    if name == "positive32":
        return [v for v in SPECIAL["f32"] if not v >> 31], 31
    if name in SPECIAL:
        return list(SPECIAL[name]), int(name.strip("bf"))
    if name == "lane":
        return list(range(32)), 5
    if name == "offset":
        return [*range(34), *((1 << 32) - i for i in range(1, 34))], 3
    if name == "shift":
        return list(range(70)), 8
    bits = int(name.lstrip("nonzerusb"))
    return [v for v in integers(bits) if v or not name.startswith("nonzero")], bits


def near(values, name, random):
    """Floats of about one size, so that sums lose bits and cancel."""
    keep = {"f32": 0x807fffff, "f64": (0x800f << 48) + (1 << 48) - 1, "f16": 0x83ff, "bf16": 0x807f}.get(name)
    if keep is None:
        return values
    one = {"f32": 0x3f800000, "f64": 0x3ff0 << 48, "f16": 0x3c00, "bf16": 0x3f80}[name]
    step = {"f32": 23, "f64": 52, "f16": 10, "bf16": 7}[name]
    exponent = one + (random.integers(-6, 7, values.size).astype(object) << step)
    return np.array([(int(v) & keep) + int(e) for v, e in zip(values, exponent)], np.uint64)


def operands(name, which):
    """COUNT patterns as uint64; operand `which` of an instruction meets the others in all pairs of special values."""
    random = np.random.default_rng([zlib.crc32(name.encode()), which])
    values, bits = specials(name)
    result = random.integers(0, 1 << 63, COUNT, dtype=np.uint64) * np.uint64(2) + random.integers(0, 2, COUNT).astype(np.uint64)
    result >>= np.uint64(64 - bits)
    half = COUNT // 2
    result[half:half + half // 2] = near(result[half:half + half // 2], name, random)
    period = (1, len(values), 5)[which]
    grid = [values[(i // period + (i if which == 2 else 0)) % len(values)] for i in range(min(len(values) ** 2, half))]
    result[:len(grid)] = np.array(grid, np.uint64)
    if name.startswith("nonzero"):
        result |= np.uint64(1)
    return result
