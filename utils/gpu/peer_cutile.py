"""CUDA Tile's kernels as a peer, built ahead of time by cutile_build.py; only the driver is needed to run them."""
import json
import math
import os
import struct

import torch

from bench_peers import PEERS_FOLDER
from driver import Driver
from launcher import ReadyLaunch

FOLDER = os.path.join(os.environ.get(PEERS_FOLDER, ""), "cutile")
_loaded = {}


def manifest():
    if "manifest" not in _loaded:
        path = os.path.join(FOLDER, "manifest.json")
        if PEERS_FOLDER not in os.environ or not os.path.exists(path):
            raise ImportError("no folder cutile with a manifest.json")
        with open(path) as f:
            _loaded["manifest"] = json.load(f)
    return _loaded["manifest"]


def version(peer):
    return manifest()["version"]


def parameters(arguments):
    """The kernel's parameters, as its calling convention wants them: of a tensor the address, the extents, the strides."""
    found = []
    for a in arguments:
        if torch.is_tensor(a):
            found.append(struct.pack("<Q", a.data_ptr()))
            found += [struct.pack("<i", n) for n in (*a.shape, *a.stride())]
        else:
            found.append(struct.pack("<f", a))
    return found


def grid(build, spec, multiprocessors):
    """Blocks: one a tile, or of persistent kernels as many as run at once."""
    s = spec.sizes
    if spec.kind == "attention":
        return -(-s["queries"] // build["tile"][0]), s["heads"], s["batch"]
    if spec.kind == "gemm":
        tiles = -(-s["m"] // build["tile"][0]) * -(-s["n"] // build["tile"][1])
    else:
        tiles = -(-s["shape"][0] // build["tile"][0])
    at_once = multiprocessors * build["occupancy"] // build["ctas"]
    return (min(tiles, at_once) if build["persistent"] else tiles), 1, 1


def arguments_of(problem):
    t, spec = problem.tensors, problem.spec
    if spec.kind == "gemm":
        return [*t["stored"], problem.out]
    if spec.kind == "attention":
        return [t["q"], t["k"], t["v"], problem.out, math.log2(math.e) / math.sqrt(spec.sizes["size"])]
    return [t["x"], *([t["g"]] if spec.kind == "rms_norm" else []), problem.out]


def bind(peer, problem, configuration):
    build = next(b for b in manifest()["builds"] if b["name"] == configuration[0])
    driver = _loaded.setdefault("driver", Driver())
    function = driver.function(os.path.join(FOLDER, build["image"]), build["entry"])
    # A tile kernel is launched with one thread a block; its image says how many it has.
    ready = ReadyLaunch(build["entry"], grid(build, problem.spec, driver.sm_count), 1, (1, 1, 1), 0,
                        parameters(arguments_of(problem)))
    return lambda: driver.launch(function, ready, torch.cuda.current_stream().cuda_stream)
