import numpy as np
from refutil import *


def at(X, m, n):
    """X[m, n], 0 outside."""
    inside = (m >= 0) & (m < X.shape[0]) & (n >= 0) & (n < X.shape[1])
    return np.where(inside, X[np.clip(m, 0, X.shape[0] - 1), np.clip(n, 0, X.shape[1] - 1)], 0)


def make(run):
    g, M, N, kernel = rng(run), *(run[n] for n in ("M", "N", "kernel"))
    dtype = {"extremes": "f16", "gathered": "f16", "measures": "bf16", "part": "bf16", "streamed": "bf16",
             "topmost": "bf16"}.get(kernel, "f32")
    rows = run.get("V", N if kernel == "diagonals" else M)
    # All of one sign: a zero that is not the row's would be the greatest or the least.
    X = np.abs(normal(g, (rows, N), dtype)) + 0.5
    X = round_to(-X if run["sign"] < 0 else X, dtype)
    inputs = {"W" if kernel == "gathered" else "X": tensor(dtype, X, offset=run.get("offset", 0))}
    m, n = np.arange(M)[:, None], np.arange(N)
    sums, results = {}, {}
    if kernel == "extremes":
        inputs["Y"] = tensor(dtype, -X, offset=run["offset"])
        results = {"Top": X.max(1), "Low": -X.max(1)}
    elif kernel == "part":
        L = run["L"]
        inputs["L"] = L
        results, sums = {"Top": X[:, :L].max(1, initial=-np.inf)}, {"Sum": X[:, :L] ** 2}
    elif kernel == "weighted":
        W = normal(g, (N,), dtype)
        inputs.update(W=tensor(dtype, W), scale=run["scale"])
        sums = {"Sum": (X + W) * -X, "Scaled": X * run["scale"] + 1}
    elif kernel in ("measures", "streamed"):
        results, sums = {"Top": X.max(1)}, {"Sum": X}
        if kernel == "measures":
            results["Low"], sums["Squares"] = X.min(1), X ** 2
    elif kernel in ("topmost", "rows"):
        results = {"Top": X.max(1)}
    elif kernel == "above":
        results = {"Top": at(X, m - 1, n).max(1), "Seen": at(X, m - 1, n), "Low": at(X, m + 1, n).min(1)}
    elif kernel == "gathered":
        ids = ints(g, (M,), -2, rows + 2).astype(np.int64)
        inputs["ids"] = tensor("i32", ids)
        results = {"Top": at(X, ids[:, None], n).max(1)}
    elif kernel == "diagonals":
        results = {"Top": at(X, n, n + m).max(1)}
    elif kernel == "moved":
        inputs["S"] = run["S"]
        results = {"Y": at(X, m, n + run["S"]), "Top": at(X, m, n + run["S"]).max(1)}
    tolerance = {name: exact() for name in results}
    for name, terms in sums.items():                     # a rounding for each term, of what has been added up so far
        results[name] = terms.sum(1)
        tolerance[name] = close(atol=2.0 ** -24 * (N + 2) * (np.abs(terms).sum(1) + 1))
    for name, value in results.items():
        inputs[name] = output(dtype if dtype == "f16" else "f32", value.shape)
    return inputs, results, tolerance
