import numpy as np
from refutil import *

SPECIAL = np.array([1, 3, -7, 0, -0.0, np.inf, -np.inf, np.nan, 2.0 ** -149, -3 * 2.0 ** -149, 2.0 ** -128, 2.0 ** -127, 2.0 ** -126,
                    (1 - 2.0 ** -23) * 2.0 ** -126, 2.0 ** 126, 1.0000001 * 2.0 ** 126, -(2.0 ** 127), 1.99 * 2.0 ** 127, 2.0 ** -62, 2.0 ** 64])


def numbers(g, count):
    """Special numbers and numbers of all exponents, in f32."""
    wide = g.uniform(1, 2, count) * 2.0 ** g.integers(-149, 128, count) * g.choice([-1, 1], count)
    near = g.uniform(1, 2, count) * 2.0 ** g.integers(-8, 8, count)
    return round_to(np.where(g.random(count) < 0.3, g.choice(SPECIAL, count), np.where(g.random(count) < 0.5, wide, near)), "f32")


def narrowed(x, name):
    """Quotients, rounded where they overflow, and the allowed error: half a unit of the format and 1.5 units of f32."""
    bits, least, _, _ = FORMATS[name]
    rounded = round_to(x, name)
    _, e = np.frexp(np.where(np.isfinite(x), x, 1.0))
    unit = np.ldexp(1.0, np.maximum(e - 1, least) - (bits - 1))
    outside = np.abs(rounded) >= FORMATS[name][2]
    return np.where(outside, rounded, x), close(0.0, (0.5 + 1.5 * 2.0 ** (bits - 24)) * unit)


@np.errstate(all="ignore")
def make(run):
    M, N, kernel = run["M"], run["N"], run["kernel"]
    g = rng(run)
    D = numbers(g, M)
    D[:min(M, len(SPECIAL))] = round_to(SPECIAL, "f32")[:M]
    if kernel == "products":
        K = run["K"]
        A, B = ints(g, (M, K), -3, 3) * 2.0 ** g.integers(-60, 60, (M, 1)), ints(g, (N, K), -3, 3)
        want, tolerance = narrowed(A @ B.T / D[:, None], "bf16")
        return {"A": tensor("bf16", A), "B": tensor("bf16", B), "D": tensor("f32", D)}, {"Y": want}, {"Y": tolerance}
    X = numbers(g, M * N).reshape(M, N)
    inputs = {"X": tensor("f32", X), "D": tensor("f32", D)}
    if kernel == "quotients":
        results = {name: narrowed(X / D[:, None], t) for name, t in zip("ABCE", ("bf16", "f16", "f8e4m3", "f8e5m2"))}
        return inputs, *({name: pair[i] for name, pair in results.items()} for i in (0, 1))
    d = D[:, None]
    y, toleranceY = narrowed(np.where(d > 0, X / d, 0), "bf16")
    z, toleranceZ = narrowed(np.where(np.arange(N) % 2 == 0, d / X, X), "f16")
    return inputs, {"Y": y, "Z": z, "W": round_to(X / np.abs(d), "f32")}, {"Y": toleranceY, "Z": toleranceZ, "W": exact()}
