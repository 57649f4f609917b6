// infer-layouts: gives every tile a layout and inserts conversions where layouts differ.
#include "InferLayoutsGraph.h"
#include "tilec/Dialect/TileGPU/Scratch.h"
#include "tilec/Transforms/Passes.h"
#include "tilec/Transforms/RegisterLimits.h"
#include "tilec/Transforms/VerifyLayouts.h"
#include "llvm/Support/MathExtras.h"

namespace tilec {
#define GEN_PASS_DEF_INFERLAYOUTS
#include "tilec/Transforms/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

namespace {

// Puts the chosen layouts into the types, and the values that operations need in front of them.
class LayoutRewriter {
public:
  LayoutRewriter(tilegpu::KernelOp kernel, const LayoutGraph &graph) : kernel(kernel), graph(graph) {}

  void run() {
    kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (op->getNumResults() == 1 && graph.isCheap(op->getResult(0)))
        cheapOps.push_back(op);
      else
        ops.push_back(op);
    });
    for (Operation *op : ops)
      setTypes(op);
    for (Operation *op : ops)
      setOperands(op);
    for (Operation *op : llvm::reverse(cheapOps))
      if (op->use_empty())
        op->erase();
  }

private:
  tilegpu::LayoutAttr attr(const Layout &layout) { return tilegpu::LayoutAttr::get(kernel.getContext(), layout); }

  static void setLayout(Value value, tilegpu::LayoutAttr layout) { value.setType(withLayout(value.getType(), layout)); }

  static bool hasOwnChoice(Operation *op) {
    return isa<tile::ReduceOp, tilegpu::LocalLoadOp, tilegpu::LocalStoreOp>(op) || GlobalOperation::match(op);
  }

  void setTypes(Operation *op) {
    if (hasOwnChoice(op))
      ownLayouts[op] = graph.ownLayout(op);
    for (Value result : op->getResults())
      if (isTile(result))
        setLayout(result, resultLayout(op, result));
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Value argument : block.getArguments())
          if (isTile(argument))
            setLayout(argument, graph.layoutOf(argument));
  }

  // What the operation itself produces, which may have to be converted for its component.
  tilegpu::LayoutAttr resultLayout(Operation *op, Value result) {
    if (auto reduce = dyn_cast<tile::ReduceOp>(op))
      return attr(ownLayouts[op].getLayout().sliceDim(reduce.getDim()));
    if (auto mma = dyn_cast<tilegpu::MmaOp>(op))
      return attr(graph.mmaLayoutsOf(mma).accumulator);
    return hasOwnChoice(op) ? ownLayouts[op] : graph.layoutOf(result);
  }

  void setOperands(Operation *op) {
    if (auto mma = dyn_cast<tilegpu::MmaOp>(op))
      return setMmaOperands(mma);
    forEachForwardedTile(op, [&](OpOperand &operand, Value target) {
      operand.set(valueIn(operand.get(), tilegpu::layoutOf(target.getType())));
    });
    tilegpu::LayoutAttr own = ownLayouts.lookup(op);
    if (!own && (isElementwise(op) || isa<tile::BroadcastOp, tile::PermuteOp>(op)))
      own = tilegpu::layoutOf(op->getResult(0).getType());
    if (own)
      setOperands(op, own);
  }

  void setOperands(Operation *op, tilegpu::LayoutAttr own) {
    for (OpOperand &operand : op->getOpOperands())
      if (std::optional<Layout> layout = operandLayout(op, operand.getOperandNumber(), own.getLayout()))
        operand.set(valueIn(operand.get(), attr(*layout)));
  }

  void setMmaOperands(tilegpu::MmaOp mma) {
    const MmaLayouts &layouts = graph.mmaLayoutsOf(mma);
    mma.getAccMutable().assign(valueIn(mma.getAcc(), attr(layouts.accumulator)));
    if (layouts.a)
      mma.getAMutable().assign(valueIn(mma.getA(), attr(*layouts.a)));
    if (layouts.b)
      mma.getBMutable().assign(valueIn(mma.getB(), attr(*layouts.b)));
  }

  // The value in a layout; made once, right after the value, so that it is outside every loop that it can be outside
  // of.
  Value valueIn(Value value, tilegpu::LayoutAttr layout) {
    if (tilegpu::layoutOf(value.getType()) == layout)
      return value;
    auto [it, isNew] = made.try_emplace({value, layout}, Value());
    if (!isNew)
      return it->second;
    Value result = graph.isCheap(value) ? computeIn(value, layout) : convert(value, layout);
    made[{value, layout}] = result;
    return result;
  }

  static Value convert(Value value, tilegpu::LayoutAttr layout) {
    OpBuilder builder(value.getContext());
    builder.setInsertionPointAfterValue(value);
    return tilegpu::ConvertOp::create(builder, value.getLoc(), withLayout(value.getType(), layout), value);
  }

  Value computeIn(Value value, tilegpu::LayoutAttr layout) {
    Operation *op = value.getDefiningOp();
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    RankedTensorType type = withLayout(value.getType(), layout);
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      auto elements = cast<DenseElementsAttr>(constant.getValue());
      return arith::ConstantOp::create(builder, op->getLoc(), type, elements.reshape(type));
    }
    Operation *copy = builder.clone(*op);
    copy->getResult(0).setType(type);
    setOperands(copy, layout);
    return copy->getResult(0);
  }

  tilegpu::KernelOp kernel;
  const LayoutGraph &graph;
  SmallVector<Operation *> ops, cheapOps;
  llvm::DenseMap<Operation *, tilegpu::LayoutAttr> ownLayouts;
  llvm::DenseMap<std::pair<Value, Attribute>, Value> made;
};

struct InferLayoutsPass : tilec::impl::InferLayoutsBase<InferLayoutsPass> {
  void runOnOperation() override {
    tilegpu::KernelOp kernel = getOperation();
    int64_t warps = kernel.getWarps();
    auto cluster = kernel.getPlan().getAs<IntegerAttr>("cluster");
    if (warps < 1 || warps > 32 * (cluster ? cluster.getInt() : 1) || !llvm::isPowerOf2_64(warps)) {
      kernel.emitError("E0420: tiles cannot be spread over ") << warps << " warps: it takes 1, 2, 4, 8, 16 or 32";
      return signalPassFailure();
    }
    if (failed(checkTileSizes(kernel)))
      return signalPassFailure();
    LayoutGraph graph(kernel, scratchLimit(kernel));
    if (failed(graph.build()))
      return signalPassFailure();
    graph.choose();
    LayoutRewriter(kernel, graph).run();
    if (failed(verifyLayouts(kernel)) || failed(checkCarriedRegisters(kernel)))
      signalPassFailure();
  }

  // Negative: none at all. Blocks of a cluster have no scratch in common.
  static int64_t scratchLimit(tilegpu::KernelOp kernel) {
    if (kernel.getPlan().get("cluster"))
      return -1;
    if (!kernel.getOps<tilegpu::StagingOp>().empty())
      return tilegpu::scratchBesideStaging / kernel.getConsumers();
    bool hasRings = false;
    kernel.walk([&](tilegpu::ChanOp) { hasRings = true; });
    return (hasRings ? tilegpu::scratchBesideRings : targetMachine(kernel).sharedPerBlock) / kernel.getConsumers();
  }
};

} // namespace
