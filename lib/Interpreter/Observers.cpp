// Reductions and dot products: they skip absent positions of their axes. A result that has other absent positions is
// poison there; a scalar result has none, so that poison in it is an error.
#include "Combine.h"
#include "Machine.h"
#include "tilec/Dialect/Tile/KeptDigits.h"

#include "llvm/ADT/SmallVector.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::interpreter;

LogicalResult Machine::observe(Operation *op, const Tile &value) {
  if (value.shape.empty() && value.isPoison(0))
    return op->emitError("observes an element at an absent position");
  return success();
}

// The number of present positions of an axis from its first on, which is its extent if it was proved full.
static FailureOr<int64_t> presentCount(Operation *op, AxisValue axis, bool full) {
  int64_t count = std::clamp<int64_t>(axis.end - axis.start, 0, axis.extent);
  if (full && count < axis.extent)
    return op->emitError("has absent positions of an axis that was proved full");
  return count;
}

LogicalResult Machine::reduce(tile::ReduceOp op) {
  const Tile &input = tile(op.getInput());
  const Tile *predicate = op.getPredicate() ? &tile(op.getPredicate()) : nullptr;
  auto result = std::make_shared<Tile>(op.getType());
  int64_t inner = rowMajorStrides(input.shape)[op.getDim()], extent = input.shape[op.getDim()];
  FailureOr<int64_t> present = presentCount(op, axis(op.getAxis()), op.getFull());
  if (failed(present))
    return failure();
  std::optional<tile::KeptDigits> kept = tile::KeptDigits::of(op);
  int64_t parts = kept ? kept->extent() : 1;
  for (int64_t i = 0, n = result->size(); i < n; ++i) {
    Accumulator sum(op.getKind(), input.element);
    int64_t first = i / (inner * parts) * inner * extent + i % inner, part = i / inner % parts;
    bool poison = false;
    for (int64_t k = 0; k < *present; ++k) {
      if (kept && kept->resultOf(k) != part)
        continue;
      int64_t element = first + k * inner;
      if (predicate) {
        poison |= predicate->isPoison(element);
        if (!predicate->integers[element])
          continue;
      }
      poison |= input.isPoison(element);
      sum.add(input, element);
    }
    sum.store(*result, i);
    if (poison)
      result->setPoison(i);
  }
  if (failed(observe(op, *result)))
    return failure();
  set(op.getResult(), result);
  return success();
}

namespace {

// An operand of a dot as rows: [batch][free][contracted], only present positions of the contracted dimensions.
struct Rows {
  std::vector<int64_t> elements; // element numbers in the operand, row after row
  int64_t rows = 0;              // free positions in each batch
};

} // namespace

// Element offsets of all positions of `dims` (sizes given), the last varying fastest.
static std::vector<int64_t> offsets(ArrayRef<int64_t> dims, ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides) {
  std::vector<int64_t> result = {0};
  for (auto [dim, size] : llvm::zip(dims, sizes)) {
    std::vector<int64_t> next;
    for (int64_t base : result)
      for (int64_t i = 0; i < size; ++i)
        next.push_back(base + i * strides[dim]);
    result = std::move(next);
  }
  return result;
}

static Rows makeRows(const Tile &operand, ArrayRef<int64_t> batch, ArrayRef<int64_t> contract,
                     ArrayRef<int64_t> present) {
  SmallVector<int64_t, 4> strides = rowMajorStrides(operand.shape), freeDims, freeSizes, batchSizes;
  for (int64_t d = 0; d < static_cast<int64_t>(operand.shape.size()); ++d)
    if (!llvm::is_contained(batch, d) && !llvm::is_contained(contract, d)) {
      freeDims.push_back(d);
      freeSizes.push_back(operand.shape[d]);
    }
  for (int64_t d : batch)
    batchSizes.push_back(operand.shape[d]);
  std::vector<int64_t> batches = offsets(batch, batchSizes, strides), rows = offsets(freeDims, freeSizes, strides),
                       columns = offsets(contract, present, strides);
  Rows result;
  result.rows = static_cast<int64_t>(rows.size());
  for (int64_t b : batches)
    for (int64_t r : rows)
      for (int64_t c : columns)
        result.elements.push_back(b + r + c);
  return result;
}

// The values of rows in double precision or as integers, and whether each row holds poison.
template <typename T> static std::vector<T> rowValues(const Tile &operand, const Rows &rows, bool isUnsigned) {
  std::vector<T> values;
  values.reserve(rows.elements.size());
  for (int64_t i : rows.elements) {
    if constexpr (std::is_same_v<T, double>)
      values.push_back(operand.number(i));
    else
      values.push_back(isUnsigned ? static_cast<T>(asUnsigned(operand.integers[i], integerWidth(operand.element)))
                                  : operand.integers[i]);
  }
  return values;
}

static std::vector<uint8_t> rowPoison(const Tile &operand, const Rows &rows, int64_t length, int64_t count) {
  std::vector<uint8_t> poison(count, 0);
  for (int64_t r = 0; r < count; ++r)
    for (int64_t k = 0; k < length; ++k)
      poison[r] |= operand.isPoison(rows.elements[r * length + k]);
  return poison;
}

// Sums of products in T: products of floats up to f32 are exact in double, and the sum is rounded once.
template <typename T>
static std::vector<T> sumsOfProducts(const std::vector<T> &lhs, const std::vector<T> &rhs, int64_t batches, int64_t m,
                                     int64_t n, int64_t k) {
  std::vector<T> sums;
  sums.reserve(batches * m * n);
  for (int64_t b = 0; b < batches; ++b)
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        const T *x = lhs.data() + (b * m + i) * k, *y = rhs.data() + (b * n + j) * k;
        T sum = 0;
        for (int64_t l = 0; l < k; ++l)
          sum += x[l] * y[l];
        sums.push_back(sum);
      }
  return sums;
}

TilePtr tilec::interpreter::contract(Type type, const Contraction &c, const Tile &lhs, const Tile &rhs,
                                     const Tile *acc) {
  Rows left = makeRows(lhs, c.lhsBatch, c.lhsContract, c.present);
  Rows right = makeRows(rhs, c.rhsBatch, c.rhsContract, c.present);
  auto result = std::make_shared<Tile>(type);
  int64_t length = 1, m = left.rows, n = right.rows, batches = 1;
  for (int64_t size : c.present)
    length *= size;
  for (int64_t d : c.lhsBatch)
    batches *= lhs.shape[d];
  if (result->storage == Storage::Integer) {
    auto sums = sumsOfProducts(rowValues<int64_t>(lhs, left, c.lhsUnsigned),
                               rowValues<int64_t>(rhs, right, c.rhsUnsigned), batches, m, n, length);
    for (size_t i = 0; i < sums.size(); ++i)
      result->integers[i] = wrapInteger(sums[i] + (acc ? acc->integers[i] : 0), integerWidth(result->element));
  } else {
    auto sums = sumsOfProducts(rowValues<double>(lhs, left, false), rowValues<double>(rhs, right, false), batches, m, n,
                               length);
    for (size_t i = 0; i < sums.size(); ++i) {
      if (result->storage == Storage::Double)
        result->doubles[i] = sums[i] + (acc ? acc->doubles[i] : 0);
      else
        result->singles[i] = static_cast<float>(sums[i] + (acc ? static_cast<double>(acc->singles[i]) : 0));
    }
  }
  std::vector<uint8_t> leftPoison = rowPoison(lhs, left, length, batches * m),
                       rightPoison = rowPoison(rhs, right, length, batches * n);
  for (int64_t i = 0, size = result->size(); i < size; ++i) {
    int64_t batch = i / (m * n);
    if (leftPoison[i / n] || rightPoison[batch * n + i % n] || (acc && acc->isPoison(i)))
      result->setPoison(i);
  }
  return result;
}

LogicalResult Machine::dot(tile::DotOp op) {
  Contraction c;
  c.lhsBatch.assign(op.getLhsBatch().begin(), op.getLhsBatch().end());
  c.rhsBatch.assign(op.getRhsBatch().begin(), op.getRhsBatch().end());
  c.lhsContract.assign(op.getLhsContract().begin(), op.getLhsContract().end());
  c.rhsContract.assign(op.getRhsContract().begin(), op.getRhsContract().end());
  c.lhsUnsigned = op.getLhsUnsigned();
  c.rhsUnsigned = op.getRhsUnsigned();
  ArrayRef<bool> full = op.getFull().value_or(ArrayRef<bool>());
  for (auto [i, a] : llvm::enumerate(op.getAxes())) {
    FailureOr<int64_t> present = presentCount(op, axis(a), i < full.size() && full[i]);
    if (failed(present))
      return failure();
    c.present.push_back(*present);
  }
  TilePtr result =
      contract(op.getType(), c, tile(op.getLhs()), tile(op.getRhs()), op.getAcc() ? &tile(op.getAcc()) : nullptr);
  if (failed(observe(op, *result)))
    return failure();
  set(op.getResult(), result);
  return success();
}
