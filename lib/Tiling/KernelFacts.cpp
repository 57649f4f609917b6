// Finds the products of a typed tree.
#include "KernelFacts.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace tilec;
using namespace tilec::sema;

namespace {

/// Visits the expressions of a kernel's statements once each. Values of lets and vars are followed from their uses by
/// `dependsOnProduct` alone.
class ProductFinder {
public:
  /// `narrow`: functions are computed for results of 16 bits.
  explicit ProductFinder(bool narrow) : narrow(narrow) {}

  void visit(const Block *block) {
    for (const Stmt *stmt : block->statements)
      visit(stmt);
  }

  std::vector<const Dot *> dots;
  bool loadsBeside = false;
  EpilogueFacts epilogue;

private:
  void visit(const Stmt *stmt) {
    switch (stmt->kind) {
    case StmtKind::Parallel:
      return visit(llvm::cast<ParallelStmt>(stmt)->body);
    case StmtKind::For:
      return visitLoop(llvm::cast<ForStmt>(stmt)->body);
    case StmtKind::While:
      return visitLoop(llvm::cast<WhileStmt>(stmt)->body);
    case StmtKind::If: {
      const auto *conditional = llvm::cast<IfStmt>(stmt);
      visit(conditional->thenBlock);
      if (conditional->elseBlock)
        visit(conditional->elseBlock);
      return;
    }
    case StmtKind::Axis:
      return;
    case StmtKind::Let:
      return visit(llvm::cast<LetStmt>(stmt)->variable->initial);
    case StmtKind::Var:
      return visit(llvm::cast<VarStmt>(stmt)->variable->initial);
    case StmtKind::Assign:
      return visit(llvm::cast<AssignStmt>(stmt)->value);
    case StmtKind::Store:
      return visit(llvm::cast<StoreStmt>(stmt)->value);
    case StmtKind::Atomic:
      return visit(llvm::cast<AtomicStmt>(stmt)->value);
    }
  }

  void visitLoop(const Block *body) {
    ++loops;
    visit(body);
    --loops;
  }

  void visit(const Expr *expr, bool inProduct = false);
  void countWork(const Expr *expr);

  bool narrow;
  unsigned loops = 0;
};

} // namespace

/// The operands of an expression that may have axes; subscripts and conditions hold no products.
static llvm::SmallVector<const Expr *> operandsOf(const Expr *expr) {
  switch (expr->kind) {
  case ExprKind::Unary:
    return {llvm::cast<Unary>(expr)->operand};
  case ExprKind::Binary:
    return {llvm::cast<Binary>(expr)->lhs, llvm::cast<Binary>(expr)->rhs};
  case ExprKind::Cast:
    return {llvm::cast<Cast>(expr)->operand};
  case ExprKind::Call: {
    const auto &arguments = llvm::cast<Call>(expr)->arguments;
    return llvm::SmallVector<const Expr *>(arguments.begin(), arguments.end());
  }
  case ExprKind::Reduce:
    return {llvm::cast<Reduce>(expr)->operand};
  case ExprKind::Dot:
    return {llvm::cast<Dot>(expr)->lhs, llvm::cast<Dot>(expr)->rhs};
  case ExprKind::AxisOperation:
    return {llvm::cast<AxisOperation>(expr)->operand};
  case ExprKind::Substitute:
    return {llvm::cast<Substitute>(expr)->base};
  case ExprKind::BlockValue:
    return {llvm::cast<BlockValue>(expr)->value};
  case ExprKind::IfValue:
    return {llvm::cast<IfValue>(expr)->thenValue, llvm::cast<IfValue>(expr)->elseValue};
  default:
    return {};
  }
}

/// `narrow`: results have 16 bits, for which some functions are short.
static EpilogueKind kindOf(const Expr *expr, bool narrow) {
  if (const auto *unary = llvm::dyn_cast<Unary>(expr))
    return unary->op == UnaryOp::Negate ? EpilogueKind::Arithmetic : EpilogueKind::Functions;
  if (const auto *binary = llvm::dyn_cast<Binary>(expr)) {
    bool isSimple = binary->op == BinaryOp::Add || binary->op == BinaryOp::Subtract || binary->op == BinaryOp::Multiply;
    return isSimple ? EpilogueKind::Arithmetic : EpilogueKind::Functions;
  }
  const auto *call = llvm::dyn_cast<Call>(expr);
  switch (call ? call->builtin : Builtin::Select) {
  case Builtin::Min:
  case Builtin::Max:
    return EpilogueKind::Arithmetic;
  case Builtin::Exp:
  case Builtin::Exp2:
  case Builtin::Sigmoid:
  case Builtin::Tanh:
  case Builtin::Erf:
    return narrow ? EpilogueKind::ShortFunctions : EpilogueKind::Functions;
  default:
    return EpilogueKind::Functions;
  }
}

/// Instructions of one element, counted in what ptxas makes of functions that epilogues have. `narrow`: results have 16
/// bits.
static int64_t instructionsOf(const Expr *expr, bool narrow) {
  if (llvm::isa<Unary, Binary>(expr)) {
    const auto *binary = llvm::dyn_cast<Binary>(expr);
    return binary && binary->op == BinaryOp::Divide ? 8 : 1;
  }
  const auto *call = llvm::dyn_cast<Call>(expr);
  if (!call)
    return 0;
  switch (call->builtin) {
  case Builtin::Erf:
    return narrow ? 8 : 25;
  case Builtin::Pow:
  case Builtin::Sin:
  case Builtin::Cos:
    return 25;
  case Builtin::Tanh:
    return narrow ? 2 : 20;
  case Builtin::Sigmoid:
    return narrow ? 5 : 14;
  case Builtin::Exp:
  case Builtin::Exp2:
  case Builtin::Log:
  case Builtin::Log2:
  case Builtin::Sqrt:
  case Builtin::Rsqrt:
    return 6;
  default:
    return 1;
  }
}

/// Of the instructions of a function in results of 16 bits.
static int64_t specialOf(const Expr *expr) {
  const auto *call = llvm::dyn_cast<Call>(expr);
  if (!call)
    return 0;
  if (call->builtin == Builtin::Sigmoid || call->builtin == Builtin::Tanh)
    return 2;
  return call->builtin == Builtin::Erf ? 1 : 0;
}

void ProductFinder::countWork(const Expr *expr) {
  const auto &axes = expr->type.axes;
  if (axes.size() > 1) {
    int64_t instructions = instructionsOf(expr, narrow);
    epilogue.instructions += instructions;
    epilogue.special += narrow ? specialOf(expr) : 0;
    if (instructions > 0)
      epilogue.kind = std::max(epilogue.kind, kindOf(expr, narrow));
  }
  if (!llvm::isa<Load>(expr))
    return;
  if (axes.size() > 1)
    ++epilogue.loads;
  else if (axes.size() == 1)
    epilogue.vectors.emplace_back(axes.front(), std::max<int64_t>(getBitWidth(expr->type.element) / 8, 1));
}

void ProductFinder::visit(const Expr *expr, bool inProduct) {
  const auto *dot = llvm::dyn_cast<Dot>(expr);
  if (dot)
    dots.push_back(dot);
  if (loops == 0 && !inProduct)
    countWork(expr);
  loadsBeside |= !inProduct && llvm::isa<Load>(expr) && !expr->type.isScalar();
  if (const auto *value = llvm::dyn_cast<BlockValue>(expr))
    visit(value->block);
  for (const Expr *operand : operandsOf(expr))
    visit(operand, inProduct || dot);
}

/// Through the values of lets, and the initial ones of vars.
static bool dependsOnProduct(const Expr *expr, llvm::SmallPtrSetImpl<const Variable *> &seen) {
  if (llvm::isa<Dot>(expr))
    return true;
  if (const auto *ref = llvm::dyn_cast<VariableRef>(expr)) {
    const Variable *variable = ref->variable;
    bool follow = (variable->kind == VariableKind::Let || variable->kind == VariableKind::Var) && variable->initial;
    return follow && seen.insert(variable).second && dependsOnProduct(variable->initial, seen);
  }
  return llvm::any_of(operandsOf(expr), [&](const Expr *operand) { return dependsOnProduct(operand, seen); });
}

/// Elements from row to row of the tensor that a value is loaded from.
static std::optional<HostExpr> pitchOf(const Expr *value) {
  while (true) {
    const auto *ref = llvm::dyn_cast<VariableRef>(value);
    if (const auto *cast = llvm::dyn_cast<Cast>(value))
      value = cast->operand;
    else if (ref && ref->variable->kind == VariableKind::Let && ref->variable->initial)
      value = ref->variable->initial;
    else
      break;
  }
  const auto *load = llvm::dyn_cast<Load>(value);
  if (!load || load->tensor->shape.size() < 2)
    return std::nullopt;
  const Tensor &tensor = *load->tensor;
  size_t row = tensor.shape.size() - 2;
  switch (tensor.stridesKind) {
  case TensorStrides::Contiguous:
    return toHostExpr(tensor.shape.back());
  case TensorStrides::Explicit:
    return toHostExpr(tensor.strides[row]);
  case TensorStrides::Dynamic:
    return HostExpr(tensor.name + ".stride" + std::to_string(row));
  }
  llvm_unreachable("all kinds are listed");
}

static std::optional<ProductFacts> factsOf(const Dot &dot) {
  if (dot.axes.size() != 1 || dot.guard)
    return std::nullopt;
  auto own = [&](const Expr *operand, const Expr *other) {
    llvm::SmallVector<const Axis *> axes;
    for (const Axis *axis : operand->type.axes)
      if (axis != dot.axes[0])
        axes.push_back(other->type.has(axis) ? nullptr : axis);
    return axes;
  };
  llvm::SmallVector<const Axis *> m = own(dot.lhs, dot.rhs), n = own(dot.rhs, dot.lhs);
  if (m.size() != 1 || n.size() != 1 || !m[0] || !n[0])
    return std::nullopt;
  llvm::SmallPtrSet<const Variable *, 8> seen;
  ScalarKind element = dot.lhs->type.element;
  bool promoted = isFloat(element) && getBitWidth(element) == 8 && !dot.fast;
  return ProductFacts{
      m[0], n[0], dot.axes[0], element, promoted, dependsOnProduct(dot.lhs, seen), pitchOf(dot.lhs), pitchOf(dot.rhs)};
}

std::optional<KernelFacts> tilec::factsOf(const Kernel &kernel) {
  if (kernel.body->statements.size() != 1)
    return std::nullopt;
  const auto *stage = llvm::dyn_cast<ParallelStmt>(kernel.body->statements.front());
  if (!stage)
    return std::nullopt;
  bool narrow = llvm::all_of(kernel.parameters, [](const Parameter &parameter) {
    const Tensor *tensor = parameter.tensor;
    return !tensor || tensor->access == TensorAccess::In || getBitWidth(tensor->element) <= 16;
  });
  // Sums with loaded tiles, such as a residual, need functions in full.
  ProductFinder finder(narrow);
  finder.visit(stage->body);
  if (narrow && finder.epilogue.loads > 0) {
    finder = ProductFinder(/*narrow=*/false);
    finder.visit(stage->body);
  }
  KernelFacts facts{stage, {}, finder.loadsBeside, finder.epilogue, narrow};
  for (const Dot *dot : finder.dots) {
    std::optional<ProductFacts> product = ::factsOf(*dot);
    if (!product)
      return std::nullopt;
    facts.products.push_back(*product);
  }
  return facts;
}
