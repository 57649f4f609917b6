// Choice among the kinds of conversions.
#include "tilec/Layout/ConversionPlan.h"

#include "ElementBits.h"

#include <algorithm>

using namespace tilec;

// A shuffle occupies the shared-memory pipe as long as a conflict-free 4-byte access does. A trip through shared
// memory takes a write and a read of each register and two barriers; exchanging two lane bits takes one shuffle a
// register. Very small tiles are dominated by the barriers.
static constexpr unsigned alwaysShuffle = 4;

static bool crossesGroups(const Layout &from, const Layout &to) {
  for (unsigned i = static_cast<unsigned>(Owner::Group); i < numOwners; ++i)
    if (from.numberOf(static_cast<Owner>(i)) != to.numberOf(static_cast<Owner>(i)))
      return true;
  return llvm::any_of(elementBits(from, to), [](const ElementBit &bit) {
    auto outside = [](const std::optional<BitPlace> &place) { return place && place->owner >= Owner::Group; };
    return (outside(bit.from) || outside(bit.to)) && bit.from != bit.to;
  });
}

std::optional<ConversionPlan> tilec::planConversion(const Layout &from, const Layout &to, llvm::ArrayRef<int64_t> shape,
                                                    unsigned elementBits) {
  if (from.rank() != to.rank() || from.partial() != to.partial() || from.numThreads() != to.numThreads() ||
      crossesGroups(from, to))
    return std::nullopt;
  ConversionPlan plan;
  unsigned storedBits = std::max(elementBits, 8u);
  if (std::optional<WarpProgram> program = buildWarpProgram(from, to, storedBits)) {
    unsigned shuffles = program->shuffles();
    unsigned limit = std::max<unsigned>(alwaysShuffle, std::max<unsigned>(program->numInputs, program->results.size()));
    if (shuffles <= limit) {
      plan.kind = program->isIdentity()    ? ConversionKind::Identity
                  : program->steps.empty() ? ConversionKind::RegisterPermutation
                                           : ConversionKind::Shuffle;
      plan.program = std::move(*program);
      return plan;
    }
  }
  if (from.isPartial())
    return std::nullopt;
  plan.kind = ConversionKind::SharedMemory;
  plan.scratch = planScratch(from, to, shape, storedBits);
  return plan;
}
