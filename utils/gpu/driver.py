"""The CUDA driver through ctypes: memory, modules, tensor maps, launches. Needs libcuda.so.1 and nothing else."""
import ctypes as C

# CUresult values after which the context is unusable (cuda.h: the process must be restarted).
STICKY = {214, 700, 702, 710, 714, 715, 716, 717, 718, 719}
MAX_DYNAMIC_SHARED = 8                        # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
NON_PORTABLE_CLUSTER = 14                     # CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED
CLUSTER_DIMENSION = 4                         # CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
MULTIPROCESSOR_COUNT = 16                     # CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT

# CUtensorMapDataType, CUtensorMapSwizzle, CUtensorMapL2promotion
MAP_TYPES = {"u8": 0, "i8": 0, "bool": 0, "f8e4m3": 0, "f8e5m2": 0, "u16": 1, "i16": 1, "u32": 2, "i32": 3, "u64": 4,
             "i64": 5, "index": 5, "f16": 6, "f32": 7, "f64": 8, "bf16": 9, "tf32": 11}
MAP_SWIZZLES = {0: 0, 32: 1, 64: 2, 128: 3}
MAP_PROMOTIONS = {0: 0, 64: 1, 128: 2, 256: 3}


class DriverError(Exception):
    """A driver call failed; `code` is its CUresult."""

    def __init__(self, code, what, name):
        super().__init__(f"{what}: {name} ({code})")
        self.code = code

    @property
    def sticky(self):
        return self.code in STICKY


class LaunchAttribute(C.Structure):
    """CUlaunchAttribute: an id, padding to 8 bytes, a 64-byte union."""
    _fields_ = [("id", C.c_int), ("pad", C.c_char * 4), ("value", C.c_uint * 16)]


class LaunchConfig(C.Structure):
    """CUlaunchConfig."""
    _fields_ = [("grid", C.c_uint * 3), ("block", C.c_uint * 3), ("shared", C.c_uint), ("stream", C.c_void_p),
                ("attributes", C.POINTER(LaunchAttribute)), ("count", C.c_uint)]


def aligned_storage(data, alignment=64):
    """(keep-alive buffer, address) of a copy of `data` at the alignment."""
    raw = C.create_string_buffer(len(data) + alignment)
    address = (C.addressof(raw) + alignment - 1) // alignment * alignment
    C.memmove(address, data, len(data))
    return raw, address


class Driver:
    """One device's primary context. `library` may be a stand-in with the same functions."""

    def __init__(self, library=None, ordinal=0):
        self.lib = library or C.CDLL("libcuda.so.1")
        self.modules = {}
        self._call("cuInit", 0)
        device = C.c_int()
        self._call("cuDeviceGet", C.byref(device), ordinal)
        context = C.c_void_p()
        self._call("cuDevicePrimaryCtxRetain", C.byref(context), device)
        self._call("cuCtxSetCurrent", context)
        count = C.c_int()
        self._call("cuDeviceGetAttribute", C.byref(count), MULTIPROCESSOR_COUNT, device)
        self.sm_count = count.value

    def _call(self, name, *args):
        code = getattr(self.lib, name)(*args)
        if code:
            text = C.c_char_p()
            known = self.lib.cuGetErrorName(code, C.byref(text)) == 0 and text.value
            raise DriverError(code, name, text.value.decode() if known else "unknown error")

    def allocate(self, size):
        """The device address of `size` bytes, at least 256-byte aligned."""
        address = C.c_uint64()
        self._call("cuMemAlloc_v2", C.byref(address), C.c_size_t(max(size, 1)))
        return address.value

    def free(self, address):
        self._call("cuMemFree_v2", C.c_uint64(address))

    def upload(self, address, data):
        """data: bytes or a C-contiguous uint8 array."""
        data = bytes(data) if not hasattr(data, "ctypes") else data
        source = C.c_void_p(data.ctypes.data) if hasattr(data, "ctypes") else data
        if len(data):
            self._call("cuMemcpyHtoD_v2", C.c_uint64(address), source, C.c_size_t(len(data)))

    def fill(self, address, byte, size, stream=None):
        """Sets `size` bytes, in the order of the stream."""
        if size:
            self._call("cuMemsetD8Async", C.c_uint64(address), C.c_ubyte(byte), C.c_size_t(size), C.c_void_p(stream))

    def download(self, address, size):
        out = bytearray(size)
        if size:
            target = (C.c_char * size).from_buffer(out)
            self._call("cuMemcpyDtoH_v2", target, C.c_uint64(address), C.c_size_t(size))
        return out

    def function(self, image_path, entry):
        """The function of a cubin or PTX file; modules are loaded once."""
        if image_path not in self.modules:
            with open(image_path, "rb") as f:
                image = f.read() + b"\0"      # PTX is read as a C string
            module = C.c_void_p()
            self._call("cuModuleLoadData", C.byref(module), image)
            self.modules[image_path] = module
        function = C.c_void_p()
        self._call("cuModuleGetFunction", C.byref(function), self.modules[image_path], entry.encode())
        return function

    def encode_tensor_map(self, type_name, address, dims, strides, box, swizzle, l2):
        """128 bytes of a tiled tensor map; dims innermost first, strides in bytes of dims 1 and up."""
        rank = len(dims)
        storage, at = aligned_storage(bytes(128))
        self._call("cuTensorMapEncodeTiled", C.c_void_p(at), MAP_TYPES[type_name], C.c_uint(rank), C.c_void_p(address),
                   (C.c_uint64 * rank)(*dims), (C.c_uint64 * max(rank - 1, 1))(*strides), (C.c_uint32 * rank)(*box),
                   (C.c_uint32 * rank)(*[1] * rank), 0, MAP_SWIZZLES[swizzle], MAP_PROMOTIONS[l2], 0)
        return C.string_at(at, 128)

    def launch(self, function, ready, stream=None):
        """Starts one ReadyLaunch (launcher.py) on a stream."""
        if ready.shared > 0:
            self._call("cuFuncSetAttribute", function, MAX_DYNAMIC_SHARED, ready.shared)
        kept = [aligned_storage(p) for p in ready.params]
        pointers = (C.c_void_p * max(len(kept), 1))(*[address for _, address in kept])
        config = LaunchConfig((C.c_uint * 3)(*ready.grid), (C.c_uint * 3)(ready.block, 1, 1), ready.shared, stream)
        if tuple(ready.cluster) != (1, 1, 1):
            attribute = LaunchAttribute(CLUSTER_DIMENSION)
            attribute.value[0:3] = list(ready.cluster)
            config.attributes, config.count = C.pointer(attribute), 1
            if ready.cluster[0] * ready.cluster[1] * ready.cluster[2] > 8:
                self._call("cuFuncSetAttribute", function, NON_PORTABLE_CLUSTER, 1)
        self._call("cuLaunchKernelEx", C.byref(config), function, pointers, None)

    def synchronize(self):
        self._call("cuCtxSynchronize")
