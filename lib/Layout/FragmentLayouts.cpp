// Layouts of Tensor Core fragments: wgmma and mma.sync.
#include "tilec/Layout/FragmentLayouts.h"

#include "llvm/Support/MathExtras.h"

#include <cassert>

using namespace tilec;

static DigitSpec digit(Owner owner, uint32_t position, int64_t radix) {
  return {owner, position, static_cast<uint32_t>(radix)};
}

static Layout build(const LayoutSpec &spec) {
  std::optional<Layout> layout = Layout::get(spec);
  assert(layout && "warp grids are powers of two");
  return *layout;
}

// In every fragment a row belongs to four lanes (l0) and eight rows to a warp (l1); a 32-bit register holds this many
// neighbouring elements of k. A 64-bit element has a register of its own.
static constexpr int64_t lanesAlongK = 4, lanesAlongRows = 8;
static int64_t elementsPerRegister(unsigned elementBits) { return elementBits >= 32 ? 1 : 32 / elementBits; }

//===---------------------------------------------------------------------------------------------------------------===
// wgmma
//===---------------------------------------------------------------------------------------------------------------===

static constexpr int64_t wgmmaRows = 64, warpsInGroup = 4;

Layout WgmmaTile::accumulator() const {
  LayoutSpec spec;
  spec.dims = {{digit(Owner::Lane, 1, lanesAlongRows), digit(Owner::Register, 1, 2),
                digit(Owner::Warp, 0, warpsInGroup), digit(Owner::Register, 3, blocksM())},
               {digit(Owner::Register, 0, 2), digit(Owner::Lane, 0, lanesAlongK),
                digit(Owner::Register, 2, blocksN() * instructionN / 8)}};
  return build(spec);
}

Layout WgmmaTile::operandA() const {
  LayoutSpec spec;
  spec.dims = {{digit(Owner::Lane, 1, lanesAlongRows), digit(Owner::Register, 1, 2),
                digit(Owner::Warp, 0, warpsInGroup), digit(Owner::Register, 3, blocksM())},
               {digit(Owner::Register, 0, elementsPerRegister(elementBits)), digit(Owner::Lane, 0, lanesAlongK),
                digit(Owner::Register, 2, 2 * blocksK())}};
  return build(spec);
}

RegisterRange WgmmaTile::accumulatorRegisters(int64_t mi, int64_t ni) const {
  int64_t count = wgmmaRows * instructionN / (warpsInGroup * lanesPerWarp);
  return {static_cast<uint32_t>((mi * blocksN() + ni) * count), static_cast<uint32_t>(count)};
}

RegisterRange WgmmaTile::operandARegisters(int64_t mi, int64_t ki) const {
  int64_t count = wgmmaRows * instructionK() / (warpsInGroup * lanesPerWarp);
  return {static_cast<uint32_t>((mi * blocksK() + ki) * count), static_cast<uint32_t>(count)};
}

//===---------------------------------------------------------------------------------------------------------------===
// mma.sync
//===---------------------------------------------------------------------------------------------------------------===

int64_t MmaTile::blocksM() const { return static_cast<int64_t>(llvm::divideCeil(m, instruction.m * warpsM)); }
int64_t MmaTile::blocksN() const { return static_cast<int64_t>(llvm::divideCeil(n, instruction.n * warpsN)); }
int64_t MmaTile::blocksK() const { return static_cast<int64_t>(llvm::divideCeil(k, instruction.k * warpsK)); }

Layout MmaTile::operandA() const {
  int64_t packed = elementsPerRegister(instruction.elementBits);
  LayoutSpec spec;
  spec.dims = {{digit(Owner::Lane, 1, lanesAlongRows), digit(Owner::Register, 1, instruction.m / lanesAlongRows),
                digit(Owner::Warp, 0, warpsM), digit(Owner::Register, 4, blocksM())},
               {digit(Owner::Register, 0, packed), digit(Owner::Lane, 0, lanesAlongK),
                digit(Owner::Register, 2, instruction.k / (packed * lanesAlongK)), digit(Owner::Warp, 2, warpsK),
                digit(Owner::Register, 3, blocksK())}};
  spec.replicated = {digit(Owner::Warp, 1, warpsN)};
  return build(spec);
}

Layout MmaTile::operandB() const {
  int64_t packed = elementsPerRegister(instruction.elementBits);
  LayoutSpec spec;
  spec.dims = {
      {digit(Owner::Register, 0, packed), digit(Owner::Lane, 0, lanesAlongK),
       digit(Owner::Register, 1, instruction.k / (packed * lanesAlongK)), digit(Owner::Warp, 2, warpsK),
       digit(Owner::Register, 2, blocksK())},
      {digit(Owner::Lane, 1, lanesAlongRows), digit(Owner::Warp, 1, warpsN), digit(Owner::Register, 3, blocksN())}};
  spec.replicated = {digit(Owner::Warp, 0, warpsM)};
  return build(spec);
}

Layout MmaTile::accumulator() const {
  LayoutSpec spec;
  spec.dims = {{digit(Owner::Lane, 1, lanesAlongRows), digit(Owner::Register, 1, instruction.m / lanesAlongRows),
                digit(Owner::Warp, 0, warpsM), digit(Owner::Register, 3, blocksM())},
               {digit(Owner::Register, 0, 2), digit(Owner::Lane, 0, lanesAlongK), digit(Owner::Warp, 1, warpsN),
                digit(Owner::Register, 2, blocksN())}};
  spec.partial = {{digit(Owner::Warp, 2, warpsK), CombineKind::Add}};
  return build(spec);
}

static RegisterRange rangeOf(int64_t block, int64_t elements) {
  int64_t count = elements / lanesPerWarp;
  return {static_cast<uint32_t>(block * count), static_cast<uint32_t>(count)};
}

RegisterRange MmaTile::operandARegisters(int64_t mi, int64_t ki) const {
  return rangeOf(mi * blocksK() + ki, instruction.m * instruction.k);
}

RegisterRange MmaTile::operandBRegisters(int64_t ki, int64_t ni) const {
  return rangeOf(ni * blocksK() + ki, instruction.k * instruction.n);
}

RegisterRange MmaTile::accumulatorRegisters(int64_t mi, int64_t ni) const {
  return rangeOf(mi * blocksN() + ni, instruction.m * instruction.n);
}
