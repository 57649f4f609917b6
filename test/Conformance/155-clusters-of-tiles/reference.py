import numpy as np
from refutil import *


def attend(run, g):
    H, S, T, D = (run[n] for n in ("H", "S", "T", "D"))
    Q, K, V = (normal(g, (H, n, D), "bf16") for n in (S, T, T))
    s = Q @ K.swapaxes(1, 2) * 0.125
    p = np.exp(s - s.max(2, keepdims=True))
    p = p / p.sum(2, keepdims=True)
    inputs = {"Q": tensor("bf16", Q), "K": tensor("bf16", K), "V": tensor("bf16", V)}
    return inputs, {"O": p @ V}, {"O": {"rtol": 2.0 ** -8, "atol": 2.0 ** -8 * (p @ np.abs(V)) + 1e-6}}


def make(run):
    g, kernel = rng(run), run.get("kernel", "rows")
    if kernel == "attend":
        return attend(run, g)
    M, N, K = run["M"], run["N"], run["K"]
    dtype = "f16" if kernel == "square" else "bf16"
    batch = (run["B"],) if kernel == "three" else ()
    A, W = normal(g, (*batch, M, K), dtype), normal(g, (*batch, N, K), dtype)
    inputs = {"A": tensor(dtype, A), "W": tensor(dtype, W)}
    C, bound = A @ W.swapaxes(-1, -2), np.abs(A) @ np.abs(W).swapaxes(-1, -2)
    if kernel == "columns":
        inputs["B"] = tensor(dtype, W.T)
        del inputs["W"]
        bias = normal(g, (N,), dtype)
        inputs["bias"] = tensor(dtype, bias)
        C, bound = C + bias, bound + np.abs(bias)
    if kernel == "stairs":
        V = normal(g, (N, K), dtype)
        inputs["V"] = tensor(dtype, V)
        ends = np.minimum((np.arange(M) // 64 + 1) * 64, np.minimum(M, K))
        seen = np.where(np.arange(K) < ends[:, None], A, 0)
        C, bound = C + seen @ V.T, bound + np.abs(seen) @ np.abs(V).T
    error = 2.0 ** -20 * bound + 1e-6
    narrow = kernel in ("rows", "columns", "three")
    return inputs, {"C": C}, {"C": close(atol=error + (1.01 * half_ulp(dtype, C) if narrow else 0))}
