import numpy as np
from refutil import *


def make(run):
    g, M, N, K = rng(run), run["M"], run["N"], run["K"]
    t, o = "f16" if run["kernel"].endswith("f16") else "bf16", run.get("offset", 0)
    A, B = ints(g, (M, K), -3, 3), ints(g, (N, K), -3, 3)
    inputs = {"A": tensor(t, A, None, o), "B": tensor(t, B, None, o), "C": output(t, (M, N), None, o)}
    return inputs, {"C": round_to(A @ B.T, t)}, {"C": exact()}
