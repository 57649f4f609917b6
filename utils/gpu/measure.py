"""Measures packed kernels beside the vendor's in one process and prints a table of ratios last. Needs PyTorch.

burst: single launches with idle gaps, in random order, L2 flushed before each; sustained: blocks of back-to-back
launches with flushes between, blocks in random order. Medians. Only figures of one run may be compared.
"""
import argparse
import datetime
import json
import math
import os
import random
import statistics
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
sys.path.insert(0, HERE)

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from driver import Driver
from launcher import Launcher, Tensor

BURST, ROUNDS, BLOCK_MS = 15, 3, 40
FLUSH_BYTES = 256 << 20                        # several times the 50 MB of L2


class Kernel:
    """A packed kernel; bind() gives a function that launches it on the current stream."""

    def __init__(self, driver, build):
        with open(os.path.join(ROOT, build["json"])) as f:
            kernels = json.load(f)["kernels"]
        self.driver, self.image = driver, os.path.join(ROOT, build["image"])
        self.launcher = Launcher(next(k for k in kernels if k["name"] == build["kernel"]), driver)

    def bind(self, **arguments):
        given = {n: Tensor(a.data_ptr(), a.shape) if torch.is_tensor(a) else a for n, a in arguments.items()}
        self.variant, launches = self.launcher.plan(given)
        ready = [(self.driver.function(self.image, l.entry), l) for l in launches]
        cleared = [w for w in self.launcher.workspaces.values() if w.clear]

        def go():
            stream = torch.cuda.current_stream().cuda_stream
            for w in cleared:
                self.driver.fill(w.address, 0, w.size, stream)
            for function, launch in ready:
                self.driver.launch(function, launch, stream)
        return go


def event():
    return torch.cuda.Event(enable_timing=True)


class Timer:
    def __init__(self):
        self.flush = torch.empty(FLUSH_BYTES, dtype=torch.uint8, device="cuda")

    def once(self, launch):
        """Milliseconds of one launch after an idle gap."""
        time.sleep(0.006)
        self.flush.zero_()
        torch.cuda._sleep(600000)              # hides the host's launch time
        a, z = event(), event()
        a.record()
        launch()
        z.record()
        torch.cuda.synchronize()
        return a.elapsed_time(z)

    def block(self, launch):
        """Milliseconds of each launch of a block, the first quarter left out."""
        count = max(8, int(BLOCK_MS / (self.once(launch) + 0.08)))
        events = [(event(), event()) for _ in range(count)]
        for a, z in events:
            self.flush.zero_()
            a.record()
            launch()
            z.record()
        torch.cuda.synchronize()
        return [a.elapsed_time(z) for a, z in events][count // 4:]

    def duel(self, candidates, quick):
        """name -> (burst, sustained) milliseconds."""
        for launch in candidates.values():
            launch()
            launch()
        torch.cuda.synchronize()
        burst, sustained = ({n: [] for n in candidates} for _ in range(2))
        for _ in range(BURST // 3 if quick else BURST):
            for n in random.sample(list(candidates), len(candidates)):
                burst[n].append(self.once(candidates[n]))
        for _ in range(1 if quick else ROUNDS):
            for n in random.sample(list(candidates), len(candidates)):
                time.sleep(0.05)
                sustained[n] += self.block(candidates[n])
        return {n: (statistics.median(burst[n]), statistics.median(sustained[n])) for n in candidates}


def normal(*shape):
    return torch.randn(*shape, device="cuda", dtype=torch.bfloat16)


class Problem:
    """One comparison: the vendor's launch, our arguments, the output and its reference, the work and its unit."""

    def __init__(self, family, name, vendor, launch, arguments, out, reference, limit, work, unit):
        self.family, self.name, self.vendor, self.launch = family, name, vendor, launch
        self.arguments, self.out, self.reference = arguments, out, reference
        self.limit, self.work, self.unit = limit, work, unit


def gemm(m, n, k, transposed=True):
    """C = A x B with B as [N, K] (transposed) or [K, N]."""
    a, b, c, own = normal(m, k), normal(n, k) if transposed else normal(k, n), normal(m, n), normal(m, n)
    right = b.t() if transposed else b
    reference = torch.cat([a[r:r + 2048].float() @ right.float() for r in range(0, m, 2048)])
    family, kind = ("gemm", "NT") if transposed else ("gemm_nn", "NN")
    return Problem(family, f"gemm bf16 {kind} {m}x{n}x{k}", "cuBLAS", lambda: torch.mm(a, right, out=c),
                   dict(A=a, B=b, C=own), own, reference, 4e-3, 2 * m * n * k / 1e9, "TFLOP/s")


def product(family, m, n, k):
    """Products of other types and layouts, B as [N, K] but for those of bf16, beside what PyTorch calls of cuBLAS(Lt)."""
    arguments, limit = {}, 4e-3
    if family in ("gemm_tn", "gemm_tt"):
        a, b = normal(k, m), normal(k, n) if family == "gemm_tn" else normal(n, k)
        left, right = a.t(), b if family == "gemm_tn" else b.t()
    elif family == "gemm_i8":
        a, b = (torch.randint(-128, 128, shape, device="cuda", dtype=torch.int8) for shape in ((m, k), (n, k)))
        left, right, limit = a, b.t(), 1e-12
    else:
        dtype = dict(gemm_f16=torch.float16, gemm_tf32=torch.float32, linear=torch.bfloat16).get(family,
                                                                                                  torch.float8_e4m3fn)
        a, b = (torch.randn(*shape, device="cuda").to(dtype) for shape in ((m, k), (n, k)))
        left, right = a, b.t()
    out = {torch.int8: torch.int32, torch.float8_e4m3fn: torch.bfloat16}.get(a.dtype, a.dtype)
    own, theirs = (torch.empty(m, n, device="cuda", dtype=out) for _ in range(2))
    wide = torch.float64 if family == "gemm_i8" else torch.float32
    torch.backends.cuda.matmul.allow_tf32 = False
    reference = torch.cat([left[r:r + 2048].to(wide) @ right.to(wide) for r in range(0, m, 2048)])
    if family == "linear":                     # beside the plain product
        bias = normal(n)
        arguments, reference, limit = dict(bias=bias), F.silu(reference + bias.float()), 6e-3
    if family == "gemm_i8":
        vendor = lambda: torch._int_mm(left, right, out=theirs)
    elif family.startswith("gemm_f8"):
        one, arguments, limit = torch.ones((), device="cuda"), dict(scale=1.0), 2e-2
        vendor = lambda: torch._scaled_mm(left, right, one, one, out_dtype=out, use_fast_accum=family.endswith("fast"),
                                          out=theirs)
    else:
        def vendor():
            torch.backends.cuda.matmul.allow_tf32 = family == "gemm_tf32"
            torch.mm(left, right, out=theirs)
    names = dict(A=a, W=b) if family == "linear" else dict(A=a, B=b)
    return Problem(family, f"{family} {m}x{n}x{k}", "cuBLAS", vendor, dict(names, C=own, **arguments), own, reference,
                   limit, 2 * m * n * k / 1e9, "TFLOP/s")


def attention(batch, heads, length, size, causal):
    q, k, v = (normal(batch, heads, length, size) for _ in range(3))
    own = torch.empty_like(q)

    def vendor():
        with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
            return F.scaled_dot_product_attention(q, k, v, is_causal=causal)
    work = 4 * batch * heads * length * length * size * (0.5 if causal else 1) / 1e9
    name = f"attention B{batch} H{heads} S{length} D{size} {'causal' if causal else 'full'}"
    return Problem(f"attention D{size}{' causal' if causal else ''}", name, "cuDNN", vendor,
                   dict(Q=q, K=k, V=v, O=own, scale=1 / math.sqrt(size)), own, vendor().float(), 6e-3, work, "TFLOP/s")


def copied(family, case, arguments, own, reference, moved, limit=4e-3):
    """A kernel beside a copy that moves as many bytes (half of `moved` read, half written)."""
    source = torch.empty(moved // 2, device="cuda", dtype=torch.uint8)
    target = torch.empty_like(source)
    return Problem(family, f"{family} {case}", "copy", lambda: target.copy_(source), arguments, own, reference, limit,
                   moved / 1e6, "GB/s")


def rows(family, m, n):
    x, g, b = normal(m, n), normal(n), normal(n)
    own = torch.empty_like(x)
    arguments = dict(X=x, Y=own)
    if family.startswith("softmax"):
        reference = torch.softmax(x.float(), -1)
    elif family.startswith("rms_norm"):
        reference = F.rms_norm(x.float(), (n,), g.float(), 1e-5)
        arguments.update(G=g, eps=1e-5)
    else:
        reference = F.layer_norm(x.float(), (n,), g.float(), b.float(), 1e-5)
        arguments.update(G=g, B=b, eps=1e-5)
    return copied(family, f"bf16 {m}x{n}", arguments, own, reference, 4 * m * n)


def chain(m, n):
    x, r, own = normal(m, n), normal(m, n), torch.empty(m, n, device="cuda", dtype=torch.bfloat16)
    scale, shift = (torch.randn(n, device="cuda") for _ in range(2))
    reference = F.silu(x.float() * scale + shift) + r.float()
    return copied("chain", f"bf16 {m}x{n}", dict(X=x, scale=scale, shift=shift, R=r, Y=own), own, reference, 6 * m * n)


def transpose(m, n):
    x, own = normal(m, n), torch.empty(n, m, device="cuda", dtype=torch.bfloat16)
    return copied("transpose", f"bf16 {m}x{n}", dict(X=x, Y=own), own, x.float().t(), 4 * m * n)


def column_sum(m, n):
    x, own = torch.randn(m, n, device="cuda"), torch.empty(n, device="cuda")
    return copied("column_sum", f"f32 {m}x{n}", dict(X=x, S=own), own, x.double().sum(0).float(), 4 * m * n)


def empty(*shape, dtype=torch.bfloat16):
    return torch.empty(*shape, device="cuda", dtype=dtype)


def norm_backward(family, m, n):
    dy, x, gain, layer = normal(m, n), normal(m, n), normal(n), family.startswith("layer")
    mean = x.float().mean(1) * layer
    scale = torch.rsqrt(((x.float() - mean[:, None]) ** 2).mean(1) + 1e-5)
    h, d = (x.float() - mean[:, None]) * scale[:, None], dy.float()
    arguments = dict(DY=dy, X=x, Rs=scale, **(dict(Mu=mean) if layer else {}))
    if family.endswith("weights"):
        own = empty(n, dtype=torch.float32)
        arguments.update(DG=own, **(dict(DB=torch.empty_like(own)) if layer else {}))
        return copied(family, f"bf16 {m}x{n}", arguments, own, (d * h).sum(0), 4 * m * n)
    own, g = torch.empty_like(x), d * gain.float()
    reference = scale[:, None] * (g - g.mean(1, keepdim=True) * layer - h * (g * h).mean(1, keepdim=True))
    return copied(family, f"bf16 {m}x{n}", dict(arguments, G=gain, DX=own), own, reference, 6 * m * n)


def cross_entropy(m, v, backward):
    x, target = normal(m, v), torch.randint(0, v, (m,), device="cuda", dtype=torch.int32)
    total = torch.logsumexp(x.float(), 1)
    if not backward:
        own, lse = empty(m, dtype=torch.float32), empty(m, dtype=torch.float32)
        reference = total - x.float().gather(1, target.long()[:, None])[:, 0]
        return copied("cross_entropy", f"bf16 {m}x{v}", dict(X=x, Target=target, Loss=own, Lse=lse), own, reference,
                      2 * m * v)
    own, reference = torch.empty_like(x), torch.exp(x.float() - total[:, None])
    reference[torch.arange(m), target.long()] -= 1
    return copied("cross_entropy_backward", f"bf16 {m}x{v}", dict(X=x, Target=target, Lse=total, scale=1.0, DX=own), own,
                  reference, 4 * m * v)


def rotary(t, heads, size):
    x, own, half = normal(t, heads, size), empty(t, heads, size), size // 2
    c, s = torch.randn(t, half, device="cuda"), torch.randn(t, half, device="cuda")
    a, b, cosine, sine = x[..., :half].float(), x[..., half:].float(), c[:, None], s[:, None]
    reference = torch.cat([a * cosine - b * sine, a * sine + b * cosine], 2)
    return copied("rotary", f"bf16 {t}x{heads}x{size}", dict(X=x, C=c, S=s, Y=own), own, reference, 4 * x.numel())


def silu_mul(m, n):
    x, own = normal(m, 2 * n), empty(m, n)
    reference = F.silu(x[:, :n].float()) * x[:, n:].float()
    return copied("silu_mul", f"bf16 {m}x{n}", dict(X=x, Y=own), own, reference, 6 * m * n)


def quantise(m, n):
    x, codes, own = normal(m, n), empty(m, n, dtype=torch.uint8), empty(m, dtype=torch.float32)
    return copied("quantise", f"bf16 {m}x{n}", dict(X=x, Y=codes, Scale=own), own, x.float().abs().amax(1) / 448, 3 * m * n)


GEMM_SHAPES = [(1024, 1024, 1024), (2048, 2048, 2048), (4096, 4096, 4096), (8192, 8192, 8192), (16384, 16384, 16384),
               (1, 8192, 8192), (16, 8192, 8192), (64, 8192, 8192), (128, 28672, 8192), (512, 8192, 28672),
               (4096, 28672, 8192), (4096, 4096, 14336), (8192, 1280, 8192), (8192, 10240, 8192), (4095, 4097, 4104)]
SMALL_SHAPES = [(m, n, k) for n, k in ((8192, 8192), (28672, 8192), (8192, 28672), (4096, 4096)) for m in (1, 16, 32, 64)]
# 16384 queries in all, 2048 columns of heads.
PROBLEMS = [*(lambda shape=shape, transposed=transposed: gemm(*shape, transposed)
              for transposed in (True, False) for shape in GEMM_SHAPES),
            *(lambda shape=shape: gemm(*shape) for shape in SMALL_SHAPES if shape not in GEMM_SHAPES),
            *(lambda family=family, shape=shape: product(family, *shape)
              for family in ("gemm_f16", "gemm_tn", "gemm_tt", "gemm_f8", "gemm_f8_fast", "gemm_i8", "gemm_tf32", "linear")
              for shape in ((4096, 4096, 4096), (8192, 8192, 8192), (4096, 28672, 8192))),
            *(lambda length=length, size=size, causal=causal:
              attention(16384 // length, 2048 // size, length, size, causal)
              for size in (64, 128, 256) for length in (1024, 4096, 16384) for causal in (False, True)),
            *(lambda family=family, m=m, n=n: rows(family, m, n) for family in ("softmax", "rms_norm", "layer_norm")
              for m, n in ((8192, 8192), (32768, 4096), (131072, 512), (65536, 300), (8192, 8191))),
            *(lambda family=family, m=m, n=n: rows(family, m, n) for family in ("softmax", "rms_norm", "layer_norm")
              for m, n in ((4096, 16384), (4096, 32768))),
            *(lambda family=family, m=m, n=n: rows(family, m, n)
              for family in ("softmax_stream", "rms_norm_stream", "layer_norm_stream")
              for m, n in ((8192, 8192), (4096, 32768))),
            lambda: rows("softmax", 4096, 151936), lambda: rows("softmax_stream", 4096, 151936),
            lambda: chain(8192, 8192), lambda: transpose(8192, 8192), lambda: column_sum(8192, 16384),
            *(lambda family=family: norm_backward(family, 8192, 8192)
              for family in ("rms_norm_backward", "layer_norm_backward", "rms_norm_backward_weights",
                             "layer_norm_backward_weights")),
            lambda: cross_entropy(4096, 32768, False), lambda: cross_entropy(4096, 151936, False),
            lambda: cross_entropy(4096, 32768, True), lambda: rotary(16384, 32, 128), lambda: silu_mul(8192, 8192),
            lambda: quantise(8192, 8192)]


def checked(driver, build, problem):
    """(launch, variant, error) of a build whose result is right and repeats bit by bit; raises RuntimeError else."""
    kernel = Kernel(driver, build)
    go = kernel.bind(**problem.arguments)
    results = []
    for _ in range(2):
        problem.out.fill_(float("nan") if problem.out.is_floating_point() else -1)
        go()
        torch.cuda.synchronize()
        results.append(problem.out.clone())
    error = float((results[0].float() - problem.reference).norm() / problem.reference.norm())
    if not error < problem.limit:
        raise RuntimeError(f"wrong: relative error {error:.1e}")
    if not torch.equal(results[0], results[1]):
        raise RuntimeError("two launches give different bits")
    return go, kernel.variant, error


def measure(problem, driver, timer, builds, quick):
    """Table rows of a problem: one for each build of its family."""
    candidates, facts, found = {"vendor": problem.launch}, {}, []
    for b in builds:
        base = dict(case=problem.name, config=b["tag"], vendor=problem.vendor, unit=problem.unit)
        if b["fault"]:
            found.append(dict(base, fault=b["fault"]))
            continue
        try:
            candidates[b["tag"]], variant, error = checked(driver, b, problem)
            facts[b["tag"]] = dict(base, variant=variant, error=error)
        except Exception as e:
            found.append(dict(base, fault=f"{type(e).__name__}: {e}"))
    times = timer.duel(candidates, quick)
    theirs = times["vendor"]
    for tag, fact in facts.items():
        own = times[tag]
        found.append(dict(fact, burst=problem.work / own[0], vendor_burst=problem.work / theirs[0],
                          ratio=theirs[0] / own[0], sustained=problem.work / own[1],
                          vendor_sustained=problem.work / theirs[1], sustained_ratio=theirs[1] / own[1]))
    if not facts:
        found.append(dict(case=problem.name, config="", vendor=problem.vendor, unit=problem.unit,
                          fault=f"vendor alone: burst {problem.work / theirs[0]:.0f} {problem.unit}"))
    return found


def show(table):
    print(f"\n{'case':40s} {'configuration':22s} {'unit':8s} {'ours':>7s} {'vendor':>7s} {'ratio':>6s} | sustained "
          f"{'ours':>7s} {'vendor':>7s} {'ratio':>6s}  error, variant")
    for r in table:
        head = f"{r['case']:40s} {r['config']:22s} {r['unit']:8s}"
        if "fault" in r:
            print(f"{head} {r['fault'][:160]}")
        else:
            print(f"{head} {r['burst']:7.0f} {r['vendor_burst']:7.0f} {r['ratio']:6.3f} |           "
                  f"{r['sustained']:7.0f} {r['vendor_sustained']:7.0f} {r['sustained_ratio']:6.3f}  {r['error']:.1e} "
                  f"{r['variant']} (vendor: {r['vendor']})")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("patterns", nargs="*", help="only problems whose name holds one of these")
    parser.add_argument("--json", help="write the table to this file")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions")
    args = parser.parse_args()
    torch.zeros(1, device="cuda")
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
    driver, timer, table = Driver(), Timer(), []
    with open(os.path.join(ROOT, "bench.json")) as f:
        builds = json.load(f)
    for make in PROBLEMS:
        problem = make()
        if args.patterns and not any(p in problem.name for p in args.patterns):
            continue
        table += measure(problem, driver, timer, [b for b in builds if b["family"] == problem.family], args.quick)
        print(f"measured {problem.name}", flush=True)
        del problem
        torch.cuda.empty_cache()
        if args.json:
            with open(args.json, "w") as f:
                json.dump(table, f, indent=1)
    properties = torch.cuda.get_device_properties(0)
    print(f"{datetime.date.today()}, {properties.name}, CUDA {torch.version.cuda}, PyTorch {torch.__version__}")
    show(table)


if __name__ == "__main__":
    main()
