"""Device copies of the tagged arrays of refutil.py, with poison in gaps and guards around them."""
import numpy as np

import refutil
from launcher import Tensor, contiguous

GUARD = 256                                   # bytes on both sides; keeps the base at the allocation's alignment
POISON = 0xFF
STORAGE = {"bool": np.uint8, "index": np.int64, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
           "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64, "f8e4m3": np.uint8,
           "f8e5m2": np.uint8, "f16": np.float16, "bf16": np.uint16, "f32": np.float32, "f64": np.float64}


def tagged(array, type_name):
    """A plain storage array as refutil.Tagged of the element type."""
    t = np.asarray(array).view(refutil.Tagged)
    t.tile, t.steps, t.offset = type_name, None, 0
    return t


class Buffer:
    """One tensor argument in device memory.

    type_name: element type; shape; steps in elements or None (contiguous); offset in elements from an aligned base;
    contents: a Tagged array, or None for an output, which holds poison. exact: no guards and outputs stay
    uninitialised, so that compute-sanitizer sees every stray access.
    """

    def __init__(self, driver, type_name, shape, steps=None, offset=0, contents=None, exact=False):
        self.driver, self.type_name, self.shape = driver, type_name, tuple(shape)
        self.steps = tuple(steps) if steps is not None else None
        self.packed = refutil.SUB_BYTE.get(type_name)
        self.dtype = None if self.packed else np.dtype(STORAGE[type_name])
        self.guard = 0 if exact else GUARD
        self.upload_needed = contents is not None or not exact
        self.lead = self.guard + (0 if self.packed else offset * self.dtype.itemsize)
        self.image = np.full(self.lead + self._span() + self.guard, POISON, np.uint8)
        self.owned = np.zeros(self.image.size, bool)           # bytes that belong to an element
        self._fill(contents)
        self.base = driver.allocate(self.image.size)
        self.restore()

    def _span(self):
        count = int(np.prod(self.shape, dtype=np.int64))
        if self.packed:
            return (count * self.packed + 7) // 8
        if count == 0:
            return 0
        steps = self.steps or contiguous(self.shape)
        return (1 + sum((n - 1) * s for n, s in zip(self.shape, steps))) * self.dtype.itemsize

    def _elements(self, image):
        """A view of the elements (bytes in a last dimension) inside an image."""
        size = self.dtype.itemsize
        steps = self.steps or contiguous(self.shape)
        body = image[self.lead:self.lead + self._span()]
        return np.lib.stride_tricks.as_strided(body, self.shape + (size,), tuple(s * size for s in steps) + (1,))

    def _fill(self, contents):
        if self.packed:
            end = self.lead + self._span()
            self.owned[self.lead:end] = True
            if contents is not None:
                self.image[self.lead:end] = np.frombuffer(refutil.memory(contents), np.uint8)
            return
        if 0 in self.shape:
            return
        owned = self._elements(self.owned)
        owned[...] = True
        if contents is not None:
            raw = np.ascontiguousarray(np.asarray(contents), self.dtype)
            self._elements(self.image)[...] = raw.reshape(self.shape + (1,)).view(np.uint8)

    def restore(self):
        """Writes the initial bytes again."""
        if self.upload_needed:
            self.driver.upload(self.base, self.image)

    def tensor(self):
        return Tensor(self.base + self.lead, self.shape, self.steps)

    def fetch(self):
        """All bytes as they are now, guards included."""
        return np.frombuffer(self.driver.download(self.base, self.image.size), np.uint8)

    def decode(self, image):
        """The elements of an image as a Tagged array."""
        if self.packed:
            count = int(np.prod(self.shape, dtype=np.int64))
            body = image[self.lead:self.lead + self._span()].astype(np.int64)[:, None]
            codes = (body >> (self.packed * np.arange(8 // self.packed))) & ((1 << self.packed) - 1)
            codes = codes.reshape(-1)[:count].reshape(self.shape)
            if self.type_name == "i4":
                codes = np.where(codes > 7, codes - 16, codes)
            return tagged(codes.astype(refutil.INTS[self.type_name]), self.type_name)
        if 0 in self.shape:
            return tagged(np.zeros(self.shape, self.dtype), self.type_name)
        raw = np.ascontiguousarray(self._elements(image)).view(self.dtype).reshape(self.shape)
        return tagged(raw, self.type_name)

    def stray(self, image):
        """None, or where a byte that belongs to no element has changed."""
        bad = np.flatnonzero((image != self.image) & ~self.owned)
        if not len(bad):
            return None
        where = "before the tensor" if bad[0] < self.lead else (
            "after the tensor" if bad[0] >= self.lead + self._span() else "in a gap")
        return f"{len(bad)} bytes outside the elements changed, first {where} at byte {int(bad[0]) - self.lead}"

    def free(self):
        self.driver.free(self.base)
