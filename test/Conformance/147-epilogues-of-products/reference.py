import numpy as np
from refutil import *


def make(run):
    g, M, N, K, kernel = rng(run), *(run[n] for n in ("M", "N", "K", "kernel"))
    if kernel == "bytes":
        A, W = ints(g, (M, K), -128, 127), ints(g, (N, K), -128, 127)
        acc = np.asarray(A, np.int64) @ np.asarray(W, np.int64).T
        codes = ((acc >> 8) + 128) % 256 - 128
        inputs = {"A": tensor("i8", A, offset=run.get("offset", 0)), "W": tensor("i8", W), "C": output("i8", (M, N)),
                  "D": output("i32", (M, N))}
        return inputs, {"C": codes, "D": acc}, {"C": exact(), "D": exact()}
    if kernel == "batches":
        B = run["B"]
        A, W, C = (np.asarray(ints(g, shape, -3, 3), np.float64) for shape in ((B, M, K), (B, N, K), (B, M, N)))
        inputs = {"A": tensor("f8e4m3", A), "W": tensor("f8e4m3", W), "C": tensor("f32", C, offset=run.get("offset", 0))}
        return inputs, {"C": C + A @ W.swapaxes(1, 2)}, {"C": exact()}
    dtype = "f16" if kernel == "bounded" else "bf16"
    A, W = normal(g, (M, K), dtype), normal(g, (N, K), dtype, scale=K ** -0.5 if K else 1)
    inputs = {"A": tensor(dtype, A), "W": tensor(dtype, W)}
    acc, size = A @ W.T, 2.0 ** -20 * (np.abs(A) @ np.abs(W).T) + 1e-6
    offset = run.get("offset", 0)
    if kernel == "gated":
        bias, R = normal(g, (N,), "f32"), normal(g, (M, N), "bf16")
        inputs.update(bias=tensor("f32", bias), R=tensor("bf16", R, offset=offset))
        y = acc + bias
        C = y / (1 + np.exp(-y)) + R
        results, error = {"C": C}, size + 2.0 ** -20 * np.abs(C)
    elif kernel in ("moved", "late", "sheet"):
        C = np.zeros((2, M, N) if kernel == "sheet" else (M, N))
        kept = np.ones(C.shape, bool)                    # what nothing is stored to
        bound = np.zeros(C.shape)
        if kernel == "late":
            where, part = (slice(1, M), slice(2, N)), (slice(1, M), slice(2, N))
        elif kernel == "sheet":
            inputs["x"] = run["x"]
            where, part = ((run["x"],) if run["x"] in (0, 1) else (slice(0, 0),)), (slice(None),)
        else:
            R, S = run["R"], run["S"]
            inputs.update(R=R, S=S)
            where = (slice(max(R, 0), max(M + min(R, 0), 0)), slice(max(S, 0), max(N + min(S, 0), 0)))
            part = (slice(max(-R, 0), max(M - max(R, 0), 0)), slice(max(-S, 0), max(N - max(S, 0), 0)))
        if C[where].size:
            C[where], bound[where], kept[where] = acc[part], size[part], False
        results, error = {"C": np.ma.array(C, mask=kept)}, bound
    elif kernel == "pair":
        y = np.maximum(acc, 0)
        results, error = {"C": y, "S": y + 1, "D": y}, size
    elif kernel == "bounded":
        results, error = {"C": np.tanh(acc)}, size
    else:
        R = normal(g, (M, N), "f32")
        inputs["R"] = tensor("f32", R, offset=offset)
        y = np.maximum(acc, 0) * R
        results, error = {"C": y, "S": y + 1}, size * (1 + np.abs(R)) + 2.0 ** -20 * (1 + np.abs(y))
    for name in results:
        inputs[name] = output("f32" if (kernel, name) in (("both", "S"), ("moved", "C"), ("sheet", "C")) else dtype,
                              results[name].shape, offset=offset)
    return inputs, results, {name: close(atol=error + (0 if inputs[name].tile == "f32" else
                                                       1.01 * half_ulp(dtype, results[name])))
                             for name in results}
