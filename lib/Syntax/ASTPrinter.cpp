// The indented dump of syntax trees.
#include "tilec/Syntax/ASTPrinter.h"
#include "tilec/Syntax/ASTVisitor.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"

using namespace tilec;
using namespace tilec::ast;

namespace {
class Printer : public ExprVisitor<Printer>, public StmtVisitor<Printer>, public DeclVisitor<Printer> {
public:
  explicit Printer(llvm::raw_ostream &os) : os(os) {}

  void print(Expr *expr) {
    if (expr)
      ExprVisitor::visit(expr);
    else
      line("missing");
  }
  void print(Stmt *stmt);
  void print(Decl *decl) { DeclVisitor::visit(decl); }

#define TILEC_EXPR(Class) void visit##Class(Class *expr);
#define TILEC_STMT(Class) void visit##Class(Class *stmt);
#define TILEC_DECL(Class) void visit##Class(Class *decl);
#include "tilec/Syntax/ASTNodes.def"

private:
  void line(const llvm::Twine &text) { os.indent(2 * depth) << text << '\n'; }
  /// Runs `body` one level deeper.
  template <typename Body> void nested(Body body) {
    ++depth;
    body();
    --depth;
  }
  void children(llvm::ArrayRef<Expr *> exprs) {
    nested([&] {
      for (Expr *expr : exprs)
        print(expr);
    });
  }
  /// A labelled expression; nothing for null.
  void labelled(llvm::StringRef label, Expr *expr) {
    if (!expr)
      return;
    line(label);
    children(expr);
  }
  void labelled(llvm::StringRef label, llvm::ArrayRef<Expr *> exprs) {
    line(label);
    children(exprs);
  }
  void printBlock(llvm::StringRef label, const Block *block);
  void printSpan(const Span &span);
  void printBindings(llvm::ArrayRef<Binding> bindings);
  void printArguments(llvm::ArrayRef<Argument> arguments);
  void printAnnotations(llvm::ArrayRef<Annotation> annotations);
  void printConstParam(const ConstParam &param);
  void printParam(const Param &param);
  void printContract(const Contract &contract);

  llvm::raw_ostream &os;
  unsigned depth = 0;
};
} // namespace

static std::string toText(const ScalarRef &scalar) {
  return (scalar.kind ? getSpelling(*scalar.kind) : scalar.name.name).str();
}

static std::string toText(llvm::ArrayRef<Identifier> names) {
  return llvm::join(llvm::map_range(names, [](const Identifier &name) { return name.name.str(); }), ", ");
}

static std::string toText(const TypeRef &type) {
  return toText(type.scalar) + (type.hasBrackets ? "[" + toText(type.axes) + "]" : "");
}

static llvm::StringRef toText(RelationalOp op) {
  static constexpr llvm::StringLiteral spellings[] = {"==", "!=", "<", "<=", ">", ">="};
  return spellings[static_cast<size_t>(op)];
}

static std::string quoteString(llvm::StringRef text) {
  std::string result;
  llvm::raw_string_ostream os(result);
  os << '"';
  llvm::printEscapedString(text, os);
  os << '"';
  return result;
}

void Printer::print(Stmt *stmt) {
  printAnnotations(stmt->annotations);
  StmtVisitor::visit(stmt);
}

void Printer::printBlock(llvm::StringRef label, const Block *block) {
  if (!block)
    return;
  line(label);
  nested([&] {
    for (Stmt *stmt : block->statements)
      print(stmt);
    labelled("value", block->value);
  });
}

void Printer::printSpan(const Span &span) {
  if (!span.isRange())
    return labelled("span", span.whole);
  labelled("range", {span.lower, span.upper});
}

void Printer::printBindings(llvm::ArrayRef<Binding> bindings) {
  for (const Binding &binding : bindings) {
    line("bind " + binding.name.name + (binding.isReverse ? " reverse" : "") + (binding.isTiles ? " tiles" : ""));
    nested([&] {
      printSpan(binding.span);
      labelled("size", binding.size);
    });
  }
}

void Printer::printArguments(llvm::ArrayRef<Argument> arguments) {
  for (const Argument &argument : arguments) {
    if (argument.name)
      labelled(("argument " + argument.name.name).str(), argument.value);
    else
      print(argument.value);
  }
}

void Printer::printAnnotations(llvm::ArrayRef<Annotation> annotations) {
  for (const Annotation &annotation : annotations) {
    std::string condition;
    if (annotation.isConditional)
      condition = (" if arch " + toText(annotation.archOp) + " " + llvm::Twine(annotation.arch)).str();
    line("annotation " + annotation.name.name + condition);
    nested([&] { printArguments(annotation.arguments); });
  }
}

void Printer::visitIntegerLiteral(IntegerLiteral *expr) { line("integer " + llvm::Twine(expr->value)); }
void Printer::visitRealLiteral(RealLiteral *expr) { line("real " + expr->text); }
void Printer::visitBoolLiteral(BoolLiteral *expr) { line(expr->value ? "bool true" : "bool false"); }
void Printer::visitStringLiteral(StringLiteral *expr) { line("string " + quoteString(expr->value)); }
void Printer::visitNameExpr(NameExpr *expr) { line("name " + expr->name.name); }
void Printer::visitScalarExpr(ScalarExpr *expr) { line("scalar " + getSpelling(expr->scalar)); }
void Printer::visitAutoExpr(AutoExpr *) { line("auto"); }
void Printer::visitErrorExpr(ErrorExpr *) { line("error"); }

void Printer::visitTupleExpr(TupleExpr *expr) { labelled("tuple", expr->elements); }

void Printer::visitUnaryExpr(UnaryExpr *expr) { labelled(("unary " + getSpelling(expr->op)).str(), expr->operand); }

void Printer::visitBinaryExpr(BinaryExpr *expr) {
  labelled(("binary " + getSpelling(expr->op)).str(), {expr->lhs, expr->rhs});
}

void Printer::visitIfExpr(IfExpr *expr) {
  line("if-value");
  nested([&] {
    print(expr->condition);
    printBlock("then", expr->thenBlock);
    printBlock("else", expr->elseBlock);
  });
}

void Printer::visitIndexExpr(IndexExpr *expr) {
  line("index");
  nested([&] {
    print(expr->base);
    labelled("at", expr->indices);
    labelled("else", expr->fallback);
  });
}

void Printer::visitSubstituteExpr(SubstituteExpr *expr) {
  line("substitute");
  nested([&] {
    print(expr->base);
    for (const Substitution &substitution : expr->substitutions)
      labelled(("axis " + substitution.axis.name).str(), substitution.value);
    labelled("else", expr->fallback);
  });
}

void Printer::visitAxisCallExpr(AxisCallExpr *expr) {
  std::string axes;
  for (const AxisArgument &argument : expr->axes)
    axes += (axes.empty() ? "" : ", ") + argument.axis.name.str() +
            (argument.target ? " -> " + argument.target.name.str() : "");
  line("axis-call " + expr->callee.name + "[" + axes + "]");
  nested([&] {
    labelled("where", expr->guard);
    printArguments(expr->arguments);
  });
}

void Printer::visitCallExpr(CallExpr *expr) {
  line("call");
  nested([&] {
    print(expr->callee);
    printArguments(expr->arguments);
  });
}

void Printer::visitMemberExpr(MemberExpr *expr) { labelled(("member " + expr->member.name).str(), expr->base); }

void Printer::visitParallelStmt(ParallelStmt *stmt) {
  line("parallel");
  nested([&] {
    printBindings(stmt->bindings);
    printBlock("body", stmt->body);
  });
}

void Printer::visitForStmt(ForStmt *stmt) {
  line("for");
  nested([&] {
    printBindings(stmt->bindings);
    printBlock("body", stmt->body);
  });
}

void Printer::visitWhileStmt(WhileStmt *stmt) {
  line("while");
  nested([&] {
    print(stmt->condition);
    printBlock("body", stmt->body);
  });
}

void Printer::visitIfStmt(IfStmt *stmt) {
  line("if");
  nested([&] {
    print(stmt->condition);
    printBlock("then", stmt->thenBlock);
    printBlock("else", stmt->elseBlock);
  });
}

void Printer::visitAxisStmt(AxisStmt *stmt) {
  line("axis " + stmt->name.name);
  nested([&] { printSpan(stmt->span); });
}

void Printer::visitLetStmt(LetStmt *stmt) {
  std::string names = toText(stmt->names);
  std::string type = stmt->declaredType ? ": " + toText(*stmt->declaredType) : "";
  line("let " + (stmt->form == LetForm::Tuple ? "(" + names + ")" : names) + type);
  nested([&] {
    for (const LetAxis &axis : stmt->axes) {
      line("axis " + axis.name.name);
      if (axis.hasSpan)
        nested([&] { printSpan(axis.span); });
    }
    print(stmt->value);
  });
}

void Printer::visitVarStmt(VarStmt *stmt) {
  line("var " + stmt->name.name + (stmt->declaredType ? ": " + toText(*stmt->declaredType) : ""));
  children(stmt->value);
}

void Printer::visitAssignStmt(AssignStmt *stmt) {
  llvm::StringRef modifier = stmt->modifier == AssignModifier::Atomic   ? "atomic "
                             : stmt->modifier == AssignModifier::Unique ? "unique "
                                                                        : "";
  line("assign " + modifier + stmt->target.name + " " + getSpelling(stmt->op));
  nested([&] {
    if (stmt->hasBrackets)
      labelled("at", stmt->indices);
    print(stmt->value);
  });
}

void Printer::visitCallStmt(CallStmt *stmt) {
  line(stmt->isAssert ? "assert" : "print");
  nested([&] { printArguments(stmt->call->arguments); });
}

void Printer::visitTempStmt(TempStmt *stmt) {
  labelled(("temp " + stmt->name.name + ": " + toText(stmt->element)).str(), stmt->shape);
}

void Printer::visitImportDecl(ImportDecl *decl) { line("import " + quoteString(decl->path)); }

void Printer::visitConstDecl(ConstDecl *decl) {
  line("const " + decl->name.name + (decl->declaredType ? ": " + toText(*decl->declaredType) : ""));
  children(decl->value);
}

void Printer::visitInstantiateDecl(InstantiateDecl *decl) {
  line("instantiate " + decl->kernel.name + " as " + decl->alias.name);
  nested([&] {
    for (const ConstArgument &argument : decl->arguments)
      labelled(("constant " + argument.name.name).str(), argument.value);
  });
}

void Printer::printConstParam(const ConstParam &param) {
  line("constant " + param.name.name + ": " + (param.isType ? "type" : toText(param.type)));
  if (param.defaultValue)
    children(param.defaultValue);
}

void Printer::visitFunctionDecl(FunctionDecl *decl) {
  std::string results;
  for (const TypeRef &result : decl->results)
    results += (results.empty() ? "" : ", ") + toText(result);
  if (decl->returnsTuple)
    results = "(" + results + ")";
  line("fn " + decl->name.name + (decl->axes.empty() ? "" : "[" + toText(decl->axes) + "]") + " -> " + results);
  nested([&] {
    for (const ConstParam &param : decl->constParams)
      printConstParam(param);
    for (const FunctionParam &param : decl->params)
      line("param " + param.name.name + ": " + toText(param.type));
    printBlock("body", decl->body);
  });
}

void Printer::printParam(const Param &param) {
  static constexpr llvm::StringLiteral directions[] = {"in", "out", "inout"};
  line("param " + directions[static_cast<size_t>(param.direction)] + " " + param.name.name + ": " +
       (param.isDim ? "dim" : toText(param.element)));
  nested([&] {
    if (param.hasShape)
      labelled("shape", param.shape);
    if (param.stridesKind == StridesKind::Dynamic)
      line("strides dynamic");
    else if (param.stridesKind == StridesKind::Explicit)
      labelled("strides", param.strides);
    labelled("if", param.condition);
  });
}

void Printer::printContract(const Contract &contract) {
  if (contract.condition)
    return labelled("where", contract.condition);
  labelled(("where " + contract.name.name + " in").str(), contract.choices);
}

void Printer::visitKernelDecl(KernelDecl *decl) {
  printAnnotations(decl->annotations);
  line("kernel " + decl->name.name);
  nested([&] {
    for (const ConstParam &param : decl->constParams)
      printConstParam(param);
    for (const Param &param : decl->params)
      printParam(param);
    for (const Contract &contract : decl->contracts)
      printContract(contract);
    printBlock("body", decl->body);
  });
}

void ast::print(const SourceFile &file, llvm::raw_ostream &os) {
  for (Decl *decl : file.decls)
    Printer(os).print(decl);
}

void ast::print(const Decl *decl, llvm::raw_ostream &os) { Printer(os).print(const_cast<Decl *>(decl)); }

void ast::print(const Stmt *stmt, llvm::raw_ostream &os) { Printer(os).print(const_cast<Stmt *>(stmt)); }

void ast::print(const Expr *expr, llvm::raw_ostream &os) { Printer(os).print(const_cast<Expr *>(expr)); }
