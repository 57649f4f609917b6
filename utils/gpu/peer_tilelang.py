"""TileLang's kernels as a peer. Compiled programs go through TileLang's cache on disk."""
import tilelang
import tilelang.language as T

import tilelang_kernels as kernels

TARGET = "cuda"


def version(peer):
    return f"TileLang {tilelang.__version__}"


def prepare(spec, configuration):
    compiled(spec, configuration)


def bind(peer, problem, configuration):
    kernel, spec = compiled(problem.spec, configuration), problem.spec
    if spec.kind == "gemm":
        tensors = (*problem.tensors["stored"], problem.out)
    elif spec.kind == "attention":
        tensors = (*(problem.tensors[x] for x in "qkv"), problem.out)
    else:
        tensors = (problem.tensors["x"], *((problem.tensors["g"],) if spec.kind == "rms_norm" else ()), problem.out)

    def launch():
        kernel(*tensors)                       # returns a list of nothing
    return launch


def compiled(spec, configuration):
    return tilelang.compile(program(spec, configuration), target=TARGET)


def program(spec, configuration):
    s = spec.sizes
    if spec.kind == "gemm":
        dtype = T.float16 if spec.dtype == "f16" else T.bfloat16
        return kernels.product(s["m"], s["n"], s["k"], s["layout"][1] == "N", dtype, *configuration)
    if spec.kind == "attention":
        return kernels.attention(s, *configuration)
    return getattr(kernels, spec.kind)(*s["shape"], *configuration)
