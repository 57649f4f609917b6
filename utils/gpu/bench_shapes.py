"""What utils/bench measures: problems with their shapes, in order of importance. Plain data; needs no GPU.

rank 1: the few that say most; 2: the usual shapes of each kind; 3: the others.
"""
from dataclasses import dataclass, field

ITEM_BYTES = {"bf16": 2, "f16": 2, "f32": 4, "tf32": 4, "f8e4m3": 1, "i8": 1}
SETS = {"gemm": "products of bf16", "attention": "attention forward", "memory": "kernels limited by memory",
        "few rows": "products of few rows, beside a bare read of the weights", "types": "products of other types and layouts"}


@dataclass(frozen=True)
class Spec:
    """One problem. set: the table it stands in; family: the builds that solve it; kind: what the peers go by;
    work: floating-point operations, or bytes that must move."""
    set: str
    kind: str
    family: str
    name: str
    dtype: str
    sizes: dict = field(hash=False)
    work: float
    unit: str
    rank: int
    distribution: str = "random normal"

    @property
    def scale(self):
        """work / milliseconds / scale is the rate in `unit`."""
        return 1e9 if self.unit == "TFLOP/s" else 1e6


def product(family, dtype, layout, m, n, k, rank, group="gemm"):
    """layout: two letters for A and B; N: stored as [M, K] or [K, N], T: transposed."""
    distribution = "uniform integers" if dtype == "i8" else "random normal"
    head = "few rows" if group == "few rows" else "gemm"
    label = {"gemm_f8_fast": " fast sums", "linear": " bias and silu"}.get(family, "")
    return Spec(group, "gemm", family, f"{head} {dtype} {layout}{label} {m}x{n}x{k}", dtype,
                dict(m=m, n=n, k=k, layout=layout), 2 * m * n * k, "TFLOP/s", rank, distribution)


def attention(size, queries, causal, rank, batch=None, heads=None, key_heads=None, keys=None):
    """16384 queries in all and 2048 columns of heads unless given."""
    batch, heads = batch or 16384 // queries, heads or max(1, 2048 // size)
    key_heads, keys = key_heads or heads, keys or queries
    form = "causal" if causal else "full"
    lengths = f"S{queries}" if keys == queries else f"S{queries} T{keys}"
    grouped = f"H{heads}" if key_heads == heads else f"H{heads} HK{key_heads}"
    work = 4 * batch * heads * size * visible(queries, keys, causal)
    return Spec("attention", "attention", f"attention D{size}{' causal' if causal else ''}",
                f"attention B{batch} {grouped} {lengths} D{size} {form}", "bf16",
                dict(batch=batch, heads=heads, key_heads=key_heads, queries=queries, keys=keys, size=size, causal=causal),
                work, "TFLOP/s", rank)


def visible(queries, keys, causal):
    """Pairs of a query and a key that count: with a mask, as is usual, half of a square."""
    if not causal:
        return queries * keys
    square = min(queries, keys)
    return square * square / 2 + max(queries - keys, 0) * keys


def moved(kind, family, shape, dtype, bytes_moved, rank):
    name = f"{family} {dtype} {'x'.join(map(str, shape))}"
    return Spec("memory", kind, family, name, dtype, dict(shape=list(shape)), bytes_moved, "GB/s", rank)


GEMM_FIRST = [(4096, 4096, 4096), (8192, 8192, 8192), (4096, 4096, 14336), (64, 8192, 8192)]
GEMM_SHAPES = [(1024, 1024, 1024), (2048, 2048, 2048), *GEMM_FIRST[:2], (16384, 16384, 16384), (16, 8192, 8192),
               GEMM_FIRST[3], (128, 28672, 8192), (512, 8192, 28672), (4096, 28672, 8192), GEMM_FIRST[2],
               (8192, 1280, 8192), (8192, 10240, 8192), (4095, 4097, 4104)]
FEW_ROWS = [(m, n, k) for n, k in ((8192, 8192), (28672, 8192), (8192, 28672), (4096, 4096)) for m in (1, 16, 32, 64)]
TYPES = [("gemm_f16", "f16", "NT"), ("gemm_f8", "f8e4m3", "NT"), ("gemm_f8_fast", "f8e4m3", "NT"), ("gemm_i8", "i8", "NT"),
         ("gemm_tf32", "tf32", "NT"), ("gemm_tn", "bf16", "TN"), ("gemm_tt", "bf16", "TT"), ("linear", "bf16", "NT")]
TYPE_SHAPES = [(8192, 8192, 8192), (4096, 4096, 4096), (4096, 28672, 8192)]


def products():
    for layout, family in (("NT", "gemm"), ("NN", "gemm_nn")):
        for shape in GEMM_SHAPES:
            first = shape in GEMM_FIRST and (layout == "NT" or shape == GEMM_FIRST[0])
            yield product(family, "bf16", layout, *shape, 1 if first else 2)
    for shape in FEW_ROWS:
        yield product("gemm", "bf16", "NT", *shape, 1 if shape == (16, 28672, 8192) else 2, "few rows")
    for family, dtype, layout in TYPES:
        for shape in TYPE_SHAPES:
            yield product(family, dtype, layout, *shape, 2 if shape == TYPE_SHAPES[0] else 3, "types")


def attentions():
    for size in (128, 64, 256):
        for queries in (4096, 1024, 16384):
            for causal in (False, True):
                yield attention(size, queries, causal, 1 if size == 128 and queries == 4096 else 2)
    for causal in (False, True):
        yield attention(128, 4096, causal, 2, key_heads=4)
    yield attention(128, 1024, False, 2, keys=4096)
    yield attention(128, 1000, False, 2, batch=16, keys=3333)
    for size in (80, 96, 192):
        for queries in (1024, 4096, 16384):
            for causal in (False, True):
                yield attention(size, queries, causal, 3)


ROW_SHAPES = [(8192, 8192), (32768, 4096), (131072, 512), (65536, 511), (65536, 300), (8192, 8191), (4096, 16384),
              (4096, 32768)]


def memory():
    for family in ("softmax", "rms_norm", "layer_norm"):
        for m, n in ROW_SHAPES + ([(4096, 151936)] if family == "softmax" else []):
            first = (m, n) == ROW_SHAPES[0] and family != "layer_norm"
            yield moved(family, family, (m, n), "bf16", 4 * m * n, 1 if first else 2)
    for family in ("softmax", "rms_norm", "layer_norm"):
        for m, n in ((8192, 8192), (4096, 16384), (4096, 32768)) + (((4096, 151936),) if family == "softmax" else ()):
            yield moved(family, f"{family}_stream", (m, n), "bf16", 4 * m * n, 3)
    m = n = 8192
    yield moved("silu_mul", "silu_mul", (m, n), "bf16", 6 * m * n, 2)
    yield moved("cross_entropy", "cross_entropy", (4096, 32768), "bf16", 2 * 4096 * 32768, 2)
    yield moved("cross_entropy", "cross_entropy", (4096, 151936), "bf16", 2 * 4096 * 151936, 3)
    yield moved("cross_entropy_backward", "cross_entropy_backward", (4096, 32768), "bf16", 4 * 4096 * 32768, 3)
    for norm in ("rms_norm", "layer_norm"):
        yield moved(f"{norm}_backward", f"{norm}_backward", (m, n), "bf16", 6 * m * n, 3)
        yield moved(f"{norm}_backward_weights", f"{norm}_backward_weights", (m, n), "bf16", 4 * m * n, 3)
    yield moved("rotary", "rotary", (16384, 32, 128), "bf16", 4 * 16384 * 32 * 128, 3)
    yield moved("chain", "chain", (m, n), "bf16", 6 * m * n, 3)
    yield moved("transpose", "transpose", (m, n), "bf16", 4 * m * n, 3)
    yield moved("column_sum", "column_sum", (m, 16384), "f32", 4 * m * 16384, 3)
    yield moved("quantise", "quantise", (m, n), "bf16", 3 * m * n, 3)


def problems(patterns=(), rank=3):
    """All problems up to a rank whose set or name holds one of the patterns (all of a pattern's words), the most
    important first."""
    found = sorted((*products(), *attentions(), *memory()), key=lambda s: s.rank)
    return [s for s in found if s.rank <= rank and (not patterns or any(fits(s, p) for p in patterns))]


def fits(spec, pattern):
    text = f"{spec.set}: {spec.name} {spec.family}"
    return all(word in text for word in pattern.split("+"))
