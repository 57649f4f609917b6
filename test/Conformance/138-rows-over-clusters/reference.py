import numpy as np
from refutil import *


def make(run):
    M, N, kernel = run["M"], run["N"], run["kernel"]
    g, o = rng(run), run.get("offset", 0)
    if kernel == "softmax":
        X = normal(g, (M, N), "bf16")
        e = np.exp2(X - X.max(1, keepdims=True))
        s = e.sum(1, keepdims=True)
        return {"X": tensor("bf16", X, None, o), "Y": output("bf16", (M, N), None, o), "S": output("f32", M)}, \
            {"Y": e / s, "S": s[:, 0]}, {"Y": close(ULP["bf16"], 1e-6), "S": close(1e-5, 1e-5)}
    if kernel == "centred":
        X = ints(g, (M, N), -999, 999)
        return {"X": tensor("f64", X), "Y": output("f64", (M, N))}, {"Y": X - X.min(1, keepdims=True)}, {"Y": exact()}
    X, G = ints(g, (M, N), 0, 999), ints(g, N, 500, 999)
    X[:, N // 2] = 4
    return {"X": tensor("i16", X), "G": tensor("i16", G), "Y": output("i16", (M, N))}, \
        {"Y": np.minimum(G, X) - (X.min(1, keepdims=True) // 2)}, {"Y": exact()}
