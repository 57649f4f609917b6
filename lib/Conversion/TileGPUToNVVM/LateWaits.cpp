// The last product of a softmax's tile stands in the branch of tiles that have keys, before the sums of its rows are
// combined and inverted. Those are moved into the branch, between the product's start and its wait.
#include "LateWaits.h"

#include "Lowering.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "tilec/Layout/ReductionPlan.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tilec;

namespace {

class RowsUnderProduct {
public:
  RowsUnderProduct(scf::IfOp branch, tilegpu::MmaOp product) : branch(branch), product(product) {}

  void run() {
    if (!endsBranch())
      return;
    collect();
    if (moved.empty())
      return;
    scf::IfOp wider = widen();
    start(wider);
  }

private:
  // Nothing but releases between the product and the end of the branch, and no other product.
  bool endsBranch() {
    for (Operation *op = product->getNextNode(); op != branch.thenBlock()->getTerminator(); op = op->getNextNode())
      if (!isa<tilegpu::ReleaseOp>(op))
        return false;
    return true;
  }

  bool isBefore(Value value) {
    Operation *op = value.getDefiningOp();
    return !op || op->getBlock() != branch->getBlock() || op->isBeforeInBlock(branch);
  }

  bool isOtherResult(Value value) {
    auto result = dyn_cast<OpResult>(value);
    return result && result.getOwner() == branch &&
           branch.thenYield().getOperand(result.getResultNumber()) != product.getResult();
  }

  static bool isOfRows(Operation *op) {
    auto reduce = dyn_cast<tile::ReduceOp>(op);
    if (reduce) {
      std::optional<ReductionPlan> plan = planReduction(Lowering::layoutOf(reduce.getInput()), reduce.getDim());
      if (!plan || !plan->warps.empty())
        return false;
    }
    return isPure(op) && op->getNumRegions() == 0 && llvm::all_of(op->getResultTypes(), [](Type type) {
             auto tile = dyn_cast<RankedTensorType>(type);
             return tile ? tile.getRank() <= 1 : isa<tile::AxisType>(type);
           });
  }

  // Operations on rows behind the branch that need its other results, and the axes that they need.
  void collect() {
    llvm::SetVector<Operation *> axes;
    for (Operation *op = branch->getNextNode(); op; op = op->getNextNode()) {
      if (!isOfRows(op))
        continue;
      bool needsBranch = false, known = true;
      for (Value operand : op->getOperands()) {
        Operation *source = operand.getDefiningOp();
        needsBranch |= isOtherResult(operand) || moved.contains(source);
        known &= isBefore(operand) || isOtherResult(operand) || moved.contains(source) || axes.contains(source);
      }
      if (known && needsBranch)
        moved.insert(op);
      else if (known && isa<tile::AxisOp>(op))
        axes.insert(op);
    }
    if (moved.empty())
      return;
    for (Operation *axis : axes)
      axis->moveBefore(branch);
  }

  // The branch with copies of what moves in both arms.
  scf::IfOp widen() {
    OpBuilder builder(branch);
    SmallVector<Type> types(branch.getResultTypes());
    SmallVector<Value> results;
    for (Operation *op : moved)
      for (Value result : op->getResults())
        if (llvm::any_of(result.getUsers(), [&](Operation *user) { return !moved.contains(user); })) {
          results.push_back(result);
          types.push_back(result.getType());
        }
    auto wider = scf::IfOp::create(builder, branch.getLoc(), types, branch.getCondition(), /*withElseRegion=*/true);
    for (unsigned arm : {0u, 1u}) {
      Region &region = wider->getRegion(arm);
      region.takeBody(branch->getRegion(arm));
      Operation *yield = region.front().getTerminator();
      builder.setInsertionPoint(yield);
      IRMapping map;
      map.map(branch.getResults(), yield->getOperands());
      for (Operation *op : moved)
        builder.clone(*op, map);
      SmallVector<Value> yielded(yield->getOperands());
      for (Value result : results)
        yielded.push_back(map.lookup(result));
      yield->setOperands(yielded);
    }
    for (auto [old, now] : llvm::zip(branch.getResults(), wider.getResults()))
      old.replaceAllUsesWith(now);
    for (auto [old, now] : llvm::zip(results, wider.getResults().drop_front(branch.getNumResults())))
      old.replaceAllUsesWith(now);
    for (Operation *op : llvm::reverse(moved))
      op->erase();
    branch.erase();
    return wider;
  }

  // start, rows, wait, releases.
  void start(scf::IfOp wider) {
    Block *block = wider.thenBlock();
    SmallVector<Operation *> releases;
    for (Operation *op = product->getNextNode(); isa<tilegpu::ReleaseOp>(op); op = op->getNextNode())
      releases.push_back(op);
    OpBuilder builder(product);
    RankedTensorType tile = product.getTileType();
    auto started = cast<tilegpu::MmaOp>(builder.clone(*product));
    started.getResult().setType(tilegpu::PendingType::get(product.getContext(), tile));
    builder.setInsertionPoint(block->getTerminator());
    auto wait = tilegpu::MmaWaitOp::create(builder, product.getLoc(), TypeRange(tile), started.getResult(), /*after=*/0,
                                           ValueRange());
    for (Operation *release : releases)
      release->moveBefore(block->getTerminator());
    product.getResult().replaceAllUsesWith(wait.getResult());
    product.erase();
  }

  scf::IfOp branch;
  tilegpu::MmaOp product;
  llvm::SetVector<Operation *> moved;
};

} // namespace

void tilec::waitBehindRows(tilegpu::KernelOp kernel) {
  SmallVector<std::pair<scf::IfOp, tilegpu::MmaOp>> products;
  kernel.walk([&](tilegpu::MmaOp product) {
    auto branch = dyn_cast<scf::IfOp>(product->getParentOp());
    // Exact sums of 8-bit floats add parts in between.
    bool canStart =
        product.getFast() || !isa<Float8E4M3FNType, Float8E5M2Type>(tilegpu::tileElementType(product.getA().getType()));
    if (branch && !branch.getElseRegion().empty() && product->getBlock() == branch.thenBlock() && !product.isStart() &&
        product.getMma().getKind() == "wgmma" && canStart)
      products.push_back({branch, product});
  });
  for (auto [branch, product] : products)
    RowsUnderProduct(branch, product).run();
}
