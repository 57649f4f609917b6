import numpy as np
from refutil import *


def make(run):
    g, M, N, K = rng(run), run["M"], run["N"], run["K"]
    A, B, o = ints(g, (M, K), -4, 4), ints(g, (N, K), -4, 4), run.get("offset", 0)
    inputs = {"A": tensor("f8e4m3", A, None, o), "B": tensor("f8e4m3", B), "C": output("bf16", (M, N), None, o), "scale": 0.5}
    return inputs, {"C": round_to(0.5 * (A @ B.T), "bf16")}, {"C": exact()}
