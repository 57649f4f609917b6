import numpy as np
from refutil import *


def make(run):
    g, M, N = rng(run), run["M"], run["N"]
    X, R = normal(g, (M, N), "bf16"), normal(g, (M, N), "bf16")
    scale, shift = normal(g, N), normal(g, N)
    h = X * scale + shift
    o = run.get("offset", 0)
    inputs = {"X": tensor("bf16", X, None, o), "scale": tensor("f32", scale), "shift": tensor("f32", shift),
              "R": tensor("bf16", R), "Y": output("bf16", (M, N), None, o)}
    return inputs, {"Y": h / (1 + np.exp(-h)) + R}, {"Y": close(ULP["bf16"], 1e-5)}
