import numpy as np
from refutil import *


def make(run):
    g, B, H, HK, S, T, D = rng(run), *(run[n] for n in ("B", "H", "HK", "S", "T")), run["consts"]["D"]
    Q, K, V = normal(g, (B, H, S, D), "bf16"), normal(g, (B, HK, T, D), "bf16"), normal(g, (B, HK, T, D), "bf16")
    scale, offset = 4.0 / D ** 0.5, run.get("offset", 0)
    inputs = {"Q": tensor("bf16", Q, offset=offset), "K": tensor("bf16", K, offset=offset),
              "V": tensor("bf16", V, offset=offset), "scale": scale}
    K, V = (np.repeat(x, H // HK, 1) for x in (K, V))
    s = Q @ K.swapaxes(2, 3) * scale
    if run["consts"].get("causal"):
        s = np.where(np.arange(T) <= np.arange(S)[:, None], s, -np.inf)
    p = np.exp(s - s.max(3, keepdims=True))
    p = p / p.sum(3, keepdims=True)
    # the weights are rounded to bf16 before the second product: half an ulp of each term, and as much of the result
    return inputs, {"O": p @ V}, {"O": close(rtol=2.0 ** -8, atol=2.0 ** -8 * (p @ np.abs(V)) + 1e-6)}
