// tilegpu.mma with kind = wgmma: descriptors, the sequence of instructions, exact sums of 8-bit floats.
#include "MmaEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "tilec/Layout/FragmentLayouts.h"

using namespace mlir;
using namespace tilec;

namespace {

// Descriptors count in units of 16 bytes (PTX ISA 9.7.15.5.1.2, matrix descriptor).
constexpr int64_t descriptorUnit = 16;

Type elementTypeOf(Type type) {
  if (auto smem = dyn_cast<tilegpu::SmemType>(type))
    return smem.getElementType();
  return cast<RankedTensorType>(type).getElementType();
}

class WgmmaEmitter {
public:
  WgmmaEmitter(OpBuilder &builder, const MmaInputs &inputs)
      : builder(builder), inputs(inputs), op(inputs.op), loc(op.getLoc()), ptx(builder, loc) {}

  FailureOr<Ptx::Values> run();

private:
  LogicalResult prepare();
  FailureOr<MmaType> operandType(Value operand, bool isUnsigned);
  FailureOr<Value> descriptor(const SharedPart &part, OperandMajor major);
  Value inOwnBlock(Value address);
  Value lateDescriptor(Value address, int64_t encoded);
  Value sumInUnits(Value address, int64_t more);
  WgmmaStep step(int64_t mi, int64_t ni, int64_t ki) const;
  WgmmaSequence emptySequence() const;
  Ptx::Values sumInPlace();
  Ptx::Values sumExactly();

  OpBuilder &builder;
  const MmaInputs &inputs;
  tilegpu::MmaOp op;
  Location loc;
  Ptx ptx;
  WgmmaTile tile;
  WgmmaInstruction instruction;
  OperandMajor majorA = OperandMajor::K, majorB = OperandMajor::K;
  Value descriptorA, descriptorB;
  /// Somebody waits for the product later.
  bool isStart = false;
  /// Sums of 8-bit floats are added up in f32.
  bool isPromoted = false;
};

} // namespace

FailureOr<MmaType> WgmmaEmitter::operandType(Value operand, bool isUnsigned) {
  Type type = elementTypeOf(operand.getType());
  // The hardware reads tf32 from f32 words.
  if (type.isF32())
    return MmaType::TF32;
  std::optional<MmaType> result = mmaTypeOf(type, isUnsigned);
  if (!result || *result == MmaType::F64)
    return op.emitOpError("has an operand type that wgmma does not take: ") << type;
  return *result;
}

LogicalResult WgmmaEmitter::prepare() {
  FailureOr<MmaType> a = operandType(op.getA(), op.getAUnsigned()), b = operandType(op.getB(), op.getBUnsigned());
  if (failed(a) || failed(b))
    return failure();
  RankedTensorType result = op.getTileType();
  isStart = op.isStart();
  tilegpu::MmaAttr mma = op.getMma();
  tile.m = result.getDimSize(0);
  tile.n = result.getDimSize(1);
  auto typeA = op.getA().getType();
  ArrayRef<int64_t> shapeA = isa<tilegpu::SmemType>(typeA) ? cast<tilegpu::SmemType>(typeA).getShape()
                                                           : cast<RankedTensorType>(typeA).getShape();
  tile.k = shapeA[op.getTransA() ? 0 : 1];
  tile.instructionN = mma.getN();
  tile.elementBits = mmaTypeBits(*a);
  instruction = {mma.getN(), *a, *b, op.getTransA(), op.getTransB()};
  isPromoted = (instruction.a == MmaType::E4M3 || instruction.a == MmaType::E5M2) && !op.getFast();
  if (mma.getM() != 64 || mma.getK() != tile.instructionK() || tile.m % 64 || tile.n % mma.getN() ||
      tile.k % mma.getK() || mmaTypeBits(*b) != tile.elementBits)
    return op.emitOpError("does not consist of whole wgmma instructions");
  if ((op.getTransA() || op.getTransB()) && tile.elementBits != 16)
    return op.emitOpError("needs operands that are contiguous along the contraction");
  if (tilegpu::LayoutAttr layout = tilegpu::layoutOf(result); !layout || layout.getLayout() != tile.accumulator())
    return op.emitOpError("has a result whose layout is not that of wgmma accumulators: ") << tile.accumulator().str();
  majorA = op.getTransA() ? OperandMajor::MN : OperandMajor::K;
  majorB = op.getTransB() ? OperandMajor::MN : OperandMajor::K;
  if (!inputs.b.shared)
    return op.emitOpError("needs its second operand in shared memory");
  if (inputs.a.shared) {
    FailureOr<Value> value = descriptor(*inputs.a.shared, majorA);
    if (failed(value))
      return failure();
    descriptorA = *value;
  } else if (op.getTransA() || tilegpu::layoutOf(op.getA().getType()).getLayout() != tile.operandA()) {
    return op.emitOpError("has a register operand whose layout is not that of wgmma: ") << tile.operandA().str();
  }
  FailureOr<Value> value = descriptor(*inputs.b.shared, majorB);
  if (failed(value))
    return failure();
  descriptorB = *value;
  return success();
}

FailureOr<Value> WgmmaEmitter::descriptor(const SharedPart &part, OperandMajor major) {
  std::optional<WgmmaDescriptor> fields = part.tile.wgmmaDescriptor(major);
  if (!fields)
    return op.emitOpError("has an operand whose arrangement in shared memory wgmma cannot read");
  // The hardware applies the swizzle to the bits of the final address, so that offsets are plain sums.
  Value address = part.address;
  auto constant = [&](int64_t value) { return ptx.constant(value); };
  if (part.rowOffset) {
    Value bytes = arith::MulIOp::create(builder, loc, part.rowOffset, constant(part.tile.pitch()));
    address = arith::AddIOp::create(builder, loc, address, bytes);
  }
  if (part.columnOffset) {
    Value columns = constant(part.tile.panelColumns());
    Value panel = arith::DivUIOp::create(builder, loc, part.columnOffset, columns);
    Value inside = arith::RemUIOp::create(builder, loc, part.columnOffset, columns);
    Value bytes = arith::AddIOp::create(
        builder, loc, arith::MulIOp::create(builder, loc, panel, constant(part.tile.panelBytes())),
        arith::MulIOp::create(builder, loc, inside, constant(part.tile.elementBits / 8)));
    address = arith::AddIOp::create(builder, loc, address, bytes);
  }
  auto encoded = static_cast<int64_t>(fields->encode());
  if (isPromoted)
    return lateDescriptor(address, encoded);
  Value units = arith::ShRUIOp::create(builder, loc, inOwnBlock(address), constant(4));
  Value wide = arith::ExtUIOp::create(builder, loc, builder.getI64Type(), units);
  return arith::OrIOp::create(builder, loc, wide, ptx.constant(encoded, 64)).getResult();
}

// Addresses of a cluster may name the block in upper bits, of which descriptors know nothing.
Value WgmmaEmitter::inOwnBlock(Value address) {
  constexpr int64_t addressBits = 0x3ffff;
  auto kernel = op->getParentOfType<tilegpu::KernelOp>();
  return !kernel || kernel.getBlocksOfTileCluster() == 1
             ? address
             : arith::AndIOp::create(builder, loc, address, ptx.constant(addressBits)).getResult();
}

// The descriptor where a product cannot begin before the last one has ended: what depends on the slot is one
// multiply-add in front of it. Of words, so that the optimiser does not add further offsets to both.
Value WgmmaEmitter::lateDescriptor(Value address, int64_t encoded) {
  Ptx::AssemblyOptions pure;
  pure.sideEffects = pure.memory = false;
  Value low = sumInUnits(address, encoded & 0xffffffff), high = ptx.constant(encoded >> 32);
  return ptx.assembly("mov.b64 $0, {$1, $2};", {builder.getI64Type()}, {low, high}, pure)[0];
}

// `address` / 16 + `more`, where `address` is a sum of multiples of 16 that fits into the bits that `more` leaves: the
// products in it last, so that the rest leaves loops over slots.
Value WgmmaEmitter::sumInUnits(Value address, int64_t more) {
  SmallVector<Value> pending{address}, products, others;
  while (!pending.empty()) {
    Value value = pending.pop_back_val();
    APInt factor;
    if (auto sum = value.getDefiningOp<arith::AddIOp>())
      pending.append({sum.getLhs(), sum.getRhs()});
    else if (auto product = value.getDefiningOp<arith::MulIOp>();
             product && matchPattern(product.getRhs(), m_ConstantInt(&factor)) && factor.urem(descriptorUnit) == 0)
      products.push_back(
          arith::MulIOp::create(builder, loc, product.getLhs(), ptx.constant(factor.getSExtValue() / descriptorUnit)));
    else
      others.push_back(arith::ShRUIOp::create(builder, loc, inOwnBlock(value), ptx.constant(4)));
  }
  Value result = ptx.constant(more);
  for (Value value : llvm::concat<Value>(others, products))
    result = arith::AddIOp::create(builder, loc, result, value);
  return result;
}

WgmmaStep WgmmaEmitter::step(int64_t mi, int64_t ni, int64_t ki) const {
  WgmmaStep step;
  step.accumulator = tile.accumulatorRegisters(mi, ni).first;
  if (inputs.a.shared) {
    step.offsetA = inputs.a.shared->tile.wgmmaOffset(majorA, mi * 64, ki * tile.instructionK()) / descriptorUnit;
  } else {
    RegisterRange range = tile.operandARegisters(mi, ki);
    unsigned elements = 32 / tile.elementBits;
    for (unsigned i = 0; i < range.count / elements; ++i)
      step.registersA.push_back(inputs.a.registers[range.first / elements + i]);
  }
  step.offsetB =
      inputs.b.shared->tile.wgmmaOffset(majorB, ni * tile.instructionN, ki * tile.instructionK()) / descriptorUnit;
  return step;
}

WgmmaSequence WgmmaEmitter::emptySequence() const {
  WgmmaSequence sequence;
  sequence.instruction = instruction;
  sequence.descriptorA = descriptorA;
  sequence.descriptorB = descriptorB;
  sequence.wait = !isStart;
  return sequence;
}

// All instructions on the accumulators themselves, as one group.
Ptx::Values WgmmaEmitter::sumInPlace() {
  WgmmaSequence sequence = emptySequence();
  bool overwrite = (inputs.first && matchPattern(inputs.first, m_One())) ||
                   matchPattern(op.getAcc(), m_AnyZeroFloat()) || matchPattern(op.getAcc(), m_Zero());
  if (!overwrite) {
    sequence.accumulators = inputs.accumulators;
    sequence.ignoreAccumulators = inputs.first;
  }
  sequence.numAccumulators = inputs.accumulators.size();
  for (int64_t ki = 0; ki < tile.blocksK(); ++ki)
    for (int64_t mi = 0; mi < tile.blocksM(); ++mi)
      for (int64_t ni = 0; ni < tile.blocksN(); ++ni) {
        sequence.steps.push_back(step(mi, ni, ki));
        sequence.steps.back().first = ki == 0;
      }
  return ptx.wgmma(sequence);
}

// Sums of at most `exactProducts` products in temporaries, added to the accumulators in f32. One instruction's block
// at a time, so that the temporaries are few. The additions stay in the order of the accumulators: ptxas then
// alternates register banks.
Ptx::Values WgmmaEmitter::sumExactly() {
  Ptx::Values sums(inputs.accumulators.begin(), inputs.accumulators.end());
  if (inputs.first) {
    Value zero = arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(0));
    for (Value &sum : sums)
      sum = arith::SelectOp::create(builder, loc, inputs.first, zero, sum);
  }
  int64_t stepsAtOnce = exactProducts / tile.instructionK();
  for (int64_t start = 0; start < tile.blocksK(); start += stepsAtOnce)
    for (int64_t mi = 0; mi < tile.blocksM(); ++mi)
      for (int64_t ni = 0; ni < tile.blocksN(); ++ni) {
        WgmmaSequence sequence = emptySequence();
        sequence.numAccumulators = instruction.numAccumulators();
        for (int64_t ki = start; ki < std::min(start + stepsAtOnce, tile.blocksK()); ++ki) {
          sequence.steps.push_back(step(mi, ni, ki));
          sequence.steps.back().accumulator = 0;
          sequence.steps.back().first = ki == start;
        }
        unsigned firstSum = tile.accumulatorRegisters(mi, ni).first;
        for (auto [i, part] : llvm::enumerate(ptx.wgmma(sequence)))
          sums[firstSum + i] = arith::AddFOp::create(builder, loc, sums[firstSum + i], part);
      }
  return sums;
}

FailureOr<Ptx::Values> WgmmaEmitter::run() {
  if (failed(prepare()))
    return failure();
  if (isPromoted && isStart)
    return op.emitOpError("adds partial sums and cannot end later");
  return isPromoted ? sumExactly() : sumInPlace();
}

FailureOr<Ptx::Values> tilec::emitWgmma(OpBuilder &builder, const MmaInputs &inputs) {
  return WgmmaEmitter(builder, inputs).run();
}
