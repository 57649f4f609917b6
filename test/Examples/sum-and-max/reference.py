import numpy as np
from refutil import *


def make(run):
    g, N = rng(run), run["N"]
    X = ints(g, N, -9, 9) - 20
    want = np.array([5 + X.sum(), X.max(initial=-25)])
    return {"X": tensor("f32", X), "S": tensor("f32", [5.0, -25.0])}, {"S": want}, {"S": exact()}
