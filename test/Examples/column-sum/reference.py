import numpy as np
from refutil import *


def make(run):
    g, M, N = rng(run), run["M"], run["N"]
    X = ints(g, (M, N), -9, 9)
    inputs = {"X": tensor("f32", X)}
    want = X.sum(0)
    if run["kernel"].endswith("split"):
        before = ints(g, N, -9, 9)
        inputs["S"], want = tensor("f32", before), want + before
    return inputs, {"S": want}, {"S": exact()}
