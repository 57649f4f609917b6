import numpy as np
from refutil import *


def make(run):
    g, M, N = rng(run), run["M"], run["N"]
    X, G, B = round_to(normal(g, (M, N)) + 3, "bf16"), normal(g, N, "bf16"), normal(g, N, "bf16")
    c = X - (X.sum(1, keepdims=True) / max(N, 1))
    want = c / np.sqrt((c * c).sum(1, keepdims=True) / max(N, 1) + 1e-5) * G + B
    o = run.get("offset", 0)
    inputs = {"X": tensor("bf16", X, None, o), "G": tensor("bf16", G), "B": tensor("bf16", B),
              "Y": output("bf16", (M, N), None, o), "eps": 1e-5}
    if "launch_error" in run:
        return inputs, {}, {}
    return inputs, {"Y": want}, {"Y": close(ULP["bf16"], 1e-4)}
