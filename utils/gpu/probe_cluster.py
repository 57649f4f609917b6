"""Kernels of two blocks in a cluster for the probe: remote memory, mbarriers, copies."""
import numpy as np

from probe_kernels import BLOCK, SHARED, START, Probe, u32

SYNC = "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;"
HEAD = [START, ".reg .b32 %a, %b, %m, %r, %o, %x, %y, %w, %rm, %i; .reg .b64 %q, %g; .reg .pred %lead, %z, %p; .reg .b16 %h;",
        "mov.u32 %a, memory; mov.u32 %r, %cluster_ctarank; xor.b32 %o, %r, 1; setp.eq.u32 %lead, %tid_, 0;",
        "mad.lo.u32 %b, %tid_, 4, %a; add.u32 %m, %a, 4096; mad.lo.u32 %i, %r, 128, %tid_; ld.param.u64 %q, [A];",
        "mad.wide.u32 %q, %i, 4, %q; ld.global.u32 %x, [%q]; st.shared.u32 [%b], %x; mov.u32 %y, 0;"]
TAIL = [SYNC, "ld.param.u64 %out, [D]; mad.wide.u32 %out, %i, 4, %out; st.global.u32 [%out], %y; ret;"]
WAIT = "WAIT: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %z, [%m], 0; @!%z bra WAIT;"


def initialize(count):
    return f"@%lead mbarrier.init.shared::cta.b64 [%m], {count}; fence.mbarrier_init.release.cluster; {SYNC}"


def expect(count):
    return f"@%lead mbarrier.arrive.expect_tx.relaxed.cta.shared::cta.b64 _, [%m], {count};"


REMOTE = "mapa.shared::cluster.u32 %w, %b, %o; mapa.shared::cluster.u32 %rm, %m, %o;"
READ = "ld.shared.u32 %y, [%b];"

# Name: lines between the common head and tail; %y is the result of a thread, %x its operand.
BODIES = {
    "mapa, ld.shared::cluster": [SYNC, REMOTE, "ld.shared::cluster.u32 %y, [%w];"],
    "st.shared::cluster": [SYNC, REMOTE, "add.u32 %x, %x, 3; st.shared::cluster.u32 [%w+1024], %x;", SYNC,
                           "ld.shared.u32 %y, [%b+1024];"],
    "mapa generic, ld": [SYNC, ".reg .b64 %s, %t; cvt.u64.u32 %s, %b; cvta.shared.u64 %s, %s; mapa.u64 %t, %s, %o; ld.u32 %y, [%t];"],
    "getctarank": [REMOTE, "getctarank.shared::cluster.u32 %y, %w;"],
    "special registers": ["mov.u32 %y, %cluster_nctarank; shl.b32 %y, %y, 8; mov.u32 %x, %cluster_ctaid.x; or.b32 %y, %y, %x;"
                          "shl.b32 %y, %y, 8; mov.u32 %x, %cluster_nctaid.x; or.b32 %y, %y, %x; shl.b32 %y, %y, 4;"
                          "mov.u32 %x, %nclusterid.x; or.b32 %y, %y, %x;"],
    "atom.shared::cluster.max": [SYNC, "mov.u32 %o, 0; and.b32 %x, %x, 255;", REMOTE, "mapa.shared::cluster.u32 %w, %a, %o;",
                                 "atom.relaxed.cluster.shared::cluster.max.u32 %y, [%w+2048], %x;", SYNC,
                                 "ld.shared::cluster.u32 %y, [%w+2048];"],
    "mbarrier.arrive.shared::cluster": [initialize(BLOCK), REMOTE, "add.u32 %x, %x, 5; st.shared::cluster.u32 [%w+1024], %x;",
                                        "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%rm];", WAIT,
                                        "ld.shared.u32 %y, [%b+1024];"],
    "st.async.u32": [initialize(1), expect(4 * BLOCK), REMOTE, "add.u32 %x, %x, 7;",
                     "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%w], %x, [%rm];", WAIT, READ],
    "st.async.v2.b32": [initialize(1), expect(8 * BLOCK), REMOTE,
                        "mad.lo.u32 %w, %tid_, 4, %w; st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%w], {%x, %i}, [%rm];",
                        WAIT, "mad.lo.u32 %b, %tid_, 4, %b; ld.shared.u32 %y, [%b]; ld.shared.u32 %x, [%b+4]; xor.b32 %y, %y, %x;"],
    "cp.async.bulk.shared::cluster.shared::cta": [
        initialize(1), "fence.proxy.async.shared::cta; bar.sync 0;", expect(4 * BLOCK), REMOTE,
        "add.u32 %w, %w, 1024; @%lead cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%w], [%a], 512, [%rm];",
        WAIT, "ld.shared.u32 %y, [%b+1024];"],
    "cp.async.bulk multicast": [
        initialize(1), "ld.param.u64 %q, [A]; mad.wide.u32 %q, %r, 512, %q; mad.lo.u32 %w, %r, 512, %a; add.u32 %w, %w, 1024; mov.b16 %h, 3;",
        expect(1024), "@%lead cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%w], [%q], 512, [%m], %h;",
        WAIT, "ld.shared.u32 %y, [%b+1024]; ld.shared.u32 %x, [%b+1536]; shl.b32 %x, %x, 1; xor.b32 %y, %y, %x;"],
}
for op, kind in (("add", "u32"), ("min", "s32"), ("max", "s32"), ("min", "u32"), ("max", "u32"), ("inc", "u32"), ("dec", "u32"),
                 ("and", "b32"), ("or", "b32"), ("xor", "b32"), ("add", "s32")):
    BODIES[f"red.async.{op}.{kind}"] = [
        initialize(1), expect(4 * BLOCK), REMOTE, f"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.{op}.{kind} [%w], %x, [%rm];",
        WAIT, READ]
for op, kind in (("add", "u32"), ("min", "s32"), ("max", "u32"), ("and", "b32"), ("or", "b32"), ("xor", "b32"), ("add", "s32"),
                 ("inc", "u32"), ("dec", "u32")):
    BODIES[f"cp.reduce.async.bulk.shared::cluster.shared::cta.{op}.{kind}"] = [
        "not.b32 %x, %x; st.shared.u32 [%b+1024], %x;", initialize(1), "fence.proxy.async.shared::cta; bar.sync 0;",
        SYNC, expect(4 * BLOCK), REMOTE, "add.u32 %w, %w, 1024; @%lead cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes"
        f".{op}.{kind} [%w], [%a], 512, [%rm];", WAIT, "ld.shared.u32 %y, [%b+1024];"]


def cluster_probes():
    random = np.random.default_rng(21)
    values = random.integers(0, 1 << 32, 2 * BLOCK, dtype=np.uint64)
    for name, body in BODIES.items():
        lines = HEAD + (["@%lead st.shared.u32 [%a+2048], 0;"]) + body + TAIL
        yield Probe("clusters", name, "\n".join(lines), {"A": u32(values)}, ("u32", 2 * BLOCK), "words", grid=2, cluster=2,
                    shared=8192, declarations=SHARED)
