// Tests of ldmatrix and stmatrix plans: the instruction is executed on coordinates as the PTX ISA describes it.
#include "LayoutTestSupport.h"

#include "tilec/Layout/BlockedLayout.h"
#include "tilec/Layout/FragmentLayouts.h"
#include "tilec/Layout/MatrixAccess.h"

#include <set>

using namespace tilec;
using namespace tilec::test;

static void check(const Layout &layout, unsigned rowDim, unsigned columnDim, unsigned bits, bool transposed,
                  unsigned perInstruction) {
  auto access = planMatrixAccess(layout, rowDim, columnDim, bits);
  ASSERT_TRUE(access) << layout.str();
  EXPECT_EQ(access->transposed, transposed);
  EXPECT_EQ(access->matricesPerInstruction, perInstruction);
  std::set<uint32_t> registers;
  for (const auto &instruction : access->instructions) {
    ASSERT_EQ(instruction.size(), perInstruction);
    for (uint32_t warp = 0; warp < layout.numWarps(); ++warp) {
      // The first element of the row that each lane names.
      std::vector<Coordinates> rows;
      for (uint32_t lane = 0; lane < 32; ++lane) {
        Coordinates at = layout.registerOffset(instruction.front().front());
        for (unsigned dim = 0; dim < layout.rank(); ++dim) {
          for (const Term &term : layout.terms(dim))
            if (term.owner == Owner::Warp)
              at[dim] += warp / term.divisor % term.radix * term.stride;
          for (const Term &term : access->laneTerms[dim])
            at[dim] += lane / term.divisor % term.radix * term.stride;
        }
        rows.push_back(at);
      }
      for (unsigned matrix = 0; matrix < perInstruction; ++matrix)
        for (uint32_t lane = 0; lane < 32; ++lane)
          for (unsigned i = 0; i < instruction[matrix].size(); ++i) {
            unsigned elements = 32 / bits, row = transposed ? 2 * (lane % 4) + i : lane / 4;
            unsigned column = transposed ? lane / 4 : lane % 4 * elements + i;
            Coordinates at = rows[8 * matrix + row];
            at[columnDim] += column;
            ASSERT_EQ(layout.coordinates(instruction[matrix][i], lane, warp), at);
            ASSERT_EQ(rows[8 * matrix + row][columnDim] * bits % 128, 0);
            registers.insert(instruction[matrix][i]);
          }
    }
  }
  EXPECT_EQ(registers.size(), layout.numRegisters());
}

TEST(MatrixAccess, StoresOfAccumulators) {
  for (int64_t n = 8; n <= 256; n += 8) {
    Layout accumulator = WgmmaTile{64, n, 16, n, 16}.accumulator();
    check(accumulator, 0, 1, 16, false, n % 16 == 0 ? 4 : 2);
    check(accumulator, 1, 0, 16, true, n % 16 == 0 ? 4 : 2);
  }
  // The registers of the measured epilogue: {4j, 4j + 2, 4(j + 1), 4(j + 1) + 2} and their odd neighbours.
  auto access = planMatrixAccess(WgmmaTile{64, 64, 16, 64, 16}.accumulator(), 0, 1, 16);
  using Operand = MatrixAccess::Operand;
  EXPECT_EQ(access->instructions[1],
            (llvm::SmallVector<Operand, 4>{Operand{8, 9}, Operand{10, 11}, Operand{12, 13}, Operand{14, 15}}));
}

TEST(MatrixAccess, LoadsOfFragments) {
  for (unsigned bits : {8u, 16u, 32u}) {
    MmaTile tile{{16, 8, 256 / bits, bits}, 64, 48, 512 / bits, 2, 2};
    check(tile.operandA(), 0, 1, bits, false, 4);
    check(tile.operandB(), 1, 0, bits, false, 4);
  }
  MmaTile tile{{16, 8, 16, 16}, 64, 48, 32, 2, 2};
  check(tile.operandB(), 0, 1, 16, true, 4);
  check(tile.operandA(), 1, 0, 16, true, 4);
  EXPECT_FALSE(planMatrixAccess((MmaTile{{16, 8, 32, 8}, 16, 8, 32}).operandB(), 0, 1, 8));
  EXPECT_FALSE(planMatrixAccess((MmaTile{{8, 8, 4, 64}, 16, 8, 32}).operandB(), 0, 1, 64));
  EXPECT_FALSE(planMatrixAccess(blocked({64, 64}, {1, 0}, 8, 4), 0, 1, 16));
}
