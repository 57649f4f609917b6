// Scratch of layout conversions and of reductions across warps.
#include "tilec/Dialect/TileGPU/Scratch.h"

#include "tilec/Dialect/Tile/KeptDigits.h"
#include "tilec/Dialect/TileGPU/TileGPUDialect.h"
#include "tilec/Layout/ConversionPlan.h"

using namespace mlir;
using namespace tilec;

std::optional<ReductionPlan> tilegpu::planOf(tile::ReduceOp reduce) {
  LayoutAttr layout = layoutOf(reduce.getInput().getType());
  if (!layout)
    return std::nullopt;
  if (reduce->hasAttr(tile::keptName))
    return planParts(layout.getLayout(), reduce.getDim());
  return planReduction(layout.getLayout(), reduce.getDim());
}

bool tilegpu::isOverCluster(tile::ReduceOp reduce) {
  auto kernel = reduce->getParentOfType<KernelOp>();
  std::optional<ReductionPlan> plan = planOf(reduce);
  return kernel && kernel.getPlan().get("cluster") && plan && !plan->warps.empty();
}

int64_t tilegpu::clusterSlotBytes(tile::ReduceOp reduce) {
  // st.async takes 4 or 8 bytes.
  constexpr int64_t leastBytes = 4;
  return std::max(elementBytes(getElementTypeOrSelf(reduce.getInput().getType())), leastBytes);
}

int64_t tilegpu::clusterBarrierOffset(tile::ReduceOp reduce) {
  constexpr int64_t barrierAlignment = 8;
  return llvm::alignTo(planOf(reduce)->scratchElements() * clusterSlotBytes(reduce), barrierAlignment);
}

int64_t tilegpu::scratchBytes(Operation *op) {
  if (auto convert = dyn_cast<ConvertOp>(op)) {
    LayoutAttr from = layoutOf(convert.getInput().getType()), to = layoutOf(convert.getType());
    if (!from || !to)
      return 0;
    auto type = cast<RankedTensorType>(convert.getType());
    std::optional<ConversionPlan> plan =
        planConversion(from.getLayout(), to.getLayout(), type.getShape(), elementBytes(type.getElementType()) * 8);
    return plan && plan->kind == ConversionKind::SharedMemory ? plan->scratch.bytes : 0;
  }
  if (auto reduce = dyn_cast<tile::ReduceOp>(op)) {
    auto type = cast<RankedTensorType>(reduce.getInput().getType());
    std::optional<ReductionPlan> plan = planOf(reduce);
    if (!plan || plan->warps.empty())
      return 0;
    constexpr int64_t barrierBytes = 8;
    if (isOverCluster(reduce))
      return clusterBarrierOffset(reduce) + barrierBytes;
    return plan->scratchElements() * elementBytes(type.getElementType());
  }
  return 0;
}
