"""Who is measured beside us, and with which configurations. Plain data; needs neither a GPU nor the peers.

A peer's module has `version()`, which raises ImportError where the peer is not there, and `bind(peer, problem,
configuration)`, which gives a launch; of those that compile, `prepare(spec, configuration)` fills the caches on disk.
A configuration is a tuple of names and numbers; label() is how the tables show it.
"""
import importlib
import json
import os

OURS = "tilec"
# peer: module. The order is that of the columns.
MODULES = {"cuBLAS": "peer_cublas", "cuDNN": "peer_torch", "FA2": "peer_torch", "copy": "peer_torch", "read": "peer_triton",
           "TileLang": "peer_tilelang", "CUDA Tile": "peer_cutile", "Triton": "peer_triton", "inductor": "peer_torch",
           "torch": "peer_torch"}
COMPILED = ("TileLang", "Triton", "read")      # ahead of the measurements, in other processes
IMPORT = "import"                              # the step that finds out whether a peer is there
SECOND = "FA3"                                 # runs in a process of its own, beside cuDNN
PEERS_FOLDER = "TILEC_BENCH_PEERS"             # environment: the folder of `run --peers`

# Library calls, then as many of cuBLASLt's own proposals.
PROPOSALS = 6
# rows, columns and depth of a tile, stages, threads
TILELANG_WIDE = [(128, 256, 64, 3, 256), (128, 256, 64, 4, 256), (256, 128, 64, 3, 256), (128, 128, 64, 4, 256),
                 (128, 128, 64, 4, 128), (256, 160, 64, 3, 256)]
TILELANG_FEW = [(64, 64, 128, 4, 128), (64, 128, 128, 4, 128), (64, 64, 64, 6, 128), (128, 64, 128, 3, 128),
                (64, 128, 64, 6, 128), (64, 32, 128, 6, 128)]
# rows of queries, of keys, stages, threads
TILELANG_ATTENTION = {64: [(128, 128, 2, 256), (128, 64, 2, 256), (128, 128, 1, 256), (192, 128, 2, 384), (64, 64, 2, 128)],
                      128: [(128, 128, 2, 256), (128, 64, 2, 256), (128, 128, 1, 256), (192, 128, 1, 384),
                            (128, 176, 1, 256), (64, 64, 2, 128)],
                      256: [(128, 64, 1, 256), (64, 64, 1, 128), (128, 64, 2, 256), (128, 32, 2, 256), (128, 80, 1, 256)]}
# rows a block, threads
TILELANG_ROWS = [(1, 128), (1, 256), (1, 512), (2, 256), (4, 256)]
# rows, columns and depth of a tile, stages, warps
TRITON_WIDE = [(128, 256, 64, 3, 8), (128, 256, 64, 4, 8), (256, 128, 64, 3, 8), (128, 128, 64, 4, 8), (128, 128, 64, 4, 4)]
TRITON_FEW = [(16, 64, 256, 4, 4), (16, 128, 128, 4, 4), (64, 64, 128, 4, 4), (64, 128, 128, 4, 4), (64, 128, 64, 5, 4),
              (32, 64, 256, 4, 4)]
TRITON_ROWS = [4, 8, 16, 32]                   # warps
READ = [(4096, 4), (4096, 8), (8192, 8), (16384, 8)]     # elements a step and warps of the bare read
INDUCTOR = ["default", "max-autotune-no-cudagraphs"]
ROW_KINDS = ("softmax", "rms_norm", "layer_norm")


def label(configuration):
    return " ".join(str(x) for x in configuration)


def triton_products(spec):
    """Tiles by tensor descriptors where rows are multiples of 16 bytes, by pointers else."""
    m, n, k, layout = (spec.sizes[x] for x in ("m", "n", "k", "layout"))
    if spec.dtype not in ("bf16", "f16", "f8e4m3", "i8") or layout[0] == "T" or spec.family in ("linear", "gemm_f8"):
        return []
    aligned = k % 16 == 0 and (layout[1] == "T" or n % 16 == 0) if spec.dtype in ("f8e4m3", "i8") else \
        k % 8 == 0 and (layout[1] == "T" or n % 8 == 0)
    tiles = TRITON_FEW[:5] if m <= 64 else TRITON_FEW[3:5] + TRITON_WIDE if m <= 1024 else TRITON_WIDE
    return [("descriptors" if aligned else "pointers", *t) for t in tiles]


def cutile(spec):
    """What the prepared folder holds for the problem; nothing without it."""
    folder = os.environ.get(PEERS_FOLDER)
    path = folder and os.path.join(folder, "cutile", "manifest.json")
    if not path or not os.path.exists(path):
        return [("any",)]                      # so that the table says that it is not there
    with open(path) as f:
        builds = json.load(f)["builds"]
    return [(b["name"],) for b in builds if cutile_fits(b, spec)]


def cutile_fits(build, spec):
    if build["kind"] != spec.kind:
        return False
    s = spec.sizes
    if spec.kind == "gemm":
        if spec.dtype != "bf16" or s["layout"] != "NT" or spec.family != "gemm" or s["k"] % 8:
            return False
        aligned = s["m"] % 16 == 0 and s["n"] % 16 == 0 and s["k"] % 16 == 0
        return build["aligned"] == aligned and (build["tile"][0] <= 64) == (s["m"] <= 64)
    if spec.kind == "attention":
        bq, bt = build["tile"]
        return (build["size"], build["causal"]) == (s["size"], s["causal"]) and s["heads"] == s["key_heads"] \
            and s["queries"] == s["keys"] and s["queries"] % bq == 0 and s["keys"] % bt == 0
    return spec.sizes["shape"][1] == build["columns"]


def tilelang(spec):
    s = spec.sizes
    if spec.kind == "gemm":
        if spec.dtype not in ("bf16", "f16") or s["layout"][0] == "T" or spec.family == "linear":
            return []
        return TILELANG_FEW if s["m"] <= 64 else TILELANG_FEW[:5] + TILELANG_WIDE[:4] if s["m"] <= 1024 else TILELANG_WIDE
    if spec.kind == "attention":
        size = min((d for d in TILELANG_ATTENTION if d >= s["size"]), default=256)
        return TILELANG_ATTENTION[size] if s["size"] % 16 == 0 else []
    if spec.kind in ("softmax", "rms_norm") and spec.family == spec.kind and spec.sizes["shape"][1] <= 16384:
        return TILELANG_ROWS
    return []


def configurations(spec):
    """{peer: its configurations} of those that have an answer to the problem."""
    found = {}
    if spec.kind == "gemm":
        calls = [("mm", "cublas"), ("mm", "cublaslt")] if spec.dtype not in ("f8e4m3", "i8") else [("call", "cublaslt")]
        found["cuBLAS"] = calls + [("proposal", i) for i in range(PROPOSALS)]
        found["Triton"] = triton_products(spec)
        if spec.set == "few rows":
            found["read"] = READ
        if spec.family == "linear":
            found["inductor"] = [(mode,) for mode in INDUCTOR]
    elif spec.kind == "attention":
        forms = [("BHSD",), ("BSHD",)] + ([("repeated",)] if spec.sizes["heads"] != spec.sizes["key_heads"] else [])
        found["cuDNN"] = forms
        found["FA2"] = forms
    else:
        found["copy"] = [("memcpy",)]
        found["torch"] = [("eager",)]
        found["inductor"] = [(mode,) for mode in INDUCTOR]
        if spec.kind in ROW_KINDS and spec.sizes["shape"][1] <= 32768:
            found["Triton"] = [(w,) for w in TRITON_ROWS]
    found["TileLang"] = tilelang(spec)
    if spec.kind in ("gemm", "attention", "softmax", "rms_norm"):
        found["CUDA Tile"] = cutile(spec)
    return {peer: found[peer] for peer in MODULES if found.get(peer)}


def module(peer):
    return importlib.import_module(MODULES[peer])
