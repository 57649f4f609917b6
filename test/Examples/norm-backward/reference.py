import numpy as np
from refutil import *


def make(run):
    g, M, N, kernel = rng(run), run["M"], run["N"], run["kernel"]
    layer, o = kernel.startswith("layer"), run.get("offset", 0)
    X, DY, G = round_to(normal(g, (M, N)) + 1, "bf16"), normal(g, (M, N), "bf16"), normal(g, N, "bf16")
    mean = X.sum(1, keepdims=True) / max(N, 1) * layer
    scale = 1 / np.sqrt(((X - mean) ** 2).sum(1, keepdims=True) / max(N, 1) + 1e-5)
    mean, scale = round_to(mean, "f32"), round_to(scale, "f32")
    h, d = (X - mean) * scale, DY * G
    inputs = {"DY": tensor("bf16", DY, None, o), "X": tensor("bf16", X, None, o), "Rs": tensor("f32", scale[:, 0])}
    if layer:
        inputs["Mu"] = tensor("f32", mean[:, 0])
    if kernel.endswith("weights"):
        inputs["DG"] = output("f32", N)
        want, tolerance = {"DG": (DY * h).sum(0)}, {"DG": close(1e-5, 1e-5)}
        if layer:
            inputs["DB"] = output("f32", N)
            want["DB"], tolerance["DB"] = DY.sum(0), close(1e-5, 1e-5)
        return inputs, want, tolerance
    inputs.update(G=tensor("bf16", G), DX=output("bf16", (M, N), None, o))
    if "launch_error" in run:
        return inputs, {}, {}
    want = scale * (d - d.sum(1, keepdims=True) / max(N, 1) * layer - h * (d * h).sum(1, keepdims=True) / max(N, 1))
    return inputs, {"DX": want}, {"DX": close(ULP["bf16"], 1e-4)}
