"""Tensors, references and arguments of the problems of bench_shapes.py. Needs PyTorch."""
import math

import torch
import torch.nn.functional as F

DEVICE = "cuda"
TORCH_TYPES = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32, "tf32": torch.float32,
               "f8e4m3": torch.float8_e4m3fn, "i8": torch.int8}
EPSILON = 1e-5


class Result:
    """One output tensor, what it should hold, and the relative error (Frobenius) that is still right."""

    def __init__(self, tensor, reference, limit, decode=None):
        self.tensor, self.reference, self.limit = tensor, reference, limit
        self.decode = decode or (lambda t: t)

    def poison(self):
        kind = self.tensor.dtype
        self.tensor.fill_(float("nan") if kind.is_floating_point else torch.iinfo(kind).max)

    def error(self, tensor=None):
        got = self.decode(self.tensor if tensor is None else tensor)
        wide = torch.float64 if self.reference.dtype == torch.float64 else torch.float32
        difference = got.to(wide).reshape(self.reference.shape) - self.reference
        return float(difference.norm() / self.reference.norm())


class Problem:
    """arguments: what our kernel takes, by name. results: all outputs; a peer that has only one gives the first.
    tensors: what the peers take, by their own names."""

    def __init__(self, spec, arguments, results, **tensors):
        self.spec, self.arguments, self.results, self.tensors = spec, arguments, results, tensors

    @property
    def out(self):
        return self.results[0].tensor


def normal(*shape, dtype=torch.bfloat16):
    if dtype == torch.float8_e4m3fn:
        return torch.randn(*shape, device=DEVICE).to(dtype)
    return torch.randn(*shape, device=DEVICE, dtype=dtype)


def empty(*shape, dtype=torch.bfloat16):
    return torch.empty(*shape, device=DEVICE, dtype=dtype)


def by_rows(left, right, wide):
    """left x right in a wide type, 2048 rows at a time."""
    right = right.to(wide)
    return torch.cat([left[r:r + 2048].to(wide) @ right for r in range(0, len(left), 2048)])


def gemm(spec):
    """a: [M, K] and b: [K, N] are views of what is stored; the letter T of the layout says A as [K, M], B as [N, K]."""
    m, n, k, layout = (spec.sizes[x] for x in ("m", "n", "k", "layout"))
    dtype = TORCH_TYPES[spec.dtype]
    shapes = ((k, m) if layout[0] == "T" else (m, k), (n, k) if layout[1] == "T" else (k, n))
    if dtype == torch.int8:
        stored = [torch.randint(-128, 128, shape, device=DEVICE, dtype=dtype) for shape in shapes]
    else:
        stored = [normal(*shape, dtype=dtype) for shape in shapes]
    a, b = (s.t() if letter == "T" else s for s, letter in zip(stored, layout))
    out = empty(m, n, dtype={torch.int8: torch.int32, torch.float8_e4m3fn: torch.bfloat16}.get(dtype, dtype))
    reference = by_rows(a, b, torch.float64 if spec.dtype == "i8" else torch.float32)
    limit, arguments = {"i8": 1e-12, "f8e4m3": 2e-2}.get(spec.dtype, 4e-3), {}
    bias, plain = None, Result(out, reference, limit)
    if spec.family == "linear":
        bias = normal(n)
        arguments, reference, limit = dict(bias=bias), F.silu(reference + bias.float()), 6e-3
    if spec.family.startswith("gemm_f8"):
        arguments = dict(scale=1.0)
    names = dict(A=stored[0], W=stored[1]) if spec.family == "linear" else dict(A=stored[0], B=stored[1])
    return Problem(spec, dict(names, C=out, **arguments), [Result(out, reference, limit)], a=a, b=b, stored=stored,
                   bias=bias, plain=plain)


def attention(spec):
    s = spec.sizes
    q = normal(s["batch"], s["heads"], s["queries"], s["size"])
    k, v = (normal(s["batch"], s["key_heads"], s["keys"], s["size"]) for _ in range(2))
    out = torch.empty_like(q)
    reference = attention_reference(q, k, v, s["causal"])
    return Problem(spec, dict(Q=q, K=k, V=v, O=out, scale=1 / math.sqrt(s["size"])), [Result(out, reference, 6e-3)],
                   q=q, k=k, v=v)


def attention_reference(q, k, v, causal):
    """In f32, one head of one batch at a time. With a mask query i sees the keys 0 to i."""
    out = torch.empty_like(q, dtype=torch.float32)
    group = q.shape[1] // k.shape[1]
    hidden = torch.ones(q.shape[2], k.shape[2], device=q.device, dtype=torch.bool).triu(1) if causal else None
    for b in range(q.shape[0]):
        for h in range(q.shape[1]):
            scores = q[b, h].float() @ k[b, h // group].float().t() / math.sqrt(q.shape[3])
            if causal:
                scores.masked_fill_(hidden, float("-inf"))
            out[b, h] = torch.softmax(scores, -1) @ v[b, h // group].float()
    return out


def rows(spec):
    m, n = spec.sizes["shape"]
    x, g, b = normal(m, n), normal(n), normal(n)
    out, wide = torch.empty_like(x), x.float()
    if spec.kind == "softmax":
        arguments, reference = {}, torch.softmax(wide, -1)
    elif spec.kind == "rms_norm":
        arguments, reference = dict(G=g, eps=EPSILON), F.rms_norm(wide, (n,), g.float(), EPSILON)
    else:
        arguments = dict(G=g, B=b, eps=EPSILON)
        reference = F.layer_norm(wide, (n,), g.float(), b.float(), EPSILON)
    return Problem(spec, dict(arguments, X=x, Y=out), [Result(out, reference, 4e-3)], x=x, g=g, b=b)


def chain(spec):
    m, n = spec.sizes["shape"]
    x, r, out = normal(m, n), normal(m, n), empty(m, n)
    scale, shift = (torch.randn(n, device=DEVICE) for _ in range(2))
    reference = F.silu(x.float() * scale + shift) + r.float()
    return Problem(spec, dict(X=x, scale=scale, shift=shift, R=r, Y=out), [Result(out, reference, 4e-3)], x=x, r=r,
                   scale=scale, shift=shift)


def transpose(spec):
    m, n = spec.sizes["shape"]
    x, out = normal(m, n), empty(n, m)
    return Problem(spec, dict(X=x, Y=out), [Result(out, x.float().t(), 1e-12)], x=x)


def column_sum(spec):
    m, n = spec.sizes["shape"]
    x, out = torch.randn(m, n, device=DEVICE), empty(n, dtype=torch.float32)
    return Problem(spec, dict(X=x, S=out), [Result(out, x.double().sum(0).float(), 1e-5)], x=x)


def norm_backward(spec):
    """Of rms_norm or layer_norm, for the rows or (`_weights`) for the gain and the shift."""
    m, n = spec.sizes["shape"]
    dy, x, gain, layer = normal(m, n), normal(m, n), normal(n), spec.kind.startswith("layer")
    mean = x.float().mean(1) * layer
    scale = torch.rsqrt(((x.float() - mean[:, None]) ** 2).mean(1) + EPSILON)
    h, d = (x.float() - mean[:, None]) * scale[:, None], dy.float()
    arguments = dict(DY=dy, X=x, Rs=scale, **(dict(Mu=mean) if layer else {}))
    tensors = dict(dy=dy, x=x, mean=mean, scale=scale, gain=gain)
    if spec.kind.endswith("weights"):
        results = [Result(empty(n, dtype=torch.float32), (d * h).sum(0), 4e-3)]
        if layer:
            results.append(Result(empty(n, dtype=torch.float32), d.sum(0), 4e-3))
        arguments.update(zip(("DG", "DB"), (r.tensor for r in results)))
        return Problem(spec, arguments, results, **tensors)
    out, g = torch.empty_like(x), d * gain.float()
    reference = scale[:, None] * (g - g.mean(1, keepdim=True) * layer - h * (g * h).mean(1, keepdim=True))
    return Problem(spec, dict(arguments, G=gain, DX=out), [Result(out, reference, 4e-3)], **tensors)


def cross_entropy(spec):
    m, v = spec.sizes["shape"]
    x, target = normal(m, v), torch.randint(0, v, (m,), device=DEVICE, dtype=torch.int32)
    total = torch.logsumexp(x.float(), 1)
    loss = total - x.float().gather(1, target.long()[:, None])[:, 0]
    results = [Result(empty(m, dtype=torch.float32), r, 4e-3) for r in (loss, total)]
    return Problem(spec, dict(X=x, Target=target, Loss=results[0].tensor, Lse=results[1].tensor), results, x=x,
                   target=target.long())


def cross_entropy_backward(spec):
    m, v = spec.sizes["shape"]
    x, target = normal(m, v), torch.randint(0, v, (m,), device=DEVICE, dtype=torch.int32)
    total = torch.logsumexp(x.float(), 1)
    out, reference = torch.empty_like(x), torch.exp(x.float() - total[:, None])
    reference[torch.arange(m), target.long()] -= 1
    return Problem(spec, dict(X=x, Target=target, Lse=total, scale=1.0, DX=out), [Result(out, reference, 4e-3)], x=x,
                   target=target.long(), total=total)


def rotary(spec):
    t, heads, size = spec.sizes["shape"]
    x, out, half = normal(t, heads, size), empty(t, heads, size), size // 2
    c, s = (torch.randn(t, half, device=DEVICE) for _ in range(2))
    a, b, cosine, sine = x[..., :half].float(), x[..., half:].float(), c[:, None], s[:, None]
    reference = torch.cat([a * cosine - b * sine, a * sine + b * cosine], 2)
    return Problem(spec, dict(X=x, C=c, S=s, Y=out), [Result(out, reference, 4e-3)], x=x, c=c, s=s)


def silu_mul(spec):
    m, n = spec.sizes["shape"]
    x, out = normal(m, 2 * n), empty(m, n)
    reference = F.silu(x[:, :n].float()) * x[:, n:].float()
    return Problem(spec, dict(X=x, Y=out), [Result(out, reference, 4e-3)], x=x)


def quantise(spec):
    """Codes of f8e4m3 and a scale a row: the codes times the scales must be x up to half a unit of 3 bits."""
    m, n = spec.sizes["shape"]
    x, codes, scale = normal(m, n), empty(m, n, dtype=torch.uint8), empty(m, dtype=torch.float32)
    largest = x.float().abs().amax(1) / 448
    return Problem(spec, dict(X=x, Y=codes, Scale=scale),
                   [Result(scale, largest, 4e-3),
                    Result(codes, x.float(), 4e-2,
                           lambda y: y.view(torch.float8_e4m3fn).float() * largest[:, None])], x=x)


MAKERS = dict(gemm=gemm, attention=attention, softmax=rows, rms_norm=rows, layer_norm=rows, chain=chain,
              transpose=transpose, column_sum=column_sum, cross_entropy=cross_entropy,
              cross_entropy_backward=cross_entropy_backward, rotary=rotary, silu_mul=silu_mul, quantise=quantise,
              **{f"{norm}_backward{end}": norm_backward for norm in ("rms_norm", "layer_norm") for end in ("", "_weights")})


def make(spec):
    torch.manual_seed(1)
    return MAKERS[spec.kind](spec)
