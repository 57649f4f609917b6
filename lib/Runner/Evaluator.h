// Evaluates expressions of a reference at positions of their axes, by loops over the axes of reductions and nothing of
// what the compiler does with them.
#ifndef TILEC_RUNNER_EVALUATOR_H
#define TILEC_RUNNER_EVALUATOR_H

#include "Lanes.h"
#include "tilec/Runner/HostTensor.h"
#include "tilec/Sema/TypedStmt.h"
#include "llvm/ADT/DenseMap.h"
#include <memory>
#include <unordered_map>

namespace tilec::runner {

/// Where an expression is evaluated: a position for each axis, and `count` positions side by side of one of them.
struct Frame {
  /// By Axis::id, as far as axes have been used.
  std::vector<int64_t> positions;
  int64_t &at(const sema::Axis *axis) {
    if (axis->id >= positions.size())
      positions.resize(axis->id + 1);
    return positions[axis->id];
  }
  const sema::Axis *vectorAxis = nullptr;
  int64_t start = 0;
  size_t count = 1;
  /// Axes that are being run through. What depends on all of them is asked for once.
  size_t activeAxes = 0;
};

/// Scalars that were computed before, by a number of their place.
class Memo {
public:
  explicit Memo(bool isFloat) : isFloat(isFloat) {}
  const Scalar *find(int64_t place) const;
  void set(int64_t place, const Scalar &scalar) { known[place] = scalar; }
  const bool isFloat;

private:
  std::unordered_map<int64_t, Scalar> known;
};

class Evaluator {
public:
  /// `kernel` outlives the evaluator, and so do tensors given to bind().
  Evaluator(const sema::Kernel &kernel, Rounding rounding);

  /// The contents of a parameter.
  void bind(const sema::Tensor *tensor, const HostTensor *contents) { contentsOf[tensor] = contents; }
  void bind(const sema::Variable *variable, const Scalar &value) { variables[variable] = value; }

  /// The positions of the present tile of an axis.
  void bindTile(const sema::Axis *axis, std::pair<int64_t, int64_t> positions) { tiles[axis] = positions; }

  /// One number for all lanes, or one for each.
  Lanes evaluate(const sema::Expr *expr);
  /// A scalar expression of dimensions, or any expression at single positions.
  Scalar evaluateScalar(const sema::Expr *expr);
  int64_t evaluateIndex(const sema::Expr *expr) { return evaluateScalar(expr).integer; }

  /// The positions of an axis, from the first up to but not including the second.
  std::pair<int64_t, int64_t> rangeOf(const sema::Axis *axis);
  /// The row-major place of subscripts in a tensor of that shape, or -1 outside.
  int64_t placeOf(llvm::ArrayRef<int64_t> subscripts, llvm::ArrayRef<int64_t> shape) const;
  llvm::ArrayRef<int64_t> shapeOf(const sema::Tensor *tensor);

  Frame frame;
  /// Numbers computed since the start, for budgets.
  uint64_t work = 0;
  /// Positions side by side at most.
  static constexpr size_t mostLanes = 256;

private:
  Lanes evaluateNode(const sema::Expr *expr);
  Lanes evaluateConstant(const sema::Constant *constant) const;
  Lanes evaluateVariable(const sema::VariableRef *ref);
  Lanes evaluatePositions(const sema::Axis *axis);
  Lanes evaluateAttribute(const sema::AxisAttribute *attribute);
  Lanes evaluateLoad(const sema::Load *load);
  Scalar loadElement(const sema::Tensor *tensor, int64_t place);
  Scalar elementOfLet(const sema::Tensor *tensor, int64_t place);
  Lanes evaluateSubstitute(const sema::Substitute *substitute);
  Lanes evaluateIf(const sema::IfValue *value);

  /// Reductions, products and operations along an axis: a scalar at single positions of the other axes.
  Lanes evaluateAlongAxes(const sema::Expr *expr);
  Scalar reduceAt(const sema::Expr *expr);
  Scalar reduce(const sema::Reduce *reduce);
  Scalar dot(const sema::Dot *dot);
  Lanes evaluateRow(const sema::AxisOperation *operation);
  Lanes computeRow(const sema::AxisOperation *operation);
  Scalar argumentOf(const sema::AxisOperation *operation);
  /// Calls `body` with the frame at blocks of positions of the axes.
  void forEachBlock(llvm::ArrayRef<const sema::Axis *> axes, llvm::function_ref<void()> body);
  /// The lanes where a guard holds; all without one.
  std::vector<bool> presentLanes(const sema::Expr *guard);
  /// A number for the positions of an expression's axes.
  int64_t keyOf(llvm::ArrayRef<const sema::Axis *> axes);
  /// One scalar for each lane, each at a single position.
  Lanes laneByLane(bool isFloat, llvm::function_ref<Scalar()> scalar);

  Rounding rounding;
  llvm::DenseMap<const sema::Tensor *, const HostTensor *> contentsOf;
  llvm::DenseMap<const sema::Tensor *, std::vector<int64_t>> shapes;
  llvm::DenseMap<const sema::Variable *, Scalar> variables;
  llvm::DenseMap<const sema::Axis *, std::pair<int64_t, int64_t>> tiles;
  /// The statement that defines a `let` with axes.
  llvm::DenseMap<const sema::Tensor *, const sema::StoreStmt *> definitions;
  std::unordered_map<const void *, Memo> memos;
  struct Row {
    int64_t key = -1;
    Lanes values;
  };
  std::unordered_map<const sema::Expr *, Row> rows;
};

/// What is computed at another place leaves the frame as it found it.
struct FrameChange {
  Evaluator &evaluator;
  Frame saved;
  explicit FrameChange(Evaluator &evaluator) : evaluator(evaluator), saved(evaluator.frame) {}
  ~FrameChange() { evaluator.frame = std::move(saved); }
  void single() {
    evaluator.frame.vectorAxis = nullptr;
    evaluator.frame.count = 1;
  }
};

} // namespace tilec::runner

#endif // TILEC_RUNNER_EVALUATOR_H
