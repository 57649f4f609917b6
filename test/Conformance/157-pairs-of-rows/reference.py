import numpy as np
from refutil import *


def make(run):
    g, M, N, kernel = rng(run), *(run[n] for n in ("M", "N", "kernel"))
    offset, shared = run.get("offset", 0), run.get("offset_g", 0)
    if kernel == "bytes":
        K = run["K"]
        X, W = (ints(g, shape, -20, 20).astype(np.int64) for shape in ((K, M, N), (N,)))
        total = (X * W).sum(2)
        inputs = {"X": tensor("i8", X, offset=offset), "W": tensor("i32", W, offset=shared),
                  "Y": output("i8", (K, M, N)), "Sum": output("i32", (K, M))}
        return inputs, {"Y": (X + W + total[..., None]) & 63, "Sum": total}, {"Y": exact(), "Sum": exact()}
    if kernel == "part":
        P = run["P"]
        X, W, Y = (ints(g, shape, -100, 100).astype(np.float64) for shape in ((P, N), (N,), (M, N)))
        inputs = {"X": tensor("f32", X, offset=offset), "W": tensor("f32", W, offset=shared), "Y": tensor("f32", Y)}
        return inputs, {"Y": np.concatenate([X * W - X.max(1, keepdims=True), Y[P:]])}, {"Y": exact()}
    # Far from zero, so that an absent element that is taken for one shows.
    X = round_to(normal(g, (M, N), "bf16") + 3, "bf16")
    G, B = normal(g, (N,), "bf16"), normal(g, (N,), "f32")
    inputs = {"X": tensor("bf16", X, offset=offset), "G": tensor("bf16", G, offset=shared), "B": tensor("f32", B),
              "Y": output("bf16", (M, N)), "Var": output("f32", (M,))}
    c = X - X.mean(1)[:, None]
    var = (c * c).mean(1)
    spread = 2.0 ** -24 * (N + 2) * (np.abs(X).mean(1) + 1)
    return inputs, {"Y": c * G + B, "Var": var}, {
        "Y": close(rtol=2.0 ** -7, atol=spread[:, None] * (np.abs(G) + 1) + 2.0 ** -9 * (np.abs(c * G) + np.abs(B))),
        "Var": close(atol=8 * spread * (np.sqrt(var) + 1))}
