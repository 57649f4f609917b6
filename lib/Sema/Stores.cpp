// Stores and atomics (rule 9).
#include "Analyzer.h"

using namespace tilec;
using namespace tilec::sema;

/// The repair that declares an `out` tensor `inout`.
void Analyzer::offerInout(DiagnosticBuilder builder, const Tensor *tensor) {
  SourceRange before(tensor->range.begin.advanced(-4), tensor->range.begin);
  if (text(before) == "out ")
    builder << FixIt::replacement(before, "inout ");
}

void Analyzer::checkStore(const ast::AssignStmt *stmt, Tensor *tensor) {
  bool isTopLevel = !inParallel && enclosing.empty();
  if (isTopLevel && isAlgorithmLevel(stmt))
    return checkAlgorithmStore(stmt, tensor);
  llvm::SaveAndRestore<bool> stated(axesStated, true);
  std::vector<Expr *> subscripts;
  bool good = checkSubscripts(stmt->indices, tensor, stmt->targetRange(), subscripts, /*isLoad=*/false,
                              /*hasElse=*/false);
  if (tensor->access == TensorAccess::In) {
    DiagnosticBuilder builder = report(stmt->target.range, diag::err_store_to_input) << tensor->name;
    builder.note(tensor->range, diag::note_declared_here)
        << tensor->name << FixIt::insertion(tensor->range.begin, "inout ");
    good = false;
  }
  if (!good) {
    check(stmt->value);
    return;
  }
  llvm::SmallVector<const Axis *, 4> axes = axesOf(subscripts);
  if (stmt->modifier == ast::AssignModifier::Atomic)
    return checkAtomic(stmt, tensor, std::move(subscripts), axes);

  Value value = check(stmt->value);
  SourceRange written = stmt->value->range;
  value.range = written;
  if (stmt->op != ast::AssignOp::Set) {
    if (tensor->access == TensorAccess::Out) {
      DiagnosticBuilder builder = report(stmt->targetRange(), diag::err_read_of_out) << tensor->name;
      offerInout(builder, tensor);
      builder.note(tensor->range, diag::note_declared_here) << tensor->name;
      return;
    }
    recordAccess(Access::Read, tensor, stmt->targetRange(), subscripts);
    auto *load = context.create<Load>(stmt->targetRange(), Type(tensor->element, axes), tensor, subscripts, nullptr);
    Value before = Value::of(load, stmt->targetRange());
    if (!requireMeeting(stmt, before, value, /*variable=*/nullptr))
      return;
    value = combine(stmt->op, before, value, stmt->range);
    value.range = written;
    if (!requireFitting(stmt, value, tensor->element, /*variable=*/nullptr))
      return;
  }
  Expr *converted = convertTo(value, tensor->element);
  bool aligned = converted && requireOnLeft(converted, axes, written, quote(stmt->targetRange()),
                                            {stmt->op, /*variable=*/nullptr, /*isAtomic=*/false});
  if (stmt->modifier != ast::AssignModifier::Unique)
    requireInjective(stmt, subscripts, axes);
  if (!aligned)
    return;
  recordAccess(Access::Write, tensor, stmt->targetRange(), subscripts);
  accesses.back().isUnique = stmt->modifier == ast::AssignModifier::Unique;
  auto *store = context.create<StoreStmt>(stmt->range, tensor, std::move(subscripts),
                                          std::vector<const Axis *>(axes.begin(), axes.end()), converted);
  store->unique = stmt->modifier == ast::AssignModifier::Unique;
  emit(store);
}

static std::optional<AtomicOp> translate(ast::AssignOp op) {
  switch (op) {
  case ast::AssignOp::Add:
    return AtomicOp::Add;
  case ast::AssignOp::Max:
    return AtomicOp::Max;
  case ast::AssignOp::Min:
    return AtomicOp::Min;
  case ast::AssignOp::And:
    return AtomicOp::And;
  case ast::AssignOp::Or:
    return AtomicOp::Or;
  case ast::AssignOp::Xor:
    return AtomicOp::Xor;
  default:
    return std::nullopt;
  }
}

static bool hasAtomics(ScalarKind element) {
  switch (element) {
  case ScalarKind::I32:
  case ScalarKind::U32:
  case ScalarKind::I64:
  case ScalarKind::U64:
  case ScalarKind::F32:
  case ScalarKind::F64:
  case ScalarKind::F16:
  case ScalarKind::BF16:
    return true;
  default:
    return false;
  }
}

void Analyzer::checkAtomic(const ast::AssignStmt *stmt, Tensor *tensor, std::vector<Expr *> subscripts,
                           llvm::ArrayRef<const Axis *> axes) {
  Value value = check(stmt->value);
  value.range = stmt->value->range;
  if (tensor->access == TensorAccess::Out) {
    DiagnosticBuilder builder = report(stmt->range, diag::err_atomic_into_out) << tensor->name;
    offerInout(builder, tensor);
    builder.note(tensor->range, diag::note_declared_here) << tensor->name;
    return;
  }
  std::optional<AtomicOp> op = translate(stmt->op);
  bool isBitwise = op == AtomicOp::And || op == AtomicOp::Or || op == AtomicOp::Xor;
  if (!op || !hasAtomics(tensor->element) || (isBitwise && !isInteger(tensor->element))) {
    report(stmt->range, diag::err_atomic_type) << ast::getSpelling(stmt->op) << getSpelling(tensor->element);
    return;
  }
  Expr *converted = convertTo(value, tensor->element);
  if (!converted || !requireOnLeft(converted, axes, stmt->value->range, quote(stmt->targetRange()),
                                   {stmt->op, /*variable=*/nullptr, /*isAtomic=*/true}))
    return;
  recordAccess(Access::Atomic, tensor, stmt->targetRange(), subscripts);
  emit(context.create<AtomicStmt>(stmt->range, tensor, std::move(subscripts),
                                  std::vector<const Axis *>(axes.begin(), axes.end()), *op, converted));
}
