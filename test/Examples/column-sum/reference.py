import numpy as np
from refutil import *


def make(run):
    g, M, N = rng(run), run["M"], run["N"]
    X = ints(g, (M, N), -9, 9)
    inputs = {"X": tensor("f32", X)}
    if run["kernel"].endswith("split"):
        inputs["S"] = tensor("f32", ints(g, N, -9, 9))
    return inputs, {"S": X.sum(0)}, {"S": exact()}
