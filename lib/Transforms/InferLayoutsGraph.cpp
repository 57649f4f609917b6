// Collection of a kernel's components, accesses and edges.
#include "InferLayoutsGraph.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/IntEqClasses.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilec;

// How often an operation runs compared to the kernel: 8 times for each loop around it.
static int64_t frequencyOf(Operation *op) {
  int64_t frequency = 1;
  for (Operation *parent = op->getParentOp(); parent && frequency < 8 * 8 * 8 * 8; parent = parent->getParentOp())
    if (isa<scf::ForOp, scf::WhileOp>(parent))
      frequency *= 8;
  return frequency;
}

// How often a value is computed.
static int64_t valueFrequency(Value value) {
  if (Operation *op = value.getDefiningOp())
    return frequencyOf(op);
  return frequencyOf(&value.getParentBlock()->front());
}

static bool hasTiles(Operation *op) {
  return llvm::any_of(op->getOperands(), isTile) || llvm::any_of(op->getResults(), isTile);
}

static bool isAccess(Operation *op) {
  return isa<tile::LoadOp, tile::StoreOp, tile::AtomicOp, tilegpu::LocalLoadOp, tilegpu::LocalStoreOp>(op);
}

LogicalResult LayoutGraph::check(Operation *op) {
  for (Value result : op->getResults())
    if (tilegpu::layoutOf(result.getType()))
      return op->emitError("E0420: a tile has a layout already");
  bool known = isAccess(op) || isElementwise(op) ||
               isa<arith::ConstantOp, tile::PosOp, tile::BroadcastOp, tile::PermuteOp, tile::ReduceOp, tilegpu::MmaOp,
                   tilegpu::WriteOp, scf::ForOp, scf::WhileOp, scf::IfOp, scf::YieldOp, scf::ConditionOp>(op);
  if (!known)
    return op->emitError("E0420: `") << op->getName() << "` cannot be spread over the threads of a block";
  return success();
}

//===----------------------------------------------------------------------===//
// Components
//===----------------------------------------------------------------------===//

// Divisions are worth a computation in every layout only by constants, where they become multiplications.
bool LayoutGraph::isCheapOperation(Operation *op) const {
  if (op->getNumResults() != 1 || !isTile(op->getResult(0)))
    return false;
  if (isa<arith::ConstantOp, tile::PosOp>(op))
    return true;
  bool cheapOperands = llvm::all_of(op->getOperands(), [&](Value v) { return !isTile(v) || cheap.contains(v); });
  if (!cheapOperands)
    return false;
  if (isa<tile::BroadcastOp, tile::PermuteOp, tile::CastOp>(op))
    return true;
  if (isa<tile::DivOp, tile::RemOp, arith::DivFOp, arith::RemFOp, arith::DivSIOp, arith::DivUIOp, arith::RemSIOp,
          arith::RemUIOp, arith::FloorDivSIOp, arith::CeilDivSIOp, arith::CeilDivUIOp>(op))
    return matchPattern(op->getOperand(1), m_Constant());
  return isElementwise(op) && isa<arith::ArithDialect>(op->getDialect());
}

void LayoutGraph::collectValues() {
  auto add = [&](Value value) {
    if (isTile(value))
      numbers.insert({value, numbers.size()});
  };
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isCheapOperation(op)) {
      cheap.insert(op->getResult(0));
      return;
    }
    llvm::for_each(op->getResults(), add);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArguments(), add);
  });
  kernel.walk<WalkOrder::PreOrder>([&](tile::ReduceOp reduce) {
    bool allCheap = llvm::all_of(reduce->getOperands(), [&](Value v) { return !isTile(v) || isCheap(v); });
    if (allCheap)
      cheapReductions.insert({reduce, numbers.size() + cheapReductions.size()});
  });
}

void LayoutGraph::joinOperation(Operation *op, function_ref<void(Value, Value)> join) {
  if (isElementwise(op))
    for (Value operand : op->getOperands())
      join(op->getResult(0), operand);
  for (Value result : op->getResults().drop_front(op->getNumResults() ? 1 : 0))
    if (isElementwise(op))
      join(op->getResult(0), result);
  if (auto mma = dyn_cast<tilegpu::MmaOp>(op))
    join(mma.getResult(), mma.getAcc());
  if (auto load = dyn_cast<tile::LoadOp>(op); load && load.getOtherwise())
    join(load.getResult(), load.getOtherwise());
  if (auto reduce = dyn_cast<tile::ReduceOp>(op); reduce && reduce.getPredicate())
    join(reduce.getInput(), reduce.getPredicate());
  forEachForwardedTile(op, [&](OpOperand &operand, Value target) { join(operand.get(), target); });
  if (auto loop = dyn_cast<scf::ForOp>(op))
    for (auto [argument, result] : llvm::zip(loop.getRegionIterArgs(), loop.getResults()))
      join(argument, result);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    for (auto [argument, result] : llvm::zip(loop.getAfterArguments(), loop.getResults()))
      join(argument, result);
}

void LayoutGraph::joinComponents() {
  llvm::IntEqClasses classes(numbers.size() + cheapReductions.size());
  auto join = [&](Value a, Value b) {
    auto *itA = numbers.find(a), *itB = numbers.find(b);
    if (itA != numbers.end() && itB != numbers.end())
      classes.join(itA->second, itB->second);
  };
  kernel.walk([&](Operation *op) { joinOperation(op, join); });
  classes.compress();
  components.resize(classes.getNumClasses());
  for (unsigned i = 0; i < numbers.size() + cheapReductions.size(); ++i)
    componentNumbers.push_back(classes[i]);
  for (auto [value, number] : numbers) {
    Component &component = components[classes[number]];
    auto type = cast<RankedTensorType>(value.getType());
    // The widest member stands for the component.
    if (!component.type || registerBits(type) > registerBits(component.type))
      component.type = type;
    component.frequency = std::max(component.frequency, valueFrequency(value));
  }
  for (auto [op, number] : cheapReductions) {
    components[classes[number]].type = cast<RankedTensorType>(op->getOperand(0).getType());
    components[classes[number]].frequency = frequencyOf(op);
  }
}

int LayoutGraph::componentOf(Value value) const {
  auto *it = numbers.find(value);
  return it == numbers.end() ? -1 : static_cast<int>(componentNumbers[it->second]);
}

//===----------------------------------------------------------------------===//
// Demands
//===----------------------------------------------------------------------===//

void LayoutGraph::addAccess(Access access) {
  if (access.component >= 0)
    components[access.component].accesses.push_back(accesses.size());
  accesses.push_back(std::move(access));
}

void LayoutGraph::addEdge(Value parent, Value child, ArrayRef<int64_t> dims, int64_t frequency, bool fromChild) {
  int parentNumber = componentOf(parent), childNumber = componentOf(child);
  if (parentNumber < 0 || childNumber < 0)
    return;
  edges.push_back({static_cast<unsigned>(parentNumber), static_cast<unsigned>(childNumber),
                   SmallVector<int64_t, 4>(dims), cast<RankedTensorType>(child.getType()), frequency, fromChild});
}

void LayoutGraph::visitReduce(tile::ReduceOp reduce) {
  int64_t frequency = frequencyOf(reduce);
  int component = componentOf(reduce.getInput());
  if (component < 0 && reduce.getPredicate())
    component = componentOf(reduce.getPredicate());
  if (component < 0)
    component = static_cast<int>(componentNumbers[cheapReductions.find(reduce)->second]);
  components[component].reductions.push_back({static_cast<unsigned>(reduce.getDim()), frequency});
  accessNumbers[reduce] = static_cast<unsigned>(accesses.size());
  auto type = cast<RankedTensorType>(reduce.getInput().getType());
  accesses.push_back({reduce, type, component, frequency, {}, false, false, {}, {}});
  if (!isTile(reduce.getResult()))
    return;
  SmallVector<int64_t, 4> kept;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (dim != static_cast<int64_t>(reduce.getDim()))
      kept.push_back(dim);
  edges.push_back({static_cast<unsigned>(component), static_cast<unsigned>(componentOf(reduce.getResult())), kept,
                   cast<RankedTensorType>(reduce.getResult().getType()), frequency, /*fromChild=*/false});
}

LogicalResult LayoutGraph::visitMma(tilegpu::MmaOp mma) {
  FailureOr<MmaLayouts> layouts = mmaLayouts(mma, warps);
  if (failed(layouts))
    return failure();
  auto demand = [&](Value value, const Layout &layout, int64_t frequency) {
    auto type = cast<RankedTensorType>(value.getType());
    bool isUse = value != mma.getResult();
    addAccess({mma, type, componentOf(value), frequency, attr(layout), /*isDemand=*/true, isUse, {}, {}});
  };
  accumulators.insert(attr(layouts->accumulator));
  demand(mma.getResult(), layouts->accumulator, frequencyOf(mma));
  demand(mma.getAcc(), layouts->accumulator, valueFrequency(mma.getAcc()));
  if (layouts->a)
    demand(mma.getA(), *layouts->a, valueFrequency(mma.getA()));
  if (layouts->b)
    demand(mma.getB(), *layouts->b, valueFrequency(mma.getB()));
  products.insert({mma, std::move(*layouts)});
  return success();
}

void LayoutGraph::visitGlobal(Operation *op, const GlobalOperation &global) {
  auto type = cast<RankedTensorType>(global.value.getType());
  GlobalPattern pattern = globalPattern(global);
  Layout preferred = coalescedLayout(type, pattern.order, pattern.vector, warps);
  bool isUse = !isa<tile::LoadOp>(op);
  accessNumbers[op] = static_cast<unsigned>(accesses.size());
  addAccess({op, type, componentOf(global.value), frequencyOf(op), attr(preferred), false, isUse, pattern, {}});
  for (unsigned i = 0; i < global.subscripts.size(); ++i)
    if (isTile(global.subscripts[i]))
      addEdge(global.value, global.subscripts[i], subscriptDims(global.dims, i), valueFrequency(global.subscripts[i]),
              /*fromChild=*/true);
}

void LayoutGraph::visitShared(Operation *op, Value value, unsigned columnDim) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<unsigned, 4> order = {columnDim};
  for (unsigned dim = type.getRank(); dim-- > 0;)
    if (dim != columnDim)
      order.push_back(dim);
  uint32_t bits = std::max(registerBits(type), 8u);
  int64_t extent = type.getDimSize(columnDim);
  uint32_t vector = std::min<uint32_t>(128 / bits, static_cast<uint32_t>(std::min<int64_t>(extent & -extent, 16)));
  accessNumbers[op] = static_cast<unsigned>(accesses.size());
  Layout preferred = coalescedLayout(type, order, vector, warps);
  bool isUse = isa<tilegpu::LocalStoreOp>(op);
  addAccess({op, type, componentOf(value), frequencyOf(op), attr(preferred), false, isUse, {}, columnDim});
}

LogicalResult LayoutGraph::visit(Operation *op) {
  if (auto mma = dyn_cast<tilegpu::MmaOp>(op))
    return visitMma(mma);
  if (auto reduce = dyn_cast<tile::ReduceOp>(op)) {
    visitReduce(reduce);
  } else if (auto broadcast = dyn_cast<tile::BroadcastOp>(op)) {
    addEdge(broadcast.getResult(), broadcast.getInput(), broadcast.getDims(), valueFrequency(broadcast.getInput()),
            /*fromChild=*/true);
  } else if (auto permute = dyn_cast<tile::PermuteOp>(op)) {
    addEdge(permute.getInput(), permute.getResult(), permute.getOrder(), valueFrequency(permute.getInput()),
            /*fromChild=*/false);
  } else if (auto load = dyn_cast<tilegpu::LocalLoadOp>(op)) {
    int64_t last = static_cast<int64_t>(load.getOrder().size()) - 1;
    visitShared(op, load.getResult(), llvm::find(load.getOrder(), last) - load.getOrder().begin());
  } else if (auto store = dyn_cast<tilegpu::LocalStoreOp>(op)) {
    visitShared(op, store.getValue(), static_cast<unsigned>(store.getOrder().back()));
  } else if (std::optional<GlobalOperation> global = GlobalOperation::match(op)) {
    visitGlobal(op, *global);
  }
  if (isElementwise(op) || isa<tile::BroadcastOp>(op))
    if (int component = componentOf(op->getResult(0)); component >= 0)
      components[component].work += frequencyOf(op);
  return success();
}

LogicalResult LayoutGraph::build() {
  bool known = true;
  kernel.walk([&](Operation *op) {
    if (hasTiles(op) && failed(check(op)))
      known = false;
  });
  if (!known)
    return failure();
  collectValues();
  joinComponents();
  WalkResult result = kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    return !hasTiles(op) || succeeded(visit(op)) ? WalkResult::advance() : WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}
