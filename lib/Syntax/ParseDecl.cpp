// Parsing of files, declarations, parameters and types.
#include "ForeignWords.h"
#include "ParserImpl.h"

using namespace tilec;
using namespace tilec::ast;

SourceFile Parser::parseSourceFile() {
  SourceFile result;
  result.file = file;
  while (!at(TokenKind::EndOfFile)) {
    if (consumeIf(TokenKind::Semicolon))
      continue;
    size_t start = position;
    unsigned errorsBefore = numErrors;
    if (Decl *decl = parseDecl())
      result.decls.push_back(decl);
    if (numErrors == errorsBefore)
      continue;
    if (position == start)
      consume();
    while (!atDeclaration() && !(at(TokenKind::At) && token().startsLine) && !at(TokenKind::EndOfFile))
      consume();
  }
  return result;
}

Expr *Parser::parseWholeConstValue() {
  newlineEnds = false;
  Expr *value = parseConstValue();
  if (numErrors == 0 && !at(TokenKind::EndOfFile))
    reportExpected("the end of the value");
  // A malformed token was reported by the lexer alone.
  return numErrors == 0 && !engine.hasErrors() ? value : nullptr;
}

Decl *Parser::parseDecl() {
  llvm::MutableArrayRef<Annotation> annotations = parseAnnotations();
  if (at(TokenKind::Kernel))
    return parseKernel(annotations);
  if (atDeclarationKeyword())
    checkAnnotations(annotations, AnnotationTarget::Other, describeToken(/*atLineEnd=*/false));
  switch (token().kind) {
  case TokenKind::Import:
    return parseImport();
  case TokenKind::Const:
    return parseConst();
  case TokenKind::Instantiate:
    return parseInstantiate();
  case TokenKind::Fn:
    return parseFunction();
  default:
    break;
  }
  std::string found = describeToken(/*atLineEnd=*/false);
  llvm::StringRef meant = at(TokenKind::Identifier) ? suggestDeclaration(token().text) : llvm::StringRef();
  if (auto diagnostic = reportHere(diag::err_expected_declaration, /*atLineEnd=*/false)) {
    *diagnostic << found;
    if (!meant.empty())
      *diagnostic << FixIt::replacement(token().range, meant);
  }
  return nullptr;
}

Decl *Parser::parseImport() {
  SourceRange begin = consume();
  if (!at(TokenKind::String)) {
    reportExpected("a file name in double quotes");
    return nullptr;
  }
  llvm::StringRef path = context.copy(unescapeString(token().text));
  SourceRange pathRange = consume();
  expectStatementEnd();
  return context.create<ImportDecl>(rangeFrom(begin), path, pathRange);
}

Decl *Parser::parseConst() {
  SourceRange begin = consume();
  Identifier name = parseIdentifier("the name of a constant");
  ScalarRef *type = nullptr;
  if (consumeIf(TokenKind::Colon))
    type = context.make(parseScalar());
  if (!expect(TokenKind::Assign))
    return nullptr;
  Expr *value = parseExpr();
  expectStatementEnd();
  return context.create<ConstDecl>(rangeFrom(begin), name, type, value);
}

Decl *Parser::parseInstantiate() {
  SourceRange begin = consume();
  Identifier kernel = parseIdentifier("the name of a kernel");
  llvm::MutableArrayRef<ConstArgument> arguments = parseConstArguments();
  if (!expect(TokenKind::As))
    return nullptr;
  Identifier alias = parseIdentifier("the name of the instance");
  expectStatementEnd();
  return context.create<InstantiateDecl>(rangeFrom(begin), kernel, arguments, alias);
}

llvm::MutableArrayRef<ConstArgument> Parser::parseConstArguments() {
  llvm::SaveAndRestore<bool> header(newlineEnds, false);
  llvm::SmallVector<ConstArgument> arguments;
  if (!expect(TokenKind::Less))
    return {};
  do {
    ConstArgument argument;
    argument.name = parseIdentifier("the name of a constant");
    if (expect(TokenKind::Assign))
      argument.value = parseConstValue();
    else
      argument.value = errorExpr();
    arguments.push_back(argument);
  } while (consumeIf(TokenKind::Comma));
  expect(TokenKind::Greater);
  return copy(arguments);
}

/// The value of a constant in `< >` or on the command line.
Expr *Parser::parseConstValue() {
  if (at(TokenKind::Auto))
    return context.create<AutoExpr>(consume());
  llvm::SaveAndRestore<bool> angles(inAngles, true);
  return parseExpr();
}

llvm::MutableArrayRef<ConstParam> Parser::parseConstParams() {
  llvm::SmallVector<ConstParam> params;
  if (!consumeIf(TokenKind::Less))
    return {};
  do
    params.push_back(parseConstParam());
  while (consumeIf(TokenKind::Comma));
  expect(TokenKind::Greater);
  return copy(params);
}

ConstParam Parser::parseConstParam() {
  ConstParam param;
  SourceRange begin = token().range;
  param.name = parseIdentifier("the name of a constant");
  expect(TokenKind::Colon);
  if (atWord("type")) {
    param.isType = true;
    consume();
  } else {
    param.type = parseScalar();
  }
  if (consumeIf(TokenKind::Assign))
    param.defaultValue = parseConstValue();
  param.range = rangeFrom(begin);
  return param;
}

Decl *Parser::parseFunction() {
  llvm::SaveAndRestore<bool> header(newlineEnds, false);
  SourceRange begin = consume();
  unsigned errorsBefore = numErrors;
  auto *function = context.create<FunctionDecl>(begin);
  function->name = parseIdentifier("the name of a function");
  function->constParams = parseConstParams();
  if (at(TokenKind::LeftBracket))
    function->axes = parseAxisNames();
  function->params = parseFunctionParams();
  if (expect(TokenKind::Arrow))
    parseResults(*function);
  function->body = parseBody(errorsBefore, BlockMode::Value);
  function->range = rangeFrom(begin);
  return function;
}

llvm::MutableArrayRef<FunctionParam> Parser::parseFunctionParams() {
  if (!at(TokenKind::LeftParen)) {
    reportExpected("`(`");
    return {};
  }
  Bracket bracket(*this);
  llvm::SmallVector<FunctionParam> params;
  if (!at(TokenKind::RightParen)) {
    do
      params.push_back(parseFunctionParam());
    while (consumeIf(TokenKind::Comma));
  }
  bracket.close(TokenKind::RightParen);
  return copy(params);
}

FunctionParam Parser::parseFunctionParam() {
  FunctionParam param;
  param.name = parseIdentifier("the name of a parameter");
  if (expect(TokenKind::Colon))
    param.type = parseType();
  return param;
}

/// One type, or several in parentheses.
void Parser::parseResults(FunctionDecl &function) {
  llvm::SmallVector<TypeRef> results;
  if (at(TokenKind::LeftParen)) {
    Bracket bracket(*this);
    do
      results.push_back(parseType());
    while (consumeIf(TokenKind::Comma));
    bracket.close(TokenKind::RightParen);
  } else {
    results.push_back(parseType());
  }
  function.results = copy(results);
  function.returnsTuple = results.size() > 1;
}

Decl *Parser::parseKernel(llvm::ArrayRef<Annotation> annotations) {
  llvm::SaveAndRestore<bool> header(newlineEnds, false);
  unsigned errorsBefore = numErrors;
  checkAnnotations(annotations, AnnotationTarget::Kernel, "a `kernel`");
  SourceRange begin = consume();
  auto *kernel = context.create<KernelDecl>(begin);
  kernel->annotations = context.copy(annotations);
  kernel->name = parseIdentifier("the name of a kernel");
  kernel->constParams = parseConstParams();
  kernel->params = parseParams();
  if (consumeIf(TokenKind::Where))
    kernel->contracts = parseContracts();
  nextBlockAllowsTemp = true;
  kernel->body = parseBody(errorsBefore, BlockMode::Statements);
  nextBlockAllowsTemp = false;
  kernel->range = rangeFrom(begin);
  return kernel;
}

llvm::MutableArrayRef<Param> Parser::parseParams() {
  if (!at(TokenKind::LeftParen)) {
    reportExpected("`(`");
    return {};
  }
  Bracket bracket(*this);
  llvm::SmallVector<Param> params;
  if (!at(TokenKind::RightParen)) {
    do
      params.push_back(parseParam());
    while (consumeIf(TokenKind::Comma));
  }
  bracket.close(TokenKind::RightParen);
  return copy(params);
}

Param Parser::parseParam() {
  Param param;
  SourceRange begin = token().range;
  if (consumeIf(TokenKind::Out))
    param.direction = ParamDirection::Out;
  else if (consumeIf(TokenKind::InOut))
    param.direction = ParamDirection::InOut;
  param.name = parseIdentifier("the name of a parameter");
  if (!expect(TokenKind::Colon))
    return param;
  if (atWord("dim")) {
    param.isDim = true;
    consume();
  } else {
    param.element = parseScalar();
  }
  if (at(TokenKind::LeftBracket) && !param.isDim) {
    param.hasShape = true;
    param.shape = parseShape();
    if (atWord("strides"))
      parseStrides(param);
  }
  if (consumeIf(TokenKind::If))
    param.condition = parseCondition();
  param.range = rangeFrom(begin);
  return param;
}

/// `strides dynamic` or `strides [lda, 1]`.
void Parser::parseStrides(Param &param) {
  consume();
  if (atWord("dynamic")) {
    consume();
    param.stridesKind = StridesKind::Dynamic;
  } else if (at(TokenKind::LeftBracket)) {
    param.stridesKind = StridesKind::Explicit;
    param.strides = parseShape();
  } else {
    reportExpected("`dynamic` or a list of strides in brackets");
  }
}

llvm::MutableArrayRef<Contract> Parser::parseContracts() {
  llvm::SmallVector<Contract> contracts;
  do
    contracts.push_back(parseContract());
  while (consumeIf(TokenKind::Comma));
  return copy(contracts);
}

Contract Parser::parseContract() {
  Contract contract;
  SourceRange begin = token().range;
  if (at(TokenKind::Identifier) && peek().is(TokenKind::In)) {
    contract.name = parseIdentifier("a name");
    consume();
    if (at(TokenKind::LeftBrace)) {
      Bracket bracket(*this);
      contract.choices = parseExprList();
      bracket.close(TokenKind::RightBrace);
    } else {
      reportExpected("`{` and the allowed values");
    }
  } else {
    contract.condition = parseCondition();
  }
  contract.range = rangeFrom(begin);
  return contract;
}

ScalarRef Parser::parseScalar() {
  ScalarRef scalar;
  scalar.range = token().range;
  if (at(TokenKind::Scalar)) {
    scalar.kind = token().scalar;
    consume();
  } else if (at(TokenKind::Identifier)) {
    scalar.name = identifierOf(token());
    consume();
  } else {
    reportExpected("a scalar type");
  }
  return scalar;
}

TypeRef Parser::parseType() {
  TypeRef type;
  SourceRange begin = token().range;
  type.scalar = parseScalar();
  if (at(TokenKind::LeftBracket)) {
    type.hasBrackets = true;
    type.axes = parseAxisNames();
  }
  type.range = rangeFrom(begin);
  return type;
}

/// `[` names of axes `]`, possibly none.
llvm::MutableArrayRef<Identifier> Parser::parseAxisNames() {
  Bracket bracket(*this);
  llvm::SmallVector<Identifier> names;
  if (!at(TokenKind::RightBracket)) {
    do
      names.push_back(parseAxisName());
    while (consumeIf(TokenKind::Comma));
  }
  bracket.close(TokenKind::RightBracket);
  return copy(names);
}

Identifier Parser::parseAxisName() {
  if (at(TokenKind::Identifier) || token().isWord())
    return parseIdentifier("the name of an axis");
  std::string found = describeToken();
  if (auto diagnostic = reportHere(diag::err_expected_axis_name))
    *diagnostic << found;
  return Identifier();
}

/// `[` expressions `]`, possibly none.
llvm::MutableArrayRef<Expr *> Parser::parseShape() {
  Bracket bracket(*this);
  llvm::MutableArrayRef<Expr *> exprs;
  if (!at(TokenKind::RightBracket))
    exprs = parseExprList();
  bracket.close(TokenKind::RightBracket);
  return exprs;
}

llvm::MutableArrayRef<Expr *> Parser::parseExprList() {
  llvm::SmallVector<Expr *> exprs;
  do
    exprs.push_back(parseExpr());
  while (consumeIf(TokenKind::Comma));
  return copy(exprs);
}

Identifier Parser::parseIdentifier(llvm::StringRef what) {
  if (at(TokenKind::Identifier)) {
    Identifier identifier = identifierOf(token());
    consume();
    return identifier;
  }
  if (!token().isWord() || !continues()) {
    reportExpected(what);
    return Identifier();
  }
  if (auto diagnostic = reportHere(diag::err_keyword_as_name, /*atLineEnd=*/false))
    *diagnostic << token().text;
  Identifier identifier = identifierOf(token());
  consume();
  return identifier;
}
