// What the choice of sizes asks about a kernel: its products and the ranges of their axes.
#ifndef TILEC_TILING_KERNELFACTS_H
#define TILEC_TILING_KERNELFACTS_H

#include "tilec/Machine/ConsumerRegisters.h"
#include "tilec/Sema/TypedStmt.h"

namespace tilec {

/// A product C[m, n] over k with one axis each.
struct ProductFacts {
  const sema::Axis *m;
  const sema::Axis *n;
  const sema::Axis *k;
  ScalarKind element;
  /// Whether sums of 8-bit floats are promoted, which takes a second accumulator.
  bool promoted;
  /// Whether the left operand is computed from another product.
  bool lhsFromProduct;
  /// Elements from row to row of the tensors that the operands of m and of n are loaded from; none for other operands.
  std::optional<sema::HostExpr> pitchOfM = std::nullopt, pitchOfN = std::nullopt;
};

/// What is done outside loops with tiles of two axes, such as the result of a product.
struct EpilogueFacts {
  /// For each element: instructions, roughly, and elements loaded.
  int64_t instructions = 0, loads = 0;
  /// Of the instructions those of the unit for special functions, where these are most of a function's time.
  int64_t special = 0;
  EpilogueKind kind = EpilogueKind::None;
  /// Axes of vectors that are loaded, and the bytes of their elements.
  std::vector<std::pair<const sema::Axis *, int64_t>> vectors;
};

struct KernelFacts {
  const sema::ParallelStmt *stage;
  std::vector<ProductFacts> products;
  /// Whether tiles are loaded that no product takes, such as a bias.
  bool loadsBeside = false;
  EpilogueFacts epilogue;
  /// Whether no result has more than 16 bits.
  bool narrow = true;
};

/// Nothing for a kernel of several stages, or with a product that has other axes.
std::optional<KernelFacts> factsOf(const sema::Kernel &kernel);

} // namespace tilec

#endif // TILEC_TILING_KERNELFACTS_H
