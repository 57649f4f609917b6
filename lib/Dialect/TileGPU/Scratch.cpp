// Scratch of layout conversions and of reductions across warps.
#include "tilec/Dialect/TileGPU/Scratch.h"

#include "tilec/Dialect/TileGPU/TileGPUDialect.h"
#include "tilec/Layout/ConversionPlan.h"
#include "tilec/Layout/ReductionPlan.h"

using namespace mlir;
using namespace tilec;

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
    LayoutAttr layout = layoutOf(type);
    if (!layout)
      return 0;
    std::optional<ReductionPlan> plan = planReduction(layout.getLayout(), reduce.getDim());
    if (!plan || plan->warps.empty())
      return 0;
    return plan->scratchElements() * elementBytes(type.getElementType());
  }
  return 0;
}
