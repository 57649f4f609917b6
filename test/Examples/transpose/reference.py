import numpy as np
from refutil import *


def make(run):
    M, N = run["M"], run["N"]
    t = "f32" if run["kernel"].endswith("f32") else "bf16"
    X = ints(rng(run), (M, N), -99, 99)
    o = run.get("offset", 0)
    return {"X": tensor(t, X, None, o), "Y": output(t, (N, M), None, o)}, {"Y": X.T}, {"Y": exact()}
