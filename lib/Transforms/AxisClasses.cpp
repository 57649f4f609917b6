// Union-find of tile dimensions over the operations of a kernel.
#include "tilec/Transforms/AxisClasses.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilec;

bool tilec::isTile(Value value) { return isa<RankedTensorType>(value.getType()); }

int64_t tilec::rankOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? type.getRank() : 0;
}

AxisClasses::AxisClasses(Operation *kernel) {
  kernel->walk([&](Operation *op) { visit(op); });
}

unsigned AxisClasses::number(Key key) {
  auto [it, inserted] = numbers.try_emplace(key, keys.size());
  if (inserted) {
    parents.push_back(keys.size());
    keys.push_back(key);
  }
  return it->second;
}

unsigned AxisClasses::find(unsigned node) {
  while (parents[node] != node)
    node = parents[node] = parents[parents[node]];
  return node;
}

unsigned AxisClasses::classOf(Value value, int64_t dim) { return find(number({value, dim})); }

SmallVector<AxisClasses::Key> AxisClasses::members(unsigned wanted) {
  SmallVector<Key> result;
  for (unsigned node = 0; node < keys.size(); ++node)
    if (find(node) == wanted)
      result.push_back(keys[node]);
  return result;
}

void AxisClasses::unify(Value a, int64_t dimA, Value b, int64_t dimB) {
  unsigned first = classOf(a, dimA), second = classOf(b, dimB);
  if (first != second)
    parents[std::max(first, second)] = std::min(first, second);
}

void AxisClasses::unifyAll(Value a, Value b) {
  for (int64_t d = 0, rank = std::min(rankOf(a), rankOf(b)); d < rank; ++d)
    unify(a, d, b, d);
}

void AxisClasses::visitSubscripts(OperandRange subscripts, ArrayAttr dims, Value value) {
  for (auto [subscript, list] : llvm::zip(subscripts, dims))
    for (auto [i, dim] : llvm::enumerate(cast<ArrayAttr>(list)))
      unify(subscript, i, value, cast<IntegerAttr>(dim).getInt());
}

void AxisClasses::visitDot(tile::DotOp dot) {
  int64_t next = 0;
  for (auto [l, r] : llvm::zip(dot.getLhsBatch(), dot.getRhsBatch())) {
    unify(dot.getLhs(), l, dot.getResult(), next);
    unify(dot.getRhs(), r, dot.getResult(), next++);
  }
  for (auto [l, r, axis] : llvm::zip(dot.getLhsContract(), dot.getRhsContract(), dot.getAxes())) {
    unify(dot.getLhs(), l, axis, -1);
    unify(dot.getRhs(), r, axis, -1);
  }
  auto free = [&](Value operand, ArrayRef<int64_t> contract, ArrayRef<int64_t> batch) {
    for (int64_t d = 0; d < rankOf(operand); ++d)
      if (!llvm::is_contained(contract, d) && !llvm::is_contained(batch, d))
        unify(operand, d, dot.getResult(), next++);
  };
  free(dot.getLhs(), dot.getLhsContract(), dot.getLhsBatch());
  free(dot.getRhs(), dot.getRhsContract(), dot.getRhsBatch());
  if (dot.getAcc())
    unifyAll(dot.getAcc(), dot.getResult());
}

// Values carried by loops and conditionals are one value.
void AxisClasses::visitControl(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    for (auto [init, argument, yielded, result] :
         llvm::zip(loop.getInitArgs(), loop.getRegionIterArgs(), loop.getYieldedValues(), loop.getResults())) {
      unifyAll(init, result);
      unifyAll(argument, result);
      unifyAll(yielded, result);
    }
    return;
  }
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    for (Region *region : {&branch.getThenRegion(), &branch.getElseRegion()})
      if (!region->empty())
        for (auto [yielded, result] : llvm::zip(region->front().getTerminator()->getOperands(), branch.getResults()))
          unifyAll(yielded, result);
    return;
  }
  if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    for (auto [init, argument, yielded] :
         llvm::zip(loop.getInits(), loop.getBeforeArguments(), loop.getYieldOp().getOperands())) {
      unifyAll(init, argument);
      unifyAll(yielded, argument);
    }
    for (auto [passed, argument, result] :
         llvm::zip(loop.getConditionOp().getArgs(), loop.getAfterArguments(), loop.getResults())) {
      unifyAll(passed, argument);
      unifyAll(passed, result);
    }
  }
}

void AxisClasses::visit(Operation *op) {
  llvm::TypeSwitch<Operation *>(op)
      .Case<tile::PosOp>([&](tile::PosOp pos) { unify(pos.getResult(), 0, pos.getAxis(), -1); })
      .Case<tile::LoadOp>([&](tile::LoadOp load) {
        visitSubscripts(load.getSubscripts(), load.getDims(), load.getResult());
        if (load.getOtherwise())
          unifyAll(load.getOtherwise(), load.getResult());
      })
      .Case<tile::StoreOp, tile::AtomicOp>([&](auto store) {
        visitSubscripts(store.getSubscripts(), store.getDims(), store.getValue());
        for (auto [d, axis] : llvm::enumerate(store.getAxes()))
          unify(store.getValue(), d, axis, -1);
      })
      .Case<tile::DotOp>([&](tile::DotOp dot) { visitDot(dot); })
      .Case<tile::ReduceOp>([&](tile::ReduceOp reduce) {
        if (reduce.getPredicate())
          unifyAll(reduce.getInput(), reduce.getPredicate());
        unify(reduce.getInput(), reduce.getDim(), reduce.getAxis(), -1);
        for (int64_t d = 0, out = 0; d < rankOf(reduce.getInput()); ++d)
          if (d != static_cast<int64_t>(reduce.getDim()))
            unify(reduce.getInput(), d, reduce.getResult(), out++);
      })
      .Case<tile::BroadcastOp>([&](tile::BroadcastOp broadcast) {
        for (auto [i, dim] : llvm::enumerate(broadcast.getDims()))
          unify(broadcast.getInput(), i, broadcast.getResult(), dim);
      })
      .Case<tile::PermuteOp>([&](tile::PermuteOp permute) {
        for (auto [i, dim] : llvm::enumerate(permute.getOrder()))
          unify(permute.getInput(), dim, permute.getResult(), i);
      })
      .Case<scf::ForOp, scf::IfOp, scf::WhileOp>([&](Operation *control) { visitControl(control); })
      .Default([&](Operation *other) {
        // Element-wise operations: every tile among operands and results has the same positions.
        if (other->getNumResults() != 1 || rankOf(other->getResult(0)) == 0)
          return;
        for (Value operand : other->getOperands())
          unifyAll(operand, other->getResult(0));
      });
}
