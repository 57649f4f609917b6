// Generates the body of one tile.kernel: the state of a walk over a kernel's typed tree.
#ifndef TILEC_LIB_IRGEN_GENERATOR_H
#define TILEC_LIB_IRGEN_GENERATOR_H

#include "Specialization.h"
#include "tilec/Diagnostics/DiagnosticEngine.h"
#include "tilec/Dialect/Tile/TileDialect.h"
#include "llvm/ADT/DenseMap.h"

namespace tilec {

class Generator {
public:
  Generator(const sema::Kernel &kernel, const Specialization &specialization, const LaunchInterface &interface,
            DiagnosticEngine &diagnostics, mlir::OpBuilder &builder)
      : kernel(kernel), specialization(specialization), interface(interface), diagnostics(diagnostics),
        builder(builder), loc(builder.getUnknownLoc()) {}

  /// Creates the kernel operation at the builder's place, behind those of the copies that it needs. False after an
  /// error.
  bool generate();

private:
  using Axes = llvm::ArrayRef<const sema::Axis *>;

  /// The values of an axis in scope.
  struct AxisValues {
    mlir::Value axis;
    mlir::Value positions;
    mlir::Value start;
    mlir::Value end;
    mlir::Value number;
  };

  /// The kernel operation of a stage of the variant.
  tile::KernelOp createKernel(llvm::StringRef suffix, int64_t stage);

  // Copies of operands (Packing.cpp).
  bool generateCopy(const sema::Tensor &tensor, int64_t stage);
  mlir::Value packedView(const sema::Tensor &tensor, tile::Access access);

  // Launch arguments (Generator.cpp).
  void declareArguments();
  void declareVariables();
  void declareVariable(const sema::Variable &variable);
  void declareTensor(const sema::Tensor &tensor);
  mlir::Value integerArgument(llvm::StringRef name, mlir::Type type);

  // Types, constants and alignment of values (Values.cpp).
  mlir::Type elementType(sema::Type type) const { return elementType(type.element); }
  mlir::Type elementType(ScalarKind kind) const;
  /// Positions of a tile along an axis: its bound, or less where this specialisation knows more.
  int64_t extentOf(const sema::Axis &axis) const;
  /// The type of values with these axes: a scalar or a tensor.
  mlir::Type valueType(mlir::Type element, Axes axes) const;
  mlir::Type valueType(const sema::Type &type) const { return valueType(elementType(type), type.axes); }
  mlir::Value index(int64_t value);
  /// `value` for every element of `type`.
  mlir::Value constantLike(mlir::Type type, mlir::Attribute value);
  mlir::Value integerLike(mlir::Type type, int64_t value);
  mlir::Value realLike(mlir::Type type, double value);
  /// Reorders and repeats a value with the axes `from` along the axes `to`, which contain them.
  mlir::Value align(mlir::Value value, Axes from, Axes to);
  mlir::Value emitAligned(const sema::Expr *expr, Axes axes);
  mlir::Location location(SourceRange range) const;
  /// Reports what the typed tree should not contain.
  mlir::Value unsupported(SourceRange range, llvm::StringRef what, mlir::Type type);

  // Expressions (Expressions.cpp, Elementwise.cpp, Casts.cpp, Reductions.cpp).
  mlir::Value emit(const sema::Expr *expr) { return emit(expr, expr->type.axes); }
  /// With its axes in another order. Only element-wise expressions take one that is not their own.
  mlir::Value emit(const sema::Expr *expr, Axes order);
  mlir::Value emitUnlocated(const sema::Expr *expr, Axes order);
  mlir::Value emitConstant(const sema::Constant &expr);
  mlir::Value emitAxisAttribute(const sema::AxisAttribute &expr);
  mlir::Value emitLoad(const sema::Load &expr);
  mlir::Value emitIf(const sema::IfValue &expr);
  mlir::Value emitUnary(const sema::Unary &expr, Axes order);
  mlir::Value emitBinary(const sema::Binary &expr, Axes order);
  mlir::Value emitComparison(const sema::Binary &expr, mlir::Value lhs, mlir::Value rhs);
  mlir::Value emitCall(const sema::Call &expr, Axes order);
  mlir::Value emitMinMax(bool isMax, ScalarKind kind, mlir::Value a, mlir::Value b);
  mlir::Value emitFloatFunction(sema::Builtin builtin, llvm::ArrayRef<mlir::Value> arguments);
  mlir::Value emitIntegerFunction(const sema::Call &expr, llvm::ArrayRef<mlir::Value> arguments);
  mlir::Value emitCeilDiv(mlir::Value a, mlir::Value b, bool isUnsigned);
  mlir::Value emitBitcast(const sema::Call &expr, mlir::Value value);
  mlir::Value emitPhilox(mlir::Value seed, mlir::Value counter);
  mlir::Value emitCast(mlir::Value value, ScalarKind from, ScalarKind to);
  mlir::Value emitFloatCast(mlir::Value value, ScalarKind from, ScalarKind to);
  mlir::Value emitIntegerCast(mlir::Value value, ScalarKind from, ScalarKind to);
  mlir::Value emitReduce(const sema::Reduce &expr);
  mlir::Value emitCount(const sema::Reduce &expr, Axes all, mlir::Value guard);
  mlir::Value reduceOver(tile::CombineKind kind, mlir::Value value, mlir::Value guard,
                         llvm::SmallVectorImpl<const sema::Axis *> &all, const sema::Axis *axis);
  mlir::Value emitDot(const sema::Dot &expr);
  mlir::Value emitAxisOperation(const sema::AxisOperation &expr);
  mlir::Value emitSoftmax(const sema::AxisOperation &expr);
  mlir::Value emitArgument(const sema::AxisOperation &expr, bool isMax);

  // Accesses (Accesses.cpp).
  struct Subscripts {
    llvm::SmallVector<mlir::Value> values;
    mlir::ArrayAttr dims;
  };
  Subscripts emitSubscripts(llvm::ArrayRef<sema::Expr *> subscripts, Axes axes);
  void emitStore(const sema::StoreStmt &stmt);
  void emitAtomic(const sema::AtomicStmt &stmt);
  /// A value as it lies in memory: index as i64.
  mlir::Value toMemory(mlir::Value value);

  // Statements (Statements.cpp).
  void emit(const sema::Block &block);
  void emit(const sema::Stmt *stmt);
  void emitStages();
  void emitStage(const sema::ParallelStmt &stmt);
  void emitSingleBlockStage(llvm::ArrayRef<sema::Stmt *> statements);
  void emitFor(const sema::ForStmt &stmt);
  void emitWhile(const sema::WhileStmt &stmt);
  void emitIf(const sema::IfStmt &stmt);
  void declareAxis(const sema::Axis &axis, mlir::Value start, mlir::Value end, mlir::Value number);
  /// Introduces tile `number` of the range that starts at `lower` and ends at `upper`.
  void declareTile(const sema::Axis &axis, mlir::Value number, mlir::Value lower, mlir::Value upper);
  void assign(const sema::Variable *variable, const sema::Expr *value);
  llvm::SmallVector<mlir::Value> currentValues(llvm::ArrayRef<sema::Variable *> carried);
  void setCurrent(llvm::ArrayRef<sema::Variable *> carried, mlir::ValueRange values);
  mlir::DictionaryAttr annotationsOf(llvm::ArrayRef<sema::AppliedAnnotation> annotations);
  void annotateLoop(mlir::Operation *loop, llvm::ArrayRef<sema::AppliedAnnotation> annotations);

  const sema::Kernel &kernel;
  const Specialization &specialization;
  const LaunchInterface &interface;
  DiagnosticEngine &diagnostics;
  mlir::OpBuilder &builder;
  /// Of the statement or expression in hand.
  mlir::Location loc;
  bool failed = false;
  llvm::DenseMap<const sema::Variable *, mlir::Value> variables;
  llvm::DenseMap<const sema::Axis *, AxisValues> axes;
  llvm::DenseMap<const sema::Tensor *, mlir::Value> tensors;
};

} // namespace tilec

#endif // TILEC_LIB_IRGEN_GENERATOR_H
