from refutil import *


def make(run):
    M, N, K = run["M"], run["N"], run["K"]
    g = rng(run)
    type_name, columns = ("f32", False) if run["kernel"] == "scaled" else ("bf16", True)
    A, B, s = ints(g, (M, K), -3, 3), ints(g, (N, K), -3, 3), 2.0 ** ints(g, (K,), -2, 2)
    return ({"A": tensor(type_name, A), "B": tensor(type_name, np.ascontiguousarray(B.T) if columns else B), "s": tensor("f32", s)},
            {"C": (A * s) @ B.T}, {"C": exact()})
