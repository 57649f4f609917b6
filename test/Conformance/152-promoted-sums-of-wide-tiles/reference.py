import numpy as np
from refutil import *

TYPES = {"wide": ("f8e4m3", "f8e4m3", "bf16"), "pieces": ("f8e4m3", "f8e5m2", "f32"), "tall": ("f8e5m2", "f8e4m3", "bf16"),
         "odd": ("f8e4m3", "f8e4m3", "bf16")}


def make(run):
    g, M, N, K = rng(run), run["M"], run["N"], run["K"]
    a, b, c = TYPES[run["kernel"]]
    A, B = round_to(normal(g, (M, K), "f32"), a), round_to(normal(g, (N, K), "f32"), b)
    scale = 0.125
    C = A @ B.T * scale
    # 13 bits within 128 positions, f32 between them.
    error = scale * 2.0 ** -11 * (np.abs(A) @ np.abs(B).T) + 1e-6
    inputs = {"A": tensor(a, A), "B": tensor(b, B), "scale": scale, "C": output(c, (M, N))}
    return inputs, {"C": C}, {"C": close(atol=error + 1.01 * half_ulp(c, C))}
