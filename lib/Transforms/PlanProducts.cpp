// The rule for products in flight and turns, from what the loops of a kernel compute.
#include "PlanProducts.h"

#include "DotFacts.h"
#include "LoopProducts.h"
#include "PlanGroups.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tilec/Transforms/AxisClasses.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace tilec;

namespace {

// 2-byte multiply-adds of an H100 multiprocessor's Tensor Cores in each clock: 989 TFLOP/s dense by 132 multiprocessors
// at 1830 MHz (NVIDIA H100 Tensor Core GPU Architecture).
constexpr double multiplyAdds = 2048;

// Measured on attention, relative to the time of the products: with less vector work turns cost more than they hide;
// with more, vector work is what the time goes to, and groups that alternate beat products in flight, which keep their
// operand in registers beside the accumulators.
constexpr double turnsFrom = 0.35, delayUpTo = 0.75;

// One innermost loop: clocks of its products and of its vector work, registers of the tiles that live while a delayed
// product is under way.
struct LoopWork {
  double products = 0, special = 0, others = 0;
  int64_t registers = 0;
  bool isChain = false;

  double vector() const { return std::max(special / specialFunctionRate, others / instructionRate); }
  double ratio() const { return vector() / products; }
};

int64_t elementsOf(Value tile) { return cast<RankedTensorType>(tile.getType()).getNumElements(); }

LoopWork workOf(scf::ForOp loop, int64_t groups) {
  LoopWork work;
  int64_t lanes = 128 * groups;
  auto inLoop = [&](Operation *op) { return op->getBlock() == loop.getBody(); };
  for (Operation &op : *loop.getBody()) {
    if (auto dot = dyn_cast<tile::DotOp>(op)) {
      auto lhs = cast<RankedTensorType>(dot.getLhs().getType());
      int64_t depth = lhs.getDimSize(dot.getLhsContract()[0]), bits = lhs.getElementTypeBitWidth();
      work.products += elementsOf(dot.getResult()) * depth / multiplyAdds * bits / 16;
      work.registers += elementsOf(dot.getResult()) / lanes;
      if (dependsOnDot(dot.getLhs(), inLoop)) {
        work.isChain = true;
        work.registers += lhs.getNumElements() * bits / 32 / lanes;
      }
      continue;
    }
    if (op.getNumResults() == 0 || isa<tile::LoadOp, tile::BroadcastOp, arith::ConstantOp>(op))
      continue;
    Value tile = isa<tile::ReduceOp>(op) ? op.getOperand(0) : op.getResult(0);
    auto type = dyn_cast<RankedTensorType>(tile.getType());
    if (!type || type.getRank() < 2 || !isa<FloatType>(type.getElementType()))
      continue;
    (isSpecialFunction(&op) ? work.special : work.others) += elementsOf(tile);
  }
  return work;
}

} // namespace

void tilec::planProducts(NamedAttrList &plan, tile::KernelOp kernel, int64_t groups, int64_t registers) {
  bool delay = false, turns = false;
  kernel.walk([&](scf::ForOp loop) {
    LoopWork work = workOf(loop, groups);
    if (work.products == 0 || !work.isChain)
      return;
    int64_t needed = work.registers + registersBesideTiles;
    bool delayed = work.ratio() <= delayUpTo && needed <= registers;
    delay |= delayed;
    turns |= groups > 1 && work.ratio() > turnsFrom;
    std::string why =
        delayed ? "the second product runs under it in the next iteration"
        : work.ratio() > delayUpTo
            ? "too much to hide under the product of one group"
            : llvm::formatv("a product under it would take {0} registers of {1}", needed, registers).str();
    loop.emitRemark() << kernel.getSymName() << ": vector work of " << llvm::formatv("{0:f2}", work.ratio()).str()
                      << " times the products' time: " << why << (turns ? "; groups take turns" : "");
  });
  if (delay)
    plan.set("delay", BoolAttr::get(kernel.getContext(), true));
  if (turns)
    plan.set("turns", BoolAttr::get(kernel.getContext(), true));
}
