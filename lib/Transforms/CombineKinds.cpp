// Kinds of reductions and operations of the same meaning, both ways.
#include "tilec/Transforms/CombineKinds.h"

using namespace mlir;
using namespace tilec;

std::optional<tile::CombineKind> tilec::combineKindOf(Operation *combination) {
  if (isa<arith::AddFOp, arith::AddIOp>(combination))
    return tile::CombineKind::add;
  if (isa<arith::MulFOp, arith::MulIOp>(combination))
    return tile::CombineKind::mul;
  if (isa<arith::MaximumFOp>(combination))
    return tile::CombineKind::maxf;
  if (isa<arith::MinimumFOp>(combination))
    return tile::CombineKind::minf;
  if (isa<arith::MaxSIOp>(combination))
    return tile::CombineKind::maxs;
  if (isa<arith::MinSIOp>(combination))
    return tile::CombineKind::mins;
  return std::nullopt;
}

std::optional<arith::AtomicRMWKind> tilec::scalarKindOf(tile::CombineKind kind, bool isFloat) {
  switch (kind) {
  case tile::CombineKind::add:
    return isFloat ? arith::AtomicRMWKind::addf : arith::AtomicRMWKind::addi;
  case tile::CombineKind::mul:
    return isFloat ? arith::AtomicRMWKind::mulf : arith::AtomicRMWKind::muli;
  case tile::CombineKind::maxf:
    return arith::AtomicRMWKind::maximumf;
  case tile::CombineKind::minf:
    return arith::AtomicRMWKind::minimumf;
  case tile::CombineKind::maxs:
    return arith::AtomicRMWKind::maxs;
  case tile::CombineKind::mins:
    return arith::AtomicRMWKind::mins;
  default:
    return std::nullopt;
  }
}
