import math

import numpy as np
from refutil import *

SPECIAL = np.array([0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 2.0 ** -149, 2.0 ** -126, 87.0, -87.0, 88.5, -88.5, -104.0, 104.0, 3.7, -3.7, 5.5,
                    -5.5, -9.5, 2.0 ** 127, -(2.0 ** 127)])

erf = np.vectorize(math.erf, otypes=[float])
erfc = np.vectorize(math.erfc, otypes=[float])


def sigmoid(x):
    return np.where(x > 0, 1 / (1 + np.exp(-np.abs(x))), np.exp(-np.abs(x)) / (1 + np.exp(-np.abs(x))))


def allowed(x, name, absolute=0.0):
    """Half a unit of the format, 2^-16 of the value, what may be flushed; `absolute`: of a function rounded to f32 beside 1."""
    return close(atol=1.01 * half_ulp(name, x) + 2.0 ** -16 * np.abs(x) + absolute + 2.0 ** -122)


@np.errstate(all="ignore")
def values(run, g):
    M, N = run["M"], run["N"]
    X = g.choice([1.0, 4.0, 30.0, 100.0], (M, N)) * g.uniform(-1, 1, (M, N))
    X = round_to(np.where(g.random((M, N)) < 0.2, g.choice(SPECIAL, (M, N)), X), "f32")
    A, B, C, D, E = sigmoid(X), 2 * sigmoid(2 * X), erfc(-X), 4 * erfc(X), 8 * sigmoid(1.702 * X)
    tolerances = {"A": allowed(A, "bf16"), "B": allowed(B, "bf16", 2.0 ** -23), "C": allowed(C, "f16", 2.0 ** -23), "D": allowed(D, "bf16", 2.0 ** -21),
                  "E": allowed(E, "f8e4m3"), "F": close(atol=6.1 * 2.0 ** -23 * sigmoid(X) + 2.0 ** -126)}
    return {"X": tensor("f32", X)}, {"A": A, "B": B, "C": C, "D": D, "E": E, "F": sigmoid(X)}, tolerances


def make(run):
    g, M, N, kernel = rng(run), run["M"], run["N"], run.get("kernel", "values")
    if kernel == "values":
        return values(run, g)
    K, dtype = run["K"], "f16" if kernel == "scaled" else "bf16"
    A, W = normal(g, (M, K), dtype), normal(g, (N, K), dtype, scale=K ** -0.5 if K else 1)
    bias, scale = normal(g, (N,), dtype), normal(g, (N,), dtype)
    acc, error = A @ W.T, 2.0 ** -20 * (np.abs(A) @ np.abs(W).T) + 1e-6
    if kernel == "layer":
        y = acc + bias
        C = y * sigmoid(2 * 0.7978845608 * (y + 0.044715 * y ** 3))
    elif kernel == "scaled":
        y = acc * scale + bias
        error = error * np.abs(scale) + 2.0 ** -22 * (np.abs(acc * scale) + np.abs(bias))
        C = 0.5 * y * erfc(-y * 0.7071067811865476)
    else:
        y = acc + bias
        C = y * sigmoid(y) * scale
        error = error * (1 + np.abs(scale))
    error = 1.2 * error + 2.0 ** -16 * np.abs(C) + 2.0 ** -20 * np.abs(y)
    inputs = {"A": tensor(dtype, A), "W": tensor(dtype, W), "bias": tensor(dtype, bias), "C": output(dtype, (M, N))}
    if kernel != "layer":
        inputs["scale"] = tensor(dtype, scale)
    return inputs, {"C": C}, {"C": close(atol=error + 1.01 * half_ulp(dtype, C))}
