"""arrays.py make|check FOLDER: writes the operands of product.tile, or compares its result."""
import sys

import numpy as np

M, N, K = 70, 152, 72
generator = np.random.default_rng(5)
a, b = (generator.integers(-8, 9, (n, K)).astype(np.float32) for n in (M, N))
folder = sys.argv[2]
if sys.argv[1] == "make":
    for name, x in (("A", a), ("B", b)):
        np.save(f"{folder}/{name}.npy", (x.view(np.uint32) >> 16).astype(np.uint16))
    np.save(f"{folder}/wide.npy", a)
else:
    c = np.load(f"{folder}/C.npy")
    assert c.shape == (M, N) and c.dtype == np.float32
    assert (c == a @ b.T).all()
