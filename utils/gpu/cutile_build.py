"""cutile_build.py FOLDER [PATTERN]: compiles the CUDA Tile kernels for sm_90 into FOLDER/cutile, for `DIR/run --peers FOLDER`.

Runs on any machine whose Python has cuda.tile and tileiras (packages cuda-tile and nvidia-cuda-tileiras and what they
need); nothing is downloaded. Configurations that do not compile are named and left out.
"""
import argparse
import importlib.metadata
import json
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor

import cuda.tile as ct
import nvidia.cu13
from cuda.tile.compilation import ArrayConstraint, CallingConvention, KernelSignature, ScalarConstraint, export_kernel

import cutile_kernels as kernels

TILEIRAS = os.path.join(list(nvidia.cu13.__path__)[0], "bin", "tileiras")
ARCHITECTURE, ENTRY, LIMIT, BAND = "sm_90", "kernel", 120, 8
HINTS = {"plain": {}, "w8": dict(num_worker_warps=8), "c2": dict(num_ctas=2), "o1": dict(occupancy=1),
         "c2w8": dict(num_ctas=2, num_worker_warps=8), "o2": dict(occupancy=2), "o4": dict(occupancy=4),
         "o8": dict(occupancy=8)}
PRODUCTS = {(128, 256, 64): ("plain", "w8", "c2", "c2w8"), (256, 128, 64): ("w8", "c2w8"), (256, 256, 64): ("c2w8",),
            (128, 128, 64): ("plain", "w8", "o2"), (64, 128, 64): ("plain", "o2"), (64, 64, 128): ("plain", "o2"),
            (64, 32, 128): ("plain", "o2"), (64, 64, 256): ("plain",)}
RAGGED = {(128, 256, 64): ("w8", "c2"), (256, 128, 64): ("w8",), (128, 128, 64): ("plain", "o2")}
ATTENTIONS = {64: [(128, 128), (128, 64), (64, 64), (256, 64)], 128: [(128, 128), (128, 64), (64, 64), (256, 64)],
              256: [(128, 64), (64, 64), (64, 32)]}
COLUMNS, ROWS = (8192, 4096), (1, 2, 4)


def array(rank, dtype=ct.bfloat16, extents=16, strides=8):
    """A contiguous tensor: what divides its extents and the strides of all but the last dimension."""
    return ArrayConstraint(dtype, rank, index_dtype=ct.int32, stride_lower_bound_incl=0, alias_groups=(),
                           may_alias_internally=False, stride_constant=[None] * (rank - 1) + [1],
                           stride_divisible_by=[strides] * (rank - 1) + [1], shape_divisible_by=extents,
                           base_addr_divisible_by=16)


def products():
    for aligned, tiles in ((True, PRODUCTS), (False, RAGGED)):
        operand = array(2) if aligned else array(2, extents=(1, 8))
        result = array(2) if aligned else array(2, extents=1, strides=1)
        for tile, hints in tiles.items():
            for hint in hints:
                for kernel in ("product", "product_persistent"):
                    yield dict(kind="gemm", kernel=kernel, tile=tile, hint=hint, aligned=aligned,
                               persistent=kernel != "product"), [operand, operand, result, *tile, BAND]


def attentions():
    tensor = array(4, extents=(1, 1, 16, 16))
    for size, tiles in ATTENTIONS.items():
        for tile in tiles:
            for causal in (False, True):
                for hint in ("plain", "o1", "o2", *(("w8",) if tile[0] >= 128 else ())):
                    yield dict(kind="attention", kernel="attention", tile=tile, hint=hint, size=size, causal=causal,
                               persistent=False), [*[tensor] * 4, ScalarConstraint(ct.float32), size, *tile, causal]


def rows():
    for columns in COLUMNS:
        for count in ROWS:
            for hint in ("plain", "o2", "o4", "w8"):
                for kernel in ("softmax", "rms_norm"):
                    gain = [array(1)] if kernel == "rms_norm" else []
                    for persistent in (False, True):
                        yield dict(kind=kernel, kernel=kernel, tile=(count,), hint=hint, columns=columns,
                                   persistent=persistent), [array(2), *gain, array(2), count, columns]


def named():
    """(entry, parameters) of every build. Builds that differ in their grid alone share an image."""
    for entry, parameters in (*products(), *attentions(), *rows()):
        parts = [entry["kernel"], *(str(entry[x]) for x in ("size", "columns") if x in entry),
                 "x".join(map(str, entry["tile"])), entry["hint"],
                 *(("causal",) if entry.get("causal") else ()), *(("ragged",) if not entry.get("aligned", True) else ())]
        image = "-".join(parts)
        own_grid = entry["persistent"] and "persistent" not in entry["kernel"]
        yield dict(entry, image=image + ".cubin", name=image + ("-persistent" if own_grid else ""), entry=ENTRY), parameters


def compile_image(path, kernel, hint, parameters):
    """None, or why there is no image."""
    bytecode = path + ".tileir"
    try:
        function = getattr(kernels, kernel)
        function = function.replace_hints(**HINTS[hint]) if HINTS[hint] else function
        signature = KernelSignature(parameters, CallingConvention.cutile_python_v2(), symbol=ENTRY)
        export_kernel(function, [signature], bytecode, gpu_code=ARCHITECTURE, output_format="tileir_bytecode")
        done = subprocess.run([TILEIRAS, bytecode, "-o", path, "--gpu-name", ARCHITECTURE, "-O3"], capture_output=True,
                              text=True, timeout=LIMIT)
        return None if done.returncode == 0 else f"tileiras: {(done.stderr + done.stdout).strip()[:300]}"
    except subprocess.TimeoutExpired:
        return f"tileiras: over {LIMIT} s"
    except Exception as e:
        return f"{type(e).__name__}: {str(e)[:300]}"
    finally:
        if os.path.exists(bytecode):
            os.remove(bytecode)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("pattern", nargs="?", default="", help="only images whose name holds this")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    args = parser.parse_args()
    folder = os.path.join(args.folder, "cutile")
    os.makedirs(folder, exist_ok=True)
    builds = [b for b in named() if args.pattern in b[0]["image"]]
    images = {e["image"]: (e["kernel"], e["hint"], parameters) for e, parameters in builds}
    with ThreadPoolExecutor(args.jobs) as pool:
        faults = dict(zip(images, pool.map(lambda i: compile_image(os.path.join(folder, i), *images[i]), images)))
    for image, fault in faults.items():
        print(f"{image}: {fault or 'built'}")
    versions = ", ".join(f"{p} {importlib.metadata.version(p)}" for p in ("cuda-tile", "nvidia-cuda-tileiras"))
    kept = [dict(e, ctas=HINTS[e["hint"]].get("num_ctas", 1), occupancy=HINTS[e["hint"]].get("occupancy", 1))
            for e, _ in builds if faults[e["image"]] is None]
    with open(os.path.join(folder, "manifest.json"), "w") as f:
        json.dump(dict(version=versions, builds=kept), f, indent=0)


if __name__ == "__main__":
    main()
