import numpy as np
from refutil import *


def make(run):
    M, N, kernel = run["M"], run["N"], run["kernel"]
    g, o, p = rng(run), run.get("offset", 0), run.get("offset_out", 0)
    if kernel == "centred":
        X, W = ints(g, (M, N), -99, 99), ints(g, N, -9, 9)
        want = X + W - (X.max(1, keepdims=True) if N else 0)
        pad = run.get("pad", 0)
        return {"X": tensor("bf16", X, (N + pad, 1), o), "W": tensor("bf16", W),
                "LX": N + pad, "LY": N + 2 * pad,
                "Y": output("f16", (M, N), (N + 2 * pad, 1), p)}, {"Y": want}, {"Y": exact()}
    if kernel == "bytes":
        X = ints(g, (M, N), -128, 127)
        return {"X": tensor("i8", X, None, o), "Y": output("u8", (M, N), None, p)}, {"Y": X % 128}, {"Y": exact()}
    if kernel == "moved":
        X = ints(g, (M, N), -99, 99)
        wide = np.concatenate([X, np.zeros((M, 3), X.dtype)], 1)
        one = wide[:, 1:N + 1].copy()
        if N:
            one[:, N - 1] = 2
        return {"X": tensor("bf16", X, None, o), "Y": output("bf16", (M, N), None, p)}, {"Y": one + wide[:, 3:]}, \
            {"Y": exact()}
    X = ints(g, (M, N), -99, 99)
    return {"X": tensor("f16", X, None, o), "Y": output("f16", (M, N), None, p)}, {"Y": 2 * X}, {"Y": exact()}
