// Exchanges the two dimensions of a product and of all tiles that share them.
#include "SwapOperands.h"

#include "tilec/Transforms/AxisClasses.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tilec;

namespace {

// The tiles that are transposed together, and the operations that read or make them.
class TransposedTiles {
public:
  explicit TransposedTiles(tile::DotOp dot) : dot(dot) {}

  // Everything that has to change with the product; false where something cannot.
  bool collect() {
    if (dot.getAxes().size() != 1 || !dot.getLhsBatch().empty() || rankOf(dot.getResult()) != 2)
      return false;
    tiles.insert(dot.getResult());
    for (size_t i = 0; i < tiles.size(); ++i) {
      Value tile = tiles[i];
      if (!addDefinition(tile))
        return false;
      for (OpOperand &use : tile.getUses())
        if (!addUse(use))
          return false;
    }
    return true;
  }

  void rewrite() {
    for (Operation *op : operations)
      rewrite(op);
    for (Value tile : tiles) {
      auto type = cast<RankedTensorType>(tile.getType());
      tile.setType(RankedTensorType::get({type.getDimSize(1), type.getDimSize(0)}, type.getElementType()));
    }
    // Constants hold their type twice.
    for (Value tile : tiles)
      if (auto constant = tile.getDefiningOp<arith::ConstantOp>())
        constant.setValueAttr(
            cast<DenseElementsAttr>(constant.getValue()).resizeSplat(cast<ShapedType>(tile.getType())));
  }

private:
  bool addTile(Value value) {
    if (rankOf(value) == 0)
      return true;
    tiles.insert(value);
    return rankOf(value) == 2;
  }

  bool addElementwise(Operation *op) {
    return llvm::all_of(op->getOperands(), [&](Value operand) { return addTile(operand); }) &&
           llvm::all_of(op->getResults(), [&](Value result) { return addTile(result); });
  }

  bool addCarried(scf::ForOp loop, unsigned index) {
    return addTile(loop.getInitArgs()[index]) && addTile(loop.getRegionIterArg(index)) &&
           addTile(loop.getYieldedValues()[index]) && addTile(loop.getResult(index));
  }

  // One result of an `if`.
  bool addArms(scf::IfOp op, unsigned index) {
    return addTile(op.getResult(index)) && addTile(op.thenYield().getOperand(index)) &&
           addTile(op.elseYield().getOperand(index));
  }

  static bool hasPlainSubscripts(OperandRange subscripts) {
    return llvm::all_of(subscripts, [](Value subscript) { return rankOf(subscript) < 2; });
  }

  bool addDefinition(Value tile) {
    if (auto argument = dyn_cast<BlockArgument>(tile)) {
      auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
      return loop && argument.getArgNumber() > 0 && addCarried(loop, argument.getArgNumber() - 1);
    }
    Operation *op = tile.getDefiningOp();
    unsigned index = cast<OpResult>(tile).getResultNumber();
    operations.insert(op);
    if (auto other = dyn_cast<tile::DotOp>(op))
      return other == dot && (!dot.getAcc() || addTile(dot.getAcc()));
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return addCarried(loop, index);
    if (auto conditional = dyn_cast<scf::IfOp>(op))
      return addArms(conditional, index);
    if (auto broadcast = dyn_cast<tile::BroadcastOp>(op))
      return rankOf(broadcast.getInput()) < 2;
    if (auto load = dyn_cast<tile::LoadOp>(op))
      return hasPlainSubscripts(load.getSubscripts()) && (!load.getOtherwise() || addTile(load.getOtherwise()));
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      return isa<SplatElementsAttr>(constant.getValue());
    return op->hasTrait<OpTrait::Elementwise>() && addElementwise(op);
  }

  bool addUse(OpOperand &use) {
    Operation *op = use.getOwner();
    operations.insert(op);
    if (isa<tile::DotOp>(op))
      return op == dot && use.get() == dot.getAcc();
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return use.getOperandNumber() >= 3 && addCarried(loop, use.getOperandNumber() - 3);
    if (isa<scf::YieldOp>(op)) {
      if (auto loop = dyn_cast<scf::ForOp>(op->getParentOp()))
        return addCarried(loop, use.getOperandNumber());
      auto conditional = dyn_cast<scf::IfOp>(op->getParentOp());
      return conditional && addArms(conditional, use.getOperandNumber());
    }
    if (auto store = dyn_cast<tile::StoreOp>(op))
      return hasPlainSubscripts(store.getSubscripts());
    if (auto load = dyn_cast<tile::LoadOp>(op))
      return addTile(load.getResult());
    return op->hasTrait<OpTrait::Elementwise>() && addElementwise(op);
  }

  static ArrayAttr flipped(ArrayAttr dims) {
    Builder builder(dims.getContext());
    SmallVector<Attribute> result;
    for (Attribute list : dims) {
      SmallVector<Attribute> entries;
      for (auto dim : cast<ArrayAttr>(list).getAsRange<IntegerAttr>())
        entries.push_back(IntegerAttr::get(dim.getType(), 1 - dim.getInt()));
      result.push_back(builder.getArrayAttr(entries));
    }
    return builder.getArrayAttr(result);
  }

  void rewrite(Operation *op) {
    if (op == dot)
      return rewriteDot();
    if (auto load = dyn_cast<tile::LoadOp>(op))
      return load.setDimsAttr(flipped(load.getDims()));
    if (auto broadcast = dyn_cast<tile::BroadcastOp>(op)) {
      if (rankOf(broadcast.getInput()) == 1)
        broadcast.setDims({1 - broadcast.getDims()[0]});
      return;
    }
    auto store = dyn_cast<tile::StoreOp>(op);
    if (!store)
      return;
    store.setDimsAttr(flipped(store.getDims()));
    Value first = store.getAxes()[0], second = store.getAxes()[1];
    store.getAxesMutable()[0].set(second);
    store.getAxesMutable()[1].set(first);
    if (std::optional<ArrayRef<bool>> full = store.getFull())
      store.setFull(ArrayRef<bool>{(*full)[1], (*full)[0]});
  }

  void rewriteDot() {
    Value lhs = dot.getLhs();
    SmallVector<int64_t> contract(dot.getLhsContract());
    bool isUnsigned = dot.getLhsUnsigned();
    dot.getLhsMutable().assign(dot.getRhs());
    dot.getRhsMutable().assign(lhs);
    dot.setLhsContract(SmallVector<int64_t>(dot.getRhsContract()));
    dot.setRhsContract(contract);
    dot.setLhsUnsigned(dot.getRhsUnsigned());
    dot.setRhsUnsigned(isUnsigned);
  }

  tile::DotOp dot;
  llvm::SetVector<Value> tiles;
  llvm::SetVector<Operation *> operations;
};

} // namespace

bool tilec::swapOperands(tile::DotOp dot) {
  TransposedTiles tiles(dot);
  if (!tiles.collect())
    return false;
  tiles.rewrite();
  return true;
}
