"""TileLang kernels that are measured beside ours: products, attention, softmax, RMSNorm. Needs TileLang.

Each function gives a program for fixed shapes and a configuration; see bench_peers.py for what its numbers mean.
"""
import math

import tilelang.language as T

F32 = T.float32
EPSILON = 1e-5
PANEL = 10                                     # neighbouring tiles that share an operand run together


def product(m, n, k, kn, dtype, bm, bn, bk, stages, threads):
    """C = A x B with f32 sums; B is [K, N] if kn, else [N, K]."""
    @T.prim_func
    def kernel(A: T.Tensor((m, k), dtype), B: T.Tensor((k, n) if kn else (n, k), dtype), C: T.Tensor((m, n), dtype)):
        with T.Kernel(T.ceildiv(n, bn), T.ceildiv(m, bm), threads=threads) as (column, row):
            left = T.alloc_shared((bm, bk), dtype)
            right = T.alloc_shared((bk, bn) if kn else (bn, bk), dtype)
            total = T.alloc_fragment((bm, bn), F32)
            staged = T.alloc_shared((bm, bn), dtype)
            T.use_swizzle(panel_size=PANEL)
            T.clear(total)
            for step in T.Pipelined(T.ceildiv(k, bk), num_stages=stages):
                T.copy(A[row * bm, step * bk], left)
                if kn:
                    T.copy(B[step * bk, column * bn], right)
                else:
                    T.copy(B[column * bn, step * bk], right)
                T.gemm(left, right, total, transpose_B=not kn)
            T.copy(total, staged)
            T.copy(staged, C[row * bm, column * bn])
    return kernel


def attention(sizes, bq, bt, stages, threads):
    """Forward in one pass over the keys; the caller masks keys outside, as TileLang does not."""
    batch, heads, key_heads, queries, keys, size, causal = (
        sizes[x] for x in ("batch", "heads", "key_heads", "queries", "keys", "size", "causal"))
    dtype, group, factor = T.bfloat16, heads // key_heads, math.log2(math.e) / math.sqrt(size)
    ragged, least = keys % bt != 0, -T.infinity(F32)

    @T.prim_func
    def kernel(Q: T.Tensor((batch, heads, queries, size), dtype), K: T.Tensor((batch, key_heads, keys, size), dtype),
               V: T.Tensor((batch, key_heads, keys, size), dtype), O: T.Tensor((batch, heads, queries, size), dtype)):
        with T.Kernel(T.ceildiv(queries, bq), heads, batch, threads=threads) as (tile, head, item):
            q, staged = T.alloc_shared((bq, size), dtype), T.alloc_shared((bq, size), dtype)
            k, v = T.alloc_shared((bt, size), dtype), T.alloc_shared((bt, size), dtype)
            scores, weights = T.alloc_fragment((bq, bt), F32), T.alloc_fragment((bq, bt), dtype)
            result = T.alloc_fragment((bq, size), F32)
            top, before = T.alloc_fragment((bq,), F32), T.alloc_fragment((bq,), F32)
            shrink, part, total = (T.alloc_fragment((bq,), F32), T.alloc_fragment((bq,), F32),
                                   T.alloc_fragment((bq,), F32))
            T.copy(Q[item, head, tile * bq:(tile + 1) * bq, :], q)
            T.clear(result)
            T.clear(total)
            T.fill(top, least)
            steps = T.min(T.ceildiv((tile + 1) * bq, bt), T.ceildiv(keys, bt)) if causal else T.ceildiv(keys, bt)
            for step in T.Pipelined(steps, num_stages=stages):
                T.copy(K[item, head // group, step * bt:(step + 1) * bt, :], k)
                if causal and ragged:
                    for i, j in T.Parallel(bq, bt):
                        scores[i, j] = T.if_then_else(
                            T.And(step * bt + j <= tile * bq + i, step * bt + j < keys), 0, least)
                elif causal:
                    for i, j in T.Parallel(bq, bt):
                        scores[i, j] = T.if_then_else(step * bt + j <= tile * bq + i, 0, least)
                elif ragged:
                    for i, j in T.Parallel(bq, bt):
                        scores[i, j] = T.if_then_else(step * bt + j < keys, 0, least)
                else:
                    T.clear(scores)
                T.gemm(q, k, scores, transpose_B=True, policy=T.GemmWarpPolicy.FullRow)
                T.copy(top, before)
                T.reduce_max(scores, top, dim=1, clear=False)
                for i in T.Parallel(bq):
                    shrink[i] = T.exp2((before[i] - top[i]) * factor)
                for i, j in T.Parallel(bq, bt):
                    scores[i, j] = T.exp2(scores[i, j] * factor - top[i] * factor)
                T.reduce_sum(scores, part, dim=1)
                for i in T.Parallel(bq):
                    total[i] = total[i] * shrink[i] + part[i]
                T.copy(scores, weights)
                for i, j in T.Parallel(bq, size):
                    result[i, j] *= shrink[i]
                T.copy(V[item, head // group, step * bt:(step + 1) * bt, :], v)
                T.gemm(weights, v, result, policy=T.GemmWarpPolicy.FullRow)
            for i, j in T.Parallel(bq, size):
                result[i, j] /= total[i]
            T.copy(result, staged)
            T.copy(staged, O[item, head, tile * bq:(tile + 1) * bq, :])
    return kernel


def softmax(m, n, rows, threads):
    @T.prim_func
    def kernel(X: T.Tensor((m, n), T.bfloat16), Y: T.Tensor((m, n), T.bfloat16)):
        with T.Kernel(T.ceildiv(m, rows), threads=threads) as block:
            x, e = T.alloc_fragment((rows, n), T.bfloat16), T.alloc_fragment((rows, n), F32)
            top, total = T.alloc_fragment((rows,), F32), T.alloc_fragment((rows,), F32)
            T.copy(X[block * rows:(block + 1) * rows, :], x)
            T.copy(x, e)
            T.reduce_max(e, top, dim=1)
            for i, j in T.Parallel(rows, n):
                e[i, j] = T.exp2((e[i, j] - top[i]) * math.log2(math.e))
            T.reduce_sum(e, total, dim=1)
            for i in T.Parallel(rows):
                total[i] = 1 / total[i]
            for i, j in T.Parallel(rows, n):
                x[i, j] = e[i, j] * total[i]
            T.copy(x, Y[block * rows:(block + 1) * rows, :])
    return kernel


def rms_norm(m, n, rows, threads):
    @T.prim_func
    def kernel(X: T.Tensor((m, n), T.bfloat16), G: T.Tensor((n,), T.bfloat16), Y: T.Tensor((m, n), T.bfloat16)):
        with T.Kernel(T.ceildiv(m, rows), threads=threads) as block:
            x, gain = T.alloc_fragment((rows, n), T.bfloat16), T.alloc_fragment((n,), T.bfloat16)
            squares, scale = T.alloc_fragment((rows, n), F32), T.alloc_fragment((rows,), F32)
            T.copy(X[block * rows:(block + 1) * rows, :], x)
            T.copy(G, gain)
            for i, j in T.Parallel(rows, n):
                squares[i, j] = T.cast(x[i, j], F32) * T.cast(x[i, j], F32)
            T.reduce_sum(squares, scale, dim=1)
            for i in T.Parallel(rows):
                scale[i] = T.rsqrt(scale[i] / n + EPSILON)
            for i, j in T.Parallel(rows, n):
                x[i, j] = T.cast(x[i, j], F32) * scale[i] * T.cast(gain[j], F32)
            T.copy(x, Y[block * rows:(block + 1) * rows, :])
    return kernel
