import numpy as np
from refutil import *


def make(run):
    g, B, H, HK, S, T = rng(run), *(run[n] for n in ("B", "H", "HK", "S", "T"))
    D = run["D"] if "D" in run else run["consts"]["D"]
    Q, K, V = normal(g, (B, H, S, D), "bf16"), normal(g, (B, HK, T, D), "bf16"), normal(g, (B, HK, T, D), "bf16")
    scale = float(run.get("scale", 4.0 / D ** 0.5))      # the usual one makes a peaked softmax: single keys decide
    if "magnitude" in run:                               # scores of usual size from a scale of unusual size
        Q, K = np.ldexp(Q, run["magnitude"]), np.ldexp(K, run["magnitude"])
    if run.get("low"):                                   # scores so low that what is absent must not count as 0
        Q, K = round_to(-16 * np.abs(Q), "bf16"), np.abs(K)
    inputs = {"Q": tensor("bf16", Q), "K": tensor("bf16", K), "V": tensor("bf16", V), "scale": scale}
    if "launch_error" in run:
        return {**inputs, "O": output("bf16", Q.shape)}, {}, {}
    if run.get("hidden"):                                # keys that no causal query sees have no influence
        for name, x in (("K", K), ("V", V)):
            inputs[name] = tensor("bf16", np.where(np.arange(T)[:, None] < S, x, np.nan))
    K, V = (np.repeat(x, H // HK, 1) for x in (K, V))
    if not np.isfinite(scale):                           # no total is greater than 0: no weights
        return inputs, {"O": np.zeros(Q.shape)}, {"O": exact()}
    s = Q @ K.swapaxes(2, 3) * scale
    if run["consts"].get("causal"):
        s = np.where(np.arange(T) <= np.arange(S)[:, None], s, -np.inf)
    p = np.exp(s - s.max(3, initial=-1e30, keepdims=True))
    p = p / np.maximum(p.sum(3, keepdims=True), 1e-300)
    # the weights are rounded to bf16 before the second product: half an ulp of each term, and as much of the result
    return inputs, {"O": p @ V}, {"O": {"rtol": 2.0 ** -8, "atol": 2.0 ** -8 * (p @ np.abs(V)) + 1e-6}}
