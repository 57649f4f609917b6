// tilegpu.mma with kind = fma: outer products in registers of vectors read from shared memory, for the element types
// that no Tensor Core instruction multiplies exactly.
#include "MmaEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace tilec;

namespace {

// Above this many multiplications a thread the contraction becomes a loop.
constexpr int64_t maxUnrolled = 1024;

// Widest vector access, bytes.
constexpr int64_t maxVectorBytes = 16;

// An operand [mn, k] as one thread reads it: the register offsets along mn at which the thread needs elements.
struct FmaOperand {
  SharedPart part;
  Type elementType;
  bool isUnsigned = false;
  /// Memory has k as rows and mn as columns.
  bool transposed = false;
  int64_t extent = 0;
  /// Whether positions beyond the extent occur, which have to stay inside the buffer.
  bool padded = false;
  /// The thread's part of the coordinate, i32 or null.
  Value thread;
  SmallVector<int64_t> offsets;
  /// Neighbours in registers that one vector covers.
  int64_t vector = 1;

  unsigned indexOf(int64_t offset) const { return llvm::lower_bound(offsets, offset) - offsets.begin(); }
};

class FmaEmitter {
public:
  FmaEmitter(OpBuilder &builder, const MmaInputs &inputs)
      : builder(builder), inputs(inputs), op(inputs.op), loc(op.getLoc()),
        layout(tilegpu::layoutOf(op.getType()).getLayout()) {}

  FailureOr<Ptx::Values> run();

private:
  Value constant(int64_t value) { return arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(value)); }
  LogicalResult prepare(FmaOperand &operand, unsigned dim);
  SmallVector<Value> load(FmaOperand &operand, Value k, int64_t count);
  SmallVector<Value> loadAlongK(FmaOperand &operand, Value k, int64_t count);
  SmallVector<Value> loadAlongMN(FmaOperand &operand, Value k, int64_t count);
  Value clamped(const FmaOperand &operand, int64_t offset);
  Value widened(Value element, const FmaOperand &operand);
  Value multiplyAdd(Value a, Value b, Value sum);
  Ptx::Values products(Ptx::Values sums, Value k, int64_t count);

  OpBuilder &builder;
  const MmaInputs &inputs;
  tilegpu::MmaOp op;
  Location loc;
  Layout layout;
  FmaOperand a, b;
  int64_t extentK = 0;
  Type sumType;
};

} // namespace

LogicalResult FmaEmitter::prepare(FmaOperand &operand, unsigned dim) {
  auto type = cast<tilegpu::SmemType>((dim == 0 ? op.getA() : op.getB()).getType());
  const std::optional<SharedPart> &shared = (dim == 0 ? inputs.a : inputs.b).shared;
  operand.part = *shared;
  operand.elementType = type.getElementType();
  operand.isUnsigned = dim == 0 ? op.getAUnsigned() : op.getBUnsigned();
  operand.transposed = dim == 0 ? op.getTransA() : op.getTransB();
  if (operand.elementType.isIntOrFloat() && operand.elementType.getIntOrFloatBitWidth() < 8)
    return op.emitOpError("has packed elements, which have to be converted first");
  operand.extent = cast<RankedTensorType>(op.getType()).getDimSize(dim);
  operand.padded = layout.covered(dim) > operand.extent;
  operand.thread = sumOfTerms(builder, loc, layout.terms(dim), inputs.lane, inputs.warp);
  for (uint32_t reg = 0; reg < layout.numRegisters(); ++reg)
    operand.offsets.push_back(layout.registerOffset(reg)[dim]);
  llvm::sort(operand.offsets);
  operand.offsets.erase(llvm::unique(operand.offsets), operand.offsets.end());
  int64_t bytes = tilegpu::elementBytes(operand.elementType);
  int64_t pitch = operand.part.tile.pitch();
  if (operand.transposed && !operand.padded && !operand.part.columnOffset) {
    operand.vector = layout.vectorWidth(dim, maxVectorBytes / bytes);
    while (operand.vector > 1 && pitch % (operand.vector * bytes))
      operand.vector /= 2;
  }
  return success();
}

// A coordinate of padding reads the last element instead.
Value FmaEmitter::clamped(const FmaOperand &operand, int64_t offset) {
  Value position =
      operand.thread ? builder.createOrFold<arith::AddIOp>(loc, operand.thread, constant(offset)) : constant(offset);
  return builder.createOrFold<arith::MinUIOp>(loc, position, constant(operand.extent - 1));
}

// Elements [offset][k .. k + count) where rows are mn: vectors along k.
SmallVector<Value> FmaEmitter::loadAlongK(FmaOperand &operand, Value k, int64_t count) {
  SmallVector<Value> elements;
  SharedAccess access(builder, loc, operand.part, operand.thread, k);
  for (int64_t offset : operand.offsets) {
    Value address = operand.padded ? SharedAccess(builder, loc, operand.part, clamped(operand, offset), k).at(0, 0)
                                   : access.at(offset, 0);
    llvm::append_range(elements, loadShared(builder, loc, address, operand.elementType, count));
  }
  return elements;
}

// The same where rows are k: vectors along mn.
SmallVector<Value> FmaEmitter::loadAlongMN(FmaOperand &operand, Value k, int64_t count) {
  SmallVector<Value> elements(operand.offsets.size() * count);
  SharedAccess access(builder, loc, operand.part, k, operand.thread);
  for (int64_t j = 0; j < count; ++j)
    for (size_t i = 0; i < operand.offsets.size(); i += operand.vector) {
      Value address = operand.padded
                          ? SharedAccess(builder, loc, operand.part, k, clamped(operand, operand.offsets[i])).at(j, 0)
                          : access.at(j, operand.offsets[i]);
      for (auto [e, value] : llvm::enumerate(loadShared(builder, loc, address, operand.elementType, operand.vector)))
        elements[(i + e) * count + j] = value;
    }
  return elements;
}

SmallVector<Value> FmaEmitter::load(FmaOperand &operand, Value k, int64_t count) {
  SmallVector<Value> elements = operand.transposed ? loadAlongMN(operand, k, count) : loadAlongK(operand, k, count);
  for (Value &element : elements)
    element = widened(element, operand);
  return elements;
}

// The element in the type of the sum.
Value FmaEmitter::widened(Value element, const FmaOperand &operand) {
  Type type = operand.elementType;
  if (isa<FloatType>(type) && type.getIntOrFloatBitWidth() == 8) {
    element = halfOfF8(builder, loc, element, type);
    type = element.getType();
  }
  type = storageType(type);
  unsigned from = type.getIntOrFloatBitWidth(), to = sumType.getIntOrFloatBitWidth();
  if (from == to)
    return element;
  if (isa<FloatType>(sumType))
    return arith::ExtFOp::create(builder, loc, sumType, element);
  if (from > to)
    return arith::TruncIOp::create(builder, loc, sumType, element);
  if (operand.isUnsigned)
    return arith::ExtUIOp::create(builder, loc, sumType, element);
  return arith::ExtSIOp::create(builder, loc, sumType, element);
}

Value FmaEmitter::multiplyAdd(Value x, Value y, Value sum) {
  if (isa<FloatType>(sumType))
    return LLVM::FMAOp::create(builder, loc, x, y, sum);
  return arith::AddIOp::create(builder, loc, arith::MulIOp::create(builder, loc, x, y), sum);
}

Ptx::Values FmaEmitter::products(Ptx::Values sums, Value k, int64_t count) {
  SmallVector<Value> valuesA = load(a, k, count), valuesB = load(b, k, count);
  SmallVector<std::pair<unsigned, unsigned>> places;
  for (uint32_t reg = 0; reg < layout.numRegisters(); ++reg) {
    Coordinates offset = layout.registerOffset(reg);
    places.push_back({a.indexOf(offset[0]), b.indexOf(offset[1])});
  }
  for (int64_t j = 0; j < count; ++j)
    for (auto [reg, place] : llvm::enumerate(places))
      sums[reg] = multiplyAdd(valuesA[place.first * count + j], valuesB[place.second * count + j], sums[reg]);
  return sums;
}

FailureOr<Ptx::Values> FmaEmitter::run() {
  if (!inputs.a.shared || !inputs.b.shared)
    return op.emitOpError("needs both operands in shared memory");
  auto typeA = cast<tilegpu::SmemType>(op.getA().getType());
  extentK = typeA.getShape()[op.getTransA() ? 0 : 1];
  Ptx::Values sums(inputs.accumulators.begin(), inputs.accumulators.end());
  sumType = sums[0].getType();
  if (layout.isPartial() || sums.size() != layout.numRegisters())
    return op.emitOpError("has a result whose layout holds addends");
  if (failed(prepare(a, 0)) || failed(prepare(b, 1)))
    return failure();
  if (inputs.first) {
    Value zero = arith::ConstantOp::create(builder, loc, sumType, cast<TypedAttr>(builder.getZeroAttr(sumType)));
    for (Value &sum : sums)
      sum = arith::SelectOp::create(builder, loc, inputs.first, zero, sum);
  }
  // Elements of k at once: a vector of the operands that are contiguous along k.
  int64_t count = 4;
  for (FmaOperand *operand : {&a, &b}) {
    int64_t bytes = tilegpu::elementBytes(operand->elementType);
    while (count > 1 &&
           (extentK % count || count * bytes > maxVectorBytes ||
            (!operand->transposed && (operand->part.columnOffset || operand->part.tile.pitch() % (count * bytes)))))
      count /= 2;
  }
  if (extentK * static_cast<int64_t>(sums.size()) <= maxUnrolled) {
    for (int64_t k = 0; k < extentK; k += count)
      sums = products(sums, constant(k), count);
    return sums;
  }
  auto loop = scf::ForOp::create(builder, loc, constant(0), constant(extentK), constant(count), sums);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Ptx::Values carried(loop.getRegionIterArgs().begin(), loop.getRegionIterArgs().end());
  Ptx::Values results = products(carried, loop.getInductionVar(), count);
  scf::YieldOp::create(builder, loc, results);
  return Ptx::Values(loop.getResults().begin(), loop.getResults().end());
}

FailureOr<Ptx::Values> tilec::emitFma(OpBuilder &builder, const MmaInputs &inputs) {
  return FmaEmitter(builder, inputs).run();
}
