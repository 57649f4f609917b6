// tilegpu.mma with kind = mma: fragments of mma.sync in registers.
#include "FragmentLoad.h"
#include "MmaEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Matchers.h"
#include "tilec/Layout/FragmentLayouts.h"

#include <map>

using namespace mlir;
using namespace tilec;

SmallVector<Value, 0> tilec::packRegisters(OpBuilder &builder, Location loc, ValueRange scalars) {
  SmallVector<Value, 0> packed;
  if (scalars.empty())
    return packed;
  Type type = scalars[0].getType(), i32 = builder.getI32Type();
  unsigned bits = type.getIntOrFloatBitWidth();
  if (bits == 64)
    return SmallVector<Value, 0>(scalars.begin(), scalars.end());
  if (bits == 32) {
    for (Value scalar : scalars)
      packed.push_back(type == i32 ? scalar : LLVM::BitcastOp::create(builder, loc, i32, scalar).getResult());
    return packed;
  }
  unsigned count = 32 / bits;
  Type vector = VectorType::get(count, type);
  for (size_t first = 0; first + count <= scalars.size(); first += count) {
    Value value = LLVM::PoisonOp::create(builder, loc, vector);
    for (unsigned i = 0; i < count; ++i) {
      Value index = LLVM::ConstantOp::create(builder, loc, i32, builder.getI32IntegerAttr(i));
      value = LLVM::InsertElementOp::create(builder, loc, value, scalars[first + i], index);
    }
    packed.push_back(LLVM::BitcastOp::create(builder, loc, i32, value));
  }
  return packed;
}

SmallVector<Value, 0> tilec::unpackRegisters(OpBuilder &builder, Location loc, ValueRange words, Type type) {
  SmallVector<Value, 0> scalars;
  unsigned count = 32 / type.getIntOrFloatBitWidth();
  for (Value word : words) {
    Value vector = LLVM::BitcastOp::create(builder, loc, VectorType::get(count, type), word);
    for (unsigned i = 0; i < count; ++i) {
      Value index = LLVM::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(i));
      scalars.push_back(LLVM::ExtractElementOp::create(builder, loc, vector, index));
    }
  }
  return scalars;
}

// e5m2 has the exponent of f16. e4m3 has a bias of 7 instead of 15, hence the factor 2^8, and its only special value is
// NaN (OCP 8-bit Floating Point Specification, section 5).
Value tilec::halfOfF8(OpBuilder &builder, Location loc, Value scalar, Type elementType) {
  auto i16 = builder.getI16Type();
  auto constant = [&](int64_t value) {
    return arith::ConstantOp::create(builder, loc, builder.getI16IntegerAttr(value)).getResult();
  };
  if (!scalar.getType().isInteger(8))
    scalar = arith::BitcastOp::create(builder, loc, builder.getI8Type(), scalar);
  Value bits = arith::ExtUIOp::create(builder, loc, i16, scalar);
  Value shifted = arith::ShLIOp::create(builder, loc, bits, constant(8));
  if (isa<Float8E5M2Type>(elementType))
    return arith::BitcastOp::create(builder, loc, builder.getF16Type(), shifted);
  Value sign = arith::AndIOp::create(builder, loc, shifted, constant(-0x8000));
  Value magnitude = arith::AndIOp::create(builder, loc, bits, constant(0x7f));
  Value moved = arith::OrIOp::create(builder, loc, sign, arith::ShLIOp::create(builder, loc, magnitude, constant(7)));
  Value small = arith::BitcastOp::create(builder, loc, builder.getF16Type(), moved);
  Value scale = arith::ConstantOp::create(builder, loc, builder.getF16FloatAttr(256));
  Value value = arith::MulFOp::create(builder, loc, small, scale);
  Value isNaN = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, magnitude, constant(0x7f));
  Value nan = arith::BitcastOp::create(builder, loc, builder.getF16Type(), constant(0x7e00));
  return arith::SelectOp::create(builder, loc, isNaN, nan, value);
}

namespace {

// An operand as the instructions ask for it.
struct Operand {
  Value value;
  Type elementType;
  ArrayRef<Value> registers;
  std::optional<FragmentLoad> load;
  /// By the number of the first register. References stay valid when it grows.
  std::map<uint32_t, SmallVector<Value, 4>> fragments;

  ArrayRef<Value> scalars(RegisterRange range) {
    return load ? load->registers(range) : registers.slice(range.first, range.count);
  }
};

class MmaSyncEmitter {
public:
  MmaSyncEmitter(OpBuilder &builder, const MmaInputs &inputs)
      : builder(builder), inputs(inputs), op(inputs.op), loc(op.getLoc()) {}

  FailureOr<Ptx::Values> run();

private:
  FailureOr<MmaType> operandType(Value operand, bool isUnsigned);
  LogicalResult prepare();
  LogicalResult prepareOperand(Operand &operand, const MmaOperand &input, Layout expected, unsigned rowDim,
                               unsigned contractedDim, StringRef what);
  LogicalResult checkLayout(Type type, const Layout &expected, StringRef what);
  ArrayRef<Value> fragment(Operand &operand, RegisterRange range);
  Ptx::Values initialSums();
  Ptx::Values multiply(int64_t mi, int64_t ni, int64_t ki, ValueRange sums);
  int64_t stepsLoadedTogether() const;
  void sumInPlace(Ptx::Values &sums);
  void sumExactly(Ptx::Values &sums);

  OpBuilder &builder;
  const MmaInputs &inputs;
  tilegpu::MmaOp op;
  Location loc;
  MmaShape shape;
  MmaTile tile;
  Operand a, b;
};

bool isF8(MmaType type) { return type == MmaType::E4M3 || type == MmaType::E5M2; }

} // namespace

FailureOr<MmaType> MmaSyncEmitter::operandType(Value operand, bool isUnsigned) {
  Type element = tilegpu::tileElementType(operand.getType());
  std::optional<MmaType> type = element.isF32() ? MmaType::TF32 : mmaTypeOf(element, isUnsigned);
  if (!type)
    return op.emitOpError("has an operand type that mma.sync does not take: ") << element;
  return *type;
}

LogicalResult MmaSyncEmitter::checkLayout(Type type, const Layout &expected, StringRef what) {
  tilegpu::LayoutAttr layout = tilegpu::layoutOf(type);
  if (layout && layout.getLayout() == expected)
    return success();
  return op.emitOpError("has ") << what << " whose layout is not that of mma.sync: " << expected.str();
}

// `expected` has the dimensions of the instruction's operand; its `rowDim` runs along the rows of memory, or is the
// first dimension of a tensor. Steps along the contracted dimension come one after another.
LogicalResult MmaSyncEmitter::prepareOperand(Operand &operand, const MmaOperand &input, Layout expected,
                                             unsigned rowDim, unsigned contractedDim, StringRef what) {
  operand.elementType = tilegpu::tileElementType(operand.value.getType());
  operand.registers = input.registers;
  if (!input.shared)
    return checkLayout(operand.value.getType(), rowDim == 0 ? expected : expected.permuteDims({1, 0}), what);
  operand.load.emplace(builder, loc, *input.shared, std::move(expected), rowDim, operand.elementType, inputs.lane,
                       inputs.warp, contractedDim, tile.instruction.k);
  return success();
}

LogicalResult MmaSyncEmitter::prepare() {
  a.value = op.getA();
  b.value = op.getB();
  FailureOr<MmaType> typeA = operandType(a.value, op.getAUnsigned()), typeB = operandType(b.value, op.getBUnsigned());
  if (failed(typeA) || failed(typeB))
    return failure();
  tilegpu::MmaAttr mma = op.getMma();
  auto result = cast<RankedTensorType>(op.getType());
  // An instruction of k = 16 or 8 on 8-bit floats works on their f16 values, exactly.
  bool viaHalf = isF8(*typeA) && mma.getK() < 32;
  shape = {mma.getM(), mma.getN(), mma.getK(), viaHalf ? MmaType::F16 : *typeA, viaHalf ? MmaType::F16 : *typeB};
  tile.instruction = {mma.getM(), mma.getN(), mma.getK(), mmaTypeBits(shape.a)};
  tile.m = result.getDimSize(0);
  tile.n = result.getDimSize(1);
  tile.k = tilegpu::tileShape(a.value.getType())[op.getTransA() ? 0 : 1];
  tile.warpsM = mma.getWarpsM();
  tile.warpsN = mma.getWarpsN();
  if (tile.m % (tile.instruction.m * tile.warpsM) || tile.n % (tile.instruction.n * tile.warpsN) ||
      tile.k % tile.instruction.k)
    return op.emitOpError("does not consist of whole mma.sync instructions");
  // The instruction's operands are [m, k] and [k, n], the operation's [m, k] and [n, k] unless transposed.
  if (failed(prepareOperand(a, inputs.a, tile.operandA(), op.getTransA() ? 1 : 0, 1, "a first operand")) ||
      failed(prepareOperand(b, inputs.b, tile.operandB(), op.getTransB() ? 0 : 1, 0, "a second operand")))
    return failure();
  return checkLayout(result, tile.accumulator(), "a result");
}

// The registers of an instruction's operand, loaded and packed when they are first needed: operands that wait for
// their turn would only take registers.
ArrayRef<Value> MmaSyncEmitter::fragment(Operand &operand, RegisterRange range) {
  SmallVector<Value, 4> &packed = operand.fragments[range.first];
  if (!packed.empty())
    return packed;
  SmallVector<Value, 8> scalars(operand.scalars(range));
  if (shape.a == MmaType::F16 && !operand.elementType.isF16())
    for (Value &scalar : scalars)
      scalar = halfOfF8(builder, loc, scalar, operand.elementType);
  SmallVector<Value, 0> values = packRegisters(builder, loc, scalars);
  packed.assign(values.begin(), values.end());
  return packed;
}

Ptx::Values MmaSyncEmitter::initialSums() {
  Ptx::Values sums(inputs.accumulators.begin(), inputs.accumulators.end());
  if (!inputs.first || sums.empty())
    return sums;
  Type type = sums[0].getType();
  Value zero = arith::ConstantOp::create(builder, loc, type, builder.getZeroAttr(type));
  for (Value &sum : sums)
    sum = arith::SelectOp::create(builder, loc, inputs.first, zero, sum);
  return sums;
}

Ptx::Values MmaSyncEmitter::multiply(int64_t mi, int64_t ni, int64_t ki, ValueRange sums) {
  ArrayRef<Value> fragmentA = fragment(a, tile.operandARegisters(mi, ki));
  ArrayRef<Value> fragmentB = fragment(b, tile.operandBRegisters(ki, ni));
  return Ptx(builder, loc).mma(shape, fragmentA, fragmentB, sums);
}

// Steps along k whose fragments of B one instruction loads.
int64_t MmaSyncEmitter::stepsLoadedTogether() const {
  int64_t steps = 1;
  while (b.load && steps < tile.blocksK() &&
         b.load->loadsTogether(tile.operandBRegisters(0, 0).first, tile.operandBRegisters(steps, 0).first))
    ++steps;
  return steps;
}

// One column block of B stays in registers while the row blocks of A pass.
void MmaSyncEmitter::sumInPlace(Ptx::Values &sums) {
  int64_t steps = stepsLoadedTogether();
  for (int64_t start = 0; start < tile.blocksK(); start += steps)
    for (int64_t ni = 0; ni < tile.blocksN(); ++ni)
      for (int64_t ki = start; ki < std::min(start + steps, tile.blocksK()); ++ki)
        for (int64_t mi = 0; mi < tile.blocksM(); ++mi) {
          RegisterRange range = tile.accumulatorRegisters(mi, ni);
          Ptx::Values results = multiply(mi, ni, ki, ArrayRef(sums).slice(range.first, range.count));
          llvm::copy(results, sums.begin() + range.first);
        }
}

// Sums of at most `exactProducts` products, added to the accumulators in f32. The fragments of A for all these steps
// are read again for each column block: kept, they would take the registers of the sums.
void MmaSyncEmitter::sumExactly(Ptx::Values &sums) {
  int64_t stepsAtOnce = std::max<int64_t>(1, exactProducts / tile.instruction.k);
  Value zero = arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(0));
  for (int64_t start = 0; start < tile.blocksK(); start += stepsAtOnce)
    for (int64_t ni = 0; ni < tile.blocksN(); ++ni)
      for (int64_t mi = 0; mi < tile.blocksM(); ++mi) {
        RegisterRange range = tile.accumulatorRegisters(mi, ni);
        Ptx::Values parts(range.count, zero);
        for (int64_t ki = start; ki < std::min(start + stepsAtOnce, tile.blocksK()); ++ki)
          parts = multiply(mi, ni, ki, parts);
        for (auto [i, part] : llvm::enumerate(parts))
          sums[range.first + i] = arith::AddFOp::create(builder, loc, sums[range.first + i], part);
      }
}

FailureOr<Ptx::Values> MmaSyncEmitter::run() {
  if (failed(prepare()))
    return failure();
  Ptx::Values sums = initialSums();
  if (isF8(shape.a) && !op.getFast())
    sumExactly(sums);
  else
    sumInPlace(sums);
  return sums;
}

FailureOr<Ptx::Values> tilec::emitMmaSync(OpBuilder &builder, const MmaInputs &inputs) {
  return MmaSyncEmitter(builder, inputs).run();
}
