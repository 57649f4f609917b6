// Plans of reductions: registers, lanes, warps.
#include "tilec/Layout/ReductionPlan.h"

#include "llvm/ADT/STLExtras.h"

#include <cassert>

using namespace tilec;

uint32_t ReductionPlan::numSlots() const {
  uint32_t slots = 1;
  for (const Digit &digit : warps)
    slots *= digit.radix;
  return slots;
}

uint32_t ReductionPlan::slot(uint32_t warp) const {
  uint32_t number = 0, stride = 1;
  for (const Digit &digit : warps) {
    number += digit.valueIn(warp) * stride;
    stride *= digit.radix;
  }
  return number;
}

int64_t ReductionPlan::scratchElements() const {
  int64_t elements = numSlots();
  for (int64_t extent : result.covered())
    elements *= extent;
  return elements;
}

int64_t ReductionPlan::scratchIndex(uint32_t slotNumber, llvm::ArrayRef<int64_t> coordinates) const {
  int64_t index = slotNumber;
  for (unsigned dim = 0; dim < coordinates.size(); ++dim)
    index = index * result.covered(dim) + coordinates[dim];
  return index;
}

/// Steps 2 and 3 for the thread digits that hold addends; false for digits beyond the block's warps.
static bool planThreads(ReductionPlan &plan, llvm::ArrayRef<Digit> addends, llvm::ArrayRef<Digit> copies) {
  for (const Digit &digit : addends) {
    if (digit.owner > Owner::Warp)
      return false;
    if (digit.owner == Owner::Warp) {
      plan.warps.push_back(digit);
      continue;
    }
    for (uint32_t mask = digit.weight; mask < digit.weight * digit.radix; mask *= 2)
      plan.laneMasks.push_back(mask);
    plan.writers.push_back(digit);
  }
  plan.writers.append(copies.begin(), copies.end());
  return true;
}

/// Step 1: the registers of each register of the result.
static void planRegisters(ReductionPlan &plan, const Layout &layout, unsigned dim) {
  plan.inThread.resize(plan.result.numRegisters());
  for (uint32_t reg = 0; reg < layout.numRegisters(); ++reg)
    plan.inThread[layout.sliceRegister(dim, reg)].push_back(reg);
  for (auto &registers : plan.inThread)
    llvm::sort(registers,
               [&](uint32_t a, uint32_t b) { return layout.registerOffset(a)[dim] < layout.registerOffset(b)[dim]; });
}

Layout tilec::keepThreadDigits(const Layout &layout, unsigned dim) {
  // The slice has the registers right; its thread digits of `dim` are among the replicated ones.
  Layout slice = layout.sliceDim(dim);
  llvm::SmallVector<Layout::DigitList, 4> dims;
  for (unsigned d = 0; d < slice.rank(); ++d)
    dims.emplace_back(slice.digits(d));
  Layout::DigitList kept;
  for (const Digit &digit : layout.digits(dim))
    if (digit.owner != Owner::Register)
      kept.push_back(digit);
  dims.insert(dims.begin() + dim, kept);
  std::optional<Layout> result = Layout::get(dims, layout.replicated(), layout.partial());
  assert(result && "the thread digits moved as they were");
  return *result;
}

ReductionPlan tilec::planParts(const Layout &layout, unsigned dim) {
  ReductionPlan plan;
  plan.result = keepThreadDigits(layout, dim);
  planRegisters(plan, layout, dim);
  return plan;
}

std::optional<ReductionPlan> tilec::planReduction(const Layout &layout, unsigned dim) {
  ReductionPlan plan;
  plan.result = layout.sliceDim(dim);
  llvm::SmallVector<Digit, 4> addends;
  for (const Digit &digit : layout.digits(dim))
    if (digit.owner != Owner::Register)
      addends.push_back(digit);
  if (!planThreads(plan, addends, layout.replicated()) || (layout.isPartial() && !plan.warps.empty()))
    return std::nullopt;
  planRegisters(plan, layout, dim);
  return plan;
}

std::optional<ReductionPlan> tilec::planFinish(const Layout &layout) {
  ReductionPlan plan;
  plan.result = layout.finished();
  llvm::SmallVector<Digit, 4> addends;
  for (const PartialDigit &partial : layout.partial())
    addends.push_back(partial.digit);
  if (!planThreads(plan, addends, layout.replicated()))
    return std::nullopt;
  for (uint32_t reg = 0; reg < layout.numRegisters(); ++reg)
    plan.inThread.push_back({reg});
  return plan;
}
