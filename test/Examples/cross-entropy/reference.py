import numpy as np
from refutil import *


def make(run):
    g, M, V, o = rng(run), run["M"], run["V"], run.get("offset", 0)
    X = round_to(3 * normal(g, (M, V)), "bf16")
    target = ints(g, M, 0, V - 1)
    lse = np.log(np.exp(X).sum(1))
    picked = X[np.arange(M), np.asarray(target, np.int64)]
    inputs = {"X": tensor("bf16", X, None, o), "Target": tensor("i32", target)}
    if run["kernel"] == "cross_entropy":
        inputs.update(Loss=output("f32", M), Lse=output("f32", M))
        return inputs, {"Loss": lse - picked, "Lse": lse}, {"Loss": close(2e-5, 2e-5), "Lse": close(2e-5, 2e-5)}
    lse = round_to(lse, "f32")
    hot = np.arange(V)[None, :] == np.asarray(target, np.int64)[:, None]
    want = 0.125 * (np.exp(X - lse[:, None]) - hot)
    inputs.update(Lse=tensor("f32", lse), scale=0.125, DX=output("bf16", (M, V), None, o))
    return inputs, {"DX": want}, {"DX": close(ULP["bf16"], 1e-4)}
