// Digits of the reduced dimension that a `tile.reduce` leaves apart.
#include "tilec/Dialect/Tile/KeptDigits.h"

using namespace mlir;
using namespace tilec::tile;

std::optional<KeptDigits> KeptDigits::of(ReduceOp reduce) {
  auto attribute = reduce->getAttrOfType<DenseI64ArrayAttr>(keptName);
  return attribute ? std::optional(fromAttribute(attribute)) : std::nullopt;
}

KeptDigits KeptDigits::fromAttribute(DenseI64ArrayAttr attribute) {
  KeptDigits result;
  ArrayRef<int64_t> numbers = attribute;
  for (; numbers.size() >= 2; numbers = numbers.drop_front(2))
    result.digits.push_back({numbers[0], numbers[1]});
  return result;
}

int64_t KeptDigits::extent() const {
  int64_t product = 1;
  for (const Digit &digit : digits)
    product *= digit.radix;
  return product;
}

int64_t KeptDigits::resultOf(int64_t position) const {
  int64_t result = 0, weight = 1;
  for (const Digit &digit : digits) {
    result += position / digit.stride % digit.radix * weight;
    weight *= digit.radix;
  }
  return result;
}

bool KeptDigits::fits(int64_t size) const {
  int64_t end = 1;
  for (const Digit &digit : digits) {
    if (digit.stride < end || digit.stride % end != 0 || digit.radix < 2 || digit.radix > size / digit.stride)
      return false;
    end = digit.stride * digit.radix;
  }
  return !digits.empty();
}
