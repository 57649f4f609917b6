// Runs the statements of a reference: which elements are evaluated, in what order, and where they go.
#include "ReferenceRun.h"

#include "Evaluator.h"
#include "TypedWalk.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include <random>

using namespace tilec;
using namespace tilec::runner;
using namespace tilec::sema;
using llvm::cast;
using llvm::dyn_cast;

//===----------------------------------------------------------------------===//
// What statements hold
//===----------------------------------------------------------------------===//

namespace {
// A store or atomic in one form.
struct Assignment {
  Tensor *tensor = nullptr;
  llvm::ArrayRef<Expr *> subscripts;
  llvm::ArrayRef<const Axis *> axes;
  const Expr *value = nullptr;
  const AtomicStmt *atomic = nullptr;
};
} // namespace

static std::optional<Assignment> assignmentOf(const Stmt *stmt) {
  if (const auto *store = dyn_cast<StoreStmt>(stmt))
    return Assignment{store->tensor, store->subscripts, store->axes, store->value, nullptr};
  if (const auto *atomic = dyn_cast<AtomicStmt>(stmt))
    return Assignment{atomic->tensor, atomic->subscripts, atomic->axes, atomic->value, atomic};
  return std::nullopt;
}

llvm::Error tilec::runner::checkStatements(const Kernel &kernel) {
  llvm::DenseSet<const Tensor *> stored, combined;
  const Tensor *readLate = nullptr;
  for (const Stmt *stmt : kernel.body->statements) {
    std::optional<Assignment> assignment = assignmentOf(stmt);
    if (!assignment)
      return llvm::createStringError(
          "a reference has statements `OUT[i, j] = ...` and `let name[i, j] = ...` alone, no "
          "loops, `var` or `parallel`");
    visitExpressions(assignment->value, /*intoLets=*/true, [&](const Expr *expr) {
      if (const auto *load = dyn_cast<Load>(expr); load && (stored.contains(load->tensor)))
        readLate = load->tensor;
    });
    if (assignment->tensor->access == TensorAccess::Temp)
      continue;
    if (stored.contains(assignment->tensor) && combined.contains(assignment->tensor) != (assignment->atomic != nullptr))
      return llvm::createStringError("the reference both stores `" + assignment->tensor->name +
                                     "` and combines it by `atomic`");
    stored.insert(assignment->tensor);
    if (assignment->atomic)
      combined.insert(assignment->tensor);
  }
  if (readLate)
    return llvm::createStringError("the reference reads `" + readLate->name +
                                   "` after it has stored it; name the value with `let name[i, j] = ...`");
  if (stored.empty())
    return llvm::createStringError("the reference stores nothing; write OUT[i, j] = ...");
  return llvm::Error::success();
}

std::vector<std::string> tilec::runner::storedTensors(const Kernel &kernel) {
  std::vector<std::string> names;
  for (const Stmt *stmt : kernel.body->statements)
    if (std::optional<Assignment> assignment = assignmentOf(stmt))
      if (assignment->tensor->access != TensorAccess::Temp && !llvm::is_contained(names, assignment->tensor->name))
        names.push_back(assignment->tensor->name);
  return names;
}

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

namespace {

class ReferenceRun {
public:
  ReferenceRun(const Kernel &kernel, const Arguments &arguments, const ReferenceBudget &budget)
      : kernel(kernel), arguments(arguments), budget(budget), evaluator(kernel, roundingOf()) {}

  llvm::Expected<std::vector<ReferenceTensor>> run();

private:
  Rounding roundingOf() const;
  void store(const Assignment &assignment);
  void combine(const Assignment &assignment);
  /// Numbers that it takes to evaluate the value at every position.
  double workOf(const Assignment &assignment);
  double positions(llvm::ArrayRef<const Axis *> axes) { return countPositions(evaluator, axes); }
  /// Evaluates at `count` positions from `first` on, which lie along the last axis.
  void evaluateAt(const Assignment &assignment, int64_t first, size_t count,
                  llvm::function_ref<void(int64_t place, const Scalar &value)> use);
  bool costsByLane(const Assignment &assignment) const;
  ReferenceTensor &resultOf(const Tensor *tensor);
  const TensorBinding *bindingOf(llvm::StringRef name) const;

  const Kernel &kernel;
  const Arguments &arguments;
  const ReferenceBudget &budget;
  Evaluator evaluator;
  std::vector<ReferenceTensor> results;
};

} // namespace

const TensorBinding *ReferenceRun::bindingOf(llvm::StringRef name) const { return findBinding(arguments, name); }

// The kernel computes in f64 where all that is checked is f64.
Rounding ReferenceRun::roundingOf() const {
  for (const std::string &name : storedTensors(kernel))
    if (const TensorBinding *tensor = bindingOf(name); !tensor || llvm::StringRef(tensor->type->name) != "f64")
      return {};
  return {0x1p-52};
}

// Reductions and lets are computed once for each position of their own axes.
double ReferenceRun::workOf(const Assignment &assignment) {
  double work = 0;
  llvm::DenseSet<const void *> counted;
  std::function<void(const Expr *, double)> count = [&](const Expr *root, double times) {
    visitExpressions(root, /*intoLets=*/true, [&](const Expr *expr) {
      if (!counted.insert(expr).second)
        return;
      double own = positions(expr->type.axes);
      if (const auto *reduction = dyn_cast<Reduce>(expr))
        own *= positions(reduction->axes);
      else if (const auto *product = dyn_cast<Dot>(expr))
        own *= positions(product->axes);
      else if (const auto *operation = dyn_cast<AxisOperation>(expr); operation && !expr->type.has(operation->axis))
        own *= positions(operation->axis);
      work += own;
      const auto *load = dyn_cast<Load>(expr);
      if (!load || load->tensor->access != TensorAccess::Temp || !counted.insert(load->tensor).second)
        return;
      for (const Stmt *stmt : kernel.body->statements)
        if (Assignment let = *assignmentOf(stmt); let.tensor == load->tensor)
          count(let.value, positions(let.axes));
    });
    work += times;
  };
  count(assignment.value, positions(assignment.axes));
  return work;
}

// Whether a step along the last axis costs a reduction of its own.
bool ReferenceRun::costsByLane(const Assignment &assignment) const {
  bool found = false;
  visitExpressions(assignment.value, /*intoLets=*/true, [&](const Expr *expr) {
    bool reduces = llvm::isa<Reduce, Dot, AxisOperation>(expr) ||
                   (llvm::isa<Load>(expr) && cast<Load>(expr)->tensor->access == TensorAccess::Temp);
    found |= reduces && !assignment.axes.empty() && expr->type.has(assignment.axes.back());
  });
  return found;
}

ReferenceTensor &ReferenceRun::resultOf(const Tensor *tensor) {
  for (ReferenceTensor &result : results)
    if (result.name == tensor->name)
      return result;
  results.emplace_back();
  results.back().name = tensor->name;
  return results.back();
}

void ReferenceRun::evaluateAt(const Assignment &assignment, int64_t first, size_t count,
                              llvm::function_ref<void(int64_t place, const Scalar &value)> use) {
  Frame &frame = evaluator.frame;
  frame.activeAxes = assignment.axes.size();
  frame.vectorAxis = nullptr;
  frame.count = 1;
  int64_t rest = first;
  for (const Axis *axis : llvm::reverse(assignment.axes)) {
    auto [lower, upper] = evaluator.rangeOf(axis);
    frame.at(axis) = lower + rest % (upper - lower);
    rest /= upper - lower;
  }
  if (count > 1) {
    frame.vectorAxis = assignment.axes.back();
    frame.start = frame.at(frame.vectorAxis);
    frame.count = count;
  }
  llvm::SmallVector<Lanes, 4> subscripts;
  for (const Expr *subscript : assignment.subscripts)
    subscripts.push_back(evaluator.evaluate(subscript));
  Lanes values = evaluator.evaluate(assignment.value);
  llvm::ArrayRef<int64_t> shape = bindingOf(assignment.tensor->name)->shape;
  llvm::SmallVector<int64_t, 4> at(subscripts.size());
  for (size_t i = 0; i < count; ++i) {
    for (auto [position, lanes] : llvm::zip(at, subscripts))
      position = lanes.integerAt(i);
    if (int64_t place = evaluator.placeOf(at, shape); place >= 0)
      use(place, values.scalarAt(i));
  }
}

void ReferenceRun::store(const Assignment &assignment) {
  constexpr double mostElements = 1 << 23;
  ReferenceTensor &result = resultOf(assignment.tensor);
  double total = positions(assignment.axes);
  if (total == 0)
    return;
  int64_t all = static_cast<int64_t>(total);
  int64_t along = assignment.axes.empty() ? 1 : static_cast<int64_t>(positions(assignment.axes.back()));
  auto add = [&](int64_t place, const Scalar &value) {
    result.elements.push_back({place, value.real, value.integer, value.bound});
  };
  auto progressed = [&](int64_t done) {
    if (budget.progress)
      budget.progress(static_cast<uint64_t>(done), static_cast<uint64_t>(all));
  };
  bool wantsAll = all <= budget.leastElements;
  if (total <= mostElements && (wantsAll || workOf(assignment) <= static_cast<double>(budget.work))) {
    for (int64_t first = 0; first < all;) {
      int64_t count = std::min<int64_t>(along - first % along, Evaluator::mostLanes);
      evaluateAt(assignment, first, static_cast<size_t>(count), add);
      progressed(first += count);
    }
    return;
  }
  // The ends, then anywhere.
  result.sampled = true;
  std::mt19937_64 random(budget.seed);
  int64_t width = costsByLane(assignment) ? 1 : std::min<int64_t>(along, Evaluator::mostLanes);
  uint64_t until = evaluator.work + budget.work;
  for (int64_t done = 0; done < budget.leastElements || evaluator.work < until; done += width) {
    if (static_cast<double>(done) >= std::min(total, mostElements))
      break;
    int64_t first = done == 0       ? 0
                    : done == width ? all - 1
                                    : static_cast<int64_t>(random() % static_cast<uint64_t>(all));
    int64_t column = std::min(first % along, along - width);
    evaluateAt(assignment, first - first % along + column, static_cast<size_t>(width), add);
    progressed(done);
  }
}

static BinaryOp operatorOf(AtomicOp op) {
  switch (op) {
  case AtomicOp::And:
    return BinaryOp::And;
  case AtomicOp::Or:
    return BinaryOp::Or;
  case AtomicOp::Xor:
    return BinaryOp::Xor;
  default:
    return BinaryOp::Add;
  }
}

// Every element of the tensor, from what it held before the launch.
void ReferenceRun::combine(const Assignment &assignment) {
  const TensorBinding *tensor = bindingOf(assignment.tensor->name);
  bool floats = tensor->type->kind == ElementType::Float;
  ReferenceTensor &result = resultOf(assignment.tensor);
  if (result.elements.empty())
    for (int64_t i = 0, n = tensor->contents->size(); i < n; ++i) {
      const uint8_t *bytes = &tensor->contents->bytes[i * tensor->type->bytes];
      result.elements.push_back(
          {i, floats ? decodeElement(*tensor->type, bytes) : 0, floats ? 0 : decodeInteger(*tensor->type, bytes), 0});
    }
  // Each addition rounds to the type.
  Rounding rounding{floats ? tensor->type->epsilon : 0};
  ScalarKind element = assignment.tensor->element;
  auto add = [&](int64_t place, const Scalar &value) {
    ReferenceElement &old = result.elements[static_cast<size_t>(place)];
    Lanes before = Lanes::of(floats, {old.real, old.integer, old.bound}), term = Lanes::of(floats, value);
    AtomicOp op = assignment.atomic->op;
    bool isExtreme = op == AtomicOp::Max || op == AtomicOp::Min;
    Builtin extreme = op == AtomicOp::Max ? Builtin::Max : Builtin::Min;
    Scalar after = (isExtreme ? evaluateCall(extreme, element, element, {before, term}, rounding)
                              : evaluateBinary(operatorOf(op), element, before, term, rounding))
                       .scalarAt(0);
    old = {place, after.real, after.integer, after.bound};
  };
  int64_t all = static_cast<int64_t>(positions(assignment.axes));
  for (int64_t first = 0; first < all; ++first)
    evaluateAt(assignment, first, 1, add);
}

// In ascending order; of several stores of one element the last holds.
static void settle(std::vector<ReferenceElement> &elements) {
  llvm::stable_sort(elements, [](const ReferenceElement &a, const ReferenceElement &b) { return a.at < b.at; });
  std::vector<ReferenceElement> kept;
  kept.reserve(elements.size());
  for (const ReferenceElement &element : elements) {
    if (!kept.empty() && kept.back().at == element.at)
      kept.pop_back();
    kept.push_back(element);
  }
  elements = std::move(kept);
}

llvm::Expected<std::vector<ReferenceTensor>> ReferenceRun::run() {
  if (llvm::Error error = bindParameters(evaluator, kernel, arguments))
    return std::move(error);
  for (const Stmt *stmt : kernel.body->statements) {
    Assignment assignment = *assignmentOf(stmt);
    if (assignment.tensor->access == TensorAccess::Temp)
      continue;
    if (assignment.atomic)
      combine(assignment);
    else
      store(assignment);
  }
  for (ReferenceTensor &result : results)
    settle(result.elements);
  return std::move(results);
}

llvm::Expected<std::vector<ReferenceTensor>>
tilec::runner::evaluateReference(const Kernel &kernel, const Arguments &arguments, const ReferenceBudget &budget) {
  return ReferenceRun(kernel, arguments, budget).run();
}
