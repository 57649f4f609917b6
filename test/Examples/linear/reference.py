import numpy as np
from refutil import *


def make(run):
    g, M, N, K = rng(run), run["M"], run["N"], run["K"]
    A, W, bias = (normal(g, s, "bf16") for s in ((M, K), (N, K), N))
    y = A @ W.T + bias
    inputs = {"A": tensor("bf16", A), "W": tensor("bf16", W), "bias": tensor("bf16", bias)}
    size = np.abs(A) @ np.abs(W).T + np.abs(bias)
    if run["consts"]["activate"]:
        y, size = y / (1 + np.exp(-y)), 1.1 * size
    return inputs, {"C": y}, {"C": dot_close(K + 1, size, "bf16")}
