import numpy as np
from refutil import *


def mirrored(run):
    M, N, K = run["M"], run["N"], run["K"]
    g = rng(run)
    A, B, C = ints(g, (M, K), -3, 3), ints(g, (N, K), -3, 3), ints(g, (M, N), -9, 9)
    want = C + A @ B.T
    for start in range(0, M, 128):
        tile = want[start:start + 128]
        tile += 2 * tile[::-1].copy()
    return ({"A": tensor("bf16", A), "B": tensor("bf16", B), "C": tensor("f32", C)}, {"C": want}, {"C": exact()})


def make(run):
    if run["kernel"] == "mirrored":
        return mirrored(run)
    R, N, kernel = run["R"], run["N"], run["kernel"]
    g = rng(run)
    X, T = ints(g, (R, N), -9, 9), ints(g, (R, N), -9, 9)
    if kernel == "running":
        t = T[:, 0].copy() if N else ints(g, R, -9, 9)
        return ({"X": tensor("f32", X), "T": tensor("f32", t)}, {"T": 2 * (t + X.sum(1)), "Y": X + t[:, None]},
                {"T": exact(), "Y": exact()})
    if kernel == "one_hot":
        I = g.integers(-1, N + 1, R)
        return {"I": tensor("i32", I)}, {"Y": (np.arange(N) == I[:, None]).astype(float)}, {"Y": exact()}
    want = T.copy()
    if kernel == "folded":
        want = 2 * want - 2 * want[:, ::-1]
        want[:, :-1] += want[:, 1:].copy()
    else:
        for i in range(1, N):
            want[:, i] += 0 if i % 3 == 0 else want[:, i - 1]
        want[:, 1:] -= want[:, :-1].copy()
    return {"T": tensor("f32", T)}, {"T": want}, {"T": exact()}
