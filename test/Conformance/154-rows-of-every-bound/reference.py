import numpy as np
from refutil import *


def make(run):
    g, M, N, kernel = rng(run), *(run[n] for n in ("M", "N", "kernel"))
    offset = run.get("offset", 0)
    if kernel == "bytes":
        X = ints(g, (M, N), -100, 100).astype(np.int64)
        low = X.min(1)
        inputs = {"X": tensor("i8", X, offset=offset), "Y": output("i8", (M, N)),
                  "Low": output("i32", (M,)), "Sum": output("i32", (M,))}
        results = {"Y": (X - low[:, None]) >> 1, "Low": low, "Sum": (X * X).sum(1)}
        return inputs, results, {name: exact() for name in results}
    dtype = {"centred": "bf16", "wide": "f32", "between": "f16"}[kernel]
    # Far from zero, so that an absent element that is taken for one shows.
    X = round_to(normal(g, (M, N), dtype) + 3, dtype)
    inputs = {"X": tensor(dtype, X, offset=offset), "Y": output(dtype, (M, N))}
    top = X.max(1, keepdims=True)
    if kernel == "between":
        return inputs, {"Y": round_to(X - top, "f16")}, {"Y": exact()}
    eps = 2.0 ** -24 * (N + 2)                # a rounding for each term, of what has been added up so far
    if kernel == "wide":
        for name in ("Sum", "Top"):
            inputs[name] = output("f32", (M,))
        results = {"Y": round_to(X - top, "f32"), "Sum": X.sum(1), "Top": top[:, 0]}
        return inputs, results, {"Y": exact(), "Top": exact(), "Sum": close(atol=eps * (np.abs(X).sum(1) + 1))}
    G = normal(g, (N,), "bf16")
    inputs["G"] = tensor("bf16", G, offset=run.get("offset_g", 0))
    for name in ("Mean", "Var"):
        inputs[name] = output("f32", (M,))
    mean = X.mean(1)
    c = X - mean[:, None]
    var = (c * c).mean(1)
    results = {"Y": c * G, "Mean": mean, "Var": var}
    spread = eps * (np.abs(X).mean(1) + 1)
    return inputs, results, {
        "Y": close(rtol=2.0 ** -7, atol=spread[:, None] * (np.abs(G) + 1)),
        "Mean": close(atol=spread), "Var": close(atol=4 * spread * (np.sqrt(var) + 1) + eps * (var + 1))}
