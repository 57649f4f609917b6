// Rule 5: which axes the result of an element-wise expression may have.
#include "Analyzer.h"

using namespace tilec;
using namespace tilec::sema;

/// The operands of the element-wise tree under `expr`.
static void collectOperands(const Expr *expr, std::vector<const Expr *> &operands) {
  switch (expr->kind) {
  case ExprKind::Unary:
    return collectOperands(llvm::cast<Unary>(expr)->operand, operands);
  case ExprKind::Cast:
    return collectOperands(llvm::cast<Cast>(expr)->operand, operands);
  case ExprKind::Binary:
    collectOperands(llvm::cast<Binary>(expr)->lhs, operands);
    return collectOperands(llvm::cast<Binary>(expr)->rhs, operands);
  case ExprKind::Call:
    for (const Expr *argument : llvm::cast<Call>(expr)->arguments)
      collectOperands(argument, operands);
    return;
  case ExprKind::IfValue:
    collectOperands(llvm::cast<IfValue>(expr)->thenValue, operands);
    return collectOperands(llvm::cast<IfValue>(expr)->elseValue, operands);
  case ExprKind::BlockValue:
    return collectOperands(llvm::cast<BlockValue>(expr)->value, operands);
  default:
    operands.push_back(expr);
  }
}

static std::string listAxes(llvm::ArrayRef<const Axis *> axes) {
  std::string text;
  for (const Axis *axis : axes)
    text += (text.empty() ? "" : ", ") + axis->name;
  return "[" + text + "]";
}

void Analyzer::requireCarrier(const Value &value, SourceRange range) {
  if (axesStated || !value.expr || value.type.axes.size() < 2)
    return;
  auto counts = [&](const Axis *axis) {
    return !llvm::is_contained(removedAxes, axis) && !llvm::is_contained(liftedAxes, axis);
  };
  std::vector<const Expr *> operands;
  collectOperands(value.expr, operands);
  for (const Expr *operand : operands)
    if (llvm::all_of(value.type.axes, [&](const Axis *axis) { return !counts(axis) || operand->type.has(axis); }))
      return;
  DiagnosticBuilder builder = report(range, diag::err_no_operand_has_all_axes)
                              << listAxes(value.type.axes) << value.type.str();
  for (const Expr *operand : operands)
    if (!operand->type.axes.empty())
      builder.note(operand->range, diag::note_operand_axes) << quote(operand->range) << listAxes(operand->type.axes);
}

/// The reduction that does to the axes of a value what the operator does to two values; nothing if there is none.
static llvm::StringRef getReduction(ast::AssignOp op) {
  switch (op) {
  case ast::AssignOp::Set:
  case ast::AssignOp::Add:
  case ast::AssignOp::Subtract:
    return "sum";
  case ast::AssignOp::Multiply:
  case ast::AssignOp::Divide:
    return "prod";
  case ast::AssignOp::Max:
    return "max";
  case ast::AssignOp::Min:
    return "min";
  case ast::AssignOp::And:
  case ast::AssignOp::Or:
  case ast::AssignOp::Xor:
    return "";
  }
  llvm_unreachable("not an assignment operator");
}

bool Analyzer::requireOnLeft(const Expr *value, llvm::ArrayRef<const Axis *> axes, SourceRange range,
                             llvm::StringRef left, LeftSide side) {
  llvm::SmallVector<const Axis *, 4> missing;
  for (const Axis *axis : value->type.axes)
    if (!llvm::is_contained(axes, axis))
      missing.push_back(axis);
  if (missing.empty())
    return true;
  std::string names;
  for (const Axis *axis : missing)
    names += (names.empty() ? "" : ", ") + axis->name;
  llvm::StringRef reduction = getReduction(side.op);
  DiagnosticBuilder builder = report(range, diag::err_axis_not_on_left)
                              << missing.front()->name << left << (reduction.empty() ? "sum" : reduction) << names;
  bool couldHold = side.variable && llvm::all_of(missing, [&](const Axis *axis) {
                     return axis->range.begin < side.variable->range.begin;
                   });
  // A reduction is a certain repair only if nothing else can be meant: an iteration of `parallel` has its own elements,
  // which only atomics combine, and a variable could have had the axis.
  bool isReduction =
      side.isAtomic || llvm::none_of(missing, [](const Axis *axis) { return axis->kind == AxisKind::ParallelTiles; });
  if (isReduction && !couldHold && !reduction.empty())
    builder << FixIt::insertion(range.begin, (reduction + "[" + names + "](").str())
            << FixIt::insertion(range.end, ")");
  builder.note(missing.front()->range, diag::note_axis_declared) << missing.front()->name;
  if (couldHold) {
    Type better = side.variable->type;
    better.axes.append(missing.begin(), missing.end());
    builder.note(side.variable->range, diag::note_declare_as) << side.variable->name << better.str();
  }
  return false;
}
