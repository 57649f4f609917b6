import numpy as np
from refutil import *


def make(run):
    g, N = rng(run), run["N"]
    X, Y = ints(g, N, -99, 99), ints(g, N, -99, 99)
    inputs = {"a": 3.0, "X": tensor("f32", X, (1,), run["offset"]), "Y": tensor("f32", Y, (1,), run["offset"])}
    return inputs, {"Y": 3 * X + Y}, {"Y": exact()}
