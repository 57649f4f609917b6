import math

import numpy as np
from refutil import *

# Errors in units of the last place, f32 and f64; those of f64 include the reference's own.
ERRORS = {"exp": (3.1, 2), "exp2": (3.1, 2), "log": (1, 2.5), "log2": (1, 3), "sqrt": (0.5, 0.5), "rsqrt": (1, 2),
          "sin": (1.75, 3), "cos": (1.75, 3), "tanh": (2.5, 3.5), "sigmoid": (6.5, 4), "erf": (2, 2.5), "pow": (2, 3),
          "fmod": (0, 0)}
SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 0.5, 2.0, -2.0, 3.0, 1e30, -1e30, 1e-30, 1e-40, 16367173 * 2.0 ** 72]


def reference(name, x, y):
    f = {"exp": np.exp, "exp2": np.exp2, "log": np.log, "log2": np.log2, "sqrt": np.sqrt, "sin": np.sin, "cos": np.cos,
         "tanh": np.tanh, "rsqrt": lambda v: 1 / np.sqrt(v), "sigmoid": lambda v: 1 / (1 + np.exp(-v)),
         "erf": np.vectorize(math.erf)}.get(name)
    if f:
        return f(x)
    return np.power(x, y) if name == "pow" else np.fmod(x, y)


def make(run):
    N, g = run["N"], rng(run)
    t, digits = ("f32", 0) if run["kernel"] == "single" else ("f64", 1)
    # Every exponent, the range where exp is finite, and the neighbourhood of 1.
    x = np.ldexp(g.uniform(-2, 2, N), g.integers(-40, 40, N))
    x[::3] = g.uniform(-110, 100, N)[::3]
    x[1::3] = g.uniform(0.9, 1.1, N)[1::3]
    x[1::7] = np.ldexp(g.uniform(-2, 2, N), g.integers(-150, 127, N))[1::7]
    y = g.uniform(-20, 20, N)
    y[::5] = np.rint(y[::5])
    for i, special in enumerate([(a, b) for a in SPECIAL for b in SPECIAL]):
        x[i], y[i] = special
    x, y = round_to(x, t), round_to(y, t)
    want, tolerance = {}, {}
    with np.errstate(all="ignore"):
        for name, errors in ERRORS.items():
            want[name.upper()] = round_to(reference(name, x, y), t)
            # exp and exp2 may flush subnormal results; half a unit is the rounding of the reference.
            unit, least = (2.0 ** -23, 2.0 ** -126) if t == "f32" else (2.0 ** -52, 2.0 ** -1022)
            flushes = least if name in ("exp", "exp2", "sigmoid") else 0.0
            error = errors[digits]
            tolerance[name.upper()] = close((error + 0.5) * unit, flushes + 4 * least * unit) if error else exact()
    return {"X": tensor(t, x), "Y": tensor(t, y)}, want, tolerance
