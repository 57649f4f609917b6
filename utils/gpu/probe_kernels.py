"""Kernels around the instructions of the probe, with their reflection and inputs."""
import re

import numpy as np

import probe_data
from probe_scalar import WIDTH

HEADER = ".version 8.6\n.target sm_90a\n.address_size 64\n"
BLOCK = 128


class Probe:
    """A kernel, its launch, its inputs, and how its output is compared.

    out: (storage type, count); result: the type of an output element for the comparison; ulps: None for equal bits;
    absolute: an error of f32 that is allowed besides; refused: the simulator reports a fault and the device ends the
    kernel with an error.
    """

    def __init__(self, family, name, body, inputs, out, result, ulps=None, grid=1, block=BLOCK, shared=0, params=(),
                 declarations="", absolute=None, cluster=1, refused=False):
        self.cluster, self.refused = cluster, refused
        self.family, self.name, self.body, self.inputs, self.out = family, name, body, inputs, out
        self.result, self.ulps, self.grid, self.block, self.shared = result, ulps, grid, block, shared
        self.params, self.declarations, self.absolute = list(params), declarations, absolute
        self.entry = None                       # set when the pack numbers its kernels

    def ptx(self, declarations=True):
        names = list(self.inputs) + ["D"]
        declared = [f".param .align 64 .b8 {p['tensor']}_map[128]" for p in self.params]
        declared += [f".param .u64 {n}" for n in names]
        return (f"{self.declarations if declarations else ''}.visible .entry {self.entry}({', '.join(declared)})\n"
                f".reqntid {self.block}, 1, 1\n{{\n{self.body}\n}}\n")

    def reflection(self):
        tensors = [{"kind": "tensor", "name": n, "type": t, "access": "in", "shape": [a.size], "strides": [1],
                    "dynamic_strides": False} for n, (t, a) in self.inputs.items()]
        tensors.append({"kind": "tensor", "name": "D", "type": self.out[0], "access": "inout", "shape": [self.out[1]],
                        "strides": [1], "dynamic_strides": False})
        pointers = [{"kind": "pointer", "tensor": t["name"]} for t in tensors]
        launch = {"entry": self.entry, "grid": [self.grid, 1, 1], "block": self.block, "cluster": [self.cluster, 1, 1],
                  "shared": self.shared, "params": self.params + pointers}
        return {"name": self.entry, "arguments": tensors, "contracts": [],
                "variants": [{"name": self.entry, "when": [], "launches": [launch]}]}


def u64(values):
    return "u64", np.asarray(values, np.uint64)


def u32(values):
    return "u32", np.asarray(values, np.uint32).reshape(-1)


def u8(values):
    return "u8", np.asarray(values, np.uint8).reshape(-1)


#
# One instruction a thread.
#

def narrow(register, width, source):
    if width == 64:
        return f"mov.b64 {register}, {source};"
    return f"cvt.u{width}.u64 {register}, {source};"


def scalar_probe(form):
    """Thread i reads element i of each operand, and writes the result as 64 bits."""
    lines, inputs = [".reg .b32 %i, %t; .reg .b64 %x, %y, %p, %z; .reg .pred %d1;"], {}
    lines += ["mov.u32 %i, %ctaid.x; mov.u32 %t, %ntid.x; mul.lo.u32 %i, %i, %t; mov.u32 %t, %tid.x; add.u32 %i, %i, %t;",
              "mul.wide.u32 %x, %i, 8;"]
    for which, (name, kind) in enumerate(zip("abc", form.operands)):
        width = WIDTH.get(kind, 32)
        width = 32 if kind == "shift" else width
        inputs[name.upper()] = u64(probe_data.operands(kind, which))
        lines.append(f".reg .b{width} %{name}; ld.param.u64 %p, [{name.upper()}]; add.u64 %p, %p, %x; "
                     f"ld.global.u64 %y, [%p]; {narrow('%' + name, width, '%y')}")
    width = WIDTH[form.result]
    result = "%d1" if width == 1 else "%d"
    if width > 1:
        lines.append(f".reg .b{width} %d;")
    text = re.sub(r"\$([abc])", r"%\1", form.text).replace("$d", result)
    lines.append(text)
    lines.append("selp.u64 %z, 1, 0, %d1;" if width == 1 else "mov.b64 %z, %d;" if width == 64 else
                 f"cvt.u64.u{width} %z, %d;")
    lines.append("ld.param.u64 %p, [D]; add.u64 %p, %p, %x; st.global.u64 [%p], %z; ret;")
    return Probe(form.family, form.name, "\n".join(lines), inputs, ("u64", probe_data.COUNT), form.result, form.ulps,
                 grid=probe_data.COUNT // BLOCK, absolute=form.absolute)


#
# Warps and warpgroups: registers come from and go to arrays [thread][register] of 32-bit words.
#

def vector(name, first, count):
    return "{" + ", ".join(f"%{name}{first + i}" for i in range(count)) + "}"


def load_words(name, count, array):
    """Registers %name0.. of each thread from array."""
    lines = [f".reg .b32 %{name}<{max(count, 1)}>; .reg .b64 %{name}p;",
             f"ld.param.u64 %{name}p, [{array}]; mad.wide.u32 %{name}p, %tid_, {4 * count}, %{name}p;"]
    return "\n".join(lines + [f"ld.global.u32 %{name}{i}, [%{name}p+{4 * i}];" for i in range(count)])


def store_words(name, count):
    lines = [f"ld.param.u64 %out, [D]; mad.wide.u32 %out, %tid_, {4 * count}, %out;"]
    return "\n".join(lines + [f"st.global.u32 [%out+{4 * i}], %{name}{i};" for i in range(count)] + ["ret;"])


START = ".reg .b32 %tid_; .reg .b64 %out; mov.u32 %tid_, %tid.x;"

ELEMENT_BITS = {"f16": 16, "bf16": 16, "tf32": 32, "e4m3": 8, "e5m2": 8, "s8": 8, "u8": 8, "s4": 4, "u4": 4, "f64": 64}
FORMATS = {"e4m3": (3, 7), "e5m2": (2, 15), "f16": (10, 15), "bf16": (7, 127), "tf32": (23, 127), "f32": (23, 127)}


def encode_small(kind, values):
    """Patterns of small integers (below 8) in a type."""
    values = np.asarray(values)
    if kind in ("s8", "u8", "s4", "u4", "s32"):
        bits = 32 if kind == "s32" else ELEMENT_BITS[kind]
        return (values.astype(np.int64) & ((1 << bits) - 1)).astype(np.uint64)
    if kind == "f64":
        return values.astype(np.float64).view(np.uint64)
    mantissa, bias = FORMATS[kind]
    bits = 1 + mantissa + {3: 4, 2: 5, 10: 5, 7: 8, 23: 8}[mantissa]
    magnitude = np.abs(values)
    exponent = np.where(magnitude > 0, np.floor(np.log2(np.maximum(magnitude, 1))), 0).astype(np.int64)
    fraction = ((magnitude / 2.0 ** exponent - 1) * (1 << mantissa)).astype(np.int64)
    pattern = np.where(magnitude > 0, ((exponent + bias) << mantissa) + fraction, 0)
    return (pattern | np.where(values < 0, 1 << (bits - 1), 0)).astype(np.uint64)


def random_patterns(kind, size, random):
    """Random finite values between about 2^-4 and 2^3."""
    if kind in ("s8", "u8", "s4", "u4", "s32"):
        return random.integers(0, 1 << (32 if kind == "s32" else ELEMENT_BITS[kind]), size).astype(np.uint64)
    if kind == "f64":
        return random.standard_normal(size).view(np.uint64)
    mantissa, bias = FORMATS[kind]
    bits = 1 + mantissa + {3: 4, 2: 5, 10: 5, 7: 8, 23: 8}[mantissa]
    exponent = random.integers(bias - 4, bias + 3, size)
    return (random.integers(0, 2, size) << (bits - 1) | exponent << mantissa | random.integers(0, 1 << mantissa, size)).astype(np.uint64)


def fields(kind):
    """(mantissa bits, bits of the exponent, bits) of a float."""
    mantissa, _ = FORMATS[kind]
    exponent = {3: 4, 2: 5, 10: 5, 7: 8, 23: 8}[mantissa]
    return mantissa, exponent, 1 + mantissa + exponent


# Exponent fields of operands: far apart; so low that products or results are subnormal; so high that sums overflow.
REACH = {"wide": {"e4m3": (1, 15), "e5m2": (2, 30), "f16": (3, 27), "bf16": (107, 147), "tf32": (107, 147), "f32": (107, 147)},
         "low": {"e4m3": (0, 4), "e5m2": (0, 6), "f16": (0, 8), "bf16": (40, 70), "tf32": (40, 70), "f32": (0, 12)},
         "high": {"e4m3": (11, 16), "e5m2": (24, 31), "f16": (24, 31), "bf16": (184, 192), "tf32": (184, 192), "f32": (240, 255)}}


def reaching(kind, size, random, how):
    if kind not in FORMATS:
        return random_patterns(kind, size, random)
    mantissa, _, bits = fields(kind)
    exponent = random.integers(*REACH[how][kind], size)
    return (random.integers(0, 2, size) << (bits - 1) | exponent << mantissa | random.integers(0, 1 << mantissa, size)).astype(np.uint64)


def special(kind, size, random):
    """Wide, and a few infinities, NaNs, zeros and subnormals."""
    values = reaching(kind, size, random, "wide")
    if kind not in FORMATS:
        return values
    mantissa, exponent, bits = fields(kind)
    top = ((1 << exponent) - 1) << mantissa
    chosen = np.array([0, top, top | 1 << (mantissa - 1), top | ((1 << mantissa) - 1), 1, (1 << mantissa) - 1], np.uint64)
    pick = chosen[random.integers(0, chosen.size, size)] | (random.integers(0, 2, size) << (bits - 1)).astype(np.uint64)
    return np.where(random.random(size) < 0.03, pick, values)


MAKERS = {"": lambda *a: small(*a), "random": lambda *a: random_patterns(*a), "special": special,
          "wide": lambda *a: reaching(*a, "wide"), "low": lambda *a: reaching(*a, "low"), "high": lambda *a: reaching(*a, "high")}


def small(kind, size, random):
    low = 0 if kind.startswith("u") else -7
    return encode_small(kind, random.integers(low, 8, size))


def pack_words(kind, patterns):
    """32-bit words from element patterns, lowest first; f64 takes two."""
    bits = ELEMENT_BITS.get(kind, 32)
    patterns = np.asarray(patterns, np.uint64).reshape(-1)
    if bits == 64:
        return patterns.view(np.uint32)
    if bits == 32:
        return patterns.astype(np.uint32)
    groups = patterns.reshape(-1, 32 // bits)
    return (groups << (bits * np.arange(32 // bits, dtype=np.uint64))).sum(1).astype(np.uint32)


MMA = [(16, 8, k, a, a, "f32") for a in ("f16", "bf16") for k in (8, 16)] + [
    (16, 8, k, "f16", "f16", "f16") for k in (8, 16)] + [
    (16, 8, k, "tf32", "tf32", "f32") for k in (4, 8)] + [
    (16, 8, k, a, b, c) for k in (16, 32) for a in ("e4m3", "e5m2") for b in ("e4m3", "e5m2") for c in ("f32", "f16")] + [
    (16, 8, k, a, b, "s32") for k in (16, 32) for a in ("s8", "u8") for b in ("s8", "u8")] + [
    (8, 8, 16, "s8", "s8", "s32"), (16, 8, 64, "s4", "s4", "s32"), (8, 8, 4, "f64", "f64", "f64"),
    (16, 8, 4, "f64", "f64", "f64"), (16, 8, 8, "f64", "f64", "f64"), (16, 8, 16, "f64", "f64", "f64")]


def titled(text, how):
    return text + (f" ({how})" if how else "")


def sums(c):
    """How the results of a product compare: equal bits but for NaN."""
    return {"f32": "f32", "f16": "f16x2"}.get(c, "words")


def mma_probe(shape, how):
    m, n, k, a, b, c = shape
    random = np.random.default_rng([m, k, len(a), len(how)])
    make = MAKERS[how]
    per = max(32 // ELEMENT_BITS[a], 1) if a != "f64" else 1
    words = 2 if a == "f64" else 1
    ra, rb, rc = m // 8 * k // (4 * per), k // (4 * per), m // 8 if c == "f16" else m // 4
    count_c = rc * (2 if c == "f16" else 1)
    inputs = {"A": u32(pack_words(a, make(a, BLOCK * ra * per, random))),
              "B": u32(pack_words(b, make(b, BLOCK * rb * per, random))),
              "C": u32(pack_words(c if c != "f32" else "tf32", make(c, BLOCK * count_c, random)))}
    sat = ".satfinite" if c == "s32" else ""
    text = f"mma.sync.aligned.m{m}n{n}k{k}.row.col{sat}.{c}.{a}.{b}.{c}"
    lines = [START] + [load_words(r, count * words, array) for r, count, array in
                       (("a", ra, "A"), ("b", rb, "B"), ("c", rc, "C"))]
    if words == 2:
        for r, count in (("a", ra), ("b", rb), ("c", rc)):
            lines.append(f".reg .b64 %{r}w<{count}>;")
            lines += [f"mov.b64 %{r}w{i}, {{%{r}{2 * i}, %{r}{2 * i + 1}}};" for i in range(count)]
        lines.append(f"{text} {vector('cw', 0, rc)}, {vector('aw', 0, ra)}, {vector('bw', 0, rb)}, {vector('cw', 0, rc)};")
        lines += [f"mov.b64 {{%c{2 * i}, %c{2 * i + 1}}}, %cw{i};" for i in range(rc)]
    else:
        lines.append(f"{text} {vector('c', 0, rc)}, {vector('a', 0, ra)}, {vector('b', 0, rb)}, {vector('c', 0, rc)};")
    lines.append(store_words("c", rc * words))
    return Probe("mma", titled(text, how), "\n".join(lines), inputs, ("u32", BLOCK * rc * words), sums(c))


SHARED = ".extern .shared .align 1024 .b8 memory[];\n"


def fill_shared(array, size):
    """All threads copy an array of bytes to the beginning of shared memory."""
    return "\n".join([
        ".reg .b32 %fo, %fa, %fv; .reg .b64 %fp, %fq, %fm; .reg .pred %fd;",
        f"ld.param.u64 %fp, [{array}]; mov.u64 %fm, memory; cvt.u32.u64 %fa, %fm; shl.b32 %fo, %tid_, 2;",
        "FILL: cvt.u64.u32 %fq, %fo; add.u64 %fq, %fq, %fp; ld.global.u32 %fv, [%fq];",
        f".reg .b32 %fs; add.u32 %fs, %fa, %fo; st.shared.u32 [%fs], %fv; add.u32 %fo, %fo, {4 * BLOCK};",
        f"setp.lt.u32 %fd, %fo, {size}; @%fd bra FILL;",
        "fence.proxy.async.shared::cta; bar.sync 0;"])


def matrix_probe(load, count, trans):
    random = np.random.default_rng([load, count, trans])
    size = 4096
    image = u8(random.integers(0, 256, size))
    rows = random.permutation(size // 16)[:BLOCK] * 16
    name = "ldmatrix" if load else "stmatrix"
    text = f"{name}.sync.aligned.m8n8.x{count}{'.trans' if trans else ''}.shared.b16"
    lines = [START, fill_shared("A", size), load_words("r", 1, "B"), "add.u32 %r0, %r0, %fa;"]
    if load:
        lines += [f".reg .b32 %c<{count}>; {text} {vector('c', 0, count)}, [%r0];", store_words("c", count)]
        return Probe("matrix memory", text, "\n".join(lines), {"A": image, "B": u32(rows)}, ("u32", BLOCK * count),
                     "words", shared=size, declarations=SHARED)
    values = u32(random.integers(0, 1 << 32, BLOCK * count, dtype=np.uint64))
    lines += [load_words("c", count, "C"), f"{text} [%r0], {vector('c', 0, count)};", "bar.sync 0;",
              copy_shared_out(size)]
    return Probe("matrix memory", text, "\n".join(lines), {"A": image, "B": u32(rows), "C": values}, ("u32", size // 4),
                 "words", shared=size, declarations=SHARED)


def copy_shared_out(size):
    return "\n".join([
        ".reg .b32 %oo, %ov, %os; .reg .b64 %oq; .reg .pred %od;",
        "ld.param.u64 %out, [D]; shl.b32 %oo, %tid_, 2;",
        "DRAIN: add.u32 %os, %fa, %oo; ld.shared.u32 %ov, [%os]; cvt.u64.u32 %oq, %oo; add.u64 %oq, %oq, %out;",
        f"st.global.u32 [%oq], %ov; add.u32 %oo, %oo, {4 * BLOCK}; setp.lt.u32 %od, %oo, {size}; @%od bra DRAIN;",
        "ret;"])


def wgmma_forms():
    """(n, a, b, accumulator, swizzle, transpose A, transpose B, A in registers)"""
    for a, b, c in (("bf16", "bf16", "f32"), ("f16", "f16", "f32"), ("f16", "f16", "f16"), ("tf32", "tf32", "f32"),
                    ("e4m3", "e4m3", "f32"), ("e5m2", "e4m3", "f32"), ("e4m3", "e5m2", "f16"), ("s8", "s8", "s32"),
                    ("u8", "s8", "s32")):
        for n in (8, 64, 96, 256):
            for swizzle in (0, 32, 64, 128):
                for registers in (False, True):
                    yield n, a, b, c, swizzle, False, False, registers
    for a in ("bf16", "f16"):
        for n in (64, 80, 256):
            for swizzle in (0, 32, 64, 128):
                for form in (1, 2, 3):
                    yield n, a, a, "f32", swizzle, bool(form & 1), bool(form & 2), False
                yield n, a, a, "f32", swizzle, False, True, True


def descriptor(swizzle, leading, stride, base=0):
    mode = {0: 0, 128: 1, 64: 2, 32: 3}[swizzle]
    return (leading >> 4) << 16 | (stride >> 4) << 32 | base << 49 | mode << 62


def operand(extent, kind, transposed, swizzle):
    """(bytes of shared memory, leading, stride) of an operand of `extent` by one k step."""
    size, k = ELEMENT_BITS[kind] // 8, 256 // ELEMENT_BITS[kind]
    span = swizzle or 16
    inner, outer = (extent, k) if transposed else (k, extent)
    chunks = -(-inner * size // span)
    leading, stride = outer * span, 8 * span
    if swizzle == 0 and transposed:
        leading, stride = stride, leading
    return -(-chunks * outer * span // 1024) * 1024, leading, stride


def wgmma_probe(form, how):
    n, a, b, c, swizzle, trans_a, trans_b, registers = form
    random = np.random.default_rng([n, len(a), swizzle, len(how)])
    make = MAKERS[how]
    bits, k = ELEMENT_BITS[a], 256 // ELEMENT_BITS[a]
    size_a, lead_a, stride_a = (0, 0, 0) if registers else operand(64, a, trans_a, swizzle)
    size_b, lead_b, stride_b = operand(n, b, trans_b, swizzle)
    image = np.concatenate([pack_words(a, make(a, size_a * 8 // bits, random)),
                            pack_words(b, make(b, size_b * 8 // bits, random))]).view(np.uint8)
    rc = n // 4 if c == "f16" else n // 2
    inputs = {"A": u8(image), "C": u32(pack_words(c if c != "f32" else "tf32", make(c, BLOCK * rc * (2 if c == "f16" else 1), random)))}
    text = f"wgmma.mma_async.sync.aligned.m64n{n}k{k}.{c}.{a}.{b}"
    lines = [START, fill_shared("A", size_a + size_b), load_words("c", rc, "C")]
    lines += [".reg .b64 %da, %db, %base; shr.u32 %fa, %fa, 4; cvt.u64.u32 %base, %fa;",
              f"or.b64 %da, %base, {descriptor(swizzle, lead_a, stride_a)};",
              f"add.u64 %db, %base, {size_a // 16}; or.b64 %db, %db, {descriptor(swizzle, lead_b, stride_b)};"]
    source = "%da"
    if registers:
        inputs["B"] = u32(pack_words(a, make(a, BLOCK * 4 * 32 // bits, random)))
        lines.append(load_words("r", 4, "B"))
        source = vector("r", 0, 4)
    flags = "" if c == "s32" else ", 1, 1"
    if bits == 16:
        flags += ("" if registers else f", {int(trans_a)}") + f", {int(trans_b)}"
    lines += ["wgmma.fence.sync.aligned;", f"{text} {vector('c', 0, rc)}, {source}, %db, 1{flags};",
              "wgmma.commit_group.sync.aligned;", "wgmma.wait_group.sync.aligned 0;", store_words("c", rc)]
    label = f"{text} swizzle {swizzle}" + (" A in registers" if registers else "") + \
        (" A transposed" if trans_a else "") + (" B transposed" if trans_b else "")
    return Probe("wgmma", titled(label, how), "\n".join(lines), inputs, ("u32", BLOCK * rc), sums(c), shared=size_a + size_b,
                 declarations=SHARED)


def warp_probes():
    """Shuffles, votes, redux, match: one result word a thread."""
    random = np.random.default_rng(9)
    values, lanes = random.integers(0, 1 << 32, BLOCK, dtype=np.uint64), random.integers(0, 40, BLOCK)
    for mode, clamp in (("idx", 31), ("up", 0), ("down", 31), ("bfly", 31), ("idx", 0x181f), ("up", 0x1800)):
        body = [START, load_words("a", 1, "A"), load_words("b", 1, "B"), ".reg .b32 %c<2>; .reg .pred %q;",
                f"shfl.sync.{mode}.b32 %c0|%q, %a0, %b0, {clamp}, 0xffffffff; selp.u32 %c1, 1, 0, %q;",
                store_words("c", 2)]
        yield Probe("warp", f"shfl.sync.{mode}.b32 clamp {clamp:#x}", "\n".join(body),
                    {"A": u32(values), "B": u32(lanes)}, ("u32", 2 * BLOCK), "words")
    for op in ("add.s32", "min.s32", "max.s32", "min.u32", "max.u32", "and.b32", "or.b32", "xor.b32"):
        body = [START, load_words("a", 1, "A"), f"redux.sync.{op} %a0, %a0, 0xffffffff;", store_words("a", 1)]
        yield Probe("warp", f"redux.sync.{op}", "\n".join(body), {"A": u32(values)}, ("u32", BLOCK), "words")
    for op in ("all.pred", "any.pred", "uni.pred", "ballot.b32"):
        result = "%a0" if "ballot" in op else "%r"
        after = "" if "ballot" in op else "selp.u32 %a0, 1, 0, %r;"
        body = [START, load_words("a", 1, "A"), ".reg .pred %q, %r; setp.gt.s32 %q, %a0, 0;",
                f"vote.sync.{op} {result}, %q, 0xffffffff; {after}", store_words("a", 1)]
        yield Probe("warp", f"vote.sync.{op}", "\n".join(body), {"A": u32(values)}, ("u32", BLOCK), "words")
    for op in ("popc.u32", "and.pred", "or.pred"):
        for negated in ("", "!"):
            result, after = ("%a0", "") if "popc" in op else ("%r", "selp.u32 %a0, 1, 0, %r;")
            body = [START, load_words("a", 1, "A"), f".reg .pred %q, %r; setp.gt.s32 %q, %a0, 0; barrier.cta.red.{op} {result}, 1, 128, "
                    f"{negated}%q; {after}", store_words("a", 1)]
            yield Probe("warp", f"barrier.cta.red.{op} {negated}p", "\n".join(body), {"A": u32(values)}, ("u32", BLOCK), "words")
    body = [START, load_words("a", 1, "A"), ".reg .pred %q; .reg .b32 %c<2>; match.all.sync.b32 %c0|%q, %a0, 0xffffffff; "
            "selp.u32 %c1, 1, 0, %q;", store_words("c", 2)]
    for what, source in (("equal", values // values), ("different", values)):
        yield Probe("warp", f"match.all.sync.b32, {what}", "\n".join(body), {"A": u32(source)}, ("u32", 2 * BLOCK), "words")
    body = [START, load_words("a", 1, "A"), "match.any.sync.b32 %a0, %a0, 0xffffffff;", store_words("a", 1)]
    yield Probe("warp", "match.any.sync.b32", "\n".join(body), {"A": u32(values % 5)}, ("u32", BLOCK), "words")
    body = [START, load_words("a", 1, "A"), ".reg .pred %q; .reg .b32 %c<2>; elect.sync %c0|%q, 0xffffffff; "
            "selp.u32 %c1, 1, 0, %q;", store_words("c", 2)]
    yield Probe("warp", "elect.sync", "\n".join(body), {"A": u32(values)}, ("u32", 2 * BLOCK), "words")


def collective_probes():
    yield from warp_probes()
    for load in (True, False):
        for count in (1, 2, 4):
            for trans in (False, True):
                yield matrix_probe(load, count, trans)
    for trans in ("", ".trans"):
        body = [START, load_words("a", 1, "A"), f"movmatrix.sync.aligned.m8n8{trans}.b16 %a0, %a0;", store_words("a", 1)]
        yield Probe("matrix memory", f"movmatrix.sync.aligned.m8n8{trans}.b16", "\n".join(body),
                    {"A": u32(np.random.default_rng(5).integers(0, 1 << 32, BLOCK, dtype=np.uint64))}, ("u32", BLOCK), "words")
    for shape in MMA:
        hows = ("", "random") if shape[3] not in FORMATS else tuple(MAKERS)
        yield from (mma_probe(shape, how) for how in hows)
    for form in wgmma_forms():
        yield wgmma_probe(form, "")
    for form in (f for f in wgmma_forms() if f[0] == 64 and f[4] == 128):
        hows = ("random",) if form[1] not in FORMATS else tuple(MAKERS)[1:]
        yield from (wgmma_probe(form, how) for how in hows)
