// Scalars and vectors in shared memory; shuffles.
#include "SharedScratch.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace tilec;

static int64_t bytesOf(Type type) {
  return type.isIndex() ? 8 : std::max<int64_t>(type.getIntOrFloatBitWidth() / 8, 1);
}

// A scalar as an integer of as many bits.
static Value toBits(OpBuilder &builder, Location loc, Value value) {
  Type type = value.getType();
  if (!isa<FloatType>(type))
    return value;
  return arith::BitcastOp::create(builder, loc, builder.getIntegerType(type.getIntOrFloatBitWidth()), value);
}

static Value fromBits(OpBuilder &builder, Location loc, Value bits, Type type) {
  return isa<FloatType>(type) ? Value(arith::BitcastOp::create(builder, loc, type, bits)) : bits;
}

SharedScratch::SharedScratch(Lowering &lowering, Value address, Type type)
    : lowering(lowering), address(address), type(type), memoryType(type), bytes(bytesOf(type)) {
  if (type.isInteger(1))
    memoryType = IntegerType::get(type.getContext(), 8);
  if (type.isIndex())
    memoryType = IntegerType::get(type.getContext(), 64);
}

Value SharedScratch::pointer(Value byteOffset) {
  auto pointerType = LLVM::LLVMPointerType::get(type.getContext(), 3);
  return LLVM::IntToPtrOp::create(lowering.builder, lowering.loc(), pointerType, lowering.add(address, byteOffset));
}

void SharedScratch::store(Value value, Value element) { storeAt(value, lowering.mulConstant(element, bytes)); }

// mapa, st.async (PTX ISA, "mapa", "st.async").
void SharedScratch::sendInCluster(Value value, Value element, Value block, Value barrier) {
  OpBuilder &builder = lowering.builder;
  Location loc = lowering.loc();
  Ptx ptx(builder, loc);
  auto inBlock = [&](Value address) { return ptx.inBlockOfCluster(address, block); };
  Value bits = toBits(builder, loc, value);
  ptx.assembly("st.async.shared::cluster.mbarrier::complete_tx::bytes.b" + std::to_string(bytes * 8) +
                   " [$0], $1, [$2];",
               {}, {inBlock(lowering.add(address, lowering.mulConstant(element, bytes))), bits, inBlock(barrier)});
}

Value SharedScratch::load(Value element) { return loadAt(1, lowering.mulConstant(element, bytes))[0]; }

void SharedScratch::storeAt(ValueRange values, Value byteOffset) {
  OpBuilder &builder = lowering.builder;
  Location loc = lowering.loc();
  auto inMemory = [&](Value value) -> Value {
    if (type.isInteger(1))
      return arith::ExtUIOp::create(builder, loc, memoryType, value);
    if (type.isIndex())
      return arith::IndexCastOp::create(builder, loc, memoryType, value);
    return value;
  };
  Value packed = inMemory(values[0]);
  if (values.size() > 1) {
    packed = LLVM::PoisonOp::create(builder, loc, VectorType::get(values.size(), memoryType));
    for (auto [i, value] : llvm::enumerate(values))
      packed = LLVM::InsertElementOp::create(builder, loc, packed, inMemory(value),
                                             LLVM::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(i)));
  }
  LLVM::StoreOp::create(builder, loc, packed, pointer(byteOffset), /*alignment=*/bytes * values.size());
}

SmallVector<Value, 8> SharedScratch::loadAt(unsigned count, Value byteOffset) {
  OpBuilder &builder = lowering.builder;
  Location loc = lowering.loc();
  Type loaded = count == 1 ? memoryType : Type(VectorType::get(count, memoryType));
  Value packed = LLVM::LoadOp::create(builder, loc, loaded, pointer(byteOffset), /*alignment=*/bytes * count);
  SmallVector<Value, 8> values;
  for (unsigned i = 0; i < count; ++i) {
    Value value = packed;
    if (count > 1)
      value = LLVM::ExtractElementOp::create(builder, loc, packed,
                                             LLVM::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(i)));
    if (type.isInteger(1))
      value = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, value,
                                    arith::ConstantIntOp::create(builder, loc, 0, 8));
    if (type.isIndex())
      value = arith::IndexCastOp::create(builder, loc, type, value);
    values.push_back(value);
  }
  return values;
}

Value tilec::toWord(OpBuilder &builder, Location loc, Value value) {
  Type i32 = builder.getI32Type();
  Value bits = toBits(builder, loc, value);
  if (bits.getType().isInteger(64))
    return arith::TruncIOp::create(builder, loc, i32, bits);
  return bits.getType() == i32 ? bits : Value(arith::ExtUIOp::create(builder, loc, i32, bits));
}

Value tilec::fromWord(OpBuilder &builder, Location loc, Value word, Type type) {
  Type integer = builder.getIntegerType(type.getIntOrFloatBitWidth());
  Value bits = integer.isInteger(32) ? word : arith::TruncIOp::create(builder, loc, integer, word);
  return fromBits(builder, loc, bits, type);
}

// Splits a scalar into 32-bit words, applies `exchange` to each and puts it together again.
static Value exchangeWords(OpBuilder &builder, Location loc, Value value, function_ref<Value(Value)> exchange) {
  Type type = value.getType(), i32 = builder.getI32Type(), i64 = builder.getI64Type();
  if (type.isIndex()) {
    Value wide = arith::IndexCastOp::create(builder, loc, i64, value);
    return arith::IndexCastOp::create(builder, loc, type, exchangeWords(builder, loc, wide, exchange));
  }
  if (type.getIntOrFloatBitWidth() <= 32)
    return fromWord(builder, loc, exchange(toWord(builder, loc, value)), type);
  Value bits = toBits(builder, loc, value), shift = arith::ConstantIntOp::create(builder, loc, 32, 64);
  Value low = exchange(arith::TruncIOp::create(builder, loc, i32, bits));
  Value high = exchange(arith::TruncIOp::create(builder, loc, i32, arith::ShRUIOp::create(builder, loc, bits, shift)));
  Value wide = arith::ShLIOp::create(builder, loc, arith::ExtUIOp::create(builder, loc, i64, high), shift);
  wide = arith::OrIOp::create(builder, loc, wide, arith::ExtUIOp::create(builder, loc, i64, low));
  return fromBits(builder, loc, wide, type);
}

static Value shuffleWord(OpBuilder &builder, Location loc, Value word, Value lane, NVVM::ShflKind kind) {
  Value all = arith::ConstantIntOp::create(builder, loc, -1, 32),
        clamp = arith::ConstantIntOp::create(builder, loc, 31, 32);
  return NVVM::ShflOp::create(builder, loc, builder.getI32Type(), all, word, lane, clamp, kind, UnitAttr());
}

Value tilec::shuffleXor(OpBuilder &builder, Location loc, Value value, uint32_t mask) {
  Value lane = arith::ConstantIntOp::create(builder, loc, mask, 32);
  return exchangeWords(builder, loc, value,
                       [&](Value word) { return shuffleWord(builder, loc, word, lane, NVVM::ShflKind::bfly); });
}

Value tilec::shuffleIndex(OpBuilder &builder, Location loc, Value value, Value source) {
  return exchangeWords(builder, loc, value,
                       [&](Value word) { return shuffleWord(builder, loc, word, source, NVVM::ShflKind::idx); });
}
