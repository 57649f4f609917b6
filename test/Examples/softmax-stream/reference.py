import numpy as np
from refutil import *


def make(run):
    M, N = run["M"], run["N"]
    X = normal(rng(run), (M, N), "bf16", 4.0)
    e = np.exp(X - X.max(1, initial=-1e30, keepdims=True))
    o = run.get("offset", 0)
    inputs = {"X": tensor("bf16", X, None, o), "Y": output("bf16", (M, N), None, o)}
    return inputs, {"Y": e / e.sum(1, keepdims=True)}, {"Y": close(ULP["bf16"], 1e-9)}
