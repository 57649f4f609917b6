import numpy as np
from refutil import *


def make(run):
    g, kernel, K = rng(run), run.get("kernel", "columns"), run["K"]
    M, N, batch = run["M"], run.get("N", run["M"]), (run["B"],) if kernel == "batch" else ()
    offset = {name: run.get("offset_" + name, 0) for name in "AB"}
    if kernel == "bytes":
        A, B = g.integers(-128, 128, (M, K)), g.integers(-128, 128, (N, K))
        return {"A": tensor("i8", A, offset=offset["A"]), "B": tensor("i8", B, offset=offset["B"])}, {"C": A @ B.T}, {"C": exact()}
    dtype = "f16" if kernel == "rows" else "bf16"
    A = normal(g, (*batch, M, K), dtype)
    B = A if kernel == "gram" else normal(g, (*batch, N, K), dtype)
    C, bound = A @ B.swapaxes(-1, -2), np.abs(A) @ np.abs(B).swapaxes(-1, -2)
    if kernel == "batch":
        inputs = {"A": tensor(dtype, A.swapaxes(-1, -2)), "W": tensor(dtype, B)}
    else:
        inputs = {"A": tensor(dtype, A, offset=offset["A"])}
    if kernel in ("columns", "rows"):
        inputs["B"] = tensor(dtype, B.T if kernel == "columns" else B, offset=offset["B"])
    if kernel == "columns":
        bias = normal(g, (N,), dtype)
        inputs["bias"] = tensor(dtype, bias)
        C, bound = C + bias, bound + np.abs(bias)
    narrow = kernel in ("columns", "batch")
    return inputs, {"C": C}, {"C": close(atol=2.0 ** -20 * bound + 1e-6 + (1.01 * half_ulp(dtype, C) if narrow else 0))}
