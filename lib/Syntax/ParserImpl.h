// The recursive-descent parser: one object a file. Its members are defined by subject in Parser.cpp (tokens, errors,
// recovery), ParseDecl.cpp, ParseStmt.cpp, ParseBinding.cpp, ParseExpr.cpp and ParsePostfix.cpp.
//
// Newlines: tokens remember whether they start a line. `newlineEnds` says whether a newline can end what is being
// parsed: true in blocks, false inside ( ), [ ], < > and the headers of blocks. Where it is true an expression is not
// continued by a token that starts a line.
//
// Errors: at most one is reported at a token. Expressions that cannot be parsed become ErrorExprs; statements and
// declarations are the units of recovery.
#ifndef TILEC_SYNTAX_PARSERIMPL_H
#define TILEC_SYNTAX_PARSERIMPL_H

#include "tilec/Syntax/Lexer.h"
#include "tilec/Syntax/Parser.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/SaveAndRestore.h"

namespace tilec {

/// Whether the blocks being parsed end with an expression.
enum class BlockMode : uint8_t { Statements, Value, Either };

/// What annotations can modify; see Annotations.cpp.
enum class AnnotationTarget : uint8_t { Kernel, Parallel, For, Let, Other };

class Parser {
public:
  Parser(FileID file, ast::ASTContext &context, DiagnosticEngine &engine);

  ast::SourceFile parseSourceFile();
  ast::Expr *parseWholeConstValue();
  ast::Block *parseWholeStatements();

private:
  // Tokens.
  const Token &token() const { return tokens[position]; }
  const Token &peek(size_t ahead = 1) const { return tokens[std::min(position + ahead, tokens.size() - 1)]; }
  const Token &previous() const { return tokens[position == 0 ? 0 : position - 1]; }
  bool at(TokenKind kind) const { return token().is(kind); }
  bool atWord(llvm::StringRef name) const { return token().isIdentifier(name); }
  /// The present token can continue the present statement.
  bool continues() const { return !(newlineEnds && token().startsLine); }
  SourceRange consume();
  bool consumeIf(TokenKind kind);
  bool expect(TokenKind kind, llvm::StringRef what);
  bool expect(TokenKind kind) { return expect(kind, quote(getSpelling(kind))); }
  SourceRange rangeFrom(SourceRange first) const;
  static std::string quote(llvm::StringRef text) { return ("`" + text + "`").str(); }
  std::string describeToken(bool atLineEnd = true) const;

  // Errors and recovery.
  /// Reports at the present token, or where newlines count and it starts a line, at the end of the line before. Nothing
  /// if something was reported at this token already. `atLineEnd` false: always at the token.
  std::optional<DiagnosticBuilder> reportHere(diag::Kind kind, bool atLineEnd = true);
  /// Reports elsewhere about source that was parsed.
  DiagnosticBuilder report(SourceRange range, diag::Kind kind);
  void reportExpected(llvm::StringRef what);
  /// Something was reported at the present token, which nothing takes any more.
  bool failedHere() const { return lastErrorPosition == position; }
  void reportTooDeep(SourceRange range);
  void findPartners();
  bool atStatementEnd() const;
  bool atDeclarationKeyword() const;
  /// At a declaration that is first on its line: whatever was open is over.
  bool atDeclaration() const { return token().startsLine && atDeclarationKeyword(); }
  void recoverStatement(size_t start);
  void recoverToBlock();
  void expectStatementEnd();

  /// An open ( [ or { inside of which newlines do not count; its construction takes the opening bracket.
  struct Bracket {
    Parser &parser;
    size_t index;
    llvm::SaveAndRestore<bool> newlineEnds;
    llvm::SaveAndRestore<bool> inAngles;
    explicit Bracket(Parser &parser);
    /// Takes the closing bracket. If something else is found, reports it and skips to the closing bracket, if any.
    void close(TokenKind closer);
  };

  /// Counts nesting; false, after a report, if the source is too deep.
  struct Depth {
    Parser &parser;
    bool isDeep;
    explicit Depth(Parser &parser);
    ~Depth() { --parser.depth; }
  };

  // Declarations.
  ast::Decl *parseDecl();
  ast::Decl *parseImport();
  ast::Decl *parseConst();
  ast::Decl *parseInstantiate();
  ast::Decl *parseFunction();
  ast::Decl *parseKernel(llvm::ArrayRef<ast::Annotation> annotations);
  llvm::MutableArrayRef<ast::ConstParam> parseConstParams();
  ast::ConstParam parseConstParam();
  llvm::MutableArrayRef<ast::ConstArgument> parseConstArguments();
  ast::Expr *parseConstValue();
  ast::FunctionParam parseFunctionParam();
  void parseResults(ast::FunctionDecl &function);
  llvm::MutableArrayRef<ast::FunctionParam> parseFunctionParams();
  llvm::MutableArrayRef<ast::Param> parseParams();
  ast::Param parseParam();
  void parseStrides(ast::Param &param);
  llvm::MutableArrayRef<ast::Contract> parseContracts();
  ast::Contract parseContract();
  ast::TypeRef parseType();
  ast::ScalarRef parseScalar();
  llvm::MutableArrayRef<ast::Expr *> parseShape();
  llvm::MutableArrayRef<ast::Expr *> parseExprList();
  ast::Identifier parseIdentifier(llvm::StringRef what);
  ast::Identifier parseAxisName();
  llvm::MutableArrayRef<ast::Identifier> parseAxisNames();

  // Annotations.
  llvm::MutableArrayRef<ast::Annotation> parseAnnotations();
  ast::Annotation parseAnnotation();
  void parseAnnotationCondition(ast::Annotation &annotation);
  void checkAnnotations(llvm::ArrayRef<ast::Annotation> annotations, AnnotationTarget target, llvm::StringRef what);

  // Statements.
  ast::Block *parseBlock(BlockMode mode);
  ast::Block *parseBody(unsigned errorsBefore, BlockMode mode);
  ast::Block *makeBlock(SourceRange range, llvm::ArrayRef<ast::Stmt *> statements, ast::Expr *value);
  void parseBlockItem(BlockMode mode, llvm::SmallVectorImpl<ast::Stmt *> &statements, ast::Expr *&value);
  ast::Stmt *parseStmt(BlockMode mode, ast::Expr *&value);
  ast::Stmt *parseUnannotatedStmt(BlockMode mode, ast::Expr *&value);
  ast::Stmt *parseParallelOrFor();
  ast::Stmt *parseWhile();
  ast::Stmt *parseIf(BlockMode mode, ast::Expr *&value);
  ast::Block *parseElse(BlockMode mode);
  ast::Stmt *parseAxis();
  ast::Stmt *parseLet();
  ast::LetAxis parseLetAxis();
  ast::Stmt *parseVar();
  ast::Stmt *parseTemp();
  ast::Stmt *parseModifiedAssign();
  ast::Stmt *parseExprStmt(BlockMode mode, ast::Expr *&value);
  ast::Stmt *parseAssign(ast::AssignModifier modifier, SourceRange begin, ast::Expr *target);
  ast::Stmt *parseCallStmt();
  bool reportLeadingOperator(BlockMode mode);
  void reportUnusedValue(const ast::Expr *value);
  bool atAssignOp() const;
  ast::AssignOp parseAssignOp(SourceRange &range);
  void checkModifier(ast::AssignModifier modifier, ast::AssignOp op, SourceRange opRange, bool hasBrackets);

  // Bindings and spans.
  llvm::MutableArrayRef<ast::Binding> parseBindings(bool isFor);
  ast::Binding parseBinding(bool isFor);
  void parseTiles(ast::Binding &binding);
  ast::Span parseSpan();

  // Expressions.
  ast::Expr *parseExpr();
  ast::Expr *parseCondition();
  ast::Expr *parseBinary(ast::Expr *lhs, unsigned leastPrecedence);
  ast::Expr *parseComparisonChain(ast::Expr *lhs);
  ast::Expr *makeBinary(ast::BinaryOp op, SourceRange opRange, ast::Expr *lhs, ast::Expr *rhs);
  bool reportUnsupportedOperator();
  void takeWordOperator();
  ast::Expr *parseUnary();
  ast::Expr *parsePrimary();
  ast::Expr *parseInteger();
  ast::Expr *parseParenthesized();
  ast::Expr *parseIfExpr();
  ast::Expr *errorExpr();
  ast::Expr *parsePostfix(ast::Expr *base);
  ast::Expr *parseMember(ast::Expr *base);
  ast::Expr *parseCall(ast::Expr *callee);
  ast::Expr *parseBracket(ast::Expr *base);
  llvm::MutableArrayRef<ast::Argument> parseArguments(bool allowStrings);
  ast::Argument parseArgument(bool allowStrings);

  struct BracketItems;
  void parseBracketItems(BracketItems &items);
  ast::Expr *makeSubscript(ast::Expr *base, BracketItems &items);
  ast::Expr *makeAxisCall(ast::Expr *base, BracketItems &items);

  /// Sets the height of a new node from its operands; a tree that got too high becomes an ErrorExpr.
  ast::Expr *finish(ast::Expr *node, llvm::ArrayRef<ast::Expr *> operands, unsigned least = 0);
  template <typename T> llvm::MutableArrayRef<T> copy(const llvm::SmallVectorImpl<T> &list) {
    return context.copy(llvm::ArrayRef<T>(list));
  }
  ast::Identifier identifierOf(const Token &word) const { return ast::Identifier{word.text, word.range}; }

  ast::ASTContext &context;
  DiagnosticEngine &engine;
  FileID file;
  std::vector<Token> tokens;
  /// For each opening bracket the index of its partner, 0 if it has none.
  std::vector<size_t> partners;
  size_t position = 0;
  bool newlineEnds = true;
  /// Inside `< >` of constants, where comparisons and shifts need parentheses.
  bool inAngles = false;
  bool allowsTemp = false;
  bool nextBlockAllowsTemp = false;
  bool reportedTooDeep = false;
  unsigned depth = 0;
  /// The greatest height of an expression since the innermost block began.
  unsigned tallest = 0;
  unsigned numErrors = 0;
  size_t lastErrorPosition = ~size_t(0);
};

} // namespace tilec

#endif // TILEC_SYNTAX_PARSERIMPL_H
