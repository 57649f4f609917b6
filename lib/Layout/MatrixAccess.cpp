// Recognition of layouts that ldmatrix and stmatrix can access.
#include "tilec/Layout/MatrixAccess.h"

#include "ElementBits.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <map>

using namespace tilec;

namespace {
class Planner {
public:
  Planner(const Layout &tile, unsigned row, unsigned column, unsigned apartDim, int64_t apart)
      : layout(tile), rowDim(row), columnDim(column), apartDim(apartDim), apart(apart) {
    for (const ElementBit &bit : elementBits(tile, tile))
      if (bit.dim < tile.rank())
        places[{bit.dim, bit.bit}] = *bit.from;
  }

  bool plan(unsigned elementBits);
  MatrixAccess access;

private:
  /// Whether bits `first`.. of a dimension are the given consecutive bits of the lane number.
  bool inLanes(unsigned dim, unsigned first, unsigned count, uint32_t weight) const;
  /// Whether the innermost `count` bits of a dimension are in registers; appends their weights.
  bool inRegisters(unsigned dim, unsigned count);
  /// Whether the bit cuts the registers into two equal halves.
  bool halvesRegisters(uint32_t weight) const;
  void chooseMatrixBits();
  void listInstructions();

  struct RegisterBit {
    unsigned dim = 0;
    unsigned bit = 0;
    uint32_t weight = 1;
  };
  const Layout &layout;
  unsigned rowDim, columnDim;
  unsigned apartDim;
  int64_t apart;
  std::map<std::pair<unsigned, unsigned>, BitPlace> places;
  /// Bits inside an operand, and bits that tell the matrices of an instruction apart.
  llvm::SmallVector<RegisterBit, 2> operandBits, matrixBits;
};
} // namespace

bool Planner::inLanes(unsigned dim, unsigned first, unsigned count, uint32_t weight) const {
  for (unsigned i = 0; i < count; ++i) {
    auto found = places.find({dim, first + i});
    if (found == places.end() || found->second != BitPlace{Owner::Lane, weight << i})
      return false;
  }
  return true;
}

bool Planner::halvesRegisters(uint32_t weight) const {
  for (unsigned dim = 0; dim < layout.rank(); ++dim)
    for (const Digit &digit : layout.digits(dim))
      if (digit.owner == Owner::Register && weight >= digit.weight && weight < digit.weight * digit.radix)
        return digit.radix % (2 * weight / digit.weight) == 0;
  return false;
}

bool Planner::inRegisters(unsigned dim, unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    auto found = places.find({dim, i});
    if (found == places.end() || !found->second.isRegister() || !halvesRegisters(found->second.weight))
      return false;
    operandBits.push_back({dim, i, found->second.weight});
  }
  return true;
}

void Planner::chooseMatrixBits() {
  llvm::SmallVector<RegisterBit, 16> candidates;
  for (const auto &[key, place] : places) {
    bool taken = llvm::any_of(
        operandBits, [&, at = key](const RegisterBit &bit) { return bit.dim == at.first && bit.bit == at.second; });
    if (place.isRegister() && !taken && halvesRegisters(place.weight))
      candidates.push_back({key.first, key.second, place.weight});
  }
  llvm::sort(candidates, [&](const RegisterBit &a, const RegisterBit &b) {
    auto key = [&](const RegisterBit &bit) {
      bool isLast = apart && bit.dim == apartDim && (int64_t(1) << bit.bit) >= apart;
      return std::pair(isLast, bit.weight);
    };
    return key(a) < key(b);
  });
  // Lanes 8 and up give the rows of the second matrix, lanes 16 and up those of the third and fourth.
  for (uint32_t lane = 8; lane < lanesPerWarp && matrixBits.size() < candidates.size(); lane *= 2) {
    const RegisterBit &bit = candidates[matrixBits.size()];
    access.laneTerms[bit.dim].push_back({Owner::Lane, lane, 2, int64_t(1) << bit.bit});
    matrixBits.push_back(bit);
  }
  access.matricesPerInstruction = 1u << matrixBits.size();
}

void Planner::listInstructions() {
  auto combinations = [](llvm::ArrayRef<RegisterBit> bits, uint32_t base) {
    llvm::SmallVector<uint32_t, 4> result{base};
    for (const RegisterBit &bit : bits)
      for (unsigned i = 0, known = result.size(); i < known; ++i)
        result.push_back(result[i] + bit.weight);
    return result;
  };
  for (uint32_t reg = 0; reg < layout.numRegisters(); ++reg) {
    Coordinates offset = layout.registerOffset(reg);
    auto isSet = [&](const RegisterBit &bit) { return (offset[bit.dim] >> bit.bit & 1) != 0; };
    if (llvm::any_of(operandBits, isSet) || llvm::any_of(matrixBits, isSet))
      continue;
    auto &instruction = access.instructions.emplace_back();
    for (uint32_t matrix : combinations(matrixBits, reg))
      instruction.push_back(combinations(operandBits, matrix));
  }
}

bool Planner::plan(unsigned elementBits) {
  if (elementBits != 8 && elementBits != 16 && elementBits != 32)
    return false;
  unsigned operandElementBits = llvm::Log2_32(32 / elementBits);
  bool plain = inRegisters(columnDim, operandElementBits) && inLanes(columnDim, operandElementBits, 2, 1) &&
               inLanes(rowDim, 0, 3, 4);
  if (!plain) {
    operandBits.clear();
    access.transposed =
        elementBits == 16 && inRegisters(rowDim, 1) && inLanes(rowDim, 1, 2, 1) && inLanes(columnDim, 0, 3, 4);
  }
  if (!plain && !access.transposed)
    return false;
  access.laneTerms.resize(layout.rank());
  access.laneTerms[rowDim].push_back({Owner::Lane, 1, 8, 1});
  chooseMatrixBits();
  listInstructions();
  return true;
}

std::optional<MatrixAccess> tilec::planMatrixAccess(const Layout &layout, unsigned rowDim, unsigned columnDim,
                                                    unsigned elementBits, unsigned apartDim, int64_t apart) {
  Planner planner(layout, rowDim, columnDim, apartDim, apart);
  if (!planner.plan(elementBits))
    return std::nullopt;
  return std::move(planner.access);
}
