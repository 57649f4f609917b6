// Expressions without reductions: constants, names, loads, element by element.
#include "Evaluator.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

using namespace tilec;
using namespace tilec::runner;
using namespace tilec::sema;
using llvm::cast;

const Scalar *Memo::find(int64_t place) const {
  auto found = known.find(place);
  return found == known.end() ? nullptr : &found->second;
}

Evaluator::Evaluator(const Kernel &kernel, runner::Rounding rounding) : rounding(rounding) {
  for (const Stmt *stmt : kernel.body->statements)
    if (const auto *store = llvm::dyn_cast<StoreStmt>(stmt); store && store->tensor->access == TensorAccess::Temp)
      definitions[store->tensor] = store;
}

Scalar Evaluator::evaluateScalar(const Expr *expr) { return evaluate(expr).scalarAt(0); }

Lanes Evaluator::evaluate(const Expr *expr) {
  Lanes result = evaluateNode(expr);
  work += result.size();
  return result;
}

Lanes Evaluator::evaluateNode(const Expr *expr) {
  switch (expr->kind) {
  case ExprKind::Constant:
    return evaluateConstant(cast<Constant>(expr));
  case ExprKind::VariableRef:
    return evaluateVariable(cast<VariableRef>(expr));
  case ExprKind::AxisPositions:
    return evaluatePositions(cast<AxisPositions>(expr)->axis);
  case ExprKind::AxisAttribute:
    return evaluateAttribute(cast<AxisAttribute>(expr));
  case ExprKind::Unary: {
    const auto *unary = cast<Unary>(expr);
    return evaluateUnary(unary->op, unary->type.element, evaluate(unary->operand));
  }
  case ExprKind::Binary: {
    const auto *binary = cast<Binary>(expr);
    return evaluateBinary(binary->op, binary->lhs->type.element, evaluate(binary->lhs), evaluate(binary->rhs),
                          rounding);
  }
  case ExprKind::Cast: {
    const auto *conversion = cast<Cast>(expr);
    return evaluateCast(conversion->type.element, conversion->operand->type.element, evaluate(conversion->operand));
  }
  case ExprKind::Call: {
    const auto *call = cast<Call>(expr);
    llvm::SmallVector<Lanes, 3> operands;
    for (const Expr *argument : call->arguments)
      operands.push_back(evaluate(argument));
    ScalarKind operandType = call->arguments.front()->type.element;
    return evaluateCall(call->builtin, call->type.element, operandType, operands, rounding);
  }
  case ExprKind::Load:
    return evaluateLoad(cast<Load>(expr));
  case ExprKind::Reduce:
  case ExprKind::Dot:
  case ExprKind::AxisOperation:
    return evaluateAlongAxes(expr);
  case ExprKind::Substitute:
    return evaluateSubstitute(cast<Substitute>(expr));
  case ExprKind::BlockValue:
    // Lets are evaluated where they are used.
    return evaluate(cast<BlockValue>(expr)->value);
  case ExprKind::IfValue:
    return evaluateIf(cast<IfValue>(expr));
  }
  llvm_unreachable("not a kind of expression");
}

Lanes Evaluator::evaluateConstant(const Constant *constant) const {
  if (!isFloat(constant->type.element)) {
    bool isSignedValue = isSigned(constant->type.element);
    int64_t value =
        isSignedValue ? constant->integer.getSExtValue() : static_cast<int64_t>(constant->integer.getZExtValue());
    return Lanes::of(false, {0, value, 0});
  }
  llvm::APFloat value = constant->real;
  bool losesInfo;
  value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return Lanes::of(true, {value.convertToDouble(), 0, 0});
}

Lanes Evaluator::evaluateVariable(const VariableRef *ref) {
  auto known = variables.find(ref->variable);
  if (known != variables.end())
    return Lanes::of(isFloat(ref->type.element), known->second);
  // What only the kernel's loops would know counts as 0.
  return ref->variable->initial ? evaluate(ref->variable->initial) : Lanes::of(isFloat(ref->type.element), {});
}

Lanes Evaluator::evaluatePositions(const Axis *axis) {
  if (axis != frame.vectorAxis)
    return Lanes::of(false, {0, frame.at(axis), 0});
  Lanes result = Lanes::integers(frame.count);
  for (size_t i = 0; i < frame.count; ++i)
    result.integer[i] = frame.start + static_cast<int64_t>(i);
  return result;
}

std::pair<int64_t, int64_t> Evaluator::rangeOf(const Axis *axis) {
  if (axis->rangeOf)
    return rangeOf(axis->rangeOf);
  if (auto tile = tiles.find(axis); tile != tiles.end())
    return tile->second;
  int64_t lower = evaluateIndex(axis->lower), upper = evaluateIndex(axis->upper);
  return {lower, std::max(lower, upper)};
}

Lanes Evaluator::evaluateAttribute(const AxisAttribute *attribute) {
  auto [lower, upper] = rangeOf(attribute->axis);
  int64_t value = 0;
  switch (attribute->attribute) {
  case AxisAttributeKind::Start:
    value = lower;
    break;
  case AxisAttributeKind::End:
    value = upper;
    break;
  case AxisAttributeKind::Size:
    value = upper - lower;
    break;
  case AxisAttributeKind::Index:
    break;
  }
  return Lanes::of(false, {0, value, 0});
}

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

llvm::ArrayRef<int64_t> Evaluator::shapeOf(const Tensor *tensor) {
  auto found = contentsOf.find(tensor);
  if (found != contentsOf.end())
    return found->second->shape;
  auto known = shapes.find(tensor);
  if (known == shapes.end()) {
    std::vector<int64_t> shape;
    shape.reserve(tensor->shape.size());
    for (const Expr *extent : tensor->shape)
      shape.push_back(evaluateIndex(extent));
    known = shapes.try_emplace(tensor, std::move(shape)).first;
  }
  return known->second;
}

int64_t Evaluator::placeOf(llvm::ArrayRef<int64_t> subscripts, llvm::ArrayRef<int64_t> shape) const {
  int64_t place = 0;
  for (auto [subscript, extent] : llvm::zip(subscripts, shape)) {
    if (subscript < 0 || subscript >= extent)
      return -1;
    place = place * extent + subscript;
  }
  return place;
}

// Row-major places of the elements that subscripts name side by side, -1 outside.
static std::vector<int64_t> placesOf(llvm::ArrayRef<Lanes> subscripts, llvm::ArrayRef<int64_t> shape, size_t count) {
  std::vector<int64_t> places(count, 0);
  for (auto [lanes, extent] : llvm::zip(subscripts, shape))
    for (size_t i = 0; i < count; ++i) {
      int64_t subscript = lanes.integerAt(i);
      bool inside = subscript >= 0 && subscript < extent && places[i] >= 0;
      places[i] = inside ? places[i] * extent + subscript : -1;
    }
  return places;
}

Lanes Evaluator::evaluateLoad(const Load *load) {
  llvm::SmallVector<Lanes, 4> subscripts;
  size_t count = 1;
  for (const Expr *subscript : load->subscripts) {
    subscripts.push_back(evaluate(subscript));
    count = std::max(count, subscripts.back().size());
  }
  std::optional<Lanes> fallback;
  if (load->fallback) {
    fallback = evaluate(load->fallback);
    count = std::max(count, fallback->size());
  }
  bool floats = isFloat(load->type.element);
  Lanes result = floats ? Lanes::floats(count) : Lanes::integers(count);
  std::vector<int64_t> places = placesOf(subscripts, shapeOf(load->tensor), count);
  const HostTensor *contents = contentsOf.lookup(load->tensor);
  for (size_t i = 0; i < count; ++i) {
    if (places[i] >= 0 && contents && floats)
      result.real[i] = contents->value(places[i]);
    else if (places[i] >= 0)
      result.set(i, loadElement(load->tensor, places[i]));
    else if (fallback)
      result.set(i, fallback->scalarAt(i));
  }
  return result;
}

Scalar Evaluator::loadElement(const Tensor *tensor, int64_t place) {
  auto found = contentsOf.find(tensor);
  if (found == contentsOf.end())
    return elementOfLet(tensor, place);
  const HostTensor &contents = *found->second;
  if (contents.type->kind == ElementType::Float)
    return {contents.value(place), 0, 0};
  return {0, decodeInteger(*contents.type, &contents.bytes[place * contents.type->bytes]), 0};
}

// Computes the element where it is first read.
Scalar Evaluator::elementOfLet(const Tensor *tensor, int64_t place) {
  auto memo = memos.try_emplace(tensor, isFloat(tensor->element)).first;
  if (const Scalar *known = memo->second.find(place))
    return *known;
  const StoreStmt *definition = definitions.lookup(tensor);
  if (!definition)
    return {};
  FrameChange change(*this);
  change.single();
  frame.activeAxes = definition->axes.size();
  int64_t rest = place;
  std::vector<int64_t> shape = shapeOf(tensor).vec();
  for (size_t i = shape.size(); i-- > 0;) {
    frame.at(definition->axes[i]) = rest % shape[i];
    rest /= shape[i];
  }
  Scalar result = evaluateScalar(definition->value);
  memos.find(tensor)->second.set(place, result);
  return result;
}

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

Lanes Evaluator::laneByLane(bool isFloatResult, llvm::function_ref<Scalar()> scalar) {
  if (!frame.vectorAxis)
    return Lanes::of(isFloatResult, scalar());
  FrameChange change(*this);
  change.single();
  Lanes result = isFloatResult ? Lanes::floats(change.saved.count) : Lanes::integers(change.saved.count);
  for (size_t i = 0; i < change.saved.count; ++i) {
    frame.at(change.saved.vectorAxis) = change.saved.start + static_cast<int64_t>(i);
    result.set(i, scalar());
  }
  return result;
}

Lanes Evaluator::evaluateSubstitute(const Substitute *substitute) {
  return laneByLane(isFloat(substitute->type.element), [&]() -> Scalar {
    FrameChange change(*this);
    std::vector<int64_t> targets;
    targets.reserve(substitute->substitutions.size());
    for (const auto &[axis, position] : substitute->substitutions)
      targets.push_back(evaluateIndex(position));
    for (auto [entry, target] : llvm::zip(substitute->substitutions, targets)) {
      auto [lower, upper] = rangeOf(entry.first);
      if (target < lower || target >= upper)
        return substitute->fallback ? evaluateScalar(substitute->fallback) : Scalar();
    }
    for (auto [entry, target] : llvm::zip(substitute->substitutions, targets))
      frame.at(entry.first) = target;
    return evaluateScalar(substitute->base);
  });
}

Lanes Evaluator::evaluateIf(const IfValue *value) {
  return evaluate(evaluateScalar(value->condition).integer ? value->thenValue : value->elseValue);
}
