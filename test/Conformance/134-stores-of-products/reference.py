import numpy as np
from refutil import *


def make(run):
    g, name, M, N, K = rng(run), run["kernel"], run["M"], run["N"], run.get("K", run["M"])
    lead = (run["G"],) if name == "batches" else ()
    A, B = ints(g, lead + (M, K), -2, 2), ints(g, lead + (N, K), -2, 2)
    product = np.matmul(A, np.swapaxes(B, -1, -2))
    inputs = {"A": tensor("bf16", A), "B": tensor("bf16", B)}
    if name == "falling":
        C = np.zeros((M, N))
        for row in range(0, M, 128):
            end = min(M, row + 128)
            C[row:end] = A[row:end, :end] @ B[:, :end].T
        return inputs, {"C": round_to(C, "bf16")}, {"C": exact()}
    if name == "part":
        C = np.ma.masked_all((M, N))
        C[:run["L"]] = round_to(product[:run["L"]], "bf16")
        return inputs | {"L": run["L"]}, {"C": C}, {"C": exact()}
    if name == "across":
        return inputs, {"C": round_to(product.T, "bf16"), "D": product.T}, {"C": exact(), "D": exact()}
    if name == "several":
        outputs = {"C": round_to(product, "f16"), "D": product, "E": np.clip(product, -100, 100).astype(np.int64),
                   "F": round_to(product.T, "f8e4m3"), "R": np.arange(M) if N else np.ma.masked_all(M)}
        return inputs, outputs, {n: exact() for n in outputs}
    if name == "shifted":
        C, s = np.ma.masked_all((M, N)), run["s"]
        rows = slice(max(s, 0), min(M, M + s))
        C[rows, :max(N - 8, 0)] = round_to(product, "bf16")[rows.start - s:rows.stop - s, 8:]
        return inputs | {"s": s}, {"C": C}, {"C": exact()}
    if name == "repeated":
        return inputs, {"C": product if K else np.ma.masked_all((M, N))}, {"C": exact()}
    G, P = run["G"], run["P"]
    C = np.ma.masked_all((G, N, P, M))
    C[:, :, P - 1, :] = round_to(np.swapaxes(product, 1, 2), "bf16") if P else 0
    return inputs | {"P": P}, {"C": C, "Z": np.ma.masked_all((P, N))}, {"C": exact(), "Z": exact()}
