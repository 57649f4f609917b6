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

bool Analyzer::requireOnLeft(const Expr *value, llvm::ArrayRef<const Axis *> axes, SourceRange range,
                             llvm::StringRef left) {
  for (const Axis *axis : value->type.axes) {
    if (llvm::is_contained(axes, axis))
      continue;
    DiagnosticBuilder builder = report(range, diag::err_axis_not_on_left) << axis->name << left;
    builder << FixIt::insertion(range.begin, "sum[" + axis->name + "](") << FixIt::insertion(range.end, ")");
    builder.note(axis->range, diag::note_axis_declared) << axis->name;
    return false;
  }
  return true;
}
