import numpy as np
from refutil import *


def number(run, name, kind="f32"):
    return float(round_to(float(run[name]), kind))


def rows(run, kind="f32", large=3e38):
    """Normal numbers of many magnitudes; then rows of -0 and 0, of subnormals, with NaN, with infinities of one and of
    both signs, and of large numbers, which may overflow when they are multiplied."""
    g, M, N = rng(run), run["M"], run["N"]
    X = round_to(g.normal(size=(M, N)) * np.exp2(g.integers(-3, 4, (M, N))), kind)
    special = [lambda x: np.where(np.arange(N) % 2, 0.0, -0.0), lambda x: x * 2.0 ** -148,
               lambda x: np.where(np.arange(N) == N // 2, np.nan, x),
               lambda x: np.where(np.arange(N) % 7 == 3, -np.inf, x),
               lambda x: np.where(np.arange(N) % 7 == 5, np.inf, np.where(np.arange(N) == 0, -np.inf, x)),
               lambda x: np.full(N, -np.inf), lambda x: np.sign(x) * large]
    for m, change in enumerate(special, 1):
        if m < M:
            X[m] = round_to(change(X[m]), kind)
    return X


def most(x, axis=1):
    return np.max(x, axis, initial=-np.inf)


def least(x, axis=1):
    return np.min(x, axis, initial=np.inf)


def make(run):
    name, N = run["kernel"], run["N"]
    n = np.arange(N)
    with np.errstate(all="ignore"):
        if name == "narrow":
            return make_narrow(run)
        # A difference that contracts with a product differs from one of rounded products that overflow.
        X, c = rows(run, large=3e37 if name == "unknown" else 3e38), number(run, "c")
        times = lambda x, f: round_to(x * f, "f32")
        inputs, expected = {"X": tensor("f32", X), "c": c}, {}
        if name == "positive":
            y, square = times(X, c), times(X, times(c, c))
            first = np.where(np.isnan(square).any(1), np.isnan(square).argmax(1), square.argmax(1)) if N else -1
            expected = {"Hi": most(y), "Lo": least(times(X, times(c, round_to(0.3, "f32")))),
                        "At": np.broadcast_to(first, len(X))}
        elif name == "negative":
            expected = {"Hi": most(times(np.where(n % 3 != 0, X, np.inf), c)),
                        "Lo": least(times(X, round_to(-0.7, "f32"))), "Div": most(round_to(X / c, "f32"))}
        elif name == "masked":
            y = times(X, c)
            expected = {"A": most(np.where(n % 2 == 0, y, -np.inf)), "B": least(np.where(n % 2 == 0, 0, y)),
                        "C": most(y[:, n % 5 == 1])}
        else:
            S = normal(rng(run, 1), (len(X),))
            y = times(X, 3)
            difference = y - most(y)[:, None]
            inputs["S"] = tensor("f32", S)
            lowest = -float(np.finfo(np.float32).max)
            expected = {"Hi": most(times(X, c)), "Each": most(times(X, S[:, None])),
                        "Low": most(np.where(n % 2 == 0, times(X, 2), lowest)), "Y": difference}
    tolerance = {k: exact() for k in expected}
    if name == "unknown":
        size = np.abs(most(y))[:, None] + np.zeros(N)
        tolerance["Y"] = close(1e-6, np.where(np.isfinite(size), size, 0) * 2.0 ** -23)
    return inputs, expected, tolerance


def make_narrow(run):
    h, z = number(run, "h", "f16"), number(run, "z", "bf16")
    X = rows(run, "f16")
    X[1:] = round_to(normal(rng(run, 2), X[1:].shape), "f16")
    Z = rows(run, "bf16")
    expected = {"A": most(round_to(X * h, "f16")), "B": most(round_to(Z / z, "f32")),
                "All": np.array([most(round_to(X * (h * 0.25), "f32"), None)])}
    return ({"X": tensor("f16", X), "Z": tensor("bf16", Z), "h": h, "z": z}, expected, {k: exact() for k in expected})
