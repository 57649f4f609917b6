// Walks typed expressions, and gives an evaluator the arguments of a launch.
#include "TypedWalk.h"

#include "Evaluator.h"
#include "llvm/ADT/STLExtras.h"

using namespace tilec;
using namespace tilec::runner;
using namespace tilec::sema;
using llvm::cast;
using llvm::dyn_cast;

void tilec::runner::visitExpressions(const Expr *expr, bool intoLets, llvm::function_ref<void(const Expr *)> enter) {
  if (!expr)
    return;
  enter(expr);
  auto below = [&](llvm::ArrayRef<Expr *> list) {
    for (const Expr *child : list)
      visitExpressions(child, intoLets, enter);
  };
  switch (expr->kind) {
  case ExprKind::Constant:
  case ExprKind::AxisPositions:
  case ExprKind::AxisAttribute:
    return;
  case ExprKind::VariableRef:
    if (intoLets)
      visitExpressions(cast<VariableRef>(expr)->variable->initial, intoLets, enter);
    return;
  case ExprKind::Unary:
    return visitExpressions(cast<Unary>(expr)->operand, intoLets, enter);
  case ExprKind::Binary:
    return below({cast<Binary>(expr)->lhs, cast<Binary>(expr)->rhs});
  case ExprKind::Cast:
    return visitExpressions(cast<Cast>(expr)->operand, intoLets, enter);
  case ExprKind::Call:
    return below(cast<Call>(expr)->arguments);
  case ExprKind::Load:
    below(cast<Load>(expr)->subscripts);
    return visitExpressions(cast<Load>(expr)->fallback, intoLets, enter);
  case ExprKind::Reduce:
    return below({cast<Reduce>(expr)->operand, cast<Reduce>(expr)->guard});
  case ExprKind::Dot:
    return below({cast<Dot>(expr)->lhs, cast<Dot>(expr)->rhs, cast<Dot>(expr)->guard});
  case ExprKind::AxisOperation:
    return below({cast<AxisOperation>(expr)->operand, cast<AxisOperation>(expr)->guard});
  case ExprKind::Substitute:
    for (const auto &[axis, position] : cast<Substitute>(expr)->substitutions)
      visitExpressions(position, intoLets, enter);
    return below({cast<Substitute>(expr)->base, cast<Substitute>(expr)->fallback});
  case ExprKind::BlockValue:
    return visitExpressions(cast<BlockValue>(expr)->value, intoLets, enter);
  case ExprKind::IfValue:
    return below({cast<IfValue>(expr)->condition, cast<IfValue>(expr)->thenValue, cast<IfValue>(expr)->elseValue});
  }
}

const TensorBinding *tilec::runner::findBinding(const Arguments &arguments, llvm::StringRef name) {
  auto found = llvm::find_if(arguments.tensors, [&](const TensorBinding &tensor) { return tensor.name == name; });
  return found == arguments.tensors.end() ? nullptr : &*found;
}

double tilec::runner::countPositions(Evaluator &evaluator, llvm::ArrayRef<const Axis *> axes) {
  double count = 1;
  for (const Axis *axis : axes) {
    auto [lower, upper] = evaluator.rangeOf(axis);
    count *= static_cast<double>(upper - lower);
  }
  return count;
}

llvm::Error tilec::runner::bindParameters(Evaluator &evaluator, const Kernel &kernel, const Arguments &arguments) {
  for (const Parameter &parameter : kernel.parameters) {
    if (parameter.variable) {
      auto number = arguments.numbers.find(parameter.variable->name);
      if (number != arguments.numbers.end())
        evaluator.bind(parameter.variable, {number->second.real, number->second.integer, 0});
      continue;
    }
    const TensorBinding *tensor = findBinding(arguments, parameter.tensor->name);
    if (!tensor || tensor->shape.size() != parameter.tensor->shape.size())
      return llvm::createStringError("the launch has no tensor `" + parameter.tensor->name + "` of this shape");
    if (tensor->contents)
      evaluator.bind(parameter.tensor, &*tensor->contents);
    for (auto [expression, extent] : llvm::zip(parameter.tensor->shape, tensor->shape))
      if (const auto *dimension = dyn_cast<VariableRef>(expression))
        if (!arguments.numbers.count(dimension->variable->name))
          evaluator.bind(dimension->variable, {0, extent, 0});
  }
  return llvm::Error::success();
}
