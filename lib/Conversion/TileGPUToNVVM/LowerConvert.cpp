// tilegpu.convert: registers renamed, shuffles inside warps, or an exchange through shared memory.
#include "Lowering.h"
#include "SharedScratch.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "tilec/Dialect/TileGPU/Scratch.h"
#include "tilec/Layout/ConversionPlan.h"

using namespace mlir;
using namespace tilec;

namespace {

class Conversion {
public:
  Conversion(Lowering &lowering, tilegpu::ConvertOp op, const ConversionPlan &plan)
      : lowering(lowering), op(op), plan(plan), builder(lowering.builder), loc(lowering.loc()),
        from(Lowering::layoutOf(op.getInput())), to(Lowering::layoutOf(op.getResult())),
        type(Lowering::registerType(cast<RankedTensorType>(op.getType()).getElementType())) {}

  Registers run() {
    return plan.kind == ConversionKind::SharedMemory ? throughScratch() : withinWarp(lowering.lowered(op.getInput()));
  }

private:
  // Shuffles move units of packed elements; flags travel as bytes.
  Registers withinWarp(ArrayRef<Value> input) {
    const WarpProgram &program = plan.program;
    unsigned per = program.elementsPerValue;
    SmallVector<Value, 0> values;
    for (size_t first = 0; first + per <= input.size(); first += per)
      values.push_back(per == 1 ? input[first] : pack(input.slice(first, per)));
    for (const WarpStep &step : program.steps)
      values.push_back(emit(step, values));
    Registers result;
    for (int32_t source : program.results) {
      if (source == WarpProgram::undefined) {
        result.append(per, undefined());
        continue;
      }
      if (per == 1)
        result.push_back(values[source]);
      else
        unpack(values[source], per, result);
    }
    return result;
  }

  Value undefined() {
    Type poison = type.isIndex() ? builder.getI64Type() : type;
    Value value = LLVM::PoisonOp::create(builder, loc, poison);
    return type.isIndex() ? Value(arith::IndexCastOp::create(builder, loc, type, value)) : value;
  }

  /// One word of the elements; it may be narrower than a register.
  Value pack(ArrayRef<Value> elements) {
    Type element = type.isInteger(1) ? Type(builder.getI8Type()) : type;
    Value vector = LLVM::PoisonOp::create(builder, loc, VectorType::get(elements.size(), element));
    for (unsigned i = 0; i < elements.size(); ++i) {
      Value value =
          type.isInteger(1) ? arith::ExtUIOp::create(builder, loc, element, elements[i]).getResult() : elements[i];
      Value index = LLVM::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(i));
      vector = LLVM::InsertElementOp::create(builder, loc, vector, value, index);
    }
    Type word = builder.getIntegerType(elements.size() * element.getIntOrFloatBitWidth());
    return LLVM::BitcastOp::create(builder, loc, word, vector);
  }

  void unpack(Value word, unsigned per, Registers &result) {
    Type element = type.isInteger(1) ? Type(builder.getI8Type()) : type;
    Value vector = LLVM::BitcastOp::create(builder, loc, VectorType::get(per, element), word);
    for (unsigned i = 0; i < per; ++i) {
      Value index = LLVM::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(i));
      Value value = LLVM::ExtractElementOp::create(builder, loc, vector, index);
      if (type.isInteger(1))
        value = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, value,
                                      arith::ConstantIntOp::create(builder, loc, 0, 8));
      result.push_back(value);
    }
  }

  Value numberOf(Owner owner) { return owner == Owner::Lane ? lowering.lane : lowering.warp; }

  Value emit(const WarpStep &step, ArrayRef<Value> values) {
    switch (step.kind) {
    case WarpStep::Kind::ShuffleXor:
      return shuffleXor(builder, loc, values[step.first], step.laneMask);
    case WarpStep::Kind::ShuffleIndex:
      return shuffleIndex(builder, loc, values[step.first], sourceLane());
    case WarpStep::Kind::Select:
      break;
    }
    Value bit = arith::AndIOp::create(builder, loc, numberOf(step.bit.owner), lowering.constant32(step.bit.weight));
    Value set = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, bit, lowering.constant32(0));
    return arith::SelectOp::create(builder, loc, set, values[step.first], values[step.second]);
  }

  Value sourceLane() {
    if (source)
      return source;
    for (const Term &term : plan.program.sourceLane) {
      Value digit = builder.createOrFold<arith::DivUIOp>(loc, numberOf(term.owner), lowering.constant32(term.divisor));
      digit = builder.createOrFold<arith::RemUIOp>(loc, digit, lowering.constant32(term.radix));
      source = lowering.add(source, lowering.mulConstant(digit, term.stride));
    }
    if (!source)
      source = lowering.constant32(0);
    return source;
  }

  //===--------------------------------------------------------------------===//
  // Shared memory
  //===--------------------------------------------------------------------===//

  // What the thread contributes to each coordinate.
  SmallVector<Value, 4> threadPart(const Layout &layout) {
    SmallVector<Value, 4> part;
    for (unsigned d = 0; d < layout.rank(); ++d)
      part.push_back(lowering.threadCoordinate(layout, d));
    return part;
  }

  // Of a vector outside the tensor, which nobody writes, the thread reads what the first of its dimension has.
  SmallVector<Value, 4> threadPartInside(ArrayRef<Value> thread, const Coordinates &offset) {
    ArrayRef<int64_t> shape = cast<RankedTensorType>(op.getType()).getShape();
    SmallVector<Value, 4> part(thread);
    for (unsigned d = 0; d < to.rank(); ++d) {
      int64_t registers = to.registerOffset(to.numRegisters() - 1)[d], last = to.covered(d) - 1 - registers;
      if (offset[d] + last < shape[d])
        continue;
      Value limit = lowering.constant32(std::max<int64_t>(shape[d] - offset[d], 0));
      Value inside = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, thread[d], limit);
      part[d] = arith::SelectOp::create(builder, loc, inside, thread[d], lowering.constant32(0));
    }
    return part;
  }

  Value address(ArrayRef<Value> thread, const Coordinates &offset) {
    const ScratchPlan &scratch = plan.scratch;
    Value row = lowering.constant32(scratch.rowOf(offset));
    for (unsigned d = 0; d < thread.size(); ++d)
      if (d != scratch.innerDim && scratch.rowStride[d] != 0)
        row = lowering.add(row, lowering.mulConstant(thread[d], scratch.rowStride[d]));
    Value inner = lowering.addConstant(thread[scratch.innerDim], offset[scratch.innerDim]);
    Value bytes =
        lowering.add(lowering.mulConstant(row, scratch.pitchBytes), lowering.mulConstant(inner, scratch.elementBytes));
    if (scratch.swizzleMask == 0)
      return bytes;
    Value bits = arith::ShRUIOp::create(builder, loc, row, lowering.constant32(scratch.swizzleShift));
    bits = arith::AndIOp::create(builder, loc, bits, lowering.constant32(scratch.swizzleMask));
    bits = arith::ShLIOp::create(builder, loc, bits, lowering.constant32(scratch.swizzleBit));
    return arith::XOrIOp::create(builder, loc, bytes, bits);
  }

  void meet() {
    if (plan.scratch.withinWarp)
      Ptx(builder, loc).warpBarrier();
    else
      lowering.groupBarrier();
  }

  Registers throughScratch() {
    SharedScratch scratch(lowering, lowering.scratchAddress(op), type);
    ArrayRef<Value> input = lowering.lowered(op.getInput());
    if (!op->hasAttr(tilegpu::singleUseName))
      lowering.groupBarrier();
    Value writes = lowering.isFirstOf(plan.scratch.writers);
    SmallVector<Value, 4> writer = threadPart(from);
    auto write = [&] {
      for (const VectorRegisters &vector : plan.scratch.writes) {
        SmallVector<Value, 8> values;
        for (uint32_t reg : vector)
          values.push_back(input[reg]);
        scratch.storeAt(values, address(writer, from.registerOffset(vector.front())));
      }
    };
    if (writes)
      lowering.emitIf(writes, write);
    else
      write();
    meet();
    SmallVector<Value, 4> reader = threadPart(to);
    Registers result(to.numRegisters());
    for (const VectorRegisters &vector : plan.scratch.reads) {
      Coordinates offset = to.registerOffset(vector.front());
      SmallVector<Value, 8> values = scratch.loadAt(vector.size(), address(threadPartInside(reader, offset), offset));
      for (auto [reg, value] : llvm::zip(vector, values))
        result[reg] = value;
    }
    for (Value &value : result)
      if (!value)
        value = undefined();
    return result;
  }

  Lowering &lowering;
  tilegpu::ConvertOp op;
  const ConversionPlan &plan;
  OpBuilder &builder;
  Location loc;
  const Layout &from, &to;
  Type type;
  Value source;
};

} // namespace

LogicalResult Lowering::lowerConvert(tilegpu::ConvertOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  unsigned bits = tilegpu::elementBytes(type.getElementType()) * 8;
  std::optional<ConversionPlan> plan =
      planConversion(layoutOf(op.getInput()), layoutOf(op.getResult()), type.getShape(), bits);
  if (!plan)
    return op.emitError("E0431: this change of layout has no plan");
  set(op.getResult(), Conversion(*this, op, *plan).run());
  return success();
}
