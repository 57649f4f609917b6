// Parsing of the bindings of `parallel` and `for`, and of spans.
#include "ParserImpl.h"

using namespace tilec;
using namespace tilec::ast;

llvm::MutableArrayRef<Binding> Parser::parseBindings(bool isFor) {
  llvm::SmallVector<Binding> bindings;
  do
    bindings.push_back(parseBinding(isFor));
  while (consumeIf(TokenKind::Comma));
  return copy(bindings);
}

Binding Parser::parseBinding(bool isFor) {
  Binding binding;
  SourceRange begin = token().range;
  binding.name = parseIdentifier("the name of an axis or index");
  if (expect(TokenKind::In)) {
    // `reverse` may also be a name; it is the modifier where another operand follows it.
    TokenKind next = peek().kind;
    bool isModifier = atWord("reverse") && (next == TokenKind::Identifier || next == TokenKind::Integer);
    if (isModifier) {
      bool isLegal = isFor && peek().isIdentifier("tiles");
      if (!isLegal)
        reportHere(diag::err_misplaced_reverse);
      consume();
      binding.isReverse = true;
    }
    if (atWord("tiles") && peek().is(TokenKind::LeftParen)) {
      parseTiles(binding);
    } else {
      size_t start = position;
      binding.span = parseSpan();
      if (!binding.span.isRange() && position != start && lastErrorPosition != position) {
        std::string found = quote(engine.getSources().getText(binding.span.range));
        report(binding.span.range, diag::err_expected_range)
            << found << FixIt::insertion(binding.span.range.begin, "0..");
      }
    }
  }
  binding.range = rangeFrom(begin);
  return binding;
}

/// `tiles(span, size)`.
void Parser::parseTiles(Binding &binding) {
  consume();
  Bracket bracket(*this);
  binding.isTiles = true;
  binding.span = parseSpan();
  binding.size = nullptr;
  if (expect(TokenKind::Comma, "`,` and the size of a tile"))
    binding.size = at(TokenKind::Auto) ? context.create<AutoExpr>(consume()) : parseExpr();
  else
    binding.size = errorExpr();
  bracket.close(TokenKind::RightParen);
}

/// `lower .. upper` or one expression.
Span Parser::parseSpan() {
  Span span;
  SourceRange begin = token().range;
  Expr *first = parseExpr();
  if (at(TokenKind::DotDot) && continues()) {
    consume();
    span.lower = first;
    span.upper = parseExpr();
  } else {
    span.whole = first;
  }
  span.range = rangeFrom(begin);
  return span;
}
