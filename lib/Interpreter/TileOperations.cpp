// Operations of the tile dialect on values: axes, broadcasts, reductions and dot products.
#include "Elementwise.h"
#include "Machine.h"
#include "tilec/Dialect/Tile/AttributeNames.h"

#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using namespace tilec;
using namespace tilec::interpreter;

LogicalResult Machine::executeTile(Operation *op) {
  if (std::optional<LogicalResult> result = llvm::TypeSwitch<Operation *, std::optional<LogicalResult>>(op)
                                                .Case([&](arith::ConstantOp o) { return constant(o); })
                                                .Case([&](tile::ArgOp o) { return argument(o); })
                                                .Case([&](tile::ViewOp o) { return view(o); })
                                                .Case([&](tile::AdvanceOp o) { return movePointer(o); })
                                                .Case([&](tile::MisalignmentOp o) { return misalignment(o); })
                                                .Case([&](tile::AxisOp o) { return makeAxis(o); })
                                                .Case([&](tile::DotOp o) { return dot(o); })
                                                .Case([&](tile::ReduceOp o) { return reduce(o); })
                                                .Case([&](tile::BroadcastOp o) { return broadcast(o); })
                                                .Case([&](tile::PermuteOp o) { return permute(o); })
                                                .Case([&](tile::LoadOp o) { return load(o); })
                                                .Case([&](tile::StoreOp o) { return store(o); })
                                                .Case([&](tile::AtomicOp o) { return atomic(o); })
                                                .Case([&](tile::PosOp o) {
                                                  AxisValue a = axis(o.getAxis());
                                                  auto result = std::make_shared<Tile>(o.getType());
                                                  for (int64_t i = 0; i < a.extent; ++i) {
                                                    result->integers[i] = a.start + i;
                                                    if (context.absentIsPoison && a.start + i >= a.end)
                                                      result->setPoison(i);
                                                  }
                                                  set(o.getResult(), result);
                                                  return success();
                                                })
                                                .Default([](auto) { return std::nullopt; }))
    return *result;

  SmallVector<const Tile *, 4> operands;
  for (Value operand : op->getOperands())
    operands.push_back(&tile(operand));
  TilePtr result = op->getNumResults() == 1 ? evaluateElementwise(op, operands) : nullptr;
  if (!result)
    return op->emitError("is not known to the interpreter");
  set(op->getResult(0), result);
  return success();
}

LogicalResult Machine::constant(arith::ConstantOp op) {
  auto result = std::make_shared<Tile>(op.getType());
  auto fill = [&](Attribute element, int64_t from, int64_t to) {
    for (int64_t i = from; i < to; ++i) {
      if (auto integer = dyn_cast<IntegerAttr>(element))
        result->integers[i] = wrapInteger(integer.getValue().getSExtValue(), integerWidth(result->element));
      else if (result->storage == Storage::Single)
        result->singles[i] = static_cast<float>(cast<FloatAttr>(element).getValueAsDouble());
      else
        result->doubles[i] = cast<FloatAttr>(element).getValueAsDouble();
    }
  };
  if (auto elements = dyn_cast<DenseElementsAttr>(op.getValue())) {
    if (elements.isSplat())
      fill(elements.getSplatValue<Attribute>(), 0, result->size());
    else
      for (auto [i, element] : llvm::enumerate(elements.getValues<Attribute>()))
        fill(element, static_cast<int64_t>(i), static_cast<int64_t>(i) + 1);
  } else {
    fill(op.getValue(), 0, 1);
  }
  set(op.getResult(), result);
  return success();
}

static LogicalResult checkFacts(tile::ArgOp op, const Tile &value) {
  if (value.storage != Storage::Integer)
    return success();
  int64_t number = value.integers[0];
  int64_t divisor = op.getDivisible().value_or(1), min = op.getMin().value_or(number),
          max = op.getMax().value_or(number);
  if (number % divisor != 0)
    return op.emitError() << "'" << op.getName() << "' is no multiple of " << divisor << " as this variant assumes";
  if (number < min || number > max)
    return op.emitError() << "'" << op.getName() << "' is outside the range that this variant assumes";
  return success();
}

LogicalResult Machine::argument(tile::ArgOp op) {
  std::string name = op.getName().str();
  if (isa<tile::PtrType>(op.getType())) {
    auto found = context.arguments.tensors.find(name);
    if (found == context.arguments.tensors.end())
      return op.emitError() << "the launch has no tensor '" << name << "'";
    set(op.getResult(), Pointer{&found->second, 0});
    return success();
  }
  auto result = std::make_shared<Tile>(op.getType());
  if (result->storage == Storage::Integer) {
    auto found = context.arguments.integers.find(name);
    if (found == context.arguments.integers.end())
      return op.emitError() << "the launch has no integer '" << name << "'";
    result->integers[0] = wrapInteger(found->second, integerWidth(result->element));
  } else {
    auto found = context.arguments.floats.find(name);
    if (found == context.arguments.floats.end())
      return op.emitError() << "the launch has no number '" << name << "'";
    double value = roundToFormat(found->second, result->element);
    if (result->storage == Storage::Single)
      result->singles[0] = static_cast<float>(value);
    else
      result->doubles[0] = value;
  }
  set(op.getResult(), result);
  return checkFacts(op, *result);
}

int64_t Machine::addressOf(const Pointer &pointer, int64_t elementBytes) const {
  return context.arguments.addresses[pointer.buffer->name] + pointer.offset * elementBytes;
}

LogicalResult Machine::movePointer(tile::AdvanceOp op) {
  FailureOr<int64_t> offset = integer(op, op.getOffset());
  if (failed(offset))
    return failure();
  Pointer base = std::get<Pointer>(environment.lookup(op.getBase()));
  set(op.getResult(), Pointer{base.buffer, base.offset + *offset});
  return success();
}

LogicalResult Machine::misalignment(tile::MisalignmentOp op) {
  FailureOr<int64_t> offset = integer(op, op.getOffset());
  if (failed(offset))
    return failure();
  Pointer place = std::get<Pointer>(environment.lookup(op.getBase()));
  place.offset += *offset;
  int64_t bytes = static_cast<int64_t>(op.getBytes()), rest = addressOf(place, bytes) & (op.getTo() - 1);
  set(op.getResult(), makeIndex(op.getContext(), rest / bytes));
  return success();
}

// What is said of a part of a tensor: where it begins, and that loads may read whole vectors around its elements.
LogicalResult Machine::checkPart(tile::ViewOp op, const View &view) const {
  constexpr int64_t vectorBytes = 16;
  int64_t bytes = memoryBits(view.element) / 8, address = addressOf({view.buffer, view.offset}, bytes);
  if (llvm::is_contained(view.sizes, 0))
    return success();
  if (int64_t align = op.getAlign().value_or(1); address % align != 0)
    return op.emitError() << "does not begin at a multiple of " << align << " bytes";
  if (!op->hasAttr(tile::windowedName) || address % vectorBytes == 0)
    return success();
  int64_t around = vectorBytes / bytes - 1;
  if (!view.isMapped(view.offset - around) || !view.isMapped(view.offset + view.sizes.front() - 1 + around))
    return op.emitError() << "has no whole vectors of '" << view.buffer->name << "' around its elements";
  return success();
}

LogicalResult Machine::view(tile::ViewOp op) {
  View result;
  Pointer base = std::get<Pointer>(environment.lookup(op.getBase()));
  result.buffer = base.buffer;
  result.offset = base.offset;
  result.element = op.getType().getElementType();
  if (failed(integers(op, op.getSizes(), result.sizes)) || failed(integers(op, op.getStrides(), result.strides)))
    return failure();
  if (isa_and_nonnull<tile::AdvanceOp>(op.getBase().getDefiningOp()) && failed(checkPart(op, result)))
    return failure();
  set(op.getResult(), std::move(result));
  return success();
}

LogicalResult Machine::makeAxis(tile::AxisOp op) {
  SmallVector<int64_t, 2> bounds;
  if (failed(integers(op, {op.getStart(), op.getEnd()}, bounds)))
    return failure();
  int64_t extent = op.getType().getExtent();
  if (bounds[1] - bounds[0] > extent)
    return op.emitError() << "axis '" << op.getName() << "' has " << bounds[1] - bounds[0]
                          << " positions, more than its extent " << extent;
  if (op.getFull() && bounds[1] - bounds[0] != extent)
    return op.emitError() << "axis '" << op.getName() << "' has " << bounds[1] - bounds[0] << " of " << extent
                          << " positions but was proved full";
  set(op.getResult(), AxisValue{bounds[0], bounds[1], extent});
  return success();
}

// `result[i...]` is `input` at the sum over result dimensions of i times `inputStrides`.
static TilePtr gather(Type type, const Tile &input, ArrayRef<int64_t> inputStrides) {
  auto result = std::make_shared<Tile>(type);
  SmallVector<int64_t, 4> point(result->shape.size(), 0);
  int64_t from = 0;
  for (int64_t i = 0, n = result->size(); i < n; ++i) {
    result->copyElement(i, input, from);
    for (size_t d = point.size(); d-- > 0;) {
      from += inputStrides[d];
      if (++point[d] < result->shape[d])
        break;
      from -= inputStrides[d] * point[d];
      point[d] = 0;
    }
  }
  return result;
}

LogicalResult Machine::broadcast(tile::BroadcastOp op) {
  const Tile &input = tile(op.getInput());
  SmallVector<int64_t, 4> own = rowMajorStrides(input.shape), strides(op.getType().getRank(), 0);
  for (auto [dim, stride] : llvm::zip(op.getDims(), own))
    strides[dim] = stride;
  set(op.getResult(), gather(op.getType(), input, strides));
  return success();
}

LogicalResult Machine::permute(tile::PermuteOp op) {
  const Tile &input = tile(op.getInput());
  SmallVector<int64_t, 4> own = rowMajorStrides(input.shape), strides;
  for (int64_t dim : op.getOrder())
    strides.push_back(own[dim]);
  set(op.getResult(), gather(op.getType(), input, strides));
  return success();
}
