// ldmatrix and stmatrix: which element of a matrix lies in which lane.
#include "tilec/Simulator/MatrixMemory.h"

using namespace tilec::simulator;

static constexpr unsigned laneCount = 32, rowCount = 8;

namespace {
struct Element {
  unsigned row, column;
};

// Half `half` of the register of a lane.
Element elementOf(unsigned lane, unsigned half, bool transpose) {
  unsigned outer = lane / 4, inner = 2 * (lane % 4) + half;
  return transpose ? Element{inner, outer} : Element{outer, inner};
}
} // namespace

void tilec::simulator::loadMatrices(llvm::ArrayRef<MatrixRow> rows, bool transpose,
                                    llvm::ArrayRef<uint64_t *> registers) {
  for (unsigned matrix = 0; matrix < registers.size(); ++matrix)
    for (unsigned lane = 0; lane < laneCount; ++lane) {
      Element low = elementOf(lane, 0, transpose), high = elementOf(lane, 1, transpose);
      registers[matrix][lane] = rows[rowCount * matrix + low.row][low.column] |
                                static_cast<uint32_t>(rows[rowCount * matrix + high.row][high.column]) << 16;
    }
}

void tilec::simulator::storeMatrices(llvm::ArrayRef<const uint64_t *> registers, bool transpose,
                                     llvm::MutableArrayRef<MatrixRow> rows) {
  for (unsigned matrix = 0; matrix < registers.size(); ++matrix)
    for (unsigned lane = 0; lane < laneCount; ++lane)
      for (unsigned half : {0u, 1u}) {
        Element element = elementOf(lane, half, transpose);
        rows[rowCount * matrix + element.row][element.column] =
            static_cast<uint16_t>(registers[matrix][lane] >> (16 * half));
      }
}
