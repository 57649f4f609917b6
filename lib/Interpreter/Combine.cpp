// Accumulators of reductions and atomics.
#include "Combine.h"

#include <cmath>

using namespace mlir;
using namespace tilec;
using namespace tilec::interpreter;
using tile::CombineKind;

Accumulator::Accumulator(CombineKind kind, Type element) : kind(kind), element(element) {
  unsigned width = isa<FloatType>(element) ? 64 : integerWidth(element);
  int64_t top = static_cast<int64_t>((uint64_t(1) << (width - 1)) - 1);
  switch (kind) {
  case CombineKind::add:
  case CombineKind::ori:
  case CombineKind::xori:
  case CombineKind::maxu:
    break;
  case CombineKind::mul:
    integer = 1;
    real = 1;
    break;
  case CombineKind::maxs:
    integer = ~top;
    break;
  case CombineKind::mins:
    integer = top;
    break;
  case CombineKind::minu:
  case CombineKind::andi:
    integer = wrapInteger(-1, width);
    break;
  case CombineKind::maxf:
    real = -HUGE_VAL;
    break;
  case CombineKind::minf:
    real = HUGE_VAL;
    break;
  }
}

void Accumulator::add(const Tile &tile, int64_t i) {
  if (tile.storage != Storage::Integer) {
    double value = tile.number(i);
    if (kind == CombineKind::add)
      real += value;
    else if (kind == CombineKind::mul)
      real *= value;
    else if (std::isnan(value) || std::isnan(real))
      real += value;
    else
      real = kind == CombineKind::maxf ? std::max(real, value) : std::min(real, value);
    return;
  }
  int64_t value = tile.integers[i];
  unsigned width = integerWidth(element);
  uint64_t a = static_cast<uint64_t>(integer), b = static_cast<uint64_t>(value);
  bool less = kind == CombineKind::maxu || kind == CombineKind::minu
                  ? asUnsigned(integer, width) < asUnsigned(value, width)
                  : integer < value;
  switch (kind) {
  case CombineKind::add:
    integer = wrapInteger(static_cast<int64_t>(a + b), width);
    break;
  case CombineKind::mul:
    integer = wrapInteger(static_cast<int64_t>(a * b), width);
    break;
  case CombineKind::maxs:
  case CombineKind::maxu:
    integer = less ? value : integer;
    break;
  case CombineKind::mins:
  case CombineKind::minu:
    integer = less ? integer : value;
    break;
  case CombineKind::andi:
    integer &= value;
    break;
  case CombineKind::ori:
    integer |= value;
    break;
  case CombineKind::xori:
    integer ^= value;
    break;
  case CombineKind::maxf:
  case CombineKind::minf:
    llvm_unreachable("a kind for floats");
  }
}

void Accumulator::store(Tile &tile, int64_t i) const {
  if (tile.storage == Storage::Integer)
    tile.integers[i] = integer;
  else if (tile.storage == Storage::Single)
    tile.singles[i] = static_cast<float>(roundToFormat(real, element));
  else
    tile.doubles[i] = real;
}
