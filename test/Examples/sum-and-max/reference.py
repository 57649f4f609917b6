import numpy as np
from refutil import *


def make(run):
    g, N = rng(run), run["N"]
    X = ints(g, N, -9, 9) - 20
    want = np.array([X.sum(), X.max(initial=-np.inf)])
    return {"X": tensor("f32", X), "S": tensor("f32", [5.0, 7.0])}, {"S": want}, {"S": exact()}
