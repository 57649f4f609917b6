// Loads of 16 bytes at any multiple of an element: selects move whole words, funnel shifts the rest.
#include "ShiftedLoad.h"
#include "GuardedAccess.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace tilec;

static Value constant32(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantIntOp::create(builder, loc, value, 32);
}

// i1: whether some of these bits of a shift are set.
static Value isSet(OpBuilder &builder, Location loc, Value shift, int64_t bits) {
  Value part = arith::AndIOp::create(builder, loc, shift, constant32(builder, loc, bits));
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, part, constant32(builder, loc, 0));
}

static Value constant64(OpBuilder &builder, Location loc, int64_t value) {
  return LLVM::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(value));
}

ShiftedLoad::ShiftedLoad(Lowering &lowering, const LoweredView &view, int64_t elementBytes)
    : lowering(lowering), builder(lowering.builder), loc(lowering.loc()), elementBytes(elementBytes) {
  first = addressOf(view.pointer);
  Value last = lowering.constantIndex(0), dense = arith::ConstantIntOp::create(builder, loc, 1, 1);
  for (auto [d, size, stride] : llvm::enumerate(view.sizes, view.strides)) {
    Value steps = builder.createOrFold<arith::SubIOp>(loc, size, lowering.constantIndex(1));
    last = lowering.add(last, builder.createOrFold<arith::MulIOp>(loc, steps, stride));
    if (d + 1 == view.sizes.size())
      continue;
    // Between rows that do not follow each other lies memory of others.
    Value row = builder.createOrFold<arith::MulIOp>(loc, view.sizes[d + 1], view.strides[d + 1]);
    Value follows = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, stride, row);
    dense = arith::AndIOp::create(builder, loc, dense, follows);
  }
  Value length = builder.createOrFold<arith::MulIOp>(loc, last, lowering.constantIndex(elementBytes));
  length = builder.createOrFold<arith::AddIOp>(loc, length, lowering.constantIndex(elementBytes - 2 * bytes + 1));
  length = builder.createOrFold<arith::MaxSIOp>(loc, length, lowering.constantIndex(0));
  length = arith::SelectOp::create(builder, loc, dense, length, lowering.constantIndex(0));
  limit = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), length);
}

Value ShiftedLoad::addressOf(Value pointer) {
  return LLVM::PtrToIntOp::create(builder, loc, builder.getI64Type(), pointer);
}

Value ShiftedLoad::pointerTo(Value address) {
  return LLVM::IntToPtrOp::create(builder, loc, LLVM::LLVMPointerType::get(builder.getContext(), 1), address);
}

// The aligned vector in or before which an address lies.
static Value alignedDown(OpBuilder &builder, Location loc, Value address) {
  return arith::AndIOp::create(builder, loc, address, constant64(builder, loc, -ShiftedLoad::bytes));
}

Value ShiftedLoad::isInside(Value pointer) {
  Value start = alignedDown(builder, loc, addressOf(pointer));
  Value distance = arith::SubIOp::create(builder, loc, start, first);
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, distance, limit);
}

SmallVector<Value, 4> ShiftedLoad::wordsAt(Value pointer, int64_t offset, Value condition) {
  VectorAccess access;
  access.pointer = access.base = pointer;
  access.offsetBytes = offset;
  access.condition = condition;
  Value vector = guardedLoad(lowering, VectorType::get(4, builder.getI32Type()), access, Value(), /*readOnly=*/true);
  SmallVector<Value, 4> words;
  for (int i = 0; i < 4; ++i)
    words.push_back(LLVM::ExtractElementOp::create(builder, loc, vector, lowering.constant32(i)));
  return words;
}

Value ShiftedLoad::load(Value pointer, Value condition) {
  Value address = addressOf(pointer), start = pointerTo(alignedDown(builder, loc, address));
  // Bytes from the first vector to the address; an aligned one needs no second vector.
  Value shift =
      arith::AndIOp::create(builder, loc, arith::TruncIOp::create(builder, loc, builder.getI32Type(), address),
                            lowering.constant32(bytes - 1));
  SmallVector<Value, 8> words(wordsAt(start, 0, condition));
  Value second = isSet(builder, loc, shift, bytes - 1);
  words.append(wordsAt(start, bytes, arith::AndIOp::create(builder, loc, condition, second)));
  return vectorWithin(builder, loc, words, shift, elementBytes);
}

Value tilec::vectorWithin(OpBuilder &builder, Location loc, ArrayRef<Value> twoVectors, Value shift,
                          int64_t elementBytes) {
  SmallVector<Value, 8> words(twoVectors);
  for (int64_t distance : {2, 1}) {
    Value moves = isSet(builder, loc, shift, 4 * distance);
    for (int64_t i = 0; i + distance < static_cast<int64_t>(words.size()); ++i)
      words[i] = arith::SelectOp::create(builder, loc, moves, words[i + distance], words[i]);
    words.resize(words.size() - distance);
  }
  if (elementBytes < 4) {
    Value bits =
        arith::MulIOp::create(builder, loc, arith::AndIOp::create(builder, loc, shift, constant32(builder, loc, 3)),
                              constant32(builder, loc, 8));
    for (int i = 0; i < 4; ++i)
      words[i] = LLVM::FshrOp::create(builder, loc, words[i + 1], words[i], bits);
  }
  Value vector = LLVM::PoisonOp::create(builder, loc, VectorType::get(4, builder.getI32Type()));
  for (int i = 0; i < 4; ++i)
    vector = LLVM::InsertElementOp::create(builder, loc, vector, words[i], constant32(builder, loc, i));
  return vector;
}
