"""cuBLAS as PyTorch calls it, through both of its libraries, and cuBLASLt's own proposals one by one."""
import torch

import cublaslt
from bench_peers import PROPOSALS

_loaded = {}


def library():
    if "lt" not in _loaded:
        _loaded["lt"] = cublaslt.CublasLt()
    return _loaded["lt"]


def version(peer):
    torch.ones(16, 16, device="cuda") @ torch.ones(16, 16, device="cuda")     # loads the library
    return f"cuBLASLt {library().version()}"


def bind(peer, problem, configuration):
    form, which = configuration
    return proposal(problem, which) if form == "proposal" else call(problem, which)


def call(problem, which):
    a, b, out, spec = problem.tensors["a"], problem.tensors["b"], problem.out, problem.spec
    one = torch.ones((), device="cuda")

    def integers():
        torch._int_mm(a, b, out=out)

    def scaled():
        torch._scaled_mm(a, b, one, one, out_dtype=out.dtype, use_fast_accum=spec.family == "gemm_f8_fast", out=out)

    def launch():
        torch.backends.cuda.preferred_blas_library(which)
        torch.backends.cuda.matmul.allow_tf32 = spec.dtype == "tf32"
        torch.mm(a, b, out=out)
    return plain({"i8": integers, "f8e4m3": scaled}.get(spec.dtype, launch), problem)


def plain(launch, problem):
    """A product with an epilogue is beside the product alone, which has another result."""
    launch.results = [problem.tensors["plain"]]
    return launch


def proposal(problem, index):
    """The library counts by columns: it computes the transpose of C, of [N, M], from those of B and A."""
    spec, out, lt = problem.spec, problem.out, library()
    m, n, k, layout = (spec.sizes[x] for x in ("m", "n", "k", "layout"))
    a, b = problem.tensors["stored"]
    scales = torch.ones(1, device="cuda") if spec.dtype == "f8e4m3" else None
    description = lt.description(spec.dtype, layout[1] == "T", layout[0] == "T",
                                 None if scales is None else scales.data_ptr(), spec.family == "gemm_f8_fast")
    result = {"i8": "i32", "f8e4m3": "bf16"}.get(spec.dtype, spec.dtype)
    layouts = (lt.layout(spec.dtype, *((k, n) if layout[1] == "T" else (n, k)), k if layout[1] == "T" else n),
               lt.layout(spec.dtype, *((m, k) if layout[0] == "T" else (k, m)), m if layout[0] == "T" else k),
               lt.layout(result, n, m, n))
    found = lt.proposals(description, layouts, PROPOSALS)
    if index >= len(found):
        return None                            # the library has fewer
    workspace = _loaded.setdefault("workspace", torch.empty(cublaslt.WORKSPACE, device="cuda", dtype=torch.uint8))

    def launch():
        lt.multiply(description, layouts, (b.data_ptr(), a.data_ptr(), out.data_ptr()), found[index],
                    workspace.data_ptr(), torch.cuda.current_stream().cuda_stream, spec.dtype == "i8")
    launch.scales = scales                     # they live as long as the launch
    return plain(launch, problem)
