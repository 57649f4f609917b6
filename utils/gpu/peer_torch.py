"""What PyTorch calls: cuDNN's and FlashAttention-2's attention, a copy of the same bytes, its kernels one by one, and
those that inductor makes."""
import functools

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from bench_problems import EPSILON, Result

BACKENDS = {"cuDNN": SDPBackend.CUDNN_ATTENTION, "FA2": SDPBackend.FLASH_ATTENTION}


def version(peer):
    return f"cuDNN {torch.backends.cudnn.version()}" if peer == "cuDNN" else f"PyTorch {torch.__version__}"


def bind(peer, problem, configuration):
    if peer in BACKENDS:
        return attention(problem, BACKENDS[peer], configuration[0])
    if peer == "copy":
        return copy(problem)
    function, tensors = OPERATIONS[problem.spec.kind](problem)
    if peer == "inductor":
        torch._dynamo.config.recompile_limit = torch._dynamo.config.accumulated_recompile_limit = 4096   # past it: eager
        mode = None if configuration[0] == "default" else configuration[0]
        function = torch.compile(function, dynamic=False, mode=mode)
    return functools.partial(function, *tensors)


def copy(problem):
    """Half of the bytes read, half written."""
    source = torch.randint(0, 256, (int(problem.spec.work) // 2,), device="cuda", dtype=torch.uint8)
    target = torch.empty_like(source)

    def launch():
        target.copy_(source)
    launch.results = [Result(target, source.float(), 0)]
    return launch


def attention(problem, backend, form):
    """form: the order of the dimensions in memory, batch, heads, sequence and size; `repeated`: key heads once for
    every head that shares them, copied beforehand."""
    q, k, v = (problem.tensors[x] for x in "qkv")
    causal, shared = problem.spec.sizes["causal"], q.shape[1] != k.shape[1]
    if form == "BSHD":
        q, k, v = (t.transpose(1, 2).contiguous().transpose(1, 2) for t in (q, k, v))
    if form == "repeated":
        k, v = (t.repeat_interleave(q.shape[1] // k.shape[1], 1) for t in (k, v))
        shared = False

    def launch():
        with sdpa_kernel(backend):
            return F.scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=shared)
    return launch


def softmax(p):
    return (lambda x: torch.softmax(x, -1)), (p.tensors["x"],)


def rms_norm(p):
    return (lambda x, g: F.rms_norm(x, (x.shape[1],), g, EPSILON)), (p.tensors["x"], p.tensors["g"])


def layer_norm(p):
    return (lambda x, g, b: F.layer_norm(x, (x.shape[1],), g, b, EPSILON)), tuple(p.tensors[t] for t in "xgb")


def linear(p):
    """One product with what follows it."""
    return (lambda a, w, bias: F.silu(F.linear(a, w, bias))), (*p.tensors["stored"], p.tensors["bias"])


def silu_mul(p):
    def function(x):
        gate, up = x.chunk(2, 1)
        return F.silu(gate.float()).mul(up).to(x.dtype)
    return function, (p.tensors["x"],)


def cross_entropy(p):
    return (lambda x, t: F.cross_entropy(x.float(), t, reduction="none")), (p.tensors["x"], p.tensors["target"])


def cross_entropy_backward(p):
    def function(x, target, total):
        chosen = torch.arange(x.shape[1], device=x.device)[None] == target[:, None]
        return (torch.exp(x.float() - total[:, None]) - chosen.float()).to(x.dtype)
    return function, tuple(p.tensors[t] for t in ("x", "target", "total"))


def norm_backward(p):
    layer = p.spec.kind.startswith("layer")

    def function(dy, x, mean, scale, gain):
        h, g = (x.float() - mean[:, None]) * scale[:, None], dy.float() * gain.float()
        centre = g.mean(1, keepdim=True) if layer else 0
        return (scale[:, None] * (g - centre - h * (g * h).mean(1, keepdim=True))).to(x.dtype)
    return function, tuple(p.tensors[t] for t in ("dy", "x", "mean", "scale", "gain"))


def norm_backward_weights(p):
    layer = p.spec.kind.startswith("layer")

    def function(dy, x, mean, scale):
        d = dy.float()
        gain = (d * ((x.float() - mean[:, None]) * scale[:, None])).sum(0)
        return (gain, d.sum(0)) if layer else gain
    return function, tuple(p.tensors[t] for t in ("dy", "x", "mean", "scale"))


def rotary(p):
    def function(x, c, s):
        a, b = x.float().chunk(2, 2)
        return torch.cat([a * c[:, None] - b * s[:, None], a * s[:, None] + b * c[:, None]], 2).to(x.dtype)
    return function, tuple(p.tensors[t] for t in ("x", "c", "s"))


def chain(p):
    return (lambda x, scale, shift, r: (F.silu(x * scale + shift) + r).to(x.dtype)), \
        tuple(p.tensors[t] for t in ("x", "scale", "shift", "r"))


def transpose(p):
    return (lambda x: x.t().contiguous()), (p.tensors["x"],)


def column_sum(p):
    return (lambda x: x.sum(0)), (p.tensors["x"],)


def quantise(p):
    def function(x):
        wide = x.float()
        scale = wide.abs().amax(1) / 448
        return scale, (wide * (1 / scale)[:, None]).to(torch.float8_e4m3fn).view(torch.uint8)
    return function, (p.tensors["x"],)


# kind: the function and its tensors. It returns the results in the order of the problem's.
OPERATIONS = dict(gemm=linear, softmax=softmax, rms_norm=rms_norm, layer_norm=layer_norm, silu_mul=silu_mul,
                  cross_entropy=cross_entropy, cross_entropy_backward=cross_entropy_backward, rotary=rotary, chain=chain,
                  transpose=transpose, column_sum=column_sum, quantise=quantise,
                  **{f"{norm}_backward": norm_backward for norm in ("rms_norm", "layer_norm")},
                  **{f"{norm}_backward_weights": norm_backward_weights for norm in ("rms_norm", "layer_norm")})
