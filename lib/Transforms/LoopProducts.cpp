// Products, vector work and dependences of a loop's body.
#include "LoopProducts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tilec;

SmallVector<tilegpu::MmaOp> tilec::productsOf(Block &block) {
  SmallVector<tilegpu::MmaOp> products;
  for (Operation &op : block)
    if (auto mma = dyn_cast<tilegpu::MmaOp>(op); mma && mma.getMma().getKind() == "wgmma" && !mma.isStart())
      products.push_back(mma);
  return products;
}

bool tilec::isInnermost(scf::ForOp loop) {
  return !loop.getBody()->walk([](scf::ForOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

bool tilec::isProductLoop(scf::ForOp loop) {
  bool innermost = true;
  loop.getBody()->walk([&](LoopLikeOpInterface) { innermost = false; });
  return innermost && !productsOf(*loop.getBody()).empty();
}

bool tilec::canStart(tilegpu::MmaOp product) {
  Type element = tilegpu::tileElementType(product.getA().getType());
  return product.getFast() || !isa<Float8E4M3FNType, Float8E5M2Type>(element);
}

bool tilec::isSpecialFunction(Operation *op) {
  return isa_and_nonnull<math::MathDialect>(op->getDialect()) && !isa<math::FmaOp, math::AbsFOp>(op);
}

int64_t tilec::vectorWork(Operation *op) {
  if (isa<tilegpu::MmaOp, tilegpu::MmaWaitOp, tile::BroadcastOp, arith::ConstantOp>(op) || op->getNumResults() == 0)
    return 0;
  Value tile = isa<tile::ReduceOp>(op) ? op->getOperand(0) : op->getResult(0);
  auto type = dyn_cast<RankedTensorType>(tile.getType());
  if (!type || type.getRank() < 2 || type.getElementType().isInteger(1))
    return 0;
  return type.getNumElements() * (isSpecialFunction(op) ? instructionRate / specialFunctionRate : 1);
}

Operation *tilec::itemOf(Value view) {
  while (Operation *op = view.getDefiningOp()) {
    if (auto part = dyn_cast<tilegpu::SubviewOp>(op))
      view = part.getSource();
    else if (auto buffer = dyn_cast<tilegpu::SlotViewOp>(op))
      view = buffer.getSlot();
    else
      return isa<tilegpu::ReceiveOp, tilegpu::AcquireOp>(op) ? op : nullptr;
  }
  return nullptr;
}

// Whether the effects of an operation are those of channels and their items.
static bool hasKnownEffects(Operation *op) {
  if (op->getNumRegions() > 0)
    return false;
  if (isa<tilegpu::AcquireOp, tilegpu::FillOp, tilegpu::CommitOp, tilegpu::ReceiveOp, tilegpu::ReleaseOp>(op))
    return true;
  if (auto tail = dyn_cast<tilegpu::ZeroTailOp>(op))
    return itemOf(tail.getTarget());
  if (auto load = dyn_cast<tilegpu::LocalLoadOp>(op))
    return itemOf(load.getSource());
  if (auto mma = dyn_cast<tilegpu::MmaOp>(op))
    return llvm::all_of(mma->getOperands(),
                        [](Value operand) { return !isa<tilegpu::SmemType>(operand.getType()) || itemOf(operand); });
  if (auto load = dyn_cast<tile::LoadOp>(op)) {
    auto view = load.getView().getDefiningOp<tile::ViewOp>();
    return view && view.getAccess() == tile::Access::in;
  }
  return isMemoryEffectFree(op);
}

static bool isRead(Operation *op) { return isa<tilegpu::MmaOp, tilegpu::LocalLoadOp>(op); }

namespace {
// What an operation accesses: an item, or one side of a channel. Each side has an order of its own.
enum class ResourceKind { Item, Consumer, Producer };
using Resource = std::pair<void *, ResourceKind>;
} // namespace

static SmallVector<Resource, 4> resourcesOf(Operation *op) {
  SmallVector<Resource, 4> resources;
  for (Value operand : op->getOperands()) {
    if (isa<tilegpu::SmemType, tilegpu::SlotType>(operand.getType()) && !isPure(op))
      resources.push_back({itemOf(operand), ResourceKind::Item});
    if (!isa<tilegpu::ChanType>(operand.getType()))
      continue;
    if (isa<tilegpu::ReceiveOp, tilegpu::ReleaseOp>(op))
      resources.push_back({operand.getAsOpaquePointer(), ResourceKind::Consumer});
    if (isa<tilegpu::AcquireOp, tilegpu::CommitOp>(op))
      resources.push_back({operand.getAsOpaquePointer(), ResourceKind::Producer});
  }
  return resources;
}

BodyDependences::BodyDependences(Block &block) {
  llvm::DenseMap<Resource, SmallVector<Operation *>> accesses;
  for (Operation &op : block.without_terminator()) {
    numbers[&op] = ancestors.size();
    ancestors.emplace_back(std::distance(block.begin(), block.end()));
    known &= hasKnownEffects(&op);
    for (Value operand : op.getOperands())
      if (Operation *definition = operand.getDefiningOp(); definition && definition->getBlock() == &block)
        addEdge(definition, &op);
    for (Resource resource : resourcesOf(&op)) {
      for (Operation *before : accesses[resource])
        if (!isRead(before) || !isRead(&op))
          addEdge(before, &op);
      accesses[resource].push_back(&op);
    }
  }
}

void BodyDependences::addEdge(Operation *before, Operation *after) {
  if (before == after)
    return;
  unsigned from = numbers.lookup(before), to = numbers.lookup(after);
  pairs.push_back({before, after});
  ancestors[to] |= ancestors[from];
  ancestors[to].set(from);
}

bool BodyDependences::isBefore(Operation *before, Operation *after) const {
  auto from = numbers.find(before), to = numbers.find(after);
  return from != numbers.end() && to != numbers.end() && ancestors[to->second].test(from->second);
}
