// Parsing of what follows a primary expression: subscripts, calls and members.
#include "ParserImpl.h"

using namespace tilec;
using namespace tilec::ast;

/// What a pair of brackets after an expression holds, before it is known to be a subscript or the axes of a call.
struct Parser::BracketItems {
  /// `value`, `name = value` or `name -> target`.
  struct Item {
    Expr *value = nullptr;
    Identifier name;
    Identifier target;
  };
  SourceRange range;
  llvm::SmallVector<Item> items;
  Expr *guard = nullptr;
  SourceRange whereRange;
  Expr *fallback = nullptr;
  SourceRange elseRange;
  /// The first `->`, if any.
  SourceRange arrowRange;
  bool hasErrors = false;
};

Expr *Parser::parsePostfix(Expr *base) {
  while (continues() && !failedHere()) {
    switch (token().kind) {
    case TokenKind::LeftBracket:
      base = parseBracket(base);
      break;
    case TokenKind::LeftParen:
      base = parseCall(base);
      break;
    case TokenKind::Dot:
      base = parseMember(base);
      break;
    default:
      return base;
    }
  }
  return base;
}

Expr *Parser::parseMember(Expr *base) {
  consume();
  // A keyword on the next line is the next statement and not an attribute.
  if (!token().isWord() || (!continues() && !at(TokenKind::Identifier))) {
    reportExpected("the name of an attribute");
    return base;
  }
  Identifier member = identifierOf(token());
  consume();
  return finish(context.create<MemberExpr>(SourceRange(base->range, member.range), base, member), {base});
}

/// `callee(arguments)` as a value.
Expr *Parser::parseCall(Expr *callee) {
  auto *name = llvm::dyn_cast<NameExpr>(callee);
  bool isName = (name || llvm::isa<ScalarExpr>(callee)) && !callee->isParenthesized;
  if (!isName && !llvm::isa<ErrorExpr>(callee))
    report(callee->range, diag::err_not_callable);
  bool isStatement = name && (name->name.name == "assert" || name->name.name == "print");
  if (isStatement)
    report(callee->range, diag::err_statement_as_value) << name->name.name;
  llvm::MutableArrayRef<Argument> arguments = parseArguments(/*allowStrings=*/isStatement);
  llvm::SmallVector<Expr *> operands = {callee};
  for (const Argument &argument : arguments)
    operands.push_back(argument.value);
  if (!isName)
    return context.create<ErrorExpr>(rangeFrom(callee->range));
  return finish(context.create<CallExpr>(rangeFrom(callee->range), callee, arguments), operands);
}

llvm::MutableArrayRef<Argument> Parser::parseArguments(bool allowStrings) {
  Bracket bracket(*this);
  llvm::SmallVector<Argument> arguments;
  if (!at(TokenKind::RightParen)) {
    do
      arguments.push_back(parseArgument(allowStrings));
    while (consumeIf(TokenKind::Comma));
  }
  bracket.close(TokenKind::RightParen);
  return copy(arguments);
}

Argument Parser::parseArgument(bool allowStrings) {
  Argument argument;
  if (token().isWord() && peek().is(TokenKind::Assign)) {
    argument.name = identifierOf(token());
    consume();
    consume();
  }
  if (allowStrings && at(TokenKind::String)) {
    llvm::StringRef value = context.copy(unescapeString(token().text));
    argument.value = context.create<StringLiteral>(consume(), value);
  } else {
    argument.value = parseExpr();
  }
  return argument;
}

/// `base[...]`: a subscript, a re-indexing, or with `(` on the same line a call with axes.
Expr *Parser::parseBracket(Expr *base) {
  BracketItems items;
  parseBracketItems(items);
  if (at(TokenKind::LeftParen) && !token().startsLine)
    return makeAxisCall(base, items);
  return makeSubscript(base, items);
}

void Parser::parseBracketItems(BracketItems &items) {
  SourceRange begin = token().range;
  unsigned errorsBefore = numErrors;
  Bracket bracket(*this);
  if (!at(TokenKind::RightBracket) && !at(TokenKind::Where) && !at(TokenKind::Else)) {
    do {
      BracketItems::Item item;
      TokenKind next = peek().kind;
      bool isNamed = token().isWord() && (next == TokenKind::Assign || next == TokenKind::Arrow);
      if (isNamed)
        item.name = parseIdentifier("the name of an axis");
      if (isNamed && next == TokenKind::Arrow) {
        if (!items.arrowRange.isValid())
          items.arrowRange = token().range;
        consume();
        item.target = parseAxisName();
      } else {
        if (isNamed)
          consume();
        item.value = parseExpr();
      }
      items.items.push_back(item);
    } while (consumeIf(TokenKind::Comma));
  }
  if (at(TokenKind::Where)) {
    items.whereRange = consume();
    items.guard = parseExpr();
  }
  if (at(TokenKind::Else)) {
    items.elseRange = consume();
    items.fallback = parseExpr();
  }
  bracket.close(TokenKind::RightBracket);
  items.range = rangeFrom(begin);
  items.hasErrors = numErrors != errorsBefore;
}

Expr *Parser::makeSubscript(Expr *base, BracketItems &items) {
  SourceRange range = rangeFrom(base->range);
  SourceRange callOnly = items.guard ? items.whereRange : items.arrowRange;
  if (callOnly.isValid()) {
    report(callOnly, diag::err_guard_without_call) << engine.getSources().getText(callOnly);
    return context.create<ErrorExpr>(range);
  }
  llvm::SmallVector<Expr *> operands = {base, items.fallback};
  llvm::SmallVector<Expr *> indices;
  llvm::SmallVector<Substitution> substitutions;
  for (const BracketItems::Item &item : items.items) {
    operands.push_back(item.value);
    if (item.name)
      substitutions.push_back({item.name, item.value});
    else
      indices.push_back(item.value);
  }
  if (!indices.empty() && !substitutions.empty()) {
    report(items.range, diag::err_mixed_subscripts);
    return context.create<ErrorExpr>(range);
  }
  if (!substitutions.empty())
    return finish(context.create<SubstituteExpr>(range, base, copy(substitutions), items.fallback), operands);
  return finish(context.create<IndexExpr>(range, base, copy(indices), items.fallback), operands);
}

Expr *Parser::makeAxisCall(Expr *base, BracketItems &items) {
  unsigned errorsBefore = numErrors;
  auto *callee = llvm::dyn_cast<NameExpr>(base);
  if ((!callee || callee->isParenthesized) && !llvm::isa<ErrorExpr>(base))
    report(base->range, diag::err_not_callable);
  if (items.fallback)
    report(items.elseRange, diag::err_else_in_call);
  llvm::SmallVector<AxisArgument> axes;
  for (const BracketItems::Item &item : items.items) {
    auto *name = item.value ? llvm::dyn_cast<NameExpr>(item.value) : nullptr;
    if (item.target)
      axes.push_back({item.name, item.target});
    else if (name && !name->isParenthesized && !item.name)
      axes.push_back({name->name, Identifier()});
    else if (!items.hasErrors)
      report(item.value->range, diag::err_bracket_of_call);
  }
  if (items.items.empty() && !items.hasErrors)
    report(items.range, diag::err_bracket_of_call);
  llvm::MutableArrayRef<Argument> arguments = parseArguments(/*allowStrings=*/false);
  SourceRange range = rangeFrom(base->range);
  if (numErrors != errorsBefore || items.hasErrors || !callee)
    return context.create<ErrorExpr>(range);
  llvm::SmallVector<Expr *> operands = {items.guard};
  for (const Argument &argument : arguments)
    operands.push_back(argument.value);
  return finish(context.create<AxisCallExpr>(range, callee->name, copy(axes), items.guard, arguments), operands);
}
