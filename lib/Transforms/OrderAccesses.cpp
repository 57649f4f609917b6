// order-accesses: barriers between accesses of one tensor whose elements different threads of a group may touch.
#include "tilec/Dialect/Tile/AttributeNames.h"
#include "tilec/Dialect/TileGPU/TileGPUDialect.h"
#include "tilec/Transforms/AffineIndex.h"
#include "tilec/Transforms/Passes.h"
#include "tilec/Transforms/StagedStore.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/CheckedArithmetic.h"

namespace tilec {
#define GEN_PASS_DEF_ORDERACCESSES
#include "tilec/Transforms/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

namespace {

// An access since the last barrier. `loops`: those of whose earlier iterations it is.
struct Access {
  Operation *op;
  SmallVector<LoopLikeOpInterface, 1> loops;
  bool operator==(const Access &other) const { return op == other.op && loops == other.loops; }
};

using Pending = SmallVector<Access, 4>;

// What a load, store or atomic touches.
struct Place {
  tile::ViewOp view;
  ValueRange subscripts;
  ArrayAttr dims;
  Value value;
};

std::optional<Place> placeOf(Operation *op) {
  auto place = [](auto access, Value value) {
    auto view = access.getView().template getDefiningOp<tile::ViewOp>();
    return Place{view, access.getSubscripts(), access.getDims(), value};
  };
  std::optional<Place> found;
  if (auto load = dyn_cast<tile::LoadOp>(op))
    found = place(load, load.getResult());
  else if (auto store = dyn_cast<tile::StoreOp>(op))
    found = place(store, store.getValue());
  else if (auto atomic = dyn_cast<tile::AtomicOp>(op))
    found = place(atomic, atomic.getValue());
  if (found && (!found->view || found->view.getAccess() == tile::Access::in))
    return std::nullopt;
  return found;
}

// By how much an index grows from one iteration of a loop to the next: a multiple of the induction variable beside what
// the loop does not change.
class IndexSteps {
public:
  explicit IndexSteps(scf::ForOp loop) : loop(loop) {}

  std::optional<int64_t> of(Value value) {
    auto [entry, isNew] = known.try_emplace(value);
    return isNew ? known[value] = derive(value) : entry->second;
  }

private:
  std::optional<int64_t> derive(Value value) {
    if (value == loop.getInductionVar()) {
      APInt step;
      return matchPattern(loop.getStep(), m_ConstantInt(&step)) ? std::optional(step.getSExtValue()) : std::nullopt;
    }
    if (loop.isDefinedOutsideOfLoop(value))
      return 0;
    Operation *op = value.getDefiningOp();
    if (!op || !isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::IndexCastOp>(op))
      return std::nullopt;
    std::optional<int64_t> first = of(op->getOperand(0));
    if (!first || op->getNumOperands() == 1)
      return first;
    std::optional<int64_t> second = of(op->getOperand(1));
    if (!second)
      return std::nullopt;
    if (isa<arith::AddIOp>(op))
      return llvm::checkedAdd(*first, *second);
    if (isa<arith::SubIOp>(op))
      return llvm::checkedSub(*first, *second);
    APInt factor;
    for (unsigned i : {0, 1})
      if (matchPattern(op->getOperand(i), m_ConstantInt(&factor)))
        return llvm::checkedMul(factor.getSExtValue(), i ? *first : *second);
    return std::nullopt;
  }

  scf::ForOp loop;
  llvm::DenseMap<Value, std::optional<int64_t>> known;
};

// Whether a subscript has other values in every iteration.
bool advances(Value subscript, LoopLikeOpInterface loop) {
  auto count = dyn_cast<scf::ForOp>(loop.getOperation());
  auto pos = subscript.getDefiningOp<tile::PosOp>();
  auto axis = pos ? pos.getAxis().getDefiningOp<tile::AxisOp>() : nullptr;
  if (!count || (isa<RankedTensorType>(subscript.getType()) && !axis))
    return false;
  std::optional<int64_t> step = IndexSteps(count).of(axis ? axis.getStart() : subscript);
  return step && std::abs(*step) >= (axis ? axis.getType().getExtent() : 1);
}

bool isReplicated(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return !type || !tilegpu::layoutOf(type) || !tilegpu::layoutOf(type).getLayout().replicated().empty();
}

// Whether every element that both touch is touched by the same thread, or by none in both.
bool areOrdered(const Access &before, Operation *after) {
  Place first = *placeOf(before.op), second = *placeOf(after);
  bool equal = first.view == second.view && first.subscripts == second.subscripts && first.dims == second.dims &&
               first.value.getType() == second.value.getType();
  bool loads = isa<tile::LoadOp>(before.op) || isa<tile::LoadOp>(after);
  // Unlike those of stores, the subscripts of atomics may be equal in several places.
  bool atomics = isa<tile::AtomicOp>(before.op) || isa<tile::AtomicOp>(after);
  if (!equal || (loads && atomics))
    return false;
  auto changes = [&](LoopLikeOpInterface loop) {
    return !llvm::all_of(first.subscripts, [&](Value value) { return loop.isDefinedOutsideOfLoop(value); });
  };
  if (llvm::none_of(before.loops, changes))
    return !loads || !isReplicated(first.value);
  return before.loops.size() == 1 &&
         llvm::any_of(first.subscripts, [&](Value value) { return advances(value, before.loops.front()); });
}

// Whether two accesses are of different parts of one row, outside of loops.
bool areParts(const Access &before, Operation *after) {
  auto first = before.op->getAttrOfType<DenseI64ArrayAttr>(tile::rowPartName);
  auto second = after->getAttrOfType<DenseI64ArrayAttr>(tile::rowPartName);
  return before.loops.empty() && first && second && first[0] == second[0] && first[1] != second[1];
}

// The distance of two subscripts' first elements and the lengths that they span, if they differ by a constant.
struct Apart {
  int64_t distance, first, second;
};

std::optional<int64_t> spanOf(const AffineIndex &index, Type type) {
  int64_t span = 1;
  auto tensor = dyn_cast<RankedTensorType>(type);
  for (auto [dim, coefficient] : llvm::enumerate(index.coefficients)) {
    if (coefficient < 0)
      return std::nullopt;
    std::optional<int64_t> reach = llvm::checkedMul(coefficient, tensor.getDimSize(dim) - 1);
    if (!reach)
      return std::nullopt;
    span += *reach;
  }
  return span;
}

std::optional<Apart> apart(Value first, Value second) {
  std::optional<AffineIndex> a = affineIndex(first), b = affineIndex(second);
  if (!a || !b)
    return std::nullopt;
  LinearSum difference = b->base;
  difference.add(a->base, -1);
  std::optional<int64_t> one = spanOf(*a, first.getType()), other = spanOf(*b, second.getType());
  bool constant = llvm::all_of(difference.terms, [](const auto &term) { return term.second == 0; });
  return constant && one && other ? std::optional(Apart{difference.constant, *one, *other}) : std::nullopt;
}

// Whether two accesses outside of loops, or in one iteration of them, have no element in common: somewhere one begins
// where the other has ended.
bool areDisjoint(const Access &before, Operation *after) {
  Place first = *placeOf(before.op), second = *placeOf(after);
  if (!before.loops.empty() || first.view != second.view)
    return false;
  return llvm::any_of(llvm::zip(first.subscripts, second.subscripts), [](auto pair) {
    std::optional<Apart> parts = apart(std::get<0>(pair), std::get<1>(pair));
    return parts && (parts->distance >= parts->first || -parts->distance >= parts->second);
  });
}

// Whether two accesses are of different iterations of a stage, which do not touch each other's elements.
bool areOfDifferentIterations(const Access &before, Operation *after) {
  auto first = before.op->getAttrOfType<IntegerAttr>(tile::iterationName);
  auto second = after->getAttrOfType<IntegerAttr>(tile::iterationName);
  return before.loops.empty() && first && second && first != second;
}

bool conflict(const Access &before, Operation *after) {
  if ((isa<tile::LoadOp>(before.op) && isa<tile::LoadOp>(after)) ||
      (isa<tile::AtomicOp>(before.op) && isa<tile::AtomicOp>(after)))
    return false;
  return placeOf(before.op)->view.getName() == placeOf(after)->view.getName() && !areOrdered(before, after) &&
         !areParts(before, after) && !areDisjoint(before, after) && !areOfDifferentIterations(before, after);
}

void add(Pending &pending, const Access &access) {
  if (!llvm::is_contained(pending, access))
    pending.push_back(access);
}

// Walks the operations in the order of their execution.
class Orderer {
public:
  void order(Block &block, Pending &pending);

private:
  void orderBodies(LoopLikeOpInterface loop, Pending &pending);
  void orderLoop(LoopLikeOpInterface loop, Pending &pending);
  void orderBranches(Operation *op, Pending &pending);

  /// The accesses of a loop's earlier iterations, known after its first visit: so that the visits of nested loops do
  /// not double with every level.
  llvm::DenseMap<Operation *, Pending> earlier;
};

void Orderer::orderBodies(LoopLikeOpInterface loop, Pending &pending) {
  for (Region &region : loop->getRegions())
    for (Block &block : region)
      order(block, pending);
}

// On the first visit twice: the second time after the accesses of the iteration before.
void Orderer::orderLoop(LoopLikeOpInterface loop, Pending &pending) {
  Pending entry = pending;
  if (!earlier.contains(loop)) {
    orderBodies(loop, pending);
    Pending own;
    for (Access access : pending) {
      if (!loop->isProperAncestor(access.op))
        continue;
      if (!llvm::is_contained(access.loops, loop))
        access.loops.push_back(loop);
      add(own, access);
    }
    earlier[loop] = own;
    pending = entry;
  }
  for (const Access &access : earlier.lookup(loop))
    add(pending, access);
  orderBodies(loop, pending);
  for (const Access &access : entry)
    add(pending, access);
}

void Orderer::orderBranches(Operation *op, Pending &pending) {
  Pending entry = pending;
  if (isa<scf::IfOp>(op) && !op->getRegion(1).empty())
    pending.clear();
  for (Region &region : op->getRegions())
    for (Block &block : region) {
      Pending own = entry;
      order(block, own);
      for (const Access &access : own)
        add(pending, access);
    }
}

void Orderer::order(Block &block, Pending &pending) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    auto loop = dyn_cast<LoopLikeOpInterface>(op);
    if (loop && loop->hasAttr(persistentLoop)) {
      // Iterations of a stage do not touch each other's elements, whatever block runs them.
      orderBodies(loop, pending);
    } else if (loop) {
      orderLoop(loop, pending);
    } else if (op.getNumRegions() > 0) {
      orderBranches(&op, pending);
    } else if (isa<tilegpu::BarrierOp>(op)) {
      pending.clear();
    } else if (placeOf(&op)) {
      if (llvm::any_of(pending, [&](const Access &access) { return conflict(access, &op); })) {
        OpBuilder builder(&op);
        tilegpu::BarrierOp::create(builder, op.getLoc(), false);
        pending.clear();
      }
      add(pending, {&op, {}});
    }
  }
}

struct OrderAccessesPass : tilec::impl::OrderAccessesBase<OrderAccessesPass> {
  void runOnOperation() override {
    Pending pending;
    Orderer().order(getOperation().getBody().front(), pending);
  }
};

} // namespace
