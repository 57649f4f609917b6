// What the variants of a kernel assume, and when.
#include "Specialization.h"

#include "tilec/Dialect/Tile/HeldRows.h"
#include "llvm/ADT/SetVector.h"

#include <numeric>

using namespace mlir;
using namespace tilec;
using namespace tilec::sema;

std::string tilec::strideName(const Tensor &tensor, size_t dimension) {
  return tensor.name + ".stride" + std::to_string(dimension);
}

ArrayAttr tilec::hostCondition(Builder &builder, StringRef op, Attribute x, Attribute y) {
  return builder.getArrayAttr({builder.getStringAttr(op), x, y});
}

Specialization tilec::makeGeneral(const Kernel &kernel, Builder &builder) {
  Specialization result;
  result.kind = "general";
  result.suffix = "general";
  for (const Parameter &parameter : kernel.parameters)
    if (const Variable *variable = parameter.variable; variable && isInteger(variable->type.element)) {
      ArgumentFacts &facts = result.arguments[variable->name];
      facts.divisible = variable->divisible;
      facts.min = variable->min;
      facts.max = variable->max;
      if (variable->kind == VariableKind::Dimension)
        facts.min = std::max<int64_t>(facts.min.value_or(0), 0);
    }
  for (const HostExpr &condition : kernel.when)
    result.when.push_back(toAttribute(condition, builder));
  return result;
}

namespace {

/// Adds facts to a specialisation together with the conditions that make them true.
class FactAdder {
public:
  FactAdder(Specialization &target, Builder &builder) : target(target), builder(builder) {}

  void requireDivisible(StringRef name, int64_t divisor) {
    ArgumentFacts &facts = target.arguments[name];
    std::optional<int64_t> constant = facts.constant();
    if (divisor <= 1 || facts.divisible % divisor == 0 || constant)
      return;
    facts.divisible = std::lcm(facts.divisible, divisor);
    Attribute rest = hostCondition(builder, "rem", builder.getStringAttr(name), builder.getI64IntegerAttr(divisor));
    target.when.push_back(hostCondition(builder, "eq", rest, builder.getI64IntegerAttr(0)));
  }

  void requireBelow(StringRef name, int64_t limit) {
    ArgumentFacts &facts = target.arguments[name];
    if (facts.max && *facts.max < limit)
      return;
    facts.max = limit - 1;
    target.when.push_back(hostCondition(builder, "lt", builder.getStringAttr(name), builder.getI64IntegerAttr(limit)));
  }

  void requireAbove(StringRef name, int64_t limit) {
    ArgumentFacts &facts = target.arguments[name];
    if (facts.min && *facts.min > limit)
      return;
    facts.min = limit + 1;
    target.when.push_back(hostCondition(builder, "gt", builder.getStringAttr(name), builder.getI64IntegerAttr(limit)));
  }

  void requireEqual(StringRef name, int64_t value) {
    ArgumentFacts &facts = target.arguments[name];
    facts.min = facts.max = value;
    target.when.push_back(hostCondition(builder, "eq", builder.getStringAttr(name), builder.getI64IntegerAttr(value)));
  }

private:
  Specialization &target;
  Builder &builder;
};

} // namespace

// Elements of a row that one warp takes.
static constexpr int64_t warpElements = 512;

static constexpr int64_t vectorBytes = 16;

static int64_t elementsOf(const Tensor &tensor, int64_t bytes) {
  return std::max<int64_t>(8 * bytes / std::max(getBitWidth(tensor.element), 8u), 1);
}

static const Variable *asArgument(const sema::Expr *expr) {
  auto *ref = llvm::dyn_cast<VariableRef>(expr);
  return ref && ref->variable->kind == VariableKind::Dimension ? ref->variable : nullptr;
}

// A tensor with a row length that can never be whole vectors does not gain from requirements on it.
static void requireRows(const Tensor &tensor, int64_t alignment, FactAdder &facts) {
  int64_t elements = elementsOf(tensor, alignment);
  if (tensor.stridesKind == TensorStrides::Dynamic) {
    for (size_t d = 0; d + 1 < tensor.shape.size(); ++d)
      facts.requireDivisible(strideName(tensor, d), elements);
    facts.requireEqual(strideName(tensor, tensor.shape.size() - 1), 1);
    return;
  }
  if (tensor.stridesKind == TensorStrides::Explicit) {
    for (const sema::Expr *stride : tensor.strides)
      if (const Variable *variable = asArgument(stride))
        facts.requireDivisible(variable->name, elements);
    return;
  }
  if (const Variable *last = asArgument(tensor.shape.back()))
    facts.requireDivisible(last->name, elements);
}

// A vector beside tensors with rows (a bias, a scale for each row) is a small part of the traffic; its length decides
// for the whole kernel only where there is nothing else.
static bool hasRows(const Kernel &kernel) {
  return llvm::any_of(kernel.parameters, [](const Parameter &parameter) {
    return parameter.tensor && parameter.tensor->shape.size() > 1;
  });
}

// Requires the alignment of the tensors that `counts` names.
static Specialization specialize(const Kernel &kernel, Builder &builder, StringRef suffix, int64_t alignment,
                                 function_ref<bool(const Tensor &)> counts) {
  Specialization result = makeGeneral(kernel, builder);
  result.kind = suffix;
  result.suffix = suffix.str();
  FactAdder facts(result, builder);
  size_t sideRank = hasRows(kernel) ? 1 : 0;
  for (const Parameter &parameter : kernel.parameters) {
    if (!parameter.tensor || !counts(*parameter.tensor))
      continue;
    result.alignments[parameter.tensor->name] = alignment;
    result.when.push_back(hostCondition(builder, "aligned", builder.getStringAttr(parameter.tensor->name),
                                        builder.getI64IntegerAttr(alignment)));
    if (parameter.tensor->shape.size() > sideRank)
      requireRows(*parameter.tensor, alignment, facts);
  }
  for (const Parameter &parameter : kernel.parameters)
    if (parameter.variable && parameter.variable->kind == VariableKind::Dimension)
      facts.requireBelow(parameter.variable->name, int64_t(1) << 31);
  return result;
}

static bool allTensors(const Tensor &) { return true; }

// Loads element by element through registers take about fifteen times as long as bulk copies (GEMM 4095x4097x4104 on
// the H200: `general` 31, `inputs` 456 TFLOP/s). The factor errs to the other variants' side.
Attribute tilec::costOf(const Kernel &kernel, const Specialization &specialization, Builder &builder) {
  constexpr int64_t scalarLoads = 20;
  if (kernel.chosen.cost.getAsNull())
    return {};
  bool ofCluster = !specialization.clusterCost.getAsNull();
  const HostExpr &host = ofCluster                        ? specialization.clusterCost
                         : !specialization.packed.empty() ? kernel.chosen.packedCost
                                                          : kernel.chosen.cost;
  Attribute cost = toAttribute(host, builder);
  if (specialization.kind == "fast")
    return cost;
  if (specialization.kind == "inputs" || specialization.kind == "packed")
    return hostCondition(builder, "add", cost, toAttribute(kernel.chosen.scalarStores, builder));
  return hostCondition(builder, "mul", cost, builder.getI64IntegerAttr(scalarLoads));
}

const Variable *tilec::lengthOf(const sema::Axis &axis) {
  if (axis.isTiles() || axis.rangeOf || !axis.upper || !axis.lower)
    return nullptr;
  auto *start = llvm::dyn_cast<sema::Constant>(axis.lower);
  return start && start->integer.isZero() ? asArgument(axis.upper) : nullptr;
}

static void collectLengths(const sema::Block &block, llvm::SmallSetVector<const Variable *, 2> &lengths) {
  for (const Stmt *stmt : block.statements) {
    if (auto *axis = llvm::dyn_cast<AxisStmt>(stmt)) {
      if (const Variable *length = lengthOf(*axis->axis))
        lengths.insert(length);
    } else if (auto *stage = llvm::dyn_cast<ParallelStmt>(stmt)) {
      collectLengths(*stage->body, lengths);
    } else if (auto *loop = llvm::dyn_cast<ForStmt>(stmt)) {
      collectLengths(*loop->body, lengths);
    }
  }
}

// Scalars that a loop carries: sums and the like of its tiles.
static bool carriesScalars(const ForStmt &loop) {
  return !loop.carried.empty() &&
         llvm::all_of(loop.carried, [](const Variable *variable) { return variable->type.axes.empty(); });
}

// The dimension d of loops over equal tiles of 0..d in one block of a stage whose iterations numbers count, and the
// size of the tiles. One loop alone is that of a row if it carries scalars.
static std::pair<const Variable *, int64_t> streamedRow(const sema::Block &block) {
  std::pair<const Variable *, int64_t> first = {nullptr, 0};
  unsigned loops = 0;
  bool scalars = false;
  for (const Stmt *stmt : block.statements) {
    if (auto *stage = llvm::dyn_cast<ParallelStmt>(stmt)) {
      bool rows = llvm::all_of(stage->bindings, [](const Binding &binding) { return binding.tile() == 0; });
      return rows ? streamedRow(*stage->body) : std::pair<const Variable *, int64_t>(nullptr, 0);
    }
    auto *loop = llvm::dyn_cast<ForStmt>(stmt);
    auto *start = loop && loop->binding.axis ? llvm::dyn_cast<sema::Constant>(loop->binding.lower()) : nullptr;
    if (!start || !start->integer.isZero() || !loop->binding.axis->isTiles())
      continue;
    std::pair<const Variable *, int64_t> row = {asArgument(loop->binding.upper()), loop->binding.tile()};
    if (loops > 0 && row != first)
      return {nullptr, 0};
    first = row;
    scalars |= carriesScalars(*loop);
    ++loops;
  }
  return (loops > 1 || scalars) && first.second > 0 ? first : std::pair<const Variable *, int64_t>(nullptr, 0);
}

// Rows of as many tiles, and in all as many bytes, as `hold-rows` takes.
static RowLengths streamedLengths(const Kernel &kernel) {
  auto [dimension, tile] = streamedRow(*kernel.body);
  int64_t bytes = 0;
  for (const Parameter &parameter : kernel.parameters)
    if (const Tensor *tensor = parameter.tensor; tensor && tensor->access == TensorAccess::In &&
                                                 tensor->shape.size() > 1 &&
                                                 asArgument(tensor->shape.back()) == dimension)
      bytes += std::max<int64_t>(getBitWidth(tensor->element) / 8, 1);
  if (!dimension || bytes == 0)
    return {};
  RowLengths result{dimension, tile, {}};
  for (int64_t tiles = 1; tiles <= tile::maxHeldTiles && tiles * tile * bytes <= tile::maxHeldBytes; tiles *= 2)
    if (tiles * tile < dimension->max.value_or(INT64_MAX))
      result.bounds.push_back(tiles * tile);
  return result;
}

// A row of up to 512 elements is one for a warp, whose lanes work on absent ones as well. Beyond, a power of two is one
// for twice as many threads, and between two of them each has fewer elements (docs/decisions/lengths-of-rows.md). Of
// long rows most threads of a block have something to do anyway.
static void addBounds(RowLengths &rows, int64_t least, int64_t most) {
  constexpr int64_t longestBetween = 4096;
  auto add = [&](int64_t bound) {
    if (bound > least && bound < most)
      rows.bounds.push_back(bound);
  };
  for (int64_t bound : {256, 320, 384})
    add(bound);
  for (int64_t bound = warpElements; bound < most; bound *= 2) {
    add(bound);
    if (bound <= longestBetween)
      add(bound + bound / 2);
  }
}

RowLengths tilec::rowLengths(const Kernel &kernel) {
  llvm::SmallSetVector<const Variable *, 2> lengths;
  collectLengths(*kernel.body, lengths);
  if (lengths.empty())
    return streamedLengths(kernel);
  if (lengths.size() != 1 || !lengths.front()->max || lengths.front()->min == lengths.front()->max)
    return {};
  RowLengths result{lengths.front(), /*tile=*/0, {}};
  addBounds(result, result.dimension->min.value_or(0), *result.dimension->max);
  return result;
}

bool tilec::favoursWords(int64_t bound) { return bound < warpElements && !llvm::isPowerOf2_64(bound); }

Specialization tilec::withBound(Specialization specialization, const Variable &dimension, int64_t bound,
                                Builder &builder) {
  specialization.suffix += "_" + std::to_string(bound);
  FactAdder(specialization, builder).requireBelow(dimension.name, bound + 1);
  return specialization;
}

Specialization tilec::withLength(Specialization specialization, const Variable &dimension, int64_t length,
                                 Builder &builder) {
  specialization.suffix += "_of_" + std::to_string(length);
  FactAdder(specialization, builder).requireEqual(dimension.name, length);
  return specialization;
}

Specialization tilec::withTiles(Specialization specialization, const Variable &dimension, int64_t tile, int64_t count,
                                Builder &builder) {
  specialization.suffix += "_" + std::to_string(count) + "x" + std::to_string(tile);
  FactAdder facts(specialization, builder);
  facts.requireAbove(dimension.name, (count - 1) * tile);
  facts.requireBelow(dimension.name, count * tile + 1);
  return specialization;
}

// The stage of a kernel that has one.
static const ParallelStmt *stageOf(const Kernel &kernel) {
  const ParallelStmt *result = nullptr;
  for (const Stmt *stmt : kernel.body->statements)
    if (auto *stage = llvm::dyn_cast<ParallelStmt>(stmt)) {
      if (result)
        return nullptr;
      result = stage;
    }
  return result;
}

std::vector<ClusterChoice> tilec::clustersOf(const Kernel &kernel) {
  const ParallelStmt *stage = stageOf(kernel);
  if (!stage)
    return {};
  for (const AppliedAnnotation &annotation : stage->annotations)
    if (annotation.name == "cluster")
      return {{annotation.values, nullptr}};
  return kernel.chosen.clusters;
}

// The number of a range's iterations; the host knows its ends.
static Attribute countOf(const Binding &binding, Builder &builder) {
  auto end = [&](const sema::Expr *expr) { return toAttribute(*toHostExpr(expr), builder); };
  Attribute length = hostCondition(builder, "sub", end(binding.upper()), end(binding.lower()));
  int64_t tile = binding.tile();
  return tile ? hostCondition(builder, "ceil_div", length, builder.getI64IntegerAttr(tile)) : length;
}

std::optional<Specialization> tilec::withCluster(Specialization specialization, const Kernel &kernel,
                                                 const ClusterChoice &choice, Builder &builder) {
  const ParallelStmt *stage = stageOf(kernel);
  if (!stage || llvm::product_of(choice.blocks) == 1)
    return std::nullopt;
  specialization.suffix += "_cluster";
  specialization.cluster.assign(choice.blocks.begin(), choice.blocks.end());
  specialization.clusterCost = choice.cost;
  for (auto [blocks, binding] : llvm::zip(choice.blocks, ArrayRef(stage->bindings).take_back(choice.blocks.size()))) {
    specialization.suffix += "_" + std::to_string(blocks);
    if (blocks == 1)
      continue;
    if (!toHostExpr(binding.lower()) || !toHostExpr(binding.upper()))
      return std::nullopt;
    Attribute rest = hostCondition(builder, "rem", countOf(binding, builder), builder.getI64IntegerAttr(blocks));
    specialization.when.push_back(hostCondition(builder, "eq", rest, builder.getI64IntegerAttr(0)));
  }
  return specialization;
}

Specialization tilec::makeFast(const Kernel &kernel, Builder &builder) {
  return specialize(kernel, builder, "fast", vectorBytes, allTensors);
}

std::optional<Specialization> tilec::makePairs(const Kernel &kernel, Builder &builder) {
  constexpr int64_t wordBytes = 4;
  bool isNarrow = llvm::any_of(kernel.parameters, [](const Parameter &parameter) {
    return parameter.tensor && getBitWidth(parameter.tensor->element) < 8 * wordBytes;
  });
  Specialization pairs = specialize(kernel, builder, "pairs", wordBytes, allTensors);
  return isNarrow ? std::optional(pairs) : std::nullopt;
}

Specialization tilec::makeAligned(const Kernel &kernel, Builder &builder, StringRef kind,
                                  function_ref<bool(const Tensor &)> counts) {
  return specialize(kernel, builder, kind, vectorBytes, counts);
}

Specialization tilec::makeInputs(const Kernel &kernel, Builder &builder) {
  return specialize(kernel, builder, "inputs", vectorBytes,
                    [](const Tensor &tensor) { return tensor.access == TensorAccess::In; });
}

bool tilec::hasContractedRows(const Tensor &tensor, const Kernel &kernel) {
  auto isMatrix = [](const Tensor *other) {
    return other && other->access == TensorAccess::In && other->shape.size() > 1;
  };
  if (tensor.stridesKind != TensorStrides::Contiguous || !isMatrix(&tensor) || tensor.shape.size() != 2)
    return false;
  const Variable *rows = asArgument(tensor.shape[0]), *columns = asArgument(tensor.shape[1]);
  bool isContracted = false, isAlone = rows && columns;
  for (const Parameter &parameter : kernel.parameters) {
    if (!isMatrix(parameter.tensor) || parameter.tensor == &tensor)
      continue;
    const Variable *length = asArgument(parameter.tensor->shape.back());
    isContracted |= length == rows;
    isAlone &= length != columns;
  }
  return isContracted && isAlone;
}
