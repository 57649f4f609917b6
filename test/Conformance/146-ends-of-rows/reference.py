import numpy as np
from refutil import *


def make(run):
    g, M, N, kernel, offset = rng(run), *(run[n] for n in ("M", "N", "kernel", "offset"))
    dtype = {"extremes": "f16", "weighted": "f32"}.get(kernel, "bf16")
    # All of one sign: a zero that is not the row's would be the greatest or the least.
    X = normal(g, (M, N), dtype)
    X = np.abs(X) + 0.5 if run["sign"] > 0 else -np.abs(X) - 0.5 if run["sign"] < 0 else X
    X = round_to(X, dtype)
    inputs = {"X": tensor(dtype, X, offset=offset)}
    if kernel == "extremes":
        Y = -X
        inputs.update(Y=tensor(dtype, Y, offset=offset))
        results = {"Top": X.max(1), "Low": Y.min(1)}
    elif kernel == "part":
        L = run["L"]
        inputs.update(L=L)
        results = {"Top": X[:, :L].max(1, initial=-np.inf), "Sum": (X[:, :L] ** 2).sum(1)}
    elif kernel == "weighted":
        W = normal(g, (N,), dtype)
        inputs.update(W=tensor(dtype, W), scale=run["scale"])
        results = {"Sum": ((X + W) * -X).sum(1), "Scaled": (X * run["scale"] + 1).sum(1)}
    else:
        results = {"Top": X.max(1), "Sum": X.sum(1)}
        if kernel == "measures":
            results.update(Low=X.min(1), Squares=(X ** 2).sum(1))
    for name in results:
        inputs[name] = output("f16" if kernel == "extremes" else "f32", (M,))
    size = np.abs(X).sum(1) + (X ** 2).sum(1) + N + 1
    return inputs, results, {name: {"rtol": 1e-5, "atol": 2.0 ** -20 * size if name != "Top" and name != "Low" else 0}
                             for name in results}
