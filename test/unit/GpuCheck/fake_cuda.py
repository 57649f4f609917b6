"""Stands in for libcuda.so.1: device memory is host memory, kernels are Python functions of the parameter bytes."""
import ctypes as C
import struct

from driver import LaunchConfig


class FakeCuda:
    """kernels: entry name -> function(grid, [parameter bytes...]); sizes: entry name -> sizes of its parameters."""

    def __init__(self, kernels=None, sizes=None, sm_count=132):
        self.kernels, self.sizes, self.sm_count = kernels or {}, sizes or {}, sm_count
        self.memory, self.names, self.launches, self.maps = {}, [], [], []
        self.shared = {}

    def cuInit(self, flags):
        return 0

    def cuDeviceGet(self, device, ordinal):
        device._obj.value = ordinal
        return 0

    def cuDevicePrimaryCtxRetain(self, context, device):
        context._obj.value = 1
        return 0

    def cuCtxSetCurrent(self, context):
        return 0

    def cuDeviceGetAttribute(self, value, attribute, device):
        assert attribute == 16
        value._obj.value = self.sm_count
        return 0

    def cuGetErrorName(self, code, name):
        name._obj.value = b"CUDA_ERROR_FAKE"
        return 0

    def cuMemAlloc_v2(self, address, size):
        raw = C.create_string_buffer(size.value + 256)
        at = (C.addressof(raw) + 255) // 256 * 256
        self.memory[at] = raw
        address._obj.value = at
        return 0

    def cuMemFree_v2(self, address):
        del self.memory[address.value]
        return 0

    def cuMemsetD8Async(self, address, byte, size, stream):
        C.memset(address.value, byte.value, size.value)
        return 0

    def cuMemcpyHtoD_v2(self, address, source, size):
        C.memmove(address.value, source, size.value)
        return 0

    def cuMemcpyDtoH_v2(self, target, address, size):
        C.memmove(target, address.value, size.value)
        return 0

    def cuModuleLoadData(self, module, image):
        module._obj.value = 1
        return 0

    def cuModuleGetFunction(self, function, module, entry):
        if entry.decode() not in self.kernels:
            return 500
        if entry not in self.names:
            self.names.append(entry)
        function._obj.value = self.names.index(entry) + 1
        return 0

    def cuFuncSetAttribute(self, function, attribute, value):
        self.shared[self.names[function.value - 1].decode(), attribute] = value
        return 0

    def cuTensorMapEncodeTiled(self, at, type_, rank, address, dims, strides, box, steps, interleave, swizzle, l2,
                               fill):
        assert at.value % 64 == 0 and interleave == 0 and fill == 0 and list(steps) == [1] * rank.value
        self.maps.append((type_, address.value, list(dims), list(strides)[:rank.value - 1], list(box), swizzle, l2))
        C.memmove(at.value, struct.pack("<Q", len(self.maps)) + bytes(120), 128)
        return 0

    def cuLaunchKernelEx(self, config, function, params, extra):
        c = config._obj
        assert isinstance(c, LaunchConfig)
        entry = self.names[function.value - 1].decode()
        cluster = tuple(c.attributes[0].value[0:3]) if c.count else (1, 1, 1)
        self.launches.append((entry, tuple(c.grid), tuple(c.block), cluster, c.shared))
        data = [C.string_at(params[i], n) for i, n in enumerate(self.sizes[entry])]
        return self.kernels[entry](tuple(c.grid), data) or 0

    def cuCtxSynchronize(self):
        return 0
