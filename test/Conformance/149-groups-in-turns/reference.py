import numpy as np
from refutil import *


def make(run):
    g, M, N, K, kernel = rng(run), *(run[n] for n in ("M", "N", "K", "kernel"))
    if kernel == "bytes":
        A, W = ints(g, (M, K), -128, 127), ints(g, (N, K), -128, 127)
        C = np.asarray(A, np.int64) @ np.asarray(W, np.int64).T
        return {"A": tensor("i8", A), "W": tensor("i8", W), "C": output("i32", (M, N))}, {"C": C}, {"C": exact()}
    if kernel == "batches":
        B, L = run["B"], run["L"]
        A, W = normal(g, (B, M, K), "bf16"), normal(g, (B, N, K), "bf16", scale=K ** -0.5)
        D = normal(g, (M, N), "f32")
        # What lies behind the sum's end must not matter.
        A[:, :, L:] = np.nan
        a, w = A[:, :, :L], W[:, :, :L]
        C = D + a @ w.swapaxes(1, 2)
        error = 2.0 ** -20 * (np.abs(D) + np.abs(a) @ np.abs(w).swapaxes(1, 2)) + 1e-6
        inputs = {"A": tensor("bf16", A), "W": tensor("bf16", W), "D": tensor("f32", D), "L": L,
                  "C": output("f32", (B, M, N))}
        return inputs, {"C": C}, {"C": close(atol=error)}
    dtype = "f16" if kernel == "wide" else "bf16"
    A, W = normal(g, (M, K), dtype), normal(g, (N, K), dtype, scale=K ** -0.5 if K else 1)
    C, error = A @ W.T, 2.0 ** -20 * (np.abs(A) @ np.abs(W).T) + 1e-6
    inputs = {"A": tensor(dtype, A), "W": tensor(dtype, W.T if kernel == "wide" else W)}
    if kernel == "gated":
        bias, R = normal(g, (N,), dtype), normal(g, (M, N), dtype)
        inputs.update(bias=tensor(dtype, bias), R=tensor(dtype, R))
        y = C + bias
        C = y / (1 + np.exp(-y)) + R
        error = error + 2.0 ** -19 * (np.abs(C) + np.abs(y))
    inputs["C"] = output(dtype, (M, N))
    return inputs, {"C": C}, {"C": close(atol=error + 1.01 * half_ulp(dtype, C))}
