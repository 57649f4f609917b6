// Expressions in the notation of the language.
#include "tilec/Syntax/ASTPrinter.h"
#include "tilec/Syntax/ASTVisitor.h"
#include "llvm/ADT/StringExtras.h"

using namespace tilec;
using namespace tilec::ast;

namespace {
class SourceWriter : public ExprVisitor<SourceWriter, std::string> {
public:
#define TILEC_EXPR(Class) std::string visit##Class(Class *expr);
#include "tilec/Syntax/ASTNodes.def"

private:
  std::string list(llvm::ArrayRef<Expr *> exprs);
  std::string list(llvm::ArrayRef<Argument> arguments);
  std::string operand(Expr *expr, unsigned precedence);
  std::string fallback(Expr *expr) { return expr ? " else " + visit(expr) : ""; }
  std::string block(const Block *body);
};
} // namespace

static unsigned getPrecedence(BinaryOp op) {
  static constexpr unsigned precedences[] = {1, 2, 3, 3, 3, 3, 3, 3, 4, 5, 6, 7, 7, 8, 8, 9, 9, 9};
  return precedences[static_cast<size_t>(op)];
}

static constexpr unsigned unaryPrecedence = 10;
static constexpr unsigned postfixPrecedence = 11;
static constexpr unsigned primaryPrecedence = 12;

static unsigned getPrecedence(const Expr *expr) {
  if (auto *binary = llvm::dyn_cast<BinaryExpr>(expr))
    return getPrecedence(binary->op);
  if (llvm::isa<UnaryExpr>(expr))
    return unaryPrecedence;
  if (llvm::isa<IfExpr>(expr))
    return 0;
  return primaryPrecedence;
}

/// The expression, in parentheses if it binds less than `precedence`.
std::string SourceWriter::operand(Expr *expr, unsigned precedence) {
  std::string text = visit(expr);
  return getPrecedence(expr) < precedence ? "(" + text + ")" : text;
}

std::string SourceWriter::list(llvm::ArrayRef<Expr *> exprs) {
  std::string result;
  for (Expr *expr : exprs)
    result += (result.empty() ? "" : ", ") + visit(expr);
  return result;
}

std::string SourceWriter::list(llvm::ArrayRef<Argument> arguments) {
  std::string result;
  for (const Argument &argument : arguments)
    result +=
        (result.empty() ? "" : ", ") + (argument.name ? argument.name.name.str() + " = " : "") + visit(argument.value);
  return result;
}

std::string SourceWriter::visitIntegerLiteral(IntegerLiteral *expr) { return std::to_string(expr->value); }
std::string SourceWriter::visitRealLiteral(RealLiteral *expr) { return expr->text.str(); }
std::string SourceWriter::visitBoolLiteral(BoolLiteral *expr) { return expr->value ? "true" : "false"; }
std::string SourceWriter::visitNameExpr(NameExpr *expr) { return expr->name.name.str(); }
std::string SourceWriter::visitScalarExpr(ScalarExpr *expr) { return getSpelling(expr->scalar).str(); }
std::string SourceWriter::visitAutoExpr(AutoExpr *) { return "auto"; }
std::string SourceWriter::visitErrorExpr(ErrorExpr *) { return "?"; }
std::string SourceWriter::visitTupleExpr(TupleExpr *expr) { return "(" + list(expr->elements) + ")"; }

std::string SourceWriter::visitStringLiteral(StringLiteral *expr) {
  std::string result = "\"";
  for (char c : expr->value) {
    if (c == '"' || c == '\\')
      result += '\\';
    result += c == '\n' ? "\\n" : c == '\t' ? "\\t" : std::string(1, c);
  }
  return result + "\"";
}

std::string SourceWriter::visitUnaryExpr(UnaryExpr *expr) {
  return getSpelling(expr->op).str() + operand(expr->operand, unaryPrecedence);
}

std::string SourceWriter::visitBinaryExpr(BinaryExpr *expr) {
  unsigned precedence = getPrecedence(expr->op);
  // Comparisons do not associate at all, the rest to the left.
  unsigned left = isRelational(expr->op) ? precedence + 1 : precedence;
  return operand(expr->lhs, left) + " " + getSpelling(expr->op).str() + " " + operand(expr->rhs, precedence + 1);
}

std::string SourceWriter::block(const Block *body) {
  if (!body)
    return "{ }";
  std::string value = body->value ? visit(body->value) : "";
  return body->statements.empty() ? "{ " + value + " }" : "{ ...; " + value + " }";
}

std::string SourceWriter::visitIfExpr(IfExpr *expr) {
  return "if " + visit(expr->condition) + " " + block(expr->thenBlock) + " else " + block(expr->elseBlock);
}

std::string SourceWriter::visitIndexExpr(IndexExpr *expr) {
  return operand(expr->base, postfixPrecedence) + "[" + list(expr->indices) + fallback(expr->fallback) + "]";
}

std::string SourceWriter::visitSubstituteExpr(SubstituteExpr *expr) {
  std::string result;
  for (const Substitution &substitution : expr->substitutions)
    result += (result.empty() ? "" : ", ") + substitution.axis.name.str() + " = " + visit(substitution.value);
  return operand(expr->base, postfixPrecedence) + "[" + result + fallback(expr->fallback) + "]";
}

std::string SourceWriter::visitAxisCallExpr(AxisCallExpr *expr) {
  std::string axes;
  for (const AxisArgument &argument : expr->axes)
    axes += (axes.empty() ? "" : ", ") + argument.axis.name.str() +
            (argument.target ? " -> " + argument.target.name.str() : "");
  std::string guard = expr->guard ? " where " + visit(expr->guard) : "";
  return expr->callee.name.str() + "[" + axes + guard + "](" + list(expr->arguments) + ")";
}

std::string SourceWriter::visitCallExpr(CallExpr *expr) {
  return operand(expr->callee, postfixPrecedence) + "(" + list(expr->arguments) + ")";
}

std::string SourceWriter::visitMemberExpr(MemberExpr *expr) {
  return operand(expr->base, postfixPrecedence) + "." + expr->member.name.str();
}

std::string ast::toSource(const Expr *expr) { return SourceWriter().visit(const_cast<Expr *>(expr)); }
