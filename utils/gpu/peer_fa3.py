"""peer_fa3.py NAME...: FlashAttention-3 through its JAX binding, beside cuDNN, in a process of its own; a JSON line a problem.

JAX's launches cannot be bracketed by events of PyTorch's streams: both sides run in blocks of back-to-back launches, timed
by the host's clock, in turns. What comes out is FlashAttention-3's time by cuDNN's.
"""
import importlib.metadata
import json
import os
import statistics
import sys
import time

os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import jax
import torch
from flash_attn3_jax import flash_mha

import bench_problems
import bench_shapes
import peer_torch

HEAD_SIZES = (128,)                            # of the binding
BLOCK_SECONDS, ROUNDS = 0.06, 4


def seconds(launch, count):
    """A launch, on average over a block. launch() gives something to wait for."""
    begin = time.perf_counter()
    for _ in range(count):
        last = launch()
    last.block_until_ready() if hasattr(last, "block_until_ready") else torch.cuda.synchronize()
    return (time.perf_counter() - begin) / count


def fa3(problem):
    """The binding takes batch, sequence, heads, size."""
    q, k, v = (jax.dlpack.from_dlpack(problem.tensors[x].transpose(1, 2).contiguous()) for x in "qkv")
    causal = problem.spec.sizes["causal"]
    step = jax.jit(lambda q, k, v: flash_mha(q, k, v, is_causal=causal))
    return lambda: step(q, k, v)


def measure(spec):
    problem = bench_problems.make(spec)
    launches = {"FA3": fa3(problem),
                **{form: peer_torch.bind("cuDNN", problem, (form,)) for form in ("BHSD", "BSHD")}}
    torch.cuda.synchronize()
    got = torch.from_dlpack(launches["FA3"]().block_until_ready()).transpose(1, 2)
    error = problem.results[0].error(got)
    if not error <= problem.results[0].limit:
        raise ValueError(f"wrong: relative error {error:.1e}")
    for launch in launches.values():
        seconds(launch, 2)
    counts = {n: max(6, int(BLOCK_SECONDS / seconds(launch, 3))) for n, launch in launches.items()}
    times = {n: [] for n in launches}
    for _ in range(ROUNDS):
        for n, launch in launches.items():
            time.sleep(0.02)
            times[n].append(seconds(launch, counts[n]) * 1e3)
    middle = {n: statistics.median(t) for n, t in times.items()}
    vendor = min(middle["BHSD"], middle["BSHD"])
    versions = ", ".join(f"{p} {importlib.metadata.version(p)}" for p in ("flash-attn3-jax", "jax"))
    return dict(config=versions, error=error, sustained_there=middle["FA3"], vendor_there=vendor, beside=middle["FA3"] / vendor)


def main():
    specs = {s.name: s for s in bench_shapes.problems()}
    for name in sys.argv[1:]:
        try:
            if specs[name].sizes["size"] not in HEAD_SIZES:
                raise ValueError("not there: the binding has other head sizes")
            answer = measure(specs[name])
        except Exception as e:
            answer = dict(fault=f"{type(e).__name__}: {e}"[:300])
        print(json.dumps(dict(case=name, peer="FA3", **answer)), flush=True)
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
