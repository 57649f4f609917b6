"""cuBLASLt through ctypes: the library's own proposals for a product, so that the best of them can be taken."""
import ctypes as C

WORKSPACE = 64 << 20
# cublasComputeType_t, cudaDataType_t, attributes of a product (cublasLt.h)
COMPUTE_F32, COMPUTE_TF32, COMPUTE_I32 = 68, 77, 72
TYPES = {"bf16": 14, "f16": 2, "f32": 0, "tf32": 0, "f8e4m3": 28, "i8": 3, "i32": 10}
TRANSPOSE_A, TRANSPOSE_B, SCALE_A, SCALE_B, FAST_SUMS = 3, 4, 17, 18, 25
MAX_WORKSPACE = 1                              # CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES
TRANSPOSED = 1                                 # CUBLAS_OP_T


class Algorithm(C.Structure):
    """cublasLtMatmulHeuristicResult_t, the algorithm first."""
    _fields_ = [("algorithm", C.c_uint64 * 8), ("workspace", C.c_size_t), ("state", C.c_int), ("waves", C.c_float),
                ("reserved", C.c_int * 4)]


class CublasLt:
    def __init__(self):
        self.library = C.CDLL(find_library())
        self.library.cublasLtGetVersion.restype = C.c_size_t
        self.handle = C.c_void_p()
        self._call("cublasLtCreate", C.byref(self.handle))

    def version(self):
        return self.library.cublasLtGetVersion()

    def _call(self, name, *arguments):
        status = getattr(self.library, name)(*arguments)
        if status:
            raise RuntimeError(f"{name} gives {status}")

    def _set(self, description, attribute, value):
        self._call("cublasLtMatmulDescSetAttribute", description, attribute, C.byref(value), C.c_size_t(C.sizeof(value)))

    def layout(self, dtype, rows, columns, leading):
        """Of a matrix by columns, as the library counts."""
        made = C.c_void_p()
        self._call("cublasLtMatrixLayoutCreate", C.byref(made), TYPES[dtype], C.c_uint64(rows), C.c_uint64(columns),
                   C.c_int64(leading))
        return made

    def description(self, dtype, left_t, right_t, scales=None, fast=False):
        compute = {"tf32": COMPUTE_TF32, "i8": COMPUTE_I32}.get(dtype, COMPUTE_F32)
        made = C.c_void_p()
        self._call("cublasLtMatmulDescCreate", C.byref(made), compute, TYPES["i32" if dtype == "i8" else "f32"])
        for attribute, transposed in ((TRANSPOSE_A, left_t), (TRANSPOSE_B, right_t)):
            self._set(made, attribute, C.c_int32(TRANSPOSED if transposed else 0))
        if scales:
            for attribute in (SCALE_A, SCALE_B):
                self._set(made, attribute, C.c_uint64(scales))
            self._set(made, FAST_SUMS, C.c_int8(fast))
        return made

    def proposals(self, description, layouts, count):
        preference, returned, found = C.c_void_p(), C.c_int(), (Algorithm * count)()
        self._call("cublasLtMatmulPreferenceCreate", C.byref(preference))
        self._call("cublasLtMatmulPreferenceSetAttribute", preference, MAX_WORKSPACE, C.byref(C.c_uint64(WORKSPACE)),
                   C.c_size_t(8))
        left, right, out = layouts
        self._call("cublasLtMatmulAlgoGetHeuristic", self.handle, description, left, right, out, out, preference, count,
                   found, C.byref(returned))
        return [f for f in found[:returned.value] if f.state == 0]

    def multiply(self, description, layouts, addresses, algorithm, workspace, stream, integers=False):
        left, right, out = layouts
        number = C.c_int32 if integers else C.c_float
        one, zero = number(1), number(0)
        a, b, c = (C.c_void_p(x) for x in addresses)
        self._call("cublasLtMatmul", self.handle, description, C.byref(one), a, left, b, right, C.byref(zero), c, out, c,
                   out, C.byref(algorithm), C.c_void_p(workspace), C.c_size_t(WORKSPACE), C.c_void_p(stream))


def find_library():
    """The one that the process has loaded already, PyTorch's."""
    with open("/proc/self/maps") as f:
        loaded = {line.split()[-1] for line in f if "libcublasLt.so" in line}
    return sorted(loaded)[0] if loaded else "libcublasLt.so"
