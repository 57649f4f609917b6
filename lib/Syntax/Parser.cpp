// The parser's handling of tokens, its error reports and its recovery.
#include "ForeignWords.h"
#include "ParserImpl.h"
#include "llvm/ADT/StringExtras.h"

using namespace tilec;

Parser::Parser(FileID file, ast::ASTContext &context, DiagnosticEngine &engine)
    : context(context), engine(engine), file(file), tokens(tokenize(file, engine)) {
  findPartners();
}

ast::SourceFile tilec::parseFile(FileID file, ast::ASTContext &context, DiagnosticEngine &engine) {
  return Parser(file, context, engine).parseSourceFile();
}

ast::Expr *tilec::parseConstValue(FileID file, ast::ASTContext &context, DiagnosticEngine &engine) {
  return Parser(file, context, engine).parseWholeConstValue();
}

ast::Block *tilec::parseStatements(FileID file, ast::ASTContext &context, DiagnosticEngine &engine) {
  return Parser(file, context, engine).parseWholeStatements();
}

SourceRange Parser::consume() {
  SourceRange range = token().range;
  if (!at(TokenKind::EndOfFile))
    ++position;
  return range;
}

bool Parser::consumeIf(TokenKind kind) {
  if (!at(kind))
    return false;
  consume();
  return true;
}

bool Parser::expect(TokenKind kind, llvm::StringRef what) {
  if (consumeIf(kind))
    return true;
  reportExpected(what);
  return false;
}

/// From the start of `first` to the end of the last consumed token.
SourceRange Parser::rangeFrom(SourceRange first) const {
  SourceLoc end = previous().range.end;
  return SourceRange(first.begin, end < first.begin ? first.begin : end);
}

std::string Parser::describeToken(bool atLineEnd) const {
  if (at(TokenKind::EndOfFile))
    return "the end of the file";
  if (atLineEnd && newlineEnds && token().startsLine && position != 0)
    return "the end of the line";
  if (at(TokenKind::String))
    return "a string";
  return quote(token().text);
}

std::optional<DiagnosticBuilder> Parser::reportHere(diag::Kind kind, bool atLineEnd) {
  ++numErrors;
  bool isRepetition = lastErrorPosition == position;
  lastErrorPosition = position;
  if (isRepetition || at(TokenKind::Error))
    return std::nullopt;
  bool endsLine = newlineEnds || at(TokenKind::EndOfFile) || kind == diag::err_unclosed;
  bool isAtLineEnd = atLineEnd && endsLine && position != 0 && token().startsLine;
  return engine.report(isAtLineEnd ? SourceRange(previous().range.end) : token().range, kind);
}

DiagnosticBuilder Parser::report(SourceRange range, diag::Kind kind) {
  ++numErrors;
  return engine.report(range, kind);
}

void Parser::reportExpected(llvm::StringRef what) {
  std::string found = describeToken();
  if (auto diagnostic = reportHere(diag::err_expected))
    *diagnostic << what << found;
}

/// Pairs brackets, so that recovery can skip the rest of one. A brace is never skipped to close a round or square one.
void Parser::findPartners() {
  partners.assign(tokens.size(), 0);
  llvm::SmallVector<size_t> stack;
  for (size_t i = 0; i < tokens.size(); ++i) {
    TokenKind kind = tokens[i].kind;
    bool isOpener = kind == TokenKind::LeftParen || kind == TokenKind::LeftBracket || kind == TokenKind::LeftBrace;
    if (isOpener) {
      stack.push_back(i);
      continue;
    }
    if (kind != TokenKind::RightParen && kind != TokenKind::RightBracket && kind != TokenKind::RightBrace)
      continue;
    TokenKind opener = static_cast<TokenKind>(static_cast<unsigned>(kind) - 1);
    size_t size = stack.size();
    while (size != 0 && !tokens[stack[size - 1]].is(opener) && !tokens[stack[size - 1]].is(TokenKind::LeftBrace))
      --size;
    bool isClosingBrace = kind == TokenKind::RightBrace;
    if (size == 0 || !tokens[stack[size - 1]].is(opener)) {
      if (isClosingBrace)
        stack.clear();
      continue;
    }
    partners[stack[size - 1]] = i;
    stack.truncate(size - 1);
  }
}

Parser::Bracket::Bracket(Parser &parser)
    : parser(parser), index(parser.position), newlineEnds(parser.newlineEnds, false), inAngles(parser.inAngles, false) {
  parser.consume();
}

void Parser::Bracket::close(TokenKind closer) {
  if (parser.consumeIf(closer))
    return;
  std::string found = parser.describeToken();
  if (auto diagnostic = parser.reportHere(diag::err_unclosed)) {
    // Something that could be the next element: the comma is what is missing.
    bool isElement = closer != TokenKind::RightBrace && !parser.token().startsLine &&
                     (parser.at(TokenKind::Identifier) || parser.at(TokenKind::Integer) || parser.at(TokenKind::Out) ||
                      parser.at(TokenKind::InOut));
    *diagnostic << ((isElement ? ",` or `" : "") + getSpelling(closer)).str() << found;
    const Token &opener = parser.tokens[index];
    diagnostic->note(opener.range, diag::note_opened_here) << opener.text;
  }
  parser.position = std::max(parser.position, parser.partners[index]);
  if (parser.position == parser.partners[index])
    parser.consume();
}

Parser::Depth::Depth(Parser &parser) : parser(parser), isDeep(++parser.depth > maxNestingDepth) {
  if (isDeep)
    parser.reportTooDeep(parser.token().range);
}

/// Reports it once a file: what follows from it is not worth reading.
void Parser::reportTooDeep(SourceRange range) {
  ++numErrors;
  lastErrorPosition = position;
  if (!std::exchange(reportedTooDeep, true))
    engine.report(range, diag::err_nesting_too_deep) << maxNestingDepth;
}

bool Parser::atStatementEnd() const {
  return token().startsLine || at(TokenKind::Semicolon) || at(TokenKind::RightBrace) || at(TokenKind::EndOfFile);
}

bool Parser::atDeclarationKeyword() const {
  switch (token().kind) {
  case TokenKind::Import:
  case TokenKind::Const:
  case TokenKind::Fn:
  case TokenKind::Kernel:
  case TokenKind::Instantiate:
    return true;
  default:
    return false;
  }
}

void Parser::expectStatementEnd() {
  if (atStatementEnd())
    return;
  if (at(TokenKind::Assign)) {
    if (auto diagnostic = reportHere(diag::err_assignment_in_expression))
      *diagnostic << FixIt::replacement(token().range, "==");
    return;
  }
  std::string found = describeToken();
  auto diagnostic = reportHere(diag::err_expected_line_end);
  if (!diagnostic)
    return;
  *diagnostic << found;
  // A word by itself was meant to be the keyword of the statement.
  const Token &before = position < 2 ? previous() : tokens[position - 2];
  bool isFirst = previous().startsLine || before.is(TokenKind::LeftBrace) || before.is(TokenKind::Semicolon);
  llvm::StringRef word = isFirst && previous().is(TokenKind::Identifier) ? previous().text : llvm::StringRef();
  llvm::StringRef advice = adviseOn(word.empty() ? token().text : word);
  if (!advice.empty())
    diagnostic->note(word.empty() ? token().range : previous().range, diag::note_advice) << advice;
  else if (llvm::StringRef meant = suggestStatement(word); !meant.empty())
    *diagnostic << FixIt::replacement(previous().range, meant);
}

/// Skips the rest of a statement that could not be parsed and began at token `start`: to the end of the line, over any
/// block that begins on it.
void Parser::recoverStatement(size_t start) {
  unsigned braces = 0;
  for (; !at(TokenKind::EndOfFile); consume()) {
    bool isNew = position != start;
    if (isNew && atDeclaration() && !at(TokenKind::Const))
      return;
    bool endsHere =
        at(TokenKind::RightBrace) || at(TokenKind::Semicolon) || (token().startsLine && !at(TokenKind::Else));
    if (isNew && braces == 0 && endsHere)
      return;
    if (at(TokenKind::LeftBrace))
      ++braces;
    else if (at(TokenKind::RightBrace) && braces != 0)
      --braces;
  }
}

/// After an error in the header of a block: to its `{` if that is on this line.
void Parser::recoverToBlock() {
  for (size_t i = position; i < tokens.size(); ++i) {
    const Token &candidate = tokens[i];
    if (candidate.is(TokenKind::LeftBrace)) {
      position = i;
      return;
    }
    if (candidate.startsLine || candidate.is(TokenKind::RightBrace))
      return;
  }
}
