"""Turns a kernel's reflection and its arguments into ready launches, as the generated C launcher does.

Pure logic: dimension solving, shape and contract checks, aliasing, variant choice, grids and parameter bytes. The
device (driver.py) is only asked for tensor maps and workspaces, so that everything here is tested without a GPU.
"""
import struct

from hostexpr import evaluate, text

# Bits of one element in memory.
ELEMENT_BITS = {"bool": 8, "i8": 8, "u8": 8, "i16": 16, "u16": 16, "i32": 32, "u32": 32, "i64": 64, "u64": 64,
                "index": 64, "u2": 2, "u4": 4, "i4": 4, "f8e4m3": 8, "f8e5m2": 8, "f16": 16, "bf16": 16, "f32": 32,
                "f64": 64}
_PACK = {"bool": "<?", "i8": "<b", "u8": "<B", "i16": "<h", "u16": "<H", "i32": "<i", "u32": "<I", "i64": "<q",
         "u64": "<Q", "index": "<q", "f16": "<e", "f32": "<f", "f64": "<d"}


class LaunchError(Exception):
    """The launcher refuses the arguments; nothing has run."""


class Tensor:
    """A tensor argument: device address, shape and (for dynamic strides) steps in elements."""

    def __init__(self, address, shape, steps=None):
        self.address = address
        self.shape = tuple(int(n) for n in shape)
        self.steps = None if steps is None else tuple(int(s) for s in steps)


class Workspace:
    """Memory that lives for one launch; `clear`: the kernels rely on zeroes."""

    def __init__(self, address, size, clear):
        self.address, self.size, self.clear = address, size, clear


class ReadyLaunch:
    """One kernel launch: entry name, grid, block, cluster, dynamic shared bytes, parameter bytes in order."""

    def __init__(self, entry, grid, block, cluster, shared, params):
        self.entry, self.grid, self.block = entry, grid, block
        self.cluster, self.shared, self.params = cluster, shared, params


def contiguous(shape):
    """Row-major strides, in elements, of a shape."""
    steps, run = [], 1
    for n in reversed(shape):
        steps.append(run)
        run *= n
    return tuple(reversed(steps))


def pack_scalar(type_name, value):
    """The bytes of a scalar kernel parameter."""
    if type_name == "bf16":                    # round to nearest even on the upper half of the f32 pattern
        bits = struct.unpack("<I", struct.pack("<f", value))[0]
        return struct.pack("<H", (bits + 0x7FFF + (bits >> 16 & 1)) >> 16 if value == value else 0x7FC0)
    if type_name not in _PACK:
        raise ValueError(f"scalar parameters of type {type_name} are unknown to the launcher")
    convert = float if type_name.startswith("f") else bool if type_name == "bool" else int
    return struct.pack(_PACK[type_name], convert(value))


class Launcher:
    """Plans launches of one kernel of a reflection file.

    arguments: name -> Tensor or number, for every argument of the kernel; dimensions may be left out.
    """

    def __init__(self, kernel, device):
        self.kernel, self.device = kernel, device
        self.workspaces = {}                   # name -> Workspace of the latest plan; the caller fills and frees them

    def tensors(self):
        return [a for a in self.kernel["arguments"] if a["kind"] == "tensor"]

    def plan(self, arguments):
        """(variant name, [ReadyLaunch...]); raises LaunchError where the arguments are refused."""
        self._check_present(arguments)
        values = self._solve(arguments)
        values["sm_count"] = self.device.sm_count
        self._check_shapes(arguments, values)
        self._check_contracts(values, arguments)
        self._check_strides(arguments, values)
        self._check_overlap(arguments)
        variant = self._choose(values, arguments)
        if self._outputs_empty(arguments):
            return variant["name"], []
        for w in self.kernel.get("workspaces", []):
            size = evaluate(w["bytes"], values, self._aligned(arguments))
            self.workspaces[w["name"]] = Workspace(self.device.allocate(size), size, w["clear"])
        launches = [self._ready(l, values, arguments) for l in variant["launches"]]
        return variant["name"], [l for l in launches if l is not None]

    def _aligned(self, arguments):
        def aligned(name, alignment):
            t = arguments[name]
            return 0 in t.shape or t.address % alignment == 0
        return aligned

    def _check_present(self, arguments):
        for a in self.kernel["arguments"]:
            if a["kind"] != "dim" and a["name"] not in arguments:
                raise LaunchError(f"{self.kernel['name']}: argument `{a['name']}` is missing")
            if a["kind"] == "tensor" and len(arguments[a["name"]].shape) != len(a["shape"]):
                raise LaunchError(f"{self.kernel['name']}: `{a['name']}` has {len(arguments[a['name']].shape)} "
                                  f"dimensions, expected {len(a['shape'])}")

    def _solve(self, arguments):
        """Names to numbers: scalars, dimensions (given, or from bare uses in shapes), dynamic strides."""
        dims = {a["name"] for a in self.kernel["arguments"] if a["kind"] == "dim"}
        values = {}
        for a in self.kernel["arguments"]:
            if a["kind"] != "tensor" and a["name"] in arguments:
                values[a["name"]] = arguments[a["name"]]
        for a in self.tensors():
            t = arguments[a["name"]]
            for extent, n in zip(a["shape"], t.shape):
                if isinstance(extent, str) and extent in dims:
                    values.setdefault(extent, n)
            for i, step in enumerate(t.steps or contiguous(t.shape)):
                values[f"{a['name']}.stride{i}"] = step
        missing = sorted(dims - set(values))
        if missing:
            raise LaunchError(f"{self.kernel['name']}: dimension `{missing[0]}` follows from no argument")
        for name in sorted(dims):
            if values[name] < 0:
                raise LaunchError(f"{self.kernel['name']}: dimension `{name}` = {values[name]} is negative")
        return values

    def _check_shapes(self, arguments, values):
        for a in self.tensors():
            for i, (extent, n) in enumerate(zip(a["shape"], arguments[a["name"]].shape)):
                want = evaluate(extent, values)
                if want != n:
                    raise LaunchError(f"{self.kernel['name']}: dimension {i} of `{a['name']}` is {n}, expected "
                                      f"{text(extent)} = {want}")

    def _check_contracts(self, values, arguments):
        for c in self.kernel.get("contracts", []):
            if not evaluate(c["condition"], values, self._aligned(arguments)):
                raise LaunchError(f"{self.kernel['name']}: contract `{c['text']}` does not hold")

    def _check_strides(self, arguments, values):
        for a in self.tensors():
            t = arguments[a["name"]]
            if a.get("dynamic_strides"):
                if any(s < 0 or s == 0 and a["access"] != "in" for s in t.steps or ()):
                    raise LaunchError(f"{self.kernel['name']}: `{a['name']}` has strides {t.steps}; they are positive, "
                                      "0 only for inputs")
                continue
            want = tuple(evaluate(e, values) for e in a["strides"]) if a.get("strides") else contiguous(t.shape)
            if t.steps is not None and any(n > 1 and s != w for n, s, w in zip(t.shape, t.steps, want)):
                raise LaunchError(f"{self.kernel['name']}: `{a['name']}` has strides {t.steps}, expected {want}")

    def byte_range(self, argument, tensor):
        """[first, last) bytes that the tensor may touch; empty where it has no element."""
        if 0 in tensor.shape:
            return tensor.address, tensor.address
        steps = tensor.steps or contiguous(tensor.shape)
        last = sum((n - 1) * s for n, s in zip(tensor.shape, steps))
        return tensor.address, tensor.address + ((last + 1) * ELEMENT_BITS[argument["type"]] + 7) // 8

    def _check_overlap(self, arguments):
        ranges = [(a, *self.byte_range(a, arguments[a["name"]])) for a in self.tensors()]
        for i, (a, lo, hi) in enumerate(ranges):
            for b, other_lo, other_hi in ranges[:i]:
                stored = a["access"] != "in" or b["access"] != "in"
                if stored and max(lo, other_lo) < min(hi, other_hi):
                    raise LaunchError(f"{self.kernel['name']}: `{b['name']}` and `{a['name']}` overlap, and one of "
                                      "them is stored")

    def _outputs_empty(self, arguments):
        stored = [a for a in self.tensors() if a["access"] != "in"]
        return bool(stored) and all(0 in arguments[a["name"]].shape for a in stored)

    def _choose(self, values, arguments):
        """Of the variants whose conditions hold the one of least cost, the first of equals."""
        fitting = [v for v in self.kernel["variants"]
                   if all(evaluate(c, values, self._aligned(arguments)) for c in v["when"])]
        if fitting:
            return min(fitting, key=lambda v: evaluate(v.get("cost", 0), values))
        raise LaunchError(f"{self.kernel['name']}: no variant accepts these arguments")

    def _ready(self, launch, values, arguments):
        """The launch with everything evaluated, or None where its grid is empty."""
        grid = [evaluate(e, values, self._aligned(arguments)) for e in launch["grid"]]
        if any(g <= 0 for g in grid):
            return None
        if any(g > most for g, most in zip(grid, (2 ** 31 - 1, 65535, 65535))):
            raise LaunchError(f"{self.kernel['name']}: the tensors need more blocks than a grid can have")
        number = lambda e: evaluate(e, values, self._aligned(arguments))
        params = [self._param(p, values, arguments, number) for p in launch["params"]]
        return ReadyLaunch(launch["entry"], tuple(grid), number(launch["block"]),
                           tuple(launch.get("cluster", (1, 1, 1))), number(launch["shared"]), params)

    def _param(self, p, values, arguments, number):
        kind = p["kind"]
        if kind == "pointer":
            memory = self.workspaces.get(p["tensor"]) or arguments[p["tensor"]]
            return struct.pack("<Q", memory.address)
        if kind == "int":
            return struct.pack("<q" if p["type"] == "i64" else "<i", number(p["value"]))
        if kind == "scalar":
            return pack_scalar(p["type"], values[p["name"]])
        if kind == "tensormap":
            return self._tensor_map(p, arguments, number)
        raise ValueError(f"kernel parameters of kind `{kind}` are unknown to the launcher")

    def _tensor_map(self, p, arguments, number):
        """128 bytes. A tensor without elements is described as one of extent 1, as in the generated header: nothing is
        read from it."""
        dims, strides = [number(e) for e in p["dims"]], [number(e) for e in p["strides"]]
        memory = self.workspaces.get(p["tensor"]) or arguments[p["tensor"]]
        address = memory.address
        if any(n <= 0 for n in dims):
            address, dims, strides = 256, [max(n, 1) for n in dims], [256] * len(strides)
        return self.device.encode_tensor_map(p["type"], address, dims, strides, p["box"], p["swizzle"], p["l2"])
