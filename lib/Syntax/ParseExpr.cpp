// Parsing of operators and primary expressions.
#include "ParserImpl.h"

using namespace tilec;
using namespace tilec::ast;

namespace {
struct BinaryOpInfo {
  TokenKind token;
  BinaryOp op;
  unsigned precedence;
};
} // namespace

static constexpr BinaryOpInfo binaryOps[] = {
    {TokenKind::PipePipe, BinaryOp::LogicalOr, 1},
    {TokenKind::AmpersandAmpersand, BinaryOp::LogicalAnd, 2},
    {TokenKind::EqualEqual, BinaryOp::Equal, 3},
    {TokenKind::NotEqual, BinaryOp::NotEqual, 3},
    {TokenKind::Less, BinaryOp::Less, 3},
    {TokenKind::LessEqual, BinaryOp::LessEqual, 3},
    {TokenKind::Greater, BinaryOp::Greater, 3},
    {TokenKind::GreaterEqual, BinaryOp::GreaterEqual, 3},
    {TokenKind::Pipe, BinaryOp::BitOr, 4},
    {TokenKind::Caret, BinaryOp::BitXor, 5},
    {TokenKind::Ampersand, BinaryOp::BitAnd, 6},
    {TokenKind::ShiftLeft, BinaryOp::ShiftLeft, 7},
    {TokenKind::ShiftRight, BinaryOp::ShiftRight, 7},
    {TokenKind::Plus, BinaryOp::Add, 8},
    {TokenKind::Minus, BinaryOp::Subtract, 8},
    {TokenKind::Star, BinaryOp::Multiply, 9},
    {TokenKind::Slash, BinaryOp::Divide, 9},
    {TokenKind::Percent, BinaryOp::Remainder, 9},
};
static constexpr unsigned comparisonPrecedence = 3;

static const BinaryOpInfo *findBinaryOp(TokenKind token) {
  for (const BinaryOpInfo &info : binaryOps)
    if (info.token == token)
      return &info;
  return nullptr;
}

static bool isComparison(TokenKind token) {
  const BinaryOpInfo *info = findBinaryOp(token);
  return info && info->precedence == comparisonPrecedence;
}

Expr *Parser::parseExpr() { return parseBinary(parseUnary(), 1); }

/// An expression where `=` can only be meant as `==`.
Expr *Parser::parseCondition() {
  Expr *condition = parseExpr();
  if (!at(TokenKind::Assign))
    return condition;
  if (auto diagnostic = reportHere(diag::err_assignment_in_expression))
    *diagnostic << FixIt::replacement(token().range, "==");
  consume();
  parseExpr();
  return condition;
}

/// Continues `lhs` with operators of at least this precedence.
Expr *Parser::parseBinary(Expr *lhs, unsigned leastPrecedence) {
  while (continues() && !failedHere()) {
    takeWordOperator();
    const BinaryOpInfo *info = findBinaryOp(token().kind);
    if (!info || info->precedence < leastPrecedence)
      return lhs;
    bool closesAngle = inAngles && (info->precedence == comparisonPrecedence || isShift(info->op));
    if (closesAngle) {
      if (!at(TokenKind::Greater))
        if (auto diagnostic = reportHere(diag::err_relational_in_constant))
          *diagnostic << token().text;
      return lhs;
    }
    if (reportUnsupportedOperator())
      return lhs;
    SourceRange opRange = consume();
    Expr *rhs = parseBinary(parseUnary(), info->precedence + 1);
    lhs = makeBinary(info->op, opRange, lhs, rhs);
    if (info->precedence == comparisonPrecedence && continues() && isComparison(token().kind))
      lhs = parseComparisonChain(lhs);
  }
  return lhs;
}

/// `a < b < c`: reports it, offering `a < b && b < c`, and parses all of it.
Expr *Parser::parseComparisonChain(Expr *lhs) {
  DiagnosticBuilder diagnostic = report(token().range, diag::err_chained_comparison);
  diagnostic << token().text << lhs->range;
  auto *first = llvm::dyn_cast<BinaryExpr>(lhs);
  Expr *middle = first ? first->rhs : lhs;
  while (continues() && isComparison(token().kind)) {
    std::string repeated = ("&& " + engine.getSources().getText(middle->range) + " ").str();
    diagnostic << FixIt::insertion(token().range.begin, repeated);
    BinaryOp op = findBinaryOp(token().kind)->op;
    SourceRange opRange = consume();
    middle = parseBinary(parseUnary(), comparisonPrecedence + 1);
    lhs = makeBinary(op, opRange, lhs, middle);
  }
  return lhs;
}

/// `and` and `or` between operands: reported, and then taken as what they mean.
void Parser::takeWordOperator() {
  for (auto [word, kind] : {std::pair("and", TokenKind::AmpersandAmpersand), std::pair("or", TokenKind::PipePipe)}) {
    if (!atWord(word))
      continue;
    if (auto diagnostic = reportHere(diag::err_unsupported_operator))
      *diagnostic << word << getSpelling(kind) << FixIt::replacement(token().range, getSpelling(kind));
    tokens[position].kind = kind;
    lastErrorPosition = SIZE_MAX;
  }
}

/// Operators of other languages whose characters are tokens here: `x++`, `x--`, `%=`, `<<=`, `>>=`.
bool Parser::reportUnsupportedOperator() {
  const Token &next = peek();
  if (next.hasSpaceBefore)
    return false;
  const Token &after = peek(2);
  bool endsStatement = after.startsLine || after.is(TokenKind::RightBrace) || after.is(TokenKind::EndOfFile);
  bool isStep = (at(TokenKind::Plus) || at(TokenKind::Minus)) && next.is(token().kind) && endsStatement;
  if (at(TokenKind::Star) && next.is(TokenKind::Star)) {
    if (auto diagnostic = reportHere(diag::err_unsupported_operator))
      *diagnostic << "**" << "pow(x, y)";
    return true;
  }
  if (!isStep && !next.is(TokenKind::Assign))
    return false;
  std::string op = (token().text + next.text).str();
  std::string instead = isStep ? ("x " + token().text + "= 1").str() : ("x = x " + token().text + " y").str();
  if (auto diagnostic = reportHere(diag::err_unsupported_operator))
    *diagnostic << op << instead;
  return true;
}

Expr *Parser::makeBinary(BinaryOp op, SourceRange opRange, Expr *lhs, Expr *rhs) {
  auto *node = context.create<BinaryExpr>(SourceRange(lhs->range, rhs->range), op, opRange, lhs, rhs);
  return finish(node, {lhs, rhs});
}

Expr *Parser::finish(Expr *node, llvm::ArrayRef<Expr *> operands, unsigned least) {
  unsigned height = least;
  for (Expr *operand : operands)
    if (operand)
      height = std::max(height, operand->height + 1u);
  if (height > maxNestingDepth) {
    reportTooDeep(node->range);
    return context.create<ErrorExpr>(node->range);
  }
  node->height = static_cast<uint16_t>(height);
  tallest = std::max(tallest, height);
  return node;
}

/// Stands for an expression that is missing at the present token.
Expr *Parser::errorExpr() { return context.create<ErrorExpr>(SourceRange(token().range.begin)); }

static std::optional<UnaryOp> getUnaryOp(TokenKind token) {
  switch (token) {
  case TokenKind::Minus:
    return UnaryOp::Negate;
  case TokenKind::Exclamation:
    return UnaryOp::Not;
  case TokenKind::Tilde:
    return UnaryOp::Complement;
  default:
    return std::nullopt;
  }
}

Expr *Parser::parseUnary() {
  Depth nesting(*this);
  if (nesting.isDeep)
    return errorExpr();
  std::optional<UnaryOp> op = getUnaryOp(token().kind);
  if (!op)
    return parsePostfix(parsePrimary());
  SourceRange begin = consume();
  Expr *operand = parseUnary();
  return finish(context.create<UnaryExpr>(SourceRange(begin, operand->range), *op, operand), {operand});
}

Expr *Parser::parsePrimary() {
  const Token &first = token();
  switch (first.kind) {
  case TokenKind::Integer:
    return parseInteger();
  case TokenKind::Real:
    return context.create<RealLiteral>(consume(), first.text);
  case TokenKind::True:
  case TokenKind::False:
    return context.create<BoolLiteral>(consume(), first.is(TokenKind::True));
  case TokenKind::Identifier:
    consume();
    return context.create<NameExpr>(identifierOf(first));
  case TokenKind::Scalar:
    return context.create<ScalarExpr>(consume(), first.scalar);
  case TokenKind::LeftParen:
    return parseParenthesized();
  case TokenKind::If:
    return parseIfExpr();
  case TokenKind::String:
    reportHere(diag::err_misplaced_string);
    return context.create<ErrorExpr>(consume());
  case TokenKind::Auto:
    reportHere(diag::err_misplaced_auto);
    return context.create<ErrorExpr>(consume());
  default:
    break;
  }
  std::string found = describeToken();
  if (auto diagnostic = reportHere(diag::err_expected_expression))
    *diagnostic << found;
  return errorExpr();
}

Expr *Parser::parseInteger() {
  llvm::StringRef text = token().text;
  std::string digits;
  for (char c : text)
    if (c != '_')
      digits += c;
  unsigned radix = 10;
  llvm::StringRef rest = digits;
  if (rest.consume_front_insensitive("0x"))
    radix = 16;
  else if (rest.consume_front_insensitive("0b"))
    radix = 2;
  uint64_t value = 0;
  if (!rest.getAsInteger(radix, value))
    return context.create<IntegerLiteral>(consume(), value);
  report(token().range, diag::err_integer_too_large) << text;
  return context.create<ErrorExpr>(consume());
}

/// `(e)` or a tuple.
Expr *Parser::parseParenthesized() {
  SourceRange begin = token().range;
  Bracket bracket(*this);
  llvm::SmallVector<Expr *> elements;
  do
    elements.push_back(parseExpr());
  while (consumeIf(TokenKind::Comma));
  bracket.close(TokenKind::RightParen);
  SourceRange range = rangeFrom(begin);
  if (elements.size() > 1)
    return finish(context.create<TupleExpr>(range, copy(elements)), elements);
  elements.front()->isParenthesized = true;
  elements.front()->range = range;
  return elements.front();
}

/// An `if` where a value is needed.
Expr *Parser::parseIfExpr() {
  unsigned outerTallest = std::exchange(tallest, 0);
  SourceRange begin = consume();
  unsigned errorsBefore = numErrors;
  Expr *condition;
  {
    llvm::SaveAndRestore<bool> header(newlineEnds, false);
    condition = parseCondition();
  }
  Block *thenBlock = parseBody(errorsBefore, BlockMode::Value);
  Block *elseBlock = nullptr;
  if (consumeIf(TokenKind::Else))
    elseBlock = parseElse(BlockMode::Value);
  else if (numErrors == errorsBefore)
    report(begin, diag::err_missing_else);
  Expr *node = context.create<IfExpr>(rangeFrom(begin), condition, thenBlock, elseBlock);
  node = finish(node, {condition}, tallest + 1);
  tallest = std::max(tallest, outerTallest);
  return node;
}
