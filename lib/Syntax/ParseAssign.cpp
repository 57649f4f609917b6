// Parsing of assignments.
#include "ParserImpl.h"

using namespace tilec;
using namespace tilec::ast;

namespace {
struct AssignOpInfo {
  TokenKind token;
  AssignOp op;
};
} // namespace

static constexpr AssignOpInfo assignOps[] = {
    {TokenKind::Assign, AssignOp::Set},           {TokenKind::PlusAssign, AssignOp::Add},
    {TokenKind::MinusAssign, AssignOp::Subtract}, {TokenKind::StarAssign, AssignOp::Multiply},
    {TokenKind::SlashAssign, AssignOp::Divide},   {TokenKind::AmpersandAssign, AssignOp::And},
    {TokenKind::PipeAssign, AssignOp::Or},        {TokenKind::CaretAssign, AssignOp::Xor},
};

static const AssignOpInfo *findAssignOp(TokenKind token) {
  for (const AssignOpInfo &info : assignOps)
    if (info.token == token)
      return &info;
  return nullptr;
}

/// `max=` and `min=` are two tokens without a space between them.
bool Parser::atAssignOp() const {
  if (findAssignOp(token().kind))
    return true;
  return (atWord("max") || atWord("min")) && peek().is(TokenKind::Assign) && !peek().hasSpaceBefore;
}

AssignOp Parser::parseAssignOp(SourceRange &range) {
  if (const AssignOpInfo *info = findAssignOp(token().kind)) {
    range = consume();
    return info->op;
  }
  AssignOp op = atWord("max") ? AssignOp::Max : AssignOp::Min;
  range = consume();
  range = SourceRange(range, consume());
  return op;
}

/// The rest of an assignment, at its operator.
Stmt *Parser::parseAssign(AssignModifier modifier, SourceRange begin, Expr *target) {
  SourceRange opRange;
  AssignOp op = parseAssignOp(opRange);
  auto *index = llvm::dyn_cast<IndexExpr>(target);
  auto *name = llvm::dyn_cast<NameExpr>(index ? index->base : target);
  bool isLegal = name && !name->isParenthesized && !target->isParenthesized && !(index && index->fallback);
  if (!isLegal && !llvm::isa<ErrorExpr>(target))
    report(target->range, diag::err_invalid_target);
  if (isLegal)
    checkModifier(modifier, op, opRange, index != nullptr);
  Expr *value = parseExpr();
  if (!isLegal)
    return nullptr;
  llvm::MutableArrayRef<Expr *> indices;
  if (index)
    indices = index->indices;
  auto *stmt =
      context.create<AssignStmt>(rangeFrom(begin), modifier, name->name, index != nullptr, indices, op, opRange, value);
  stmt->targetExprRange = target->range;
  return stmt;
}

void Parser::checkModifier(AssignModifier modifier, AssignOp op, SourceRange opRange, bool hasBrackets) {
  switch (modifier) {
  case AssignModifier::None:
    return;
  case AssignModifier::Unique:
    if (op != AssignOp::Set || !hasBrackets)
      report(opRange, diag::err_unique_store);
    return;
  case AssignModifier::Atomic:
    if (op == AssignOp::Set || op == AssignOp::Subtract || op == AssignOp::Multiply || op == AssignOp::Divide)
      report(opRange, diag::err_atomic_operator) << getSpelling(op);
    return;
  }
}
