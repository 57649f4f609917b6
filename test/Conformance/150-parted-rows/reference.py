import numpy as np
from refutil import *


def weighted(run, g, M, N, o, p):
    X, W, B = ints(g, (M, N), -99, 99), ints(g, N, -9, 9), ints(g, N, -9, 9)
    n, pad, top = np.arange(N), run.get("pad", 0), X.max(1, keepdims=True) if N else 0
    inputs = {"X": tensor("bf16", X, (N + pad, 1), o), "W": tensor("bf16", W, None, run.get("offset_w", 0)),
              "B": tensor("f32", B, None, run.get("offset_b", 0)), "LX": N + pad, "LY": N + 2 * pad,
              "Y": output("f32", (M, N), (N + 2 * pad, 1), p), "Sum": output("f32", (M,)),
              "Least": output("f32", (M,)), "At": output("i64", (M,))}
    return inputs, {"Y": (X - top) * W + B + n % 16, "Sum": X.sum(1), "Least": X.min(1, initial=np.inf) if not N else X.min(1),
                    "At": X.argmax(1) if N else np.full(M, run.get("none", -1))}


def make(run):
    M, N, kernel = run["M"], run["N"], run["kernel"]
    g, o, p = rng(run), run.get("offset", 0), run.get("offset_out", 0)
    if kernel == "weighted":
        inputs, results = weighted(run, g, M, N, o, p)
    elif kernel == "centred":
        X = ints(g, (M, N), -99, 99)
        inputs = {"X": tensor("bf16", X, None, o), "Y": output("bf16", (M, N), None, p)}
        results = {"Y": X - (X.max(1, keepdims=True) if N else 0)}
    elif kernel == "in_place":
        X = ints(g, (M, N), -99, 99)
        inputs, results = {"X": tensor("bf16", X, None, o)}, {"X": X - (X.max(1, keepdims=True) if N else 0)}
    elif kernel == "reversed":
        X = ints(g, (M, N), -99, 99)
        inputs, results = {"X": tensor("f32", X, None, o)}, {"X": X[:, ::-1] + 1}
    elif kernel == "narrowed":
        X, Z = ints(g, (M, N), -99, 99), ints(g, (M, N), -99, 99)
        inputs = {"X": tensor("f16", X, None, o), "Z": tensor("f32", Z, None, run.get("offset_z", 0)),
                  "Y": output("u8", (M, N), None, p)}
        results = {"Y": X % 128, "Z": Z + X}
    elif kernel == "halves":
        X = ints(g, (M, 2 * N), -99, 99)
        inputs = {"X": tensor("bf16", X, None, o), "Y": output("f32", (M, N), None, p)}
        results = {"Y": X[:, :N] * X[:, N:]}
    elif kernel == "gathered":
        X, ids = ints(g, (run["V"], N), -99, -1), ints(g, (M,), -2, run["V"] + 2).astype(np.int64)
        inside = (ids >= 0) & (ids < run["V"])
        rows = np.where(inside[:, None], X[np.clip(ids, 0, run["V"] - 1)], 0)
        inputs = {"X": tensor("f64", X, None, o), "ids": tensor("i32", ids), "Y": output("f64", (M, N), None, p),
                  "Sum": output("f64", (M,)), "Top": output("f64", (M,))}
        results = {"Y": rows, "Sum": rows.sum(1), "Top": rows.max(1)}
    elif kernel == "tiled":
        X, R = ints(g, (M, N), -99, 99), ints(g, N, -9, 9)
        inputs = {"X": tensor("bf16", X, None, o), "R": tensor("f32", R, None, run.get("offset_w", 0)),
                  "Y": output("bf16", (M, N), None, p)}
        results = {"Y": X + R}
    else:
        C = run["C"]
        inputs, results = {"C": C, "Y": output("i32", (M, N), None, p)}, {"Y": np.arange(N) * C + np.arange(M)[:, None]}
    return inputs, results, {name: exact() for name in results}
