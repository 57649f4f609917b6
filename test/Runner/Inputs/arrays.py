# Usage: arrays.py FOLDER. Arrays that are none, or not what they should be.
import os
import struct
import sys

import numpy

os.makedirs(sys.argv[1], exist_ok=True)
os.chdir(sys.argv[1])
numpy.save("matrix.npy", numpy.ones((2, 2), "f4"))
numpy.save("complex.npy", numpy.ones(4, "c16"))
numpy.save("big-endian.npy", numpy.arange(1, 5).astype(">f4"))
open("text.npy", "w").write("hello")
header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4,), }"
header += b" " * (117 - len(header)) + b"\n"
open("huge.npy", "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header)
