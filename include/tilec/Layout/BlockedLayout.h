// Layouts for coalesced access to global memory.
#ifndef TILEC_LAYOUT_BLOCKEDLAYOUT_H
#define TILEC_LAYOUT_BLOCKEDLAYOUT_H

#include "tilec/Layout/Layout.h"

namespace tilec {

/// A layout of a tile of any shape for vector accesses along the contiguous dimension.
///
/// `order` lists the dimensions from the contiguous one to the slowest. Each thread takes vectors of `vectorElements`
/// (a power of two, halved while it exceeds the extent). Lanes go along the contiguous dimension first (at least 8
/// lanes, so that 16-byte vectors fill 128-byte lines; fewer than 32 only where that saves padding), then along the
/// next dimensions. `numWarps`, a power of two, goes to the slowest dimensions that divide, then to those that can be
/// padded. Threads left over are replicated. What remains of each extent is its outermost register digit, of any
/// radix: the padding is less than one step over all threads of the dimension. An extent of 0 counts as 1.
///
/// Example: blocked({64, 64}, {1, 0}, 4, 8) = [[l1:2, w0:8, r1:4], [r0:4, l0:16]].
Layout blocked(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<unsigned> order, uint32_t vectorElements,
               uint32_t numWarps);

} // namespace tilec

#endif // TILEC_LAYOUT_BLOCKEDLAYOUT_H
