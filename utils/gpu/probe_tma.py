"""Kernels around bulk and tensor copies for the probe."""
import numpy as np

from probe_kernels import SHARED, START, Probe, copy_shared_out, fill_shared, random_patterns, u8

SIZES = {"u8": 1, "u16": 2, "i32": 4, "u32": 4, "i64": 8, "u64": 8, "f16": 2, "bf16": 2, "f32": 4, "tf32": 4, "f64": 8}
FLOATS = ("f16", "bf16", "f32", "tf32", "f64")
LOAD = "shared::cluster.global.tile.mbarrier::complete_tx::bytes"
STORE = "global.shared::cta.tile.bulk_group"


class Box:
    """A tensor of `kind`, the box of a transfer, and where the box lies. rank 1 to 5; at: coordinates, from the
    innermost; odd: the innermost extent is no multiple of 16 bytes."""

    def __init__(self, kind, rank, swizzle, place, odd=False):
        self.kind, self.rank, self.swizzle, self.place, self.odd = kind, rank, swizzle, place, odd
        self.size = SIZES[kind]
        unit = 16 // self.size                              # elements of 16 bytes
        inner = (swizzle or 64) // self.size
        self.box = ([inner] + [16, 2, 2, 2])[:rank]
        self.dims = ([inner * 2 - unit + (3 if odd else 0)] + [21, 5, 3, 2])[:rank]
        row = -(-self.dims[0] * self.size // 16) * 16
        self.strides, stride = [], row
        for extent in self.dims[1:]:
            self.strides.append(stride)
            stride *= extent
        self.total = -(-stride // 256) * 256                # bytes of the tensor
        self.at = self.coordinates(unit)

    def coordinates(self, unit):
        """inside: multiples of 16 bytes; unaligned: 1; negative, behind: partly outside on that side; away: wholly."""
        first = {"inside": unit, "unaligned": 1, "negative": -3 * unit, "behind": self.dims[0] - unit,
                 "away": self.dims[0] + 5 * unit, "rows": unit, "corner": -3 * unit}[self.place]
        others = {"inside": (2, 1, 1, 0), "unaligned": (2, 1, 1, 0), "negative": (2, 1, 1, 0), "behind": (2, 1, 1, 0),
                  "away": (2, 1, 1, 0), "rows": (-5, -1, 2, 1), "corner": (17, 4, -1, 1)}[self.place]
        return [first, *others][:self.rank]

    def label(self):
        where = "" if self.place == "inside" else f" {self.place}"
        return f"{self.kind} swizzle {self.swizzle}{where}" + (" odd extent" if self.odd else "")

    def bytes(self):
        return int(np.prod(self.box)) * self.size

    def contents(self, random):
        """Bytes of the tensor; floats are finite, so that sums are numbers."""
        if self.kind not in FLOATS:
            return random.integers(0, 256, self.total).astype(np.uint8)
        code = "f32" if self.kind == "tf32" else self.kind
        words = {2: np.uint16, 4: np.uint32, 8: np.uint64}[self.size]
        return random_patterns(code, self.total // self.size, random).astype(words).view(np.uint8)

    def parameter(self, tensor):
        return {"kind": "tensormap", "tensor": tensor, "type": self.kind, "dims": self.dims, "strides": self.strides,
                "box": self.box, "swizzle": self.swizzle, "l2": 128}


def head(source, size):
    """Fills shared memory; %lead is thread 0, %bar an mbarrier behind the data."""
    return [START, fill_shared(source, size), ".reg .b64 %map, %mp; .reg .b32 %bar; .reg .pred %lead, %done;",
            f"add.u32 %bar, %fa, {size}; setp.eq.u32 %lead, %tid_, 0;"]


def wait_for(bytes_, copy, size):
    """Thread 0 starts copies that complete on the mbarrier; then all write shared memory out."""
    return ["@%lead mbarrier.init.shared::cta.b64 [%bar], 1; @%lead fence.mbarrier_init.release.cluster; bar.sync 0;",
            f"@!%lead bra WAIT; mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], {bytes_};", copy,
            "WAIT: mbarrier.try_wait.parity.shared::cta.b64 %done, [%bar], 0; @!%done bra WAIT;", copy_shared_out(size)]


def leave_with(copy):
    """Thread 0 starts copies to global memory and waits for them."""
    return [f"@!%lead bra END; {copy} cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;", "END: ret;"]


def tensor_probe(box, store, reduction=None):
    random = np.random.default_rng([box.rank, box.swizzle, box.size, len(box.place), box.odd])
    size = -(-box.bytes() // 1024) * 1024                   # bytes of shared memory that are looked at
    tensor = "D" if store else "X"
    pointer = f"mov.b64 %mp, {tensor}_map; cvta.param.u64 %map, %mp;"
    at = ", ".join(map(str, box.at))
    name = f"cp{'.reduce' if reduction else ''}.async.bulk.tensor.{box.rank}d."
    if store:
        name += f"{STORE.replace('tile', f'{reduction}.tile')}" if reduction else STORE
        lines = head("B", size) + [pointer] + leave_with(f"{name} [%map, {{{at}}}], [%fa];")
        image = random.integers(0, 256, size)
        if reduction and box.kind in FLOATS:
            image = Box(box.kind, 1, 0, "inside").contents(random)
            image = np.resize(image, size)
        inputs, out = {"B": u8(image)}, ("u8", box.total)
    else:
        name += LOAD
        lines = head("A", size) + [pointer] + wait_for(box.bytes(), f"{name} [%fa], [%map, {{{at}}}], [%bar];", size)
        inputs = {"A": u8(random.integers(0, 256, size)), "X": u8(box.contents(random))}
        out = ("u32", size // 4)
    return Probe("tensor copies", f"{name} {box.label()}", "\n".join(lines), inputs, out, "words", shared=size + 1024,
                 params=[box.parameter(tensor)], declarations=SHARED)


def tensor_probes():
    """Loads and stores of all types, swizzles and ranks, inside and partly outside; what the hardware refuses: first
    coordinates that are no multiple of 16 bytes, and stores that begin before the tensor."""
    for store in (False, True):
        kinds = [k for k in SIZES if not (store and k == "tf32")]
        for kind in kinds:
            for swizzle in (0, 32, 64, 128):
                for place in ("inside", "behind") if store else ("inside", "negative"):
                    yield tensor_probe(Box(kind, 2, swizzle, place), store)
        for rank in (1, 2, 3, 4, 5):
            for place in ("inside", "behind", "away") + (() if store else ("negative", "rows", "corner")):
                if rank > 1 or place not in ("rows", "corner"):
                    yield tensor_probe(Box("bf16", rank, 64, place, odd=place == "inside"), store)
        refused = [Box("bf16", 1, 0, "unaligned"), Box("f32", 2, 64, "unaligned")]
        if store:
            refused += [Box("bf16", 2, 64, "negative"), Box("bf16", 3, 0, "rows"), Box("u8", 1, 0, "negative")]
        for box in refused:
            probe = tensor_probe(box, store)
            probe.refused = True
            yield probe
    for reduction, kinds in (("add", ("u32", "i32", "u64", "f16", "bf16", "f32")), ("min", ("u32", "i32", "u64", "i64", "f16", "bf16")),
                             ("max", ("u32", "i32", "u64", "i64", "f16", "bf16")), ("inc", ("u32",)), ("dec", ("u32",)),
                             ("and", ("u32", "u64")), ("or", ("u32", "u64")), ("xor", ("u32", "u64"))):
        for kind in kinds:
            yield tensor_probe(Box(kind, 2, 64, "behind"), True, reduction)
