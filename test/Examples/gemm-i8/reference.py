import numpy as np
from refutil import *


def make(run):
    g, M, N, K = rng(run), run["M"], run["N"], run["K"]
    A, B, o = ints(g, (M, K), -128, 127), ints(g, (N, K), -128, 127), run.get("offset", 0)
    inputs = {"A": tensor("i8", A, None, o), "B": tensor("i8", B), "C": output("i32", (M, N), None, o)}
    return inputs, {"C": (A @ B.T).astype(np.int64)}, {"C": exact()}
