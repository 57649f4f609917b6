// The text of typed trees, for dumps, messages and tests.
#include "tilec/Sema/TypedStmt.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace tilec;
using namespace tilec::sema;

static llvm::StringRef getSpelling(BinaryOp op) {
  static constexpr llvm::StringLiteral spellings[] = {"+",  "-",  "*",  "/",  "%",  "&", "|",  "^", "<<",
                                                      ">>", "&&", "||", "==", "!=", "<", "<=", ">", ">="};
  return spellings[static_cast<size_t>(op)];
}

static llvm::StringRef getSpelling(ReduceKind kind) {
  static constexpr llvm::StringLiteral spellings[] = {"sum", "prod", "mean", "max", "min", "any", "all"};
  return spellings[static_cast<size_t>(kind)];
}

static llvm::StringRef getSpelling(AxisOperationKind kind) {
  static constexpr llvm::StringLiteral spellings[] = {"softmax", "cumsum", "cummax", "sort",
                                                      "argsort", "argmax", "argmin"};
  return spellings[static_cast<size_t>(kind)];
}

static llvm::StringRef getSpelling(AxisAttributeKind kind) {
  static constexpr llvm::StringLiteral spellings[] = {"start", "end", "size", "index"};
  return spellings[static_cast<size_t>(kind)];
}

namespace {

class TypedPrinter {
public:
  explicit TypedPrinter(llvm::raw_ostream &os) : os(os) {}

  void print(const Expr *expr);
  void print(const Kernel &kernel);

private:
  void print(const Block *block);
  void print(const Stmt *stmt);
  void print(const Binding &binding);
  void printConstant(const Constant *constant);
  void printOperand(const Expr *expr);
  void printAxes(llvm::ArrayRef<const Axis *> axes);
  void printAnnotations(llvm::ArrayRef<AppliedAnnotation> annotations);
  template <typename Range> void printList(const Range &expressions) {
    llvm::interleave(expressions, [&](const Expr *expr) { print(expr); }, [&] { os << ", "; });
  }
  llvm::raw_ostream &line() { return os.indent(indent * 2); }

  llvm::raw_ostream &os;
  unsigned indent = 0;
};

} // namespace

void TypedPrinter::printConstant(const Constant *constant) {
  ScalarKind element = constant->type.element;
  if (element == ScalarKind::Bool) {
    os << (constant->integer.isOne() ? "true" : "false");
  } else if (isFloat(element)) {
    llvm::SmallString<32> digits;
    constant->real.toString(digits);
    os << getSpelling(element) << "(" << digits << ")";
  } else {
    if (element != ScalarKind::Index)
      os << getSpelling(element) << "(";
    constant->integer.print(os, isSigned(element));
    if (element != ScalarKind::Index)
      os << ")";
  }
}

void TypedPrinter::printOperand(const Expr *expr) {
  bool needsParentheses = llvm::isa<Binary, IfValue, BlockValue>(expr);
  os << (needsParentheses ? "(" : "");
  print(expr);
  os << (needsParentheses ? ")" : "");
}

void TypedPrinter::printAxes(llvm::ArrayRef<const Axis *> axes) {
  os << "[";
  llvm::interleaveComma(axes, os, [&](const Axis *axis) { os << axis->name; });
  os << "]";
}

void TypedPrinter::print(const Expr *expr) {
  switch (expr->kind) {
  case ExprKind::Constant:
    return printConstant(llvm::cast<Constant>(expr));
  case ExprKind::VariableRef:
    os << llvm::cast<VariableRef>(expr)->variable->name;
    return;
  case ExprKind::AxisPositions:
    os << llvm::cast<AxisPositions>(expr)->axis->name;
    return;
  case ExprKind::AxisAttribute: {
    const auto *attribute = llvm::cast<AxisAttribute>(expr);
    os << attribute->axis->name << "." << getSpelling(attribute->attribute);
    return;
  }
  case ExprKind::Unary: {
    const auto *unary = llvm::cast<Unary>(expr);
    os << (unary->op == UnaryOp::Negate ? "-" : (unary->op == UnaryOp::LogicalNot ? "!" : "~"));
    return printOperand(unary->operand);
  }
  case ExprKind::Binary: {
    const auto *binary = llvm::cast<Binary>(expr);
    printOperand(binary->lhs);
    os << " " << getSpelling(binary->op) << " ";
    return printOperand(binary->rhs);
  }
  case ExprKind::Cast:
    os << getSpelling(expr->type.element) << "(";
    print(llvm::cast<Cast>(expr)->operand);
    os << ")";
    return;
  case ExprKind::Call: {
    const auto *call = llvm::cast<Call>(expr);
    os << sema::getSpelling(call->builtin) << "(";
    printList(call->arguments);
    os << ")";
    return;
  }
  case ExprKind::Load: {
    const auto *load = llvm::cast<Load>(expr);
    os << load->tensor->name << "[";
    printList(load->subscripts);
    if (load->fallback) {
      os << " else ";
      print(load->fallback);
    }
    os << "]";
    return;
  }
  case ExprKind::Reduce: {
    const auto *reduce = llvm::cast<Reduce>(expr);
    os << getSpelling(reduce->reduction);
    printAxes(reduce->axes);
    os << "(";
    print(reduce->operand);
    if (reduce->guard) {
      os << " where ";
      print(reduce->guard);
    }
    os << ")";
    return;
  }
  case ExprKind::Dot: {
    const auto *dot = llvm::cast<Dot>(expr);
    os << "dot";
    printAxes(dot->axes);
    os << "(";
    print(dot->lhs);
    os << ", ";
    print(dot->rhs);
    os << (dot->fast ? ", accumulate = fast" : "") << ")";
    return;
  }
  case ExprKind::AxisOperation: {
    const auto *operation = llvm::cast<AxisOperation>(expr);
    os << getSpelling(operation->operation) << "[" << operation->axis->name << "](";
    print(operation->operand);
    os << ")";
    return;
  }
  case ExprKind::Substitute: {
    const auto *substitute = llvm::cast<Substitute>(expr);
    printOperand(substitute->base);
    os << "[";
    llvm::interleaveComma(substitute->substitutions, os, [&](const auto &entry) {
      os << entry.first->name << " = ";
      print(entry.second);
    });
    os << "]";
    return;
  }
  case ExprKind::BlockValue: {
    const auto *block = llvm::cast<BlockValue>(expr);
    os << "{ ";
    for (const Stmt *stmt : block->block->statements) {
      if (const auto *let = llvm::dyn_cast<LetStmt>(stmt)) {
        os << "let " << let->variable->name << ": " << let->variable->type.str() << " = ";
        print(let->variable->initial);
        os << "; ";
      }
    }
    print(block->value);
    os << " }";
    return;
  }
  case ExprKind::IfValue: {
    const auto *branch = llvm::cast<IfValue>(expr);
    os << "if ";
    print(branch->condition);
    os << " { ";
    print(branch->thenValue);
    os << " } else { ";
    print(branch->elseValue);
    os << " }";
    return;
  }
  }
}

void TypedPrinter::printAnnotations(llvm::ArrayRef<AppliedAnnotation> annotations) {
  for (const AppliedAnnotation &annotation : annotations) {
    line() << "@" << annotation.name;
    for (int64_t value : annotation.values)
      os << " " << value;
    for (const auto &[name, value] : annotation.named)
      os << " " << name << "=" << value;
    os << "\n";
  }
}

void TypedPrinter::print(const Binding &binding) {
  os << (binding.axis ? binding.axis->name : binding.index->name) << " in " << (binding.reverse ? "reverse " : "");
  os << (binding.axis ? "tiles(" : "");
  print(binding.lower());
  os << "..";
  print(binding.upper());
  if (binding.axis)
    os << ", " << binding.tile() << ")";
}

void TypedPrinter::print(const Block *block) {
  os << " {\n";
  ++indent;
  for (const Stmt *stmt : block->statements)
    print(stmt);
  --indent;
  line() << "}";
}

static void printCarried(llvm::raw_ostream &os, llvm::ArrayRef<Variable *> carried) {
  if (carried.empty())
    return;
  os << " carries ";
  llvm::interleaveComma(carried, os, [&](const Variable *variable) { os << variable->name; });
}

void TypedPrinter::print(const Stmt *stmt) {
  printAnnotations(stmt->annotations);
  line();
  switch (stmt->kind) {
  case StmtKind::Parallel: {
    const auto *parallel = llvm::cast<ParallelStmt>(stmt);
    os << "parallel ";
    llvm::interleaveComma(parallel->bindings, os, [&](const Binding &binding) { print(binding); });
    print(parallel->body);
    break;
  }
  case StmtKind::For: {
    const auto *loop = llvm::cast<ForStmt>(stmt);
    os << "for ";
    print(loop->binding);
    printCarried(os, loop->carried);
    print(loop->body);
    break;
  }
  case StmtKind::While: {
    const auto *loop = llvm::cast<WhileStmt>(stmt);
    os << "while ";
    print(loop->condition);
    printCarried(os, loop->carried);
    print(loop->body);
    break;
  }
  case StmtKind::If: {
    const auto *branch = llvm::cast<IfStmt>(stmt);
    os << "if ";
    print(branch->condition);
    printCarried(os, branch->carried);
    print(branch->thenBlock);
    if (branch->elseBlock) {
      os << " else";
      print(branch->elseBlock);
    }
    break;
  }
  case StmtKind::Axis: {
    const Axis *axis = llvm::cast<AxisStmt>(stmt)->axis;
    os << "axis " << axis->name << "<" << axis->extent << "> = ";
    print(axis->lower);
    os << "..";
    print(axis->upper);
    break;
  }
  case StmtKind::Let:
  case StmtKind::Var: {
    const Variable *variable =
        stmt->kind == StmtKind::Let ? llvm::cast<LetStmt>(stmt)->variable : llvm::cast<VarStmt>(stmt)->variable;
    os << (stmt->kind == StmtKind::Let ? "let " : "var ") << variable->name << ": " << variable->type.str() << " = ";
    if (variable->initial)
      print(variable->initial);
    break;
  }
  case StmtKind::Assign:
    os << llvm::cast<AssignStmt>(stmt)->variable->name << " = ";
    print(llvm::cast<AssignStmt>(stmt)->value);
    break;
  case StmtKind::Store: {
    const auto *store = llvm::cast<StoreStmt>(stmt);
    os << (store->unique ? "unique " : "") << store->tensor->name << "[";
    printList(store->subscripts);
    os << "] over ";
    printAxes(store->axes);
    os << " = ";
    print(store->value);
    break;
  }
  case StmtKind::Atomic: {
    const auto *atomic = llvm::cast<AtomicStmt>(stmt);
    static constexpr llvm::StringLiteral spellings[] = {"+=", "max=", "min=", "&=", "|=", "^="};
    os << "atomic " << atomic->tensor->name << "[";
    printList(atomic->subscripts);
    os << "] over ";
    printAxes(atomic->axes);
    os << " " << spellings[static_cast<size_t>(atomic->op)] << " ";
    print(atomic->value);
    break;
  }
  }
  os << "\n";
}

static llvm::StringRef getSpelling(TensorAccess access) {
  static constexpr llvm::StringLiteral spellings[] = {"in", "out", "inout", "temp"};
  return spellings[static_cast<size_t>(access)];
}

void TypedPrinter::print(const Kernel &kernel) {
  printAnnotations(kernel.annotations);
  line() << "kernel " << kernel.name << " variant " << kernel.variant << "\n";
  ++indent;
  for (const Parameter &parameter : kernel.parameters) {
    if (const Tensor *tensor = parameter.tensor) {
      line() << getSpelling(tensor->access) << " " << tensor->name << ": " << getSpelling(tensor->element) << "[";
      printList(tensor->shape);
      os << "]";
      if (tensor->stridesKind == TensorStrides::Dynamic) {
        os << " strides dynamic";
      } else {
        os << " strides [";
        printList(tensor->strides);
        os << "]";
      }
    } else {
      const Variable *variable = parameter.variable;
      line() << (variable->kind == VariableKind::Dimension ? "dim " : "scalar ") << variable->name << ": "
             << variable->type.str();
      if (variable->min)
        os << " min " << *variable->min;
      if (variable->max)
        os << " max " << *variable->max;
      if (variable->divisible != 1)
        os << " divisible " << variable->divisible;
    }
    os << "\n";
  }
  for (const LaunchContract &contract : kernel.contracts)
    line() << "contract " << contract.condition << "\n";
  for (const HostExpr &condition : kernel.when)
    line() << "when " << condition << "\n";
  for (const Stmt *stmt : kernel.body->statements)
    print(stmt);
  --indent;
}

std::string sema::toString(const Expr *expr) {
  std::string text;
  llvm::raw_string_ostream os(text);
  TypedPrinter(os).print(expr);
  return text;
}

std::string sema::toString(const Kernel &kernel) {
  std::string text;
  llvm::raw_string_ostream os(text);
  TypedPrinter(os).print(kernel);
  return text;
}
