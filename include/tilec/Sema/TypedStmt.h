// Statements, variables, tensors and kernels of the typed tree.
#ifndef TILEC_SEMA_TYPEDSTMT_H
#define TILEC_SEMA_TYPEDSTMT_H

#include "tilec/Sema/TypedExpr.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Support/JSON.h"

namespace tilec::sema {

enum class VariableKind : uint8_t {
  /// A dimension of a shape, or a `dim` parameter: index.
  Dimension,
  /// A scalar parameter.
  Scalar,
  /// The index of `for i in lo..hi` or `parallel i in lo..hi`: index.
  LoopIndex,
  Let,
  Var,
};

/// A named value. Identity of objects is identity of variables.
struct Variable : Node {
  VariableKind kind;
  std::string name;
  SourceRange range;
  Type type;
  /// Dense in a kernel variant.
  unsigned id = 0;
  /// Let and Var: the initial value, of the variable's element type (its axes may be fewer).
  Expr *initial = nullptr;
  /// LoopIndex: lower <= i < upper.
  Expr *lower = nullptr;
  Expr *upper = nullptr;
  /// Facts from contracts about a Dimension or integer Scalar; every Dimension has at least min = 0.
  std::optional<int64_t> min;
  std::optional<int64_t> max;
  int64_t divisible = 1;

  Variable(VariableKind kind, std::string name, SourceRange range, Type type)
      : kind(kind), name(std::move(name)), range(range), type(std::move(type)) {}
};

enum class TensorAccess : uint8_t { In, Out, InOut, Temp };
enum class TensorStrides : uint8_t { Contiguous, Explicit, Dynamic };

/// A tensor parameter (or temp). `shape` and `strides` are scalar index expressions over dimensions, scalars and
/// constants, the last varying fastest; strides count elements. Contiguous tensors have their row-major strides filled
/// in (as products of the sizes); Dynamic ones have none: they are the launch arguments "NAME.stride0", ...
struct Tensor : Node {
  std::string name;
  SourceRange range;
  ScalarKind element;
  TensorAccess access;
  std::vector<Expr *> shape;
  TensorStrides stridesKind = TensorStrides::Contiguous;
  std::vector<Expr *> strides;
};

/// An annotation that applies to the target architecture: `@warps(8)` is {"warps", {8}}, `@specialize(consumers = 2)`
/// is {"specialize", {}, {{"consumers", 2}}}, `@evict(first)` has the word.
struct AppliedAnnotation {
  std::string name;
  SourceRange range;
  std::vector<int64_t> values;
  std::vector<std::pair<std::string, int64_t>> named;
  std::string word;
};

enum class StmtKind : uint8_t { Parallel, For, While, If, Axis, Let, Var, Assign, Store, Atomic };

struct Stmt : Node {
  const StmtKind kind;
  SourceRange range;
  std::vector<AppliedAnnotation> annotations;

  Stmt(StmtKind kind, SourceRange range) : kind(kind), range(range) {}
};

struct Block : Node {
  std::vector<Stmt *> statements;
};

/// Defines classof for the class of one kind.
#define TILEC_TYPED_CLASS(Class, Kind)                                                                                 \
  static bool classof(const Stmt *stmt) { return stmt->kind == StmtKind::Kind; }

/// One binding of a parallel or for: either `axis` (tiles: runs i over 0..ceil_div(upper - lower, extent), see Axis)
/// or `index` (a scalar over lower..upper) is set. Bounds are evaluated once, before the loop.
struct Binding {
  Axis *axis = nullptr;
  Variable *index = nullptr;
  bool reverse = false;

  Expr *lower() const { return axis ? axis->lower : index->lower; }
  Expr *upper() const { return axis ? axis->upper : index->upper; }
  /// The tile size; 0 for a scalar range.
  int64_t tile() const { return axis ? axis->extent : 0; }
};

/// A stage. Bounds of a later binding may use earlier ones only if `dependent` is set.
struct ParallelStmt : Stmt {
  std::vector<Binding> bindings;
  bool dependent = false;
  Block *body = nullptr;

  explicit ParallelStmt(SourceRange range) : Stmt(StmtKind::Parallel, range) {}
  TILEC_TYPED_CLASS(ParallelStmt, Parallel)
};

/// One loop; `for a in .., b in ..` is two nested ones, of which the outer has the annotations.
struct ForStmt : Stmt {
  Binding binding;
  Block *body = nullptr;
  /// The vars of outer scopes that the body assigns, in order of declaration: the values carried through the loop.
  std::vector<Variable *> carried;

  explicit ForStmt(SourceRange range) : Stmt(StmtKind::For, range) {}
  TILEC_TYPED_CLASS(ForStmt, For)
};

struct WhileStmt : Stmt {
  Expr *condition = nullptr;
  Block *body = nullptr;
  std::vector<Variable *> carried;

  explicit WhileStmt(SourceRange range) : Stmt(StmtKind::While, range) {}
  TILEC_TYPED_CLASS(WhileStmt, While)
};

/// The condition is a scalar bool and not constant (a constant one leaves only the taken arm's statements, in a nested
/// scope already flattened into the enclosing block). `elseBlock` may be null.
struct IfStmt : Stmt {
  Expr *condition = nullptr;
  Block *thenBlock = nullptr;
  Block *elseBlock = nullptr;
  /// The vars of outer scopes that an arm assigns, in order of declaration: the results of the if.
  std::vector<Variable *> carried;

  explicit IfStmt(SourceRange range) : Stmt(StmtKind::If, range) {}
  TILEC_TYPED_CLASS(IfStmt, If)
};

/// Introduces an axis; its bounds are evaluated here.
struct AxisStmt : Stmt {
  Axis *axis;

  AxisStmt(SourceRange range, Axis *axis) : Stmt(StmtKind::Axis, range), axis(axis) {}
  TILEC_TYPED_CLASS(AxisStmt, Axis)
};

/// variable->initial is the value; broadcast it to variable->type.
struct LetStmt : Stmt {
  Variable *variable;

  LetStmt(SourceRange range, Variable *variable) : Stmt(StmtKind::Let, range), variable(variable) {}
  TILEC_TYPED_CLASS(LetStmt, Let)
};

struct VarStmt : Stmt {
  Variable *variable;

  VarStmt(SourceRange range, Variable *variable) : Stmt(StmtKind::Var, range), variable(variable) {}
  TILEC_TYPED_CLASS(VarStmt, Var)
};

/// `variable = value`; a compound operator is already part of the value. Broadcast the value to variable->type.
struct AssignStmt : Stmt {
  Variable *variable;
  Expr *value;

  AssignStmt(SourceRange range, Variable *variable, Expr *value)
      : Stmt(StmtKind::Assign, range), variable(variable), value(value) {}
  TILEC_TYPED_CLASS(AssignStmt, Assign)
};

/// Writes once for each present position of `axes` (the axes of the subscripts in order of first occurrence); broadcast
/// the value to them. Elements outside the tensor are dropped. The value has the tensor's element type.
struct StoreStmt : Stmt {
  Tensor *tensor;
  std::vector<Expr *> subscripts;
  std::vector<const Axis *> axes;
  Expr *value;
  /// `unique`: injectivity is asserted, not proved.
  bool unique = false;

  StoreStmt(SourceRange range, Tensor *tensor, std::vector<Expr *> subscripts, std::vector<const Axis *> axes,
            Expr *value)
      : Stmt(StmtKind::Store, range), tensor(tensor), subscripts(std::move(subscripts)), axes(std::move(axes)),
        value(value) {}
  TILEC_TYPED_CLASS(StoreStmt, Store)
};

enum class AtomicOp : uint8_t { Add, Max, Min, And, Or, Xor };

/// As StoreStmt, but combines.
struct AtomicStmt : Stmt {
  Tensor *tensor;
  std::vector<Expr *> subscripts;
  std::vector<const Axis *> axes;
  AtomicOp op;
  Expr *value;

  AtomicStmt(SourceRange range, Tensor *tensor, std::vector<Expr *> subscripts, std::vector<const Axis *> axes,
             AtomicOp op, Expr *value)
      : Stmt(StmtKind::Atomic, range), tensor(tensor), subscripts(std::move(subscripts)), axes(std::move(axes)), op(op),
        value(value) {}
  TILEC_TYPED_CLASS(AtomicStmt, Atomic)
};

#undef TILEC_TYPED_CLASS

/// One launch argument: exactly one of the two is set. A dynamic tensor is followed by its strides.
struct Parameter {
  Tensor *tensor = nullptr;
  Variable *variable = nullptr;
};

/// A host expression in its JSON form (docs/abi.md).
using HostExpr = llvm::json::Value;

/// A condition that the launcher checks, and its source text.
struct LaunchContract {
  HostExpr condition;
  std::string text;
  SourceRange range;
};

/// Blocks of a cluster along the last ranges of a stage, for a variant where they divide the numbers of tiles.
struct ClusterChoice {
  std::vector<int64_t> blocks;
  /// As SizeChoice::cost.
  HostExpr cost = nullptr;
};

/// Values for the sizes that a kernel leaves to the compiler, by their names in order of declaration.
struct SizeChoice {
  std::vector<std::pair<std::string, int64_t>> sizes;
  /// Estimates the time of a launch with these sizes in picoseconds; null where nothing is to be compared.
  HostExpr cost = nullptr;
  /// What storing element by element adds.
  HostExpr scalarStores = 0;
  /// Whether tensors of which the inputs alone are aligned get these sizes; tensors that are not aligned (one set).
  bool inputs = true;
  bool general = true;
  /// Whether tensors that are not aligned get these sizes after they have been copied to aligned rows.
  bool packed = false;
  /// As `cost`, behind the copies, which all such variants make.
  HostExpr packedCost = nullptr;
  /// Clusters that are worth a variant of aligned tensors, and of aligned inputs where these get the sizes.
  std::vector<ClusterChoice> clusters = {};
};

/// One variant of one kernel: constants are substituted; `D in {64, 128}` gives two variants whose trees share nothing.
/// Variants of a kernel follow each other in TypedProgram::kernels; exactly one `when` holds where the contracts do,
/// except that variants which differ only in their sizes (`choice` 0, 1, ...) follow each other with the same `when`.
struct Kernel {
  /// The user's name ("gemm", or the alias of an instantiation).
  std::string name;
  /// Unique: "gemm", or "gemm__D64".
  std::string variant;
  SourceRange range;
  std::vector<AppliedAnnotation> annotations;
  /// In launch order: parameters in source order, then the dimensions of shapes in order of first appearance. The same
  /// for all variants (a dimension that a variant fixes is still an argument, with min = max).
  std::vector<Parameter> parameters;
  std::vector<LaunchContract> contracts;
  std::vector<HostExpr> when;
  /// The number among the variants with the same `when`, and what the compiler chose for this one.
  unsigned choice = 0;
  SizeChoice chosen;
  /// The axes whose tiles have a size that the source leaves to the compiler.
  llvm::SmallPtrSet<const Axis *, 4> freeAxes;
  /// Temps, in order.
  std::vector<Tensor *> temps;
  /// The stages.
  Block *body = nullptr;
};

/// Owns the nodes of a typed tree.
class TypedContext {
public:
  template <typename T, typename... Args> T *create(Args &&...args) {
    auto owned = std::make_unique<T>(std::forward<Args>(args)...);
    T *result = owned.get();
    nodes.push_back(std::move(owned));
    return result;
  }
  Axis *createAxis() {
    axes.push_back(std::make_unique<Axis>());
    return axes.back().get();
  }

private:
  std::vector<std::unique_ptr<Node>> nodes;
  std::vector<std::unique_ptr<Axis>> axes;
};

/// The result of semantic analysis. Owns everything that it refers to except source text.
struct TypedProgram {
  TypedContext context;
  std::vector<Kernel> kernels;
};

/// The host expression of a scalar integer or bool expression over dimensions, scalar parameters and constants (lets of
/// such expressions are followed); nothing for any other.
std::optional<HostExpr> toHostExpr(const Expr *expr);

/// A dump, one statement a line, for tests and `--dump-after=sema`.
std::string toString(const Kernel &kernel);

} // namespace tilec::sema

#endif // TILEC_SEMA_TYPEDSTMT_H
