// The analysis of one variant of one kernel (or of constants and functions by themselves). One class over several
// files: each file has one concern, named in its first line.
#ifndef TILEC_SEMA_ANALYZER_H
#define TILEC_SEMA_ANALYZER_H

#include "Facts.h"
#include "Globals.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/SaveAndRestore.h"

namespace tilec::sema {

/// A read or a write of a tensor in the present stage.
struct Access {
  Tensor *tensor = nullptr;
  SourceRange range;
  std::vector<Expr *> subscripts;
  enum Kind : uint8_t { Read, Write, Atomic } kind = Read;
  /// Under a condition that is not constant.
  bool isGuarded = false;
  /// `unique`: its author vouches for it.
  bool isUnique = false;
};

/// A loop or parallel binding that encloses the present statement.
struct EnclosingBinding {
  bool isParallel = false;
  const Variable *index = nullptr;
  const Axis *axis = nullptr;
  SourceRange range;
};

struct RequiredDigit;

/// What repairs of an assignment depend on.
struct LeftSide {
  ast::AssignOp op = ast::AssignOp::Set;
  /// Of an assignment to a variable.
  const Variable *variable = nullptr;
  bool isAtomic = false;
};

class Analyzer {
public:
  explicit Analyzer(Globals &globals) : globals(globals), context(globals.context) {}

  // Kernel.cpp, Parameters.cpp, Contracts.cpp
  /// Analyses a variant: the constants are given, and values for the dimensions of `name in {..}` contracts.
  void analyzeKernel(const ast::KernelDecl *decl, llvm::ArrayRef<ConstBinding> constants,
                     llvm::ArrayRef<std::pair<const ast::Contract *, int64_t>> choices, Kernel &kernel);

  // Functions.cpp
  /// Checks a function that no call is needed for (without type parameters).
  void checkFunction(const ast::FunctionDecl *decl);

  // Constants.cpp
  Value checkConstant(const ast::Expr *expr);
  /// The value of a constant or parameter declared with a type, in that type; an error value after a report.
  Value convertConstant(const Value &value, ScalarKind type);
  std::optional<int64_t> requireInteger(const ast::Expr *expr, diag::Kind kind);

  /// Declares const parameters, for what follows to use.
  void bindConstants(llvm::ArrayRef<ConstBinding> constants);
  /// The variants that a kernel's `name in {..}` contracts ask for: all combinations of the choices.
  std::vector<std::vector<std::pair<const ast::Contract *, int64_t>>> enumerateVariants(const ast::KernelDecl *decl);

  /// Where the declaration stands that is analysed, if it is neither a kernel nor a function.
  SourceRange home;
  /// The type of a generic function's parameters in `< >` that no argument tells.
  std::optional<ScalarKind> probeType;

private:
  // Names.cpp
  Symbol *find(llvm::StringRef name) const;
  SourceRange getPlace() const;
  std::vector<std::string> axesInScope() const;
  void offerInout(DiagnosticBuilder builder, const Tensor *tensor);
  Symbol *declare(const ast::Identifier &name, SymbolKind kind);
  /// `subscriptOf`: the size of the dimension that the name subscripts.
  Symbol *resolve(const ast::Identifier &name, const Expr *subscriptOf = nullptr);
  const Axis *resolveAxis(const ast::Identifier &name);
  std::optional<ScalarKind> resolveScalar(const ast::ScalarRef &scalar);
  std::optional<Type> resolveType(const ast::TypeRef &type);
  void reportUnknown(const ast::Identifier &name, const Expr *subscriptOf);
  DiagnosticBuilder report(SourceRange range, diag::Kind kind);
  llvm::StringRef text(SourceRange range) const { return globals.text(range); }
  /// The source text in backticks, or "this value" where it is long.
  std::string quote(SourceRange range) const;
  void refuse(llvm::StringRef key, SourceRange range);

  // Expressions.cpp
  Value check(const ast::Expr *expr);
  Value checkName(const ast::NameExpr *expr);
  Value valueOf(Symbol *symbol, const ast::Identifier &name);
  Value checkMember(const ast::MemberExpr *expr);
  Value checkIf(const ast::IfExpr *expr);
  Value checkArm(const ast::Block *block, bool &hasStatements, Block *&statements);
  Value checkScalarCondition(const ast::Expr *expr);
  std::optional<bool> getConstantCondition(const Value &value) const;

  // Arithmetic.cpp
  Value checkUnary(const ast::UnaryExpr *expr);
  Value checkBinary(const ast::BinaryExpr *expr);
  Value makeBinary(BinaryOp op, Value lhs, Value rhs, SourceRange range);
  Value makeLogical(BinaryOp op, Value lhs, Value rhs, SourceRange range);
  Value makeShift(BinaryOp op, Value lhs, Value rhs, SourceRange range);
  Value foldExact(BinaryOp op, const Value &lhs, const Value &rhs, SourceRange range);
  Expr *foldBinary(BinaryOp op, ScalarKind element, Expr *lhs, Expr *rhs, SourceRange range);
  Type unionType(ScalarKind element, llvm::ArrayRef<const Expr *> operands) const;

  // Conversions.cpp
  /// An operand in an element type that rule 11 has chosen; null after an error.
  Expr *toElement(const Value &value, ScalarKind element);
  /// A value as the target of a store, declaration or argument demands it; null after an error.
  Expr *convertTo(const Value &value, ScalarKind element);
  Expr *materialize(const Value &value);
  Expr *toIndex(const Value &value);
  Expr *literalTo(const Value &value, ScalarKind element);
  /// The type in which values meet; nothing after an error. `keeping`: select, comparisons, min and max.
  std::optional<ScalarKind> meet(llvm::ArrayRef<Value> values, bool keeping, SourceRange range);
  std::optional<ScalarKind> meetTwo(const Value &a, const Value &b, bool keeping) const;
  void reportNoMeeting(const Value &a, const Value &b);
  Expr *castTo(Expr *expr, ScalarKind element, SourceRange range);

  // Alignment.cpp
  /// Rule 5 where no left side states the axes.
  void requireCarrier(const Value &value, SourceRange range);
  /// Rule 5 in an assignment: every axis of the value is one of `axes`.
  bool requireOnLeft(const Expr *value, llvm::ArrayRef<const Axis *> axes, SourceRange range, llvm::StringRef left,
                     LeftSide side = {});

  // Calls.cpp
  Value checkCall(const ast::CallExpr *expr);
  void reportMissingAxes(const ast::CallExpr *expr, const ast::NameExpr &name);
  Value checkCast(ScalarKind element, const ast::CallExpr *expr);
  Value checkElementwise(const ElementwiseBuiltin &builtin, const ast::CallExpr *expr);
  Value checkSelect(llvm::ArrayRef<Value> arguments, SourceRange range);
  Value checkKeeping(Builtin builtin, llvm::ArrayRef<Value> arguments, SourceRange range);
  Value checkFloatFunction(Builtin builtin, llvm::ArrayRef<Value> arguments, SourceRange range);
  Value checkIntegerFunction(Builtin builtin, llvm::ArrayRef<Value> arguments, SourceRange range);
  Value checkBitcast(const ast::CallExpr *expr);
  Value makeCall(Builtin builtin, ScalarKind element, std::vector<Expr *> arguments, SourceRange range);

  // Reductions.cpp, AxisOperations.cpp
  Value checkAxisCall(const ast::AxisCallExpr *expr);
  Value checkReduce(ReduceKind kind, const ast::AxisCallExpr *expr, llvm::ArrayRef<const Axis *> axes);
  Value checkDot(const ast::AxisCallExpr *expr, llvm::ArrayRef<const Axis *> axes);
  std::optional<std::pair<ScalarKind, ScalarKind>> dotTypes(Value &lhs, Value &rhs, ScalarKind &result,
                                                            SourceRange range);
  Expr *asDot(Reduce *reduce);
  Value checkAxisOperation(AxisOperationKind kind, const ast::AxisCallExpr *expr, const Axis *axis);
  Value checkTopK(const ast::AxisCallExpr *expr, const Axis *axis);
  Value checkFold(const ast::AxisCallExpr *expr, const Axis *axis, bool isScan);
  Expr *checkGuard(const ast::AxisCallExpr *expr);
  bool requireAxisIn(llvm::ArrayRef<const Axis *> axes, const ast::AxisCallExpr *expr, const Value &operand);
  bool takeFlag(const ast::AxisCallExpr *expr, llvm::StringRef name);
  std::vector<const ast::Argument *> positional(const ast::AxisCallExpr *expr, llvm::ArrayRef<llvm::StringRef> named);

  // Subscripts.cpp
  Value checkIndex(const ast::IndexExpr *expr);
  Value checkLetIndex(const ast::IndexExpr *expr, Symbol *symbol);
  Value checkSubstitute(const ast::SubstituteExpr *expr);
  bool checkSubscripts(llvm::ArrayRef<ast::Expr *> indices, Tensor *tensor, SourceRange range,
                       std::vector<Expr *> &subscripts, bool isLoad, bool hasElse);
  void warnWrongDimension(const ast::Expr *index, const Expr *subscript, Tensor *tensor, unsigned dimension,
                          bool hasElse, SourceLoc elsePlace, const ast::Expr *swapWith);
  const Variable *rangedDimension(const Expr *subscript) const;
  const ast::Expr *findSwapped(llvm::ArrayRef<ast::Expr *> indices, llvm::ArrayRef<Expr *> subscripts,
                               const Tensor *tensor, size_t i) const;
  llvm::SmallVector<const Axis *, 4> axesOf(llvm::ArrayRef<Expr *> subscripts) const;

  // Functions.cpp
  Value inlineCall(const ast::FunctionDecl *decl, llvm::ArrayRef<ast::AxisArgument> axes,
                   llvm::ArrayRef<ast::Argument> arguments, SourceRange range);
  Value checkBody(const ast::FunctionDecl *decl, llvm::ArrayRef<Type> parameterTypes, SourceRange callRange);
  bool bindFunctionConstants(const ast::FunctionDecl *decl, llvm::ArrayRef<Value> arguments);

  // Statements.cpp
  void checkBlock(const ast::Block *block);
  void checkStatement(const ast::Stmt *stmt);
  void checkLet(const ast::LetStmt *stmt);
  void checkTupleLet(const ast::LetStmt *stmt);
  void checkVar(const ast::VarStmt *stmt);
  void checkAssign(const ast::AssignStmt *stmt);
  void checkVariableAssign(const ast::AssignStmt *stmt, Variable *variable);
  void checkIfStatement(const ast::IfStmt *stmt);
  void checkCallStatement(const ast::CallStmt *stmt);
  void checkTemp(const ast::TempStmt *stmt);
  Block *checkNested(const ast::Block *block);
  Variable *defineVariable(const ast::Identifier &name, VariableKind kind, const ast::TypeRef *declared,
                           const Value &value);
  bool requireFitting(const ast::AssignStmt *stmt, const Value &result, ScalarKind element, const Variable *variable);
  Value combine(ast::AssignOp op, Value current, Value value, SourceRange range);
  bool requireMeeting(const ast::AssignStmt *stmt, const Value &current, const Value &value, const Variable *variable);
  void beginStage(SourceRange range);
  void endSequentialStage();
  void emit(Stmt *stmt) { out->statements.push_back(stmt); }

  // Stores.cpp
  void checkStore(const ast::AssignStmt *stmt, Tensor *tensor);
  void checkAtomic(const ast::AssignStmt *stmt, Tensor *tensor, std::vector<Expr *> subscripts,
                   llvm::ArrayRef<const Axis *> axes);

  // Loops.cpp
  void checkParallel(const ast::ParallelStmt *stmt);
  void checkFor(const ast::ForStmt *stmt, size_t first);
  void checkWhile(const ast::WhileStmt *stmt);
  void checkAxisStatement(const ast::AxisStmt *stmt);
  bool checkBinding(const ast::Binding &binding, bool isParallel, Binding &result);
  bool checkSpan(const ast::Span &span, Expr *&lower, Expr *&upper, const Axis *&rangeOf, bool allowWhole);
  std::optional<int64_t> getTileSize(const ast::Binding &binding, const Expr *lower, const Expr *upper);
  Axis *createAxis(AxisKind kind, const ast::Identifier &name);
  std::optional<int64_t> boundExtent(const Expr *lower, const Expr *upper);
  void reportUnbounded(const ast::Span &span, const Expr *upper, llvm::StringRef name);

  // AlgorithmLevel.cpp
  bool isAlgorithmLevel(const ast::Stmt *stmt) const;
  void checkAlgorithmLet(const ast::LetStmt *stmt);
  Tensor *defineLetTensor(const ast::Identifier &name, llvm::ArrayRef<const Axis *> axes, Expr *value);
  void checkAlgorithmStore(const ast::AssignStmt *stmt, Tensor *tensor);
  void bindImplicitAxes(llvm::ArrayRef<ast::Identifier> names, const ast::Expr *value,
                        llvm::ArrayRef<ast::Expr *> leftIndices, Tensor *leftTensor);
  void collectImplicitNames(const ast::Expr *expr, std::vector<ast::Identifier> &names) const;

  // Injectivity.cpp, Races.cpp
  void recordAccess(Access::Kind kind, Tensor *tensor, SourceRange range, llvm::ArrayRef<Expr *> subscripts);
  bool dependsOn(llvm::ArrayRef<Poly> subscripts, llvm::ArrayRef<const Axis *> axes, const RequiredDigit &digit);
  void requireInjective(const ast::AssignStmt *stmt, llvm::ArrayRef<Expr *> subscripts,
                        llvm::ArrayRef<const Axis *> axes);
  void checkRaces();
  bool separatesIterations(unsigned atom, int64_t shift);
  void checkStorePair(const Access &first, const Access &second);
  void checkRace(const Access &read, const Access &write);

  // Annotations.cpp
  void applyAnnotations(llvm::ArrayRef<ast::Annotation> annotations, std::vector<AppliedAnnotation> &result);
  bool checkAnnotation(const ast::Annotation &annotation, AppliedAnnotation &applied);
  void checkRaster(const ParallelStmt *stmt);
  void checkCluster(const ParallelStmt *stmt);
  void annotateLoad(const ast::LetStmt *stmt, Expr *value);

  // Parameters.cpp, Contracts.cpp
  void declareParameters(const ast::KernelDecl *decl);
  void declareDimensions(const ast::KernelDecl *decl);
  void collectDimensions(const ast::Expr *expr);
  void completeTensor(const ast::Param &param, Tensor *tensor);
  void checkDimensionsStandAlone(const ast::KernelDecl *decl);
  void fixChoices();
  void checkContracts(const ast::KernelDecl *decl);
  void checkCondition(const ast::Contract &contract);
  Value checkGeneralCondition(const ast::Expr *condition);
  void checkChoice(const ast::Contract &contract);
  void recordDivisibility(const Expr *condition);
  void recordBounds();

  Globals &globals;
  TypedContext &context;
  Facts facts;
  std::unique_ptr<Scope> constantScope;
  Scope *scope = nullptr;
  Block *out = nullptr;

  /// The kernel that is analysed; null for constants and functions by themselves.
  const ast::KernelDecl *kernelDecl = nullptr;
  Kernel *kernel = nullptr;
  struct ExistingParam {
    const ast::Param *param;
    Symbol *symbol;
  };
  std::vector<ExistingParam> existingParams;
  std::vector<Symbol *> dimensions;
  llvm::StringMap<SourceRange> dimensionUses;
  std::vector<std::pair<const ast::Contract *, int64_t>> choices;

  /// Names that functions called here are expanded from, innermost last.
  std::vector<const ast::FunctionDecl *> functionStack;
  unsigned numInlined = 0;
  /// Axes that a call's arguments have beyond those of the parameters.
  std::vector<const Axis *> liftedAxes;
  /// A left side states the axes of the expression that is checked (rule 5).
  bool axesStated = false;
  /// Axes that an enclosing reduction removes.
  std::vector<const Axis *> removedAxes;

  bool inParallel = false;
  unsigned numStages = 0;
  /// The last stage is one of top-level statements, which the next such statement continues.
  bool inSequentialStage = false;
  /// The scope of the kernel's top level, and the names that ended with the stage of statements that declared them.
  Scope *bodyScope = nullptr;
  llvm::StringMap<SourceRange> pastNames;
  std::vector<EnclosingBinding> enclosing;
  /// Enclosing ifs whose conditions are not constant.
  unsigned conditionalDepth = 0;
  /// Conditions of the enclosing ifs that hold here.
  std::vector<const Expr *> guards;
  std::vector<Access> accesses;
  /// What an axis from 0 ranges over, for the warning about another dimension.
  llvm::DenseMap<const Axis *, std::pair<Expr *, std::string>> axisDimensions;
  unsigned nextVariable = 0;
  unsigned nextAxis = 0;
  bool foundError = false;
  /// Refusals wait until the kernel is known to have no other error.
  std::vector<std::pair<std::string, SourceRange>> refusals;
};

/// The variables of outer scopes that the blocks assign, in order of declaration.
std::vector<Variable *> findCarried(llvm::ArrayRef<const Block *> blocks);

} // namespace tilec::sema

#endif // TILEC_SEMA_ANALYZER_H
