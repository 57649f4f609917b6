"""Kernels around atomics, cp.async and bulk copies for the probe."""
import numpy as np

import probe_data
from probe_kernels import BLOCK, SHARED, START, Probe, copy_shared_out, fill_shared, load_words, u8, u32, u64
from probe_tma import head, leave_with, wait_for

COUNT = probe_data.COUNT
WIDTH = {"u32": 32, "s32": 32, "b32": 32, "u64": 64, "s64": 64, "b64": 64, "f16": 16, "bf16": 16, "f16x2": 32, "bf16x2": 32,
         "f32": 32, "f64": 64, "b16": 16}

ATOMICS = [(op, t) for op in ("add", "min", "max") for t in ("u32", "s32", "u64")] + [
    ("min", "s64"), ("max", "s64"), ("inc", "u32"), ("dec", "u32"), ("add", "f32"), ("add", "f64")] + [
    (op, t) for op in ("and", "or", "xor", "exch") for t in ("b32", "b64")] + [("cas", "b32"), ("cas", "b64"), ("cas", "b16")] + [
    (op + ".noftz", t) for op in ("add",) for t in ("f16", "f16x2", "bf16", "bf16x2")]


def atomic_probe(space, operation, kind):
    """Thread i stores operand a in its own 8 bytes, works on it with b (and c), and writes what was there and what is."""
    width = WIDTH[kind]
    swap = operation == "cas"
    lines = [START, ".reg .b64 %x, %y, %p, %q, %z; .reg .b32 %i, %n, %s; mov.u32 %i, %ctaid.x; mov.u32 %n, %ntid.x;",
             "mad.lo.u32 %i, %i, %n, %tid_; mul.wide.u32 %x, %i, 8; ld.param.u64 %q, [D]; add.u64 %q, %q, %x;"]
    inputs = {}
    for which, name in enumerate("abc"[:3 if swap else 2]):
        inputs[name.upper()] = u64(probe_data.operands(kind, which))
        narrow = f"mov.b64 %{name}, %y;" if width == 64 else f"cvt.u{width}.u64 %{name}, %y;"
        lines.append(f".reg .b{width} %{name}; ld.param.u64 %p, [{name.upper()}]; add.u64 %p, %p, %x; ld.global.u64 %y, [%p]; {narrow}")
    # half of the comparisons hold
    if swap:
        lines.append(f".reg .pred %e; and.b32 %n, %i, 1; setp.eq.u32 %e, %n, 0; selp.b{width} %b, %a, %b, %e;")
    target = "%q"
    if space == "shared":
        lines.append("mov.u32 %s, memory; mad.lo.u32 %s, %tid_, 8, %s;")
        target = "%s"
    state = "shared" if space == "shared" else "global"
    operands = "%b, %c" if swap else "%b"
    lines += [f".reg .b{width} %d; st.{state}.u64 [{target}], 0; st.{state}.b{width} [{target}], %a;",
              f"atom.relaxed.gpu.{state}.{operation}.{kind} %d, [{target}], {operands}; ld.{state}.b{width} %a, [{target}];",
              "mov.b64 %z, %d;" if width == 64 else f"cvt.u64.u{width} %z, %d;",
              "mov.b64 %y, %a;" if width == 64 else f"cvt.u64.u{width} %y, %a;",
              f"st.global.u64 [%q], %y; st.global.u64 [%q+{8 * COUNT}], %z; ret;"]
    return Probe("memory", f"atom.{state}.{operation}.{kind}", "\n".join(lines), inputs, ("u64", 2 * COUNT), kind,
                 grid=COUNT // BLOCK, shared=8 * BLOCK if space == "shared" else 0,
                 declarations=SHARED if space == "shared" else "")


def vector_reduction_probe(count, kind):
    """red.global.vN: thread i adds `count` elements to its own."""
    words = count * (2 if kind == "f64" else 1) // (2 if kind in ("f16", "bf16") else 1)
    random = np.random.default_rng([count, len(kind)])
    values = [random.integers(0x3f00, 0x4040, 2 * BLOCK * words) for _ in range(2)]
    a, b = (u32(v[0::2] | v[1::2] << 16) for v in values)
    width = 16 if kind in ("f16", "bf16") else 32
    text = f"red.global.v{count}.{kind}.add{'' if kind == 'f32' else '.noftz'}"
    lines = [START, load_words("a", words, "A"), load_words("b", words, "B"),
             f"ld.param.u64 %out, [D]; mad.wide.u32 %out, %tid_, {4 * words}, %out;"]
    lines += [f"st.global.u32 [%out+{4 * i}], %a{i};" for i in range(words)]
    if width == 16:
        lines += [f".reg .b16 %h<{count}>;"] + [f"mov.b32 {{%h{2 * i}, %h{2 * i + 1}}}, %b{i};" for i in range(words)]
    names = ", ".join(f"%{'h' if width == 16 else 'b'}{i}" for i in range(count))
    lines.append(f"{text} [%out], {{{names}}}; ret;")
    return Probe("memory", text, "\n".join(lines), {"A": a, "B": b}, ("u32", BLOCK * words), "words")


def copy_probe(bytes_, source, cache):
    """cp.async: thread i copies into its own 16 bytes; source: bytes that are read, or "ignore"."""
    random = np.random.default_rng([bytes_, len(str(source))])
    size = 16 * BLOCK
    operand = "" if source is None else ", %ig" if source == "ignore" else f", {source}"
    text = f"cp.async.{cache}.shared.global"
    lines = [START, fill_shared("A", size), ".reg .b32 %t; .reg .b64 %g; .reg .pred %ig; mad.lo.u32 %t, %tid_, 16, %fa;",
             "ld.param.u64 %g, [B]; mad.wide.u32 %g, %tid_, 16, %g; .reg .b32 %par; and.b32 %par, %tid_, 1; setp.eq.u32 %ig, %par, 0;",
             f"{text} [%t], [%g], {bytes_}{operand}; cp.async.commit_group; cp.async.wait_group 0; bar.sync 0;", copy_shared_out(size)]
    return Probe("memory", f"{text} {bytes_}{operand.replace('%ig', 'predicate')}", "\n".join(lines),
                 {"A": u8(random.integers(0, 256, size)), "B": u8(random.integers(0, 256, size))}, ("u32", size // 4), "words",
                 shared=size, declarations=SHARED)


def bulk_probe(store, reduction=None, kind=None):
    """cp.async.bulk between shared and global memory, and its reductions."""
    random = np.random.default_rng([store, len(reduction or "")])
    size = 1024
    image = random.integers(0, 256, size)
    before = random.integers(0, 256, size)
    if kind in ("f16", "bf16", "f32", "f64"):
        words = {"f16": np.uint16, "bf16": np.uint16, "f32": np.uint32, "f64": np.uint64}[kind]
        image, before = (probe_data.operands(kind, i)[:size // np.dtype(words).itemsize].astype(words).view(np.uint8) for i in (0, 1))
    if not store:
        text = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
        lines = head("A", size) + [".reg .b64 %g; ld.param.u64 %g, [X];"] + wait_for(size, f"{text} [%fa], [%g], {size}, [%bar];", size)
        return Probe("memory", text, "\n".join(lines), {"A": u8(before), "X": u8(image)}, ("u32", size // 4), "words",
                     shared=size + 1024, declarations=SHARED)
    noftz = ".noftz" if kind in ("f16", "bf16") and reduction == "add" else ""
    tail = f".{reduction}{noftz}.{kind}" if reduction else ""
    text = f"cp.{'reduce.' if reduction else ''}async.bulk.global.shared::cta.bulk_group{tail}"
    # D is poisoned with zeros: all threads put what lies there first
    lines = head("B", size) + [".reg .b64 %g; .reg .b32 %bo<2>; ld.param.u64 %g, [D]; shl.b32 %bo0, %tid_, 3;",
                               ".reg .b64 %xa, %xb, %xv; cvt.u64.u32 %xa, %bo0; ld.param.u64 %xb, [A]; add.u64 %xb, %xb, %xa;",
                               "ld.global.u64 %xv, [%xb]; add.u64 %xa, %xa, %g; st.global.u64 [%xa], %xv;",
                               "fence.proxy.async.global; bar.sync 0;"] + leave_with(f"{text} [%g], [%fa], {size};")
    out, result = {"f32": (("u32", size // 4), "f32"), "f64": (("u64", size // 8), "f64"), "f16": (("u32", size // 4), "f16x2"),
                   "bf16": (("u32", size // 4), "bf16x2")}.get(kind, (("u8", size), "words"))
    return Probe("memory", text, "\n".join(lines), {"A": u8(before), "B": u8(image)}, out, result, shared=size + 1024,
                 declarations=SHARED)


def mbarrier_probe():
    """One thread arrives and waits; what it sees at each step is a word of the output."""
    steps = ["mbarrier.arrive.shared::cta.b64 %st, [%m]; mbarrier.pending_count.b64 %v, %st;",
             "mbarrier.arrive.shared::cta.b64 %st, [%m], 2; mbarrier.pending_count.b64 %v, %st;",
             "mbarrier.test_wait.shared::cta.b64 %z, [%m], %st; selp.u32 %v, 1, 0, %z;",
             "mbarrier.test_wait.parity.shared::cta.b64 %z, [%m], 1; selp.u32 %v, 1, 0, %z;",
             "mbarrier.arrive_drop.shared::cta.b64 %st, [%m]; mbarrier.pending_count.b64 %v, %st;",
             "mbarrier.arrive.noComplete.shared::cta.b64 %st, [%m], 1; mbarrier.pending_count.b64 %v, %st;",
             "mbarrier.arrive.shared::cta.b64 %st, [%m]; mbarrier.pending_count.b64 %v, %st;",
             "mbarrier.test_wait.shared::cta.b64 %z, [%m], %st; selp.u32 %v, 1, 0, %z;",
             "mbarrier.test_wait.parity.shared::cta.b64 %z, [%m], 0; selp.u32 %v, 1, 0, %z;",
             "mbarrier.arrive.shared::cta.b64 %st, [%m]; mbarrier.pending_count.b64 %v, %st;"]
    lines = [START, ".reg .b32 %m, %v; .reg .b64 %st; .reg .pred %z; setp.ne.u32 %z, %tid_, 0; @%z ret; mov.u32 %m, memory;",
             "ld.param.u64 %out, [D]; mbarrier.init.shared::cta.b64 [%m], 6;"]
    lines += [f"{step} st.global.u32 [%out+{4 * i}], %v;" for i, step in enumerate(steps)] + ["ret;"]
    return Probe("memory", "mbarrier.arrive, pending_count, test_wait", "\n".join(lines), {}, ("u32", len(steps)), "words", shared=64,
                 declarations=SHARED)


def memory_probes():
    yield mbarrier_probe()
    for space in ("global", "shared"):
        for operation, kind in ATOMICS:
            # ptxas 13.0 makes an addition of the lower half alone of packed ones in shared memory
            if not (space == "shared" and kind.endswith("x2")):
                yield atomic_probe(space, operation, kind)
    for count, kind in ((2, "f32"), (4, "f32"), (2, "f16x2"), (4, "f16x2"), (2, "bf16x2"), (4, "bf16x2"), (2, "f16"), (4, "f16"),
                        (8, "f16"), (2, "bf16"), (4, "bf16"), (8, "bf16")):
        yield vector_reduction_probe(count, kind)
    for bytes_ in (4, 8, 16):
        for source in (None, 0, bytes_ // 2, "ignore"):
            yield copy_probe(bytes_, source, "ca")
    for source in (None, 0, 5, "ignore"):
        yield copy_probe(16, source, "cg")
    for store in (False, True):
        yield bulk_probe(store)
    for reduction, kinds in (("add", ("u32", "s32", "u64", "f16", "bf16", "f32", "f64")), ("min", ("u32", "s32", "u64", "s64", "f16", "bf16")),
                             ("max", ("u32", "s32", "u64", "s64", "f16", "bf16")), ("inc", ("u32",)), ("dec", ("u32",)),
                             ("and", ("b32", "b64")), ("or", ("b32", "b64")), ("xor", ("b32", "b64"))):
        for kind in kinds:
            yield bulk_probe(True, reduction, kind)
