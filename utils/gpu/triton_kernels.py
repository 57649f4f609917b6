"""Triton kernels that are measured beside ours: products, row kernels, a bare read. Needs Triton."""
import triton
import triton.language as tl


@triton.jit
def tile_of(program, m, n, BM: tl.constexpr, BN: tl.constexpr, BAND: tl.constexpr):
    """Tile indices of a program: bands of BAND rows of tiles, each column by column, so that L2 serves neighbours."""
    rows, columns = tl.cdiv(m, BM), tl.cdiv(n, BN)
    band = program // (BAND * columns)
    height = min(rows - band * BAND, BAND)
    within = program - band * BAND * columns
    return band * BAND + within % height, within // height


@triton.jit
def store_tile(c, acc, row, column, m, n, BM: tl.constexpr, BN: tl.constexpr):
    i, j = row * BM + tl.arange(0, BM), column * BN + tl.arange(0, BN)
    at = c + i.to(tl.int64)[:, None] * n + j[None, :]
    tl.store(at, acc.to(c.dtype.element_ty), mask=(i[:, None] < m) & (j[None, :] < n))


@triton.jit
def product_by_descriptors(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, BAND: tl.constexpr,
                           KN: tl.constexpr, SUM: tl.constexpr):
    """C = A x B through tensor descriptors; b: of [K, N] if KN, else of [N, K]."""
    row, column = tile_of(tl.program_id(0), m, n, BM, BN, BAND)
    acc = tl.zeros((BM, BN), SUM)
    for step in range(tl.cdiv(k, BK)):
        left = a.load([row * BM, step * BK])
        if KN:
            acc = tl.dot(left, b.load([step * BK, column * BN]), acc, out_dtype=SUM)
        else:
            acc = tl.dot(left, b.load([column * BN, step * BK]).T, acc, out_dtype=SUM)
    store_tile(c, acc, row, column, m, n, BM, BN)


@triton.jit
def product_by_pointers(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, BAND: tl.constexpr,
                        KN: tl.constexpr, SUM: tl.constexpr):
    """The same for any strides of rows."""
    row, column = tile_of(tl.program_id(0), m, n, BM, BN, BAND)
    i, j = (row * BM + tl.arange(0, BM)) % m, (column * BN + tl.arange(0, BN)) % n
    depth = tl.arange(0, BK)
    left = a + i.to(tl.int64)[:, None] * k + depth[None, :]
    if KN:
        right = b + depth.to(tl.int64)[:, None] * n + j[None, :]
    else:
        right = b + j.to(tl.int64)[None, :] * k + depth[:, None]
    acc = tl.zeros((BM, BN), SUM)
    for step in range(tl.cdiv(k, BK)):
        inside = depth < k - step * BK
        x = tl.load(left, mask=inside[None, :], other=0)
        y = tl.load(right, mask=inside[:, None], other=0)
        acc = tl.dot(x, y, acc, out_dtype=SUM)
        left += BK
        right += BK * n if KN else BK
    store_tile(c, acc, row, column, m, n, BM, BN)


@triton.jit
def softmax(x, y, n, WIDTH: tl.constexpr):
    """One row a program."""
    j, start = tl.arange(0, WIDTH), tl.program_id(0).to(tl.int64) * n
    row = tl.load(x + start + j, mask=j < n, other=float("-inf")).to(tl.float32)
    e = tl.exp(row - tl.max(row, 0))
    tl.store(y + start + j, (e / tl.sum(e, 0)).to(y.dtype.element_ty), mask=j < n)


@triton.jit
def rms_norm(x, g, y, n, epsilon, WIDTH: tl.constexpr):
    j, start = tl.arange(0, WIDTH), tl.program_id(0).to(tl.int64) * n
    row = tl.load(x + start + j, mask=j < n, other=0).to(tl.float32)
    gain = tl.load(g + j, mask=j < n, other=0).to(tl.float32)
    scale = tl.rsqrt(tl.sum(row * row, 0) / n + epsilon)
    tl.store(y + start + j, (row * scale * gain).to(y.dtype.element_ty), mask=j < n)


@triton.jit
def layer_norm(x, g, b, y, n, epsilon, WIDTH: tl.constexpr):
    j, start = tl.arange(0, WIDTH), tl.program_id(0).to(tl.int64) * n
    row = tl.load(x + start + j, mask=j < n, other=0).to(tl.float32)
    gain = tl.load(g + j, mask=j < n, other=0).to(tl.float32)
    shift = tl.load(b + j, mask=j < n, other=0).to(tl.float32)
    centred = tl.where(j < n, row - tl.sum(row, 0) / n, 0)
    scale = tl.rsqrt(tl.sum(centred * centred, 0) / n + epsilon)
    tl.store(y + start + j, (centred * scale * gain + shift).to(y.dtype.element_ty), mask=j < n)


@triton.jit
def read(x, out, steps, STEP: tl.constexpr):
    """Sums 32-bit words, STEP a step, program by program in turns; one sum a program comes out."""
    total = tl.zeros((STEP,), tl.int32)
    for step in range(tl.program_id(0), steps, tl.num_programs(0)):
        total += tl.load(x + step.to(tl.int64) * STEP + tl.arange(0, STEP))
    tl.store(out + tl.program_id(0), tl.sum(total, 0))
