"""Arithmetic of the language on numpy arrays with named axes, for the reference evaluation of generated programs."""
import numpy as np

import refutil

INTEGERS = {"i8": np.int8, "u8": np.uint8, "i16": np.int16, "u16": np.uint16, "i32": np.int32, "u32": np.uint32,
            "i64": np.int64, "index": np.int64}
NARROW_FLOATS = ("bf16", "f16", "f8e4m3", "f8e5m2")
FLOATS = NARROW_FLOATS + ("f32", "f64")


def dtype(type_name):
    """The numpy type that computes in a type of the language; narrow floats are held as float32."""
    if type_name == "bool":
        return np.bool_
    return INTEGERS.get(type_name) or (np.float64 if type_name == "f64" else np.float32)


def convert(x, source, target):
    """A cast: floats round to nearest even, floats to integers truncate and saturate, integers keep their low bits."""
    x = np.asarray(x)
    if target in FLOATS:
        return refutil.round_to(x.astype(np.float64), target).astype(dtype(target))
    if source in FLOATS:
        info = np.iinfo(dtype(target))
        whole = np.trunc(np.nan_to_num(x.astype(np.float64), nan=0.0, posinf=2.0 ** 70, neginf=-2.0 ** 70))
        low = np.where(whole <= float(info.min), info.min, 0)
        inside = (whole > float(info.min)) & (whole < float(info.max))
        return np.where(inside, np.where(inside, whole, 0).astype(np.int64),
                        np.where(whole >= float(info.max), info.max, low)).astype(dtype(target))
    return x.astype(dtype(target))


def spread(x, axes, target):
    """An array whose dimensions are `axes` (sorted) viewed with the dimensions `target` (sorted)."""
    return np.asarray(x)[tuple(slice(None) if a in axes else None for a in target)]


def floor_divide(a, b):
    """Integer division that floors and gives 0 for a zero divisor."""
    safe = np.where(b == 0, 1, b).astype(b.dtype)
    wraps = (a == np.iinfo(a.dtype).min) & (safe == -1)
    return np.where(b == 0, 0, np.where(wraps, a, np.floor_divide(np.where(wraps, 0, a).astype(a.dtype), safe)))


def floor_remainder(a, b):
    """The remainder of floor_divide, 0 for a zero divisor."""
    safe = np.where(b == 0, 1, b).astype(b.dtype)
    return np.where((b == 0) | (safe == -1), 0, np.mod(a, np.where(safe == -1, 1, safe).astype(b.dtype)))


def shift_left(a, b):
    return np.left_shift(a, np.bitwise_and(b, a.dtype.itemsize * 8 - 1).astype(a.dtype))


def shift_right(a, b):
    return np.right_shift(a, np.bitwise_and(b, a.dtype.itemsize * 8 - 1).astype(a.dtype))


def nan_wins(function):
    return lambda a, b: np.where(np.isnan(a) | np.isnan(b), np.nan, function(a, b)) if a.dtype.kind == "f" \
        else function(a, b)


BINARY = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": floor_divide, "%": floor_remainder,
          "&": np.bitwise_and, "|": np.bitwise_or, "^": np.bitwise_xor, "<<": shift_left, ">>": shift_right,
          "min": nan_wins(np.minimum), "max": nan_wins(np.maximum), "<": np.less, "<=": np.less_equal,
          ">": np.greater, ">=": np.greater_equal, "==": np.equal, "!=": np.not_equal,
          "&&": np.logical_and, "||": np.logical_or}


def lowest(type_name):
    return -np.inf if type_name in FLOATS else np.iinfo(dtype(type_name)).min


def highest(type_name):
    return np.inf if type_name in FLOATS else np.iinfo(dtype(type_name)).max


def reduce(name, x, dimension, type_name, result):
    """sum, max, min, any, all, argmax or argmin over one dimension; an empty one gives the value of the language."""
    if name == "sum":
        wide = np.float64 if result in FLOATS else dtype(result)
        return np.add.reduce(x, axis=dimension, dtype=wide, initial=0).astype(dtype(result))
    if name in ("max", "min"):
        initial = lowest(type_name) if name == "max" else highest(type_name)
        return getattr(np, name)(x, axis=dimension, initial=initial).astype(x.dtype)
    if name in ("any", "all"):
        return getattr(np, name)(x, axis=dimension)
    if x.shape[dimension] == 0:
        return np.full([n for i, n in enumerate(x.shape) if i != dimension], -1, np.int64)
    return getattr(np, name)(x, axis=dimension).astype(np.int64)
