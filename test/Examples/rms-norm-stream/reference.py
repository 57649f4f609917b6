import numpy as np
from refutil import *


def make(run):
    g, M, N = rng(run), run["M"], run["N"]
    X, G = normal(g, (M, N), "bf16"), normal(g, N, "bf16")
    want = X / np.sqrt((X * X).sum(1, keepdims=True) / max(N, 1) + 1e-5) * G
    o = run.get("offset", 0)
    inputs = {"X": tensor("bf16", X, None, o), "G": tensor("bf16", G), "Y": output("bf16", (M, N), None, o), "eps": 1e-5}
    return inputs, {"Y": want}, {"Y": close(ULP["bf16"], 1e-6)}
