import numpy as np
from refutil import *


def make(run):
    g, M, N, K, offset = rng(run), *(run[n] for n in ("M", "N", "K", "offset"))
    A = normal(g, (M, K), "bf16")
    if run["kernel"] == "shifted":
        P = run["P"]
        B = normal(g, (N, P), "bf16")
        moved = np.zeros((M, P))
        for k in range(P):
            if 0 <= k - 3 < K:
                moved[:, k] = A[:, k - 3]
        inputs = {"A": tensor("bf16", A, offset=offset), "B": tensor("bf16", B)}
        left, right = moved, B.T
    else:
        LA, LB = K + run["pad"], N + run["pad"]
        B = normal(g, (K, N), "bf16")
        inputs = {"A": tensor("bf16", A, steps=(LA, 1), offset=offset), "B": tensor("bf16", B, steps=(LB, 1)), "LA": LA,
                  "LB": LB}
        left, right = A, B
    inputs["C"] = output("f32", (M, N))
    return inputs, {"C": left @ right}, {"C": {"rtol": 1e-5, "atol": 2.0 ** -20 * (np.abs(left) @ np.abs(right)) + 1e-6}}
