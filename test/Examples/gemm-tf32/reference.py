import numpy as np
from refutil import *


def make(run):
    g, M, N, K = rng(run), run["M"], run["N"], run["K"]
    A, B, o = ints(g, (M, K), -9, 9), ints(g, (N, K), -9, 9), run.get("offset", 0)
    inputs = {"A": tensor("f32", A, None, o), "B": tensor("f32", B), "C": output("f32", (M, N), None, o)}
    return inputs, {"C": A @ B.T}, {"C": exact()}
