import numpy as np
from refutil import *


def make(run):
    g, kernel, o = rng(run), run["kernel"], run.get("offset", 0)
    if kernel == "rotary":
        T, H, P = run["T"], run["H"], run["P"]
        X = normal(g, (T, H, 2 * P), "bf16")
        C, S = normal(g, (T, P), "f32"), normal(g, (T, P), "f32")
        a, b, c, s = X[:, :, :P], X[:, :, P:], C[:, None, :], S[:, None, :]
        inputs = {"X": tensor("bf16", X, None, o), "C": tensor("f32", C), "S": tensor("f32", S),
                  "Y": output("bf16", X.shape, None, o)}
        return inputs, {"Y": np.concatenate([a * c - b * s, a * s + b * c], 2)}, {"Y": close(ULP["bf16"], 1e-5)}
    M, N = run["M"], run["N"]
    if kernel == "silu_mul":
        X = normal(g, (M, 2 * N), "bf16")
        gate, up = X[:, :N], X[:, N:]
        inputs = {"X": tensor("bf16", X, None, o), "Y": output("bf16", (M, N), None, o)}
        return inputs, {"Y": gate / (1 + np.exp(-gate)) * up}, {"Y": close(ULP["bf16"], 1e-5)}
    # Powers of two times small integers: quotients that are f8 numbers, so that nothing rounds either way.
    X = ints(g, (M, N), -14, 14)
    X[:, 0] = 448 / 32
    scale = np.abs(X).max(1) / 448
    inputs = {"X": tensor("bf16", X, None, o), "Y": output("f8e4m3", (M, N), None, o), "Scale": output("f32", M)}
    return inputs, {"Y": X / scale[:, None], "Scale": scale}, {"Y": exact(), "Scale": exact()}
