import numpy as np
from refutil import *


def make(run):
    M, N = run["M"], run["N"]
    g = rng(run)
    X = ints(g, (M, N), -500, 500)
    if run["kernel"] == "above":
        Z = ints(g, (M, N), -9, 9)
        count, top = np.zeros(M), np.full(M, -1000.0)
        for begin in range(0, N, 1024):
            part = X[:, begin:begin + 1024]
            top = np.maximum(top, part.max(1))
            count += (part == top[:, None]).sum(1)
        want = {"Count": count.astype(int), "Total": Z.sum(1)}
        return {"X": tensor("f32", X), "Z": tensor("f32", Z)}, want, {name: exact() for name in want}
    low, high = X.min(1, initial=1000)[:, None], X.max(1, initial=-1000)[:, None]
    want = {"Y": (X - low) * high, "Positive": (X > 0).sum(1)}
    return {"X": tensor("f32", X)}, want, {name: exact() for name in want}
