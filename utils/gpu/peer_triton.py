"""Triton's kernels as a peer: products, rows, and the bare read of a product's weights."""
import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

import triton_kernels as kernels
from bench_problems import EPSILON, TORCH_TYPES, Result

BAND = 8
PROGRAMS = 4                                   # of the bare read, a multiprocessor


def version(peer):
    return f"Triton {triton.__version__}"


def prepare(spec, configuration):
    """Compiles into Triton's cache; small tensors stand for the problem's."""
    peer = "read" if isinstance(configuration[0], int) and spec.kind == "gemm" else "Triton"
    call(peer, spec, configuration, stand_ins(spec)).warm()


def bind(peer, problem, configuration):
    tensors = dict(problem.tensors, out=problem.out)
    if problem.spec.kind == "gemm":
        tensors["a"], tensors["b"] = problem.tensors["stored"]
    return call(peer, problem.spec, configuration, tensors).launch()


def stand_ins(spec):
    """Tensors of the right types whose memory is not touched."""
    tensor = torch.empty(16, device="cuda", dtype=TORCH_TYPES[spec.dtype])
    out = torch.empty(16, device="cuda", dtype=torch.int32) if spec.dtype == "i8" else \
        tensor.to(torch.bfloat16) if spec.dtype == "f8e4m3" else tensor
    return dict(a=tensor, b=tensor, x=tensor, g=tensor, out=out)


class Call:
    """A kernel with its grid, arguments and options."""

    def __init__(self, kernel, grid, arguments, **options):
        self.kernel, self.grid, self.arguments, self.options = kernel, (grid,), arguments, options
        self.results = None                    # gives those of a launch that has others than its problem

    def warm(self):
        self.kernel.warmup(*self.arguments, grid=self.grid, **self.options)

    def launch(self):
        def go():
            self.kernel[self.grid](*self.arguments, **self.options)
        if self.results:
            go.results = self.results()
        return go


def call(peer, spec, configuration, tensors):
    if peer == "read":
        return bare_read(spec, configuration, tensors)
    if spec.kind == "gemm":
        return product(spec, configuration, tensors)
    m, n = spec.sizes["shape"]
    x, g, out = (tensors[t] for t in ("x", "g", "out"))
    b = tensors.get("b", g)
    arguments = dict(softmax=(x, out, n), rms_norm=(x, g, out, n, EPSILON), layer_norm=(x, g, b, out, n, EPSILON))
    return Call(getattr(kernels, spec.kind), m, arguments[spec.kind], WIDTH=triton.next_power_of_2(n),
                num_warps=configuration[0])


def product(spec, configuration, tensors):
    form, bm, bn, bk, stages, warps = configuration
    m, n, k = (spec.sizes[x] for x in "mnk")
    kn = spec.sizes["layout"][1] == "N"
    a, b = tensors["a"], tensors["b"]
    if spec.dtype in ("i8", "f8e4m3"):
        bk *= 2
    if form == "descriptors":
        a = TensorDescriptor(a, [m, k], [k, 1], [bm, bk])
        b = TensorDescriptor(b, [k, n], [n, 1], [bk, bn]) if kn else TensorDescriptor(b, [n, k], [k, 1], [bn, bk])
    kernel = kernels.product_by_descriptors if form == "descriptors" else kernels.product_by_pointers
    return Call(kernel, triton.cdiv(m, bm) * triton.cdiv(n, bn), (a, b, tensors["out"], m, n, k), BM=bm, BN=bn, BK=bk,
                BAND=BAND, KN=kn, SUM=tl.int32 if spec.dtype == "i8" else tl.float32, num_stages=stages, num_warps=warps)


def bare_read(spec, configuration, tensors):
    """Of the weights, b."""
    step, warps = configuration
    words = tensors["b"].view(-1).view(torch.int32)
    steps = spec.sizes["n"] * spec.sizes["k"] // 2 // step
    programs = PROGRAMS * torch.cuda.get_device_properties(0).multi_processor_count
    sums = torch.empty(programs, device="cuda", dtype=torch.int32)
    made = Call(kernels.read, programs, (words, sums, steps), STEP=step, num_warps=warps)
    made.results = lambda: [Result(sums, words.sum(dtype=torch.int64).double() % 2 ** 32, 0,
                                   lambda t: t.sum(dtype=torch.int64) % 2 ** 32)]
    return made
