import numpy as np
from refutil import *


def make(run):
    g, G, M, N, K = rng(run), run["G"], run["M"], run["N"], run["K"]
    A, B = ints(g, (G, M, K), -3, 3), ints(g, (G, N, K), -3, 3)
    return {"A": tensor("bf16", A), "B": tensor("bf16", B)}, {"C": round_to(A @ B.swapaxes(1, 2), "bf16")}, {"C": exact()}
