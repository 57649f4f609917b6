// Parsing of blocks and statements.
#include "ParserImpl.h"

using namespace tilec;
using namespace tilec::ast;

Block *Parser::makeBlock(SourceRange range, llvm::ArrayRef<Stmt *> statements, Expr *value) {
  Block block;
  block.range = range;
  block.statements = context.copy(statements);
  block.value = value;
  return context.make(block);
}

/// The block after a header that began when there were `errorsBefore` errors.
Block *Parser::parseBody(unsigned errorsBefore, BlockMode mode) {
  if (!at(TokenKind::LeftBrace)) {
    if (numErrors == errorsBefore)
      reportExpected("`{`");
    recoverToBlock();
    if (!at(TokenKind::LeftBrace))
      return makeBlock(token().range, {}, nullptr);
  }
  return parseBlock(mode);
}

Block *Parser::parseBlock(BlockMode mode) {
  Depth nesting(*this);
  size_t opener = position;
  if (nesting.isDeep || !expect(TokenKind::LeftBrace))
    return makeBlock(token().range, {}, nullptr);
  llvm::SaveAndRestore<bool> newlines(newlineEnds, true);
  llvm::SaveAndRestore<bool> angles(inAngles, false);
  llvm::SaveAndRestore<bool> temps(allowsTemp, std::exchange(nextBlockAllowsTemp, false));
  unsigned errorsBefore = numErrors;
  llvm::SmallVector<Stmt *> statements;
  Expr *value = nullptr;
  while (!at(TokenKind::RightBrace) && !at(TokenKind::EndOfFile) && (!atDeclaration() || at(TokenKind::Const))) {
    if (!consumeIf(TokenKind::Semicolon))
      parseBlockItem(mode, statements, value);
  }
  if (mode == BlockMode::Value && !value && numErrors == errorsBefore)
    report(token().range, diag::err_missing_value);
  if (!at(TokenKind::RightBrace)) {
    std::string found = describeToken(/*atLineEnd=*/false);
    if (auto diagnostic = reportHere(diag::err_unclosed)) {
      *diagnostic << "}" << found;
      diagnostic->note(tokens[opener].range, diag::note_opened_here) << "{";
    }
  }
  consumeIf(TokenKind::RightBrace);
  return makeBlock(rangeFrom(tokens[opener].range), statements, value);
}

Block *Parser::parseWholeStatements() {
  llvm::SaveAndRestore<bool> newlines(newlineEnds, true);
  SourceRange begin = token().range;
  llvm::SmallVector<Stmt *> statements;
  Expr *value = nullptr;
  while (!at(TokenKind::EndOfFile)) {
    size_t start = position;
    if (!consumeIf(TokenKind::Semicolon))
      parseBlockItem(BlockMode::Statements, statements, value);
    if (position == start) {
      reportExpected("a statement");
      break;
    }
  }
  return numErrors == 0 && !engine.hasErrors() ? makeBlock(rangeFrom(begin), statements, value) : nullptr;
}

/// One statement or the value of the block, with recovery at its end.
void Parser::parseBlockItem(BlockMode mode, llvm::SmallVectorImpl<Stmt *> &statements, Expr *&value) {
  Expr *earlierValue = std::exchange(value, nullptr);
  size_t start = position;
  unsigned errorsBefore = numErrors;
  if (Stmt *stmt = parseStmt(mode, value))
    statements.push_back(stmt);
  if (numErrors == errorsBefore)
    expectStatementEnd();
  // What follows may be the rest of the value on a new line, and has been reported then.
  if (earlierValue && lastErrorPosition != start)
    reportUnusedValue(earlierValue);
  if (numErrors != errorsBefore && (position == start || !atStatementEnd()))
    recoverStatement(start);
}

void Parser::reportUnusedValue(const Expr *value) {
  if (!llvm::isa<ErrorExpr>(value))
    report(value->range, diag::err_unused_value);
}

/// What annotations see before a statement: its kind and its description for messages.
static std::pair<AnnotationTarget, llvm::StringRef> describe(const Stmt *stmt) {
  if (!stmt)
    return {AnnotationTarget::Other, "an expression"};
  switch (stmt->kind) {
  case StmtKind::ParallelStmt:
    return {AnnotationTarget::Parallel, "a `parallel`"};
  case StmtKind::ForStmt:
    return {AnnotationTarget::For, "a `for`"};
  case StmtKind::LetStmt:
    return {AnnotationTarget::Let, "a `let`"};
  case StmtKind::WhileStmt:
    return {AnnotationTarget::Other, "a `while`"};
  case StmtKind::IfStmt:
    return {AnnotationTarget::Other, "an `if`"};
  case StmtKind::AxisStmt:
    return {AnnotationTarget::Other, "an `axis`"};
  case StmtKind::VarStmt:
    return {AnnotationTarget::Other, "a `var`"};
  case StmtKind::AssignStmt:
    return {AnnotationTarget::Other, "an assignment"};
  case StmtKind::CallStmt:
    return {AnnotationTarget::Other, "a call"};
  case StmtKind::TempStmt:
    return {AnnotationTarget::Other, "a `temp`"};
  }
  llvm_unreachable("not a kind of statement");
}

/// A statement, or null with `value` set for an expression in a block that may have a value, or null after an error.
Stmt *Parser::parseStmt(BlockMode mode, Expr *&value) {
  llvm::MutableArrayRef<Annotation> annotations = parseAnnotations();
  unsigned errorsBefore = numErrors;
  Stmt *stmt = parseUnannotatedStmt(mode, value);
  if (annotations.empty() || (!stmt && numErrors != errorsBefore))
    return stmt;
  auto [target, what] = describe(stmt);
  checkAnnotations(annotations, target, what);
  if (stmt)
    stmt->annotations = annotations;
  return stmt;
}

Stmt *Parser::parseUnannotatedStmt(BlockMode mode, Expr *&value) {
  switch (token().kind) {
  case TokenKind::Parallel:
  case TokenKind::For:
    return parseParallelOrFor();
  case TokenKind::While:
    return parseWhile();
  case TokenKind::If:
    return parseIf(mode, value);
  case TokenKind::Axis:
    return parseAxis();
  case TokenKind::Let:
    return parseLet();
  case TokenKind::Var:
    return parseVar();
  case TokenKind::Temp:
    return parseTemp();
  case TokenKind::Atomic:
  case TokenKind::Unique:
    return parseModifiedAssign();
  default:
    return parseExprStmt(mode, value);
  }
}

Stmt *Parser::parseParallelOrFor() {
  bool isFor = at(TokenKind::For);
  unsigned errorsBefore = numErrors;
  SourceRange begin = consume();
  llvm::MutableArrayRef<Binding> bindings;
  {
    llvm::SaveAndRestore<bool> header(newlineEnds, false);
    bindings = parseBindings(isFor);
  }
  Block *body = parseBody(errorsBefore, BlockMode::Statements);
  if (isFor)
    return context.create<ForStmt>(rangeFrom(begin), bindings, body);
  return context.create<ParallelStmt>(rangeFrom(begin), bindings, body);
}

Stmt *Parser::parseWhile() {
  unsigned errorsBefore = numErrors;
  SourceRange begin = consume();
  Expr *condition;
  {
    llvm::SaveAndRestore<bool> header(newlineEnds, false);
    condition = parseCondition();
  }
  Block *body = parseBody(errorsBefore, BlockMode::Statements);
  return context.create<WhileStmt>(rangeFrom(begin), condition, body);
}

/// An `if` at the start of a statement. Where the block may have a value and the first arm has one, it is that value.
Stmt *Parser::parseIf(BlockMode mode, Expr *&value) {
  unsigned errorsBefore = numErrors;
  unsigned outerTallest = std::exchange(tallest, 0);
  SourceRange begin = consume();
  Expr *condition;
  {
    llvm::SaveAndRestore<bool> header(newlineEnds, false);
    condition = parseCondition();
  }
  BlockMode armMode = mode == BlockMode::Statements ? BlockMode::Statements : BlockMode::Either;
  Block *thenBlock = parseBody(errorsBefore, armMode);
  Block *elseBlock = consumeIf(TokenKind::Else) ? parseElse(armMode) : nullptr;
  SourceRange range = rangeFrom(begin);
  unsigned inner = std::exchange(tallest, std::max(tallest, outerTallest));
  if (!thenBlock->value) {
    if (elseBlock && elseBlock->value && numErrors == errorsBefore)
      reportUnusedValue(elseBlock->value);
    return context.create<IfStmt>(range, condition, thenBlock, elseBlock);
  }
  if (numErrors == errorsBefore) {
    if (!elseBlock)
      report(begin, diag::err_missing_else);
    else if (!elseBlock->value)
      report(SourceRange(elseBlock->range.end.advanced(-1), elseBlock->range.end), diag::err_missing_value);
  }
  Expr *node = context.create<IfExpr>(range, condition, thenBlock, elseBlock);
  value = parseBinary(finish(node, {condition}, inner + 1), 1);
  return nullptr;
}

/// What follows `else`: a block, or another `if` as the only thing in one.
Block *Parser::parseElse(BlockMode mode) {
  if (!at(TokenKind::If))
    return parseBlock(mode);
  Depth nesting(*this);
  if (nesting.isDeep)
    return makeBlock(token().range, {}, nullptr);
  SourceRange begin = token().range;
  if (mode == BlockMode::Value) {
    Expr *value = parseIfExpr();
    return makeBlock(rangeFrom(begin), {}, value);
  }
  Expr *value = nullptr;
  Stmt *stmt = parseIf(mode, value);
  if (stmt)
    return makeBlock(rangeFrom(begin), stmt, nullptr);
  return makeBlock(rangeFrom(begin), {}, value);
}

Stmt *Parser::parseAxis() {
  SourceRange begin = consume();
  Identifier name = parseIdentifier("the name of an axis");
  if (!expect(TokenKind::Assign))
    return nullptr;
  Span span = parseSpan();
  return context.create<AxisStmt>(rangeFrom(begin), name, span);
}

Stmt *Parser::parseLet() {
  SourceRange begin = consume();
  LetForm form = LetForm::Plain;
  llvm::SmallVector<Identifier> names;
  llvm::SmallVector<LetAxis> axes;
  TypeRef *type = nullptr;
  if (at(TokenKind::LeftParen)) {
    form = LetForm::Tuple;
    Bracket bracket(*this);
    do
      names.push_back(parseIdentifier("a name"));
    while (consumeIf(TokenKind::Comma));
    bracket.close(TokenKind::RightParen);
  } else {
    names.push_back(parseIdentifier("a name"));
    if (consumeIf(TokenKind::Colon)) {
      type = context.make(parseType());
    } else if (at(TokenKind::LeftBracket)) {
      form = LetForm::Algorithm;
      Bracket bracket(*this);
      do
        axes.push_back(parseLetAxis());
      while (consumeIf(TokenKind::Comma));
      bracket.close(TokenKind::RightBracket);
    }
  }
  if (!expect(TokenKind::Assign))
    return nullptr;
  Expr *value = parseExpr();
  return context.create<LetStmt>(rangeFrom(begin), form, copy(names), type, copy(axes), value);
}

/// `i` or `i in lower..upper`.
LetAxis Parser::parseLetAxis() {
  LetAxis axis;
  axis.name = parseAxisName();
  if (!consumeIf(TokenKind::In))
    return axis;
  axis.hasSpan = true;
  axis.span = parseSpan();
  if (!axis.span.isRange() && lastErrorPosition != position)
    report(axis.span.range, diag::err_expected_range) << quote(engine.getSources().getText(axis.span.range));
  return axis;
}

Stmt *Parser::parseVar() {
  SourceRange begin = consume();
  Identifier name = parseIdentifier("a name");
  TypeRef *type = nullptr;
  if (consumeIf(TokenKind::Colon))
    type = context.make(parseType());
  if (!expect(TokenKind::Assign, type ? "`=` and a value" : "`:` or `=`"))
    return nullptr;
  Expr *value = parseExpr();
  return context.create<VarStmt>(rangeFrom(begin), name, type, value);
}

Stmt *Parser::parseTemp() {
  SourceRange begin = token().range;
  if (!allowsTemp)
    report(begin, diag::err_misplaced_temp);
  consume();
  Identifier name = parseIdentifier("the name of a tensor");
  if (!expect(TokenKind::Colon))
    return nullptr;
  ScalarRef element = parseScalar();
  if (!at(TokenKind::LeftBracket)) {
    reportExpected("a shape in brackets");
    return nullptr;
  }
  llvm::MutableArrayRef<Expr *> shape = parseShape();
  return context.create<TempStmt>(rangeFrom(begin), name, element, shape);
}

/// `atomic` or `unique` and an assignment.
Stmt *Parser::parseModifiedAssign() {
  AssignModifier modifier = at(TokenKind::Atomic) ? AssignModifier::Atomic : AssignModifier::Unique;
  SourceRange begin = consume();
  unsigned errorsBefore = numErrors;
  Expr *target = parseExpr();
  if (atAssignOp())
    return parseAssign(modifier, begin, target);
  if (numErrors == errorsBefore)
    reportExpected("an assignment operator");
  return nullptr;
}

/// A statement that starts with an expression: an assignment, a call of `assert` or `print`, or a block's value.
Stmt *Parser::parseExprStmt(BlockMode mode, Expr *&value) {
  if (reportLeadingOperator(mode))
    return nullptr;
  bool isCall = (atWord("assert") || atWord("print")) && peek().is(TokenKind::LeftParen) && !peek().startsLine;
  if (isCall)
    return parseCallStmt();
  size_t start = position;
  unsigned errorsBefore = numErrors;
  switch (token().kind) {
  case TokenKind::RightParen:
  case TokenKind::RightBracket:
  case TokenKind::RightBrace:
  case TokenKind::Else:
  case TokenKind::Const:
  case TokenKind::EndOfFile:
    if (auto diagnostic = reportHere(diag::err_expected_statement, /*atLineEnd=*/false))
      *diagnostic << describeToken(/*atLineEnd=*/false);
    return nullptr;
  default:
    break;
  }
  Expr *expr = parseExpr();
  if (position == start || (numErrors != errorsBefore && !atAssignOp()))
    return nullptr;
  if (atAssignOp())
    return parseAssign(AssignModifier::None, expr->range, expr);
  if (mode != BlockMode::Statements)
    value = expr;
  else if (atStatementEnd())
    reportUnusedValue(expr);
  return nullptr;
}

Stmt *Parser::parseCallStmt() {
  bool isAssert = atWord("assert");
  Identifier name = parseIdentifier("a name");
  auto *callee = context.create<NameExpr>(name);
  llvm::MutableArrayRef<Argument> arguments = parseArguments(/*allowStrings=*/true);
  auto *call = context.create<CallExpr>(rangeFrom(name.range), callee, arguments);
  llvm::SmallVector<Expr *> operands = {callee};
  for (const Argument &argument : arguments)
    operands.push_back(argument.value);
  if (!llvm::isa<CallExpr>(finish(call, operands)))
    return nullptr;
  return context.create<CallStmt>(call->range, call, isAssert);
}

/// A line that continues the one before by a binary operator, which the newline does not allow. `-x` without a space
/// may be the value of a block.
bool Parser::reportLeadingOperator(BlockMode mode) {
  switch (token().kind) {
  case TokenKind::Minus:
    if (mode != BlockMode::Statements && !peek().hasSpaceBefore)
      return false;
    break;
  case TokenKind::Plus:
  case TokenKind::Star:
  case TokenKind::Slash:
  case TokenKind::Percent:
  case TokenKind::Ampersand:
  case TokenKind::Pipe:
  case TokenKind::Caret:
  case TokenKind::AmpersandAmpersand:
  case TokenKind::PipePipe:
  case TokenKind::ShiftLeft:
  case TokenKind::ShiftRight:
  case TokenKind::EqualEqual:
  case TokenKind::NotEqual:
  case TokenKind::Less:
  case TokenKind::LessEqual:
  case TokenKind::Greater:
  case TokenKind::GreaterEqual:
    break;
  default:
    return false;
  }
  const Token &before = previous();
  bool continuesLine = token().startsLine && !before.is(TokenKind::LeftBrace) && !before.is(TokenKind::RightBrace) &&
                       !before.is(TokenKind::Semicolon);
  if (!continuesLine) {
    if (auto diagnostic = reportHere(diag::err_expected_statement, /*atLineEnd=*/false))
      *diagnostic << describeToken(/*atLineEnd=*/false);
    return true;
  }
  auto diagnostic = reportHere(diag::err_leading_operator, /*atLineEnd=*/false);
  if (!diagnostic)
    return true;
  SourceLoc rest = peek().startsLine ? token().range.end : peek().range.begin;
  *diagnostic << token().text << FixIt::insertion(before.range.end, (" " + token().text).str())
              << FixIt::removal(SourceRange(token().range.begin, rest));
  return true;
}
