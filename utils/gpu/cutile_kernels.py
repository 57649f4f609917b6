"""CUDA Tile kernels that are measured beside ours: products, attention, softmax, RMSNorm. Needs cuda.tile."""
import math

import cuda.tile as ct
import numpy as np

Int = ct.Constant[int]
Flag = ct.Constant[bool]
ZERO = ct.PaddingMode.ZERO
APPROXIMATE = ct.RoundingMode.APPROX
LOG2E = math.log2(math.e)
EPSILON = 1e-5


def tile_of(number, rows, columns, BAND):
    """Bands of BAND rows of tiles, each column by column."""
    band = number // (BAND * columns)
    height = min(rows - band * BAND, BAND)
    within = number - band * BAND * columns
    return band * BAND + within % height, within // height


def multiply(A, B, C, number, BM, BN, BK, BAND):
    """One tile of C = A x B, B stored as [N, K]."""
    row, column = tile_of(number, ct.cdiv(C.shape[0], BM), ct.cdiv(C.shape[1], BN), BAND)
    acc = ct.zeros((BM, BN), dtype=ct.float32)
    for step in range(ct.cdiv(A.shape[1], BK)):
        left = ct.load(A, (row, step), (BM, BK), padding_mode=ZERO)
        right = ct.load(B, (step, column), (BK, BN), order=(1, 0), padding_mode=ZERO)
        acc = ct.mma(left, right, acc)
    ct.store(C, (row, column), acc.astype(C.dtype))


@ct.kernel
def product(A, B, C, BM: Int, BN: Int, BK: Int, BAND: Int):
    multiply(A, B, C, ct.bid(0), BM, BN, BK, BAND)


@ct.kernel
def product_persistent(A, B, C, BM: Int, BN: Int, BK: Int, BAND: Int):
    count = ct.cdiv(C.shape[0], BM) * ct.cdiv(C.shape[1], BN)
    for number in range(ct.bid(0), count, ct.num_blocks(0)):
        multiply(A, B, C, number, BM, BN, BK, BAND)


@ct.kernel
def attention(Q, K, V, O, factor: float, D: Int, BQ: Int, BT: Int, CAUSAL: Flag):
    """Tiles divide both lengths. factor: the scale of the scores times log2(e)."""
    tile = ct.num_blocks(0) - 1 - ct.bid(0) if CAUSAL else ct.bid(0)      # long tiles first
    head, item = ct.bid(1), ct.bid(2)
    query = tile * BQ + ct.arange(BQ, dtype=ct.int32)[:, None]
    top = ct.full((BQ, 1), -np.inf, dtype=ct.float32)
    total = ct.zeros((BQ, 1), dtype=ct.float32)
    acc = ct.zeros((BQ, D), dtype=ct.float32)
    q = ct.load(Q, (item, head, tile, 0), (1, 1, BQ, D)).reshape((BQ, D))
    steps = ct.cdiv((tile + 1) * BQ, BT) if CAUSAL else ct.cdiv(K.shape[2], BT)
    masked = tile * BQ // BT
    for step in range(steps):
        k = ct.load(K, (item, head, 0, step), (1, 1, D, BT), order=(0, 1, 3, 2)).reshape((D, BT))
        scores = ct.mma(q, k, ct.zeros((BQ, BT), dtype=ct.float32))
        if CAUSAL and step >= masked:
            key = step * BT + ct.arange(BT, dtype=ct.int32)[None, :]
            scores = ct.where(query >= key, scores, -np.inf)
        new = max(top, ct.max(scores, 1, keepdims=True) * factor)
        p = ct.exp2(scores * factor - new, flush_to_zero=True)
        shrink = ct.exp2(top - new, flush_to_zero=True)
        total = total * shrink + ct.sum(p, 1, keepdims=True)
        v = ct.load(V, (item, head, step, 0), (1, 1, BT, D), latency=4).reshape((BT, D))
        acc = ct.mma(p.astype(Q.dtype), v, acc * shrink)
        top = new
    acc = ct.truediv(acc, total, flush_to_zero=True, rounding_mode=APPROXIMATE)
    ct.store(O, (item, head, tile, 0), acc.reshape((1, 1, BQ, D)).astype(O.dtype))


@ct.kernel
def softmax(X, Y, ROWS: Int, N: Int):
    for r in range(ct.bid(0), ct.cdiv(X.shape[0], ROWS), ct.num_blocks(0)):
        x = ct.load(X, (r, 0), (ROWS, N)).astype(ct.float32)
        e = ct.exp2((x - ct.max(x, 1, keepdims=True)) * LOG2E, flush_to_zero=True)
        y = ct.truediv(e, ct.sum(e, 1, keepdims=True), flush_to_zero=True, rounding_mode=APPROXIMATE)
        ct.store(Y, (r, 0), y.astype(Y.dtype))


@ct.kernel
def rms_norm(X, G, Y, ROWS: Int, N: Int):
    gain = ct.load(G, (0,), (N,)).astype(ct.float32)
    for r in range(ct.bid(0), ct.cdiv(X.shape[0], ROWS), ct.num_blocks(0)):
        x = ct.load(X, (r, 0), (ROWS, N)).astype(ct.float32)
        scale = ct.rsqrt(ct.sum(x * x, 1, keepdims=True) * (1.0 / N) + EPSILON)
        ct.store(Y, (r, 0), (x * scale * gain).astype(Y.dtype))
