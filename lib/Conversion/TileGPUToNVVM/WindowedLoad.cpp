// Whole vectors around elements at any address: branches on the word, which all threads of a row take alike, instead of
// selects (docs/decisions/split-rows.md).
#include "WindowedLoad.h"
#include "GuardedAccess.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tilec/Dialect/Tile/AttributeNames.h"

using namespace mlir;
using namespace tilec;

static constexpr int64_t wordBytes = 4;

bool tilec::isWindowed(tile::ViewOp view) { return view->hasAttr(tile::windowedName); }

WindowedLoad::WindowedLoad(Lowering &lowering, const LoweredView &view, VectorType type)
    : lowering(lowering), builder(lowering.builder), loc(lowering.loc()), type(type),
      elementBytes(type.getElementTypeBitWidth() / 8), bytes(elementBytes * type.getNumElements()) {
  tile::ViewOp op = view.op;
  isReadOnly = op.getAccess() == tile::Access::in;
  Value address = LLVM::PtrToIntOp::create(builder, loc, builder.getI32Type(), view.pointer);
  shift = arith::AndIOp::create(builder, loc, address, lowering.constant32(bytes - 1));
  bitsInWord = arith::AndIOp::create(builder, loc, shift, lowering.constant32(wordBytes - 1));
  bitsInWord = lowering.mulConstant(bitsInWord, 8);
}

Value WindowedLoad::isSet(int64_t bits) {
  Value part = arith::AndIOp::create(builder, loc, shift, lowering.constant32(bits));
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, part, lowering.constant32(0));
}

WindowedLoad::Words WindowedLoad::wordsAround(const VectorAccess &vector) {
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext(), 1);
  Type word = builder.getI32Type();
  int64_t count = bytes / wordBytes;
  Type part = count == 1 ? word : Type(VectorType::get(count, word));
  Value back = arith::SubIOp::create(builder, loc, lowering.constant32(0), shift);
  back = arith::ExtSIOp::create(builder, loc, builder.getI64Type(), back);
  VectorAccess access = vector;
  access.base =
      LLVM::GEPOp::create(builder, loc, pointer, builder.getI8Type(), vector.base, ArrayRef<LLVM::GEPArg>{back});
  if (!access.condition)
    access.condition = arith::ConstantIntOp::create(builder, loc, 1, 1);
  Words words;
  for (int64_t half : {0, 1}) {
    access.offsetBytes = vector.offsetBytes + half * bytes;
    Value loaded = guardedLoad(lowering, part, access, Value(), isReadOnly);
    for (int64_t i = 0; i < count; ++i)
      words.push_back(count == 1 ? loaded
                                 : Value(LLVM::ExtractElementOp::create(builder, loc, loaded, lowering.constant32(i))));
  }
  return words;
}

// The vector that begins in the first of the words.
Value WindowedLoad::vectorOf(ArrayRef<Value> words) {
  int64_t count = bytes / wordBytes;
  Value vector = LLVM::PoisonOp::create(builder, loc, VectorType::get(count, builder.getI32Type()));
  for (int64_t i = 0; i < count; ++i) {
    Value word = words[i];
    if (elementBytes < wordBytes)
      word = LLVM::FshrOp::create(builder, loc, words[i + 1], word, bitsInWord);
    vector = LLVM::InsertElementOp::create(builder, loc, vector, word, lowering.constant32(i));
  }
  return LLVM::BitcastOp::create(builder, loc, type, vector);
}

// The vectors, whose words have been moved by what is set of the shift above `bits`.
SmallVector<Value> WindowedLoad::choose(ArrayRef<Words> words, int64_t bits) {
  if (!hasBits(bits)) {
    SmallVector<Value> vectors;
    for (const Words &own : words)
      vectors.push_back(vectorOf(own));
    return vectors;
  }
  SmallVector<Type> types(words.size(), type);
  auto branch = scf::IfOp::create(builder, loc, types, isSet(bits), true, true);
  OpBuilder::InsertionGuard guard(builder);
  for (bool moves : {true, false}) {
    builder.setInsertionPointToStart(moves ? branch.thenBlock() : branch.elseBlock());
    SmallVector<Words> moved;
    for (const Words &own : words)
      moved.emplace_back(ArrayRef<Value>(own).drop_front(moves ? bits / wordBytes : 0));
    scf::YieldOp::create(builder, loc, choose(moved, bits / 2));
  }
  return llvm::to_vector_of<Value>(branch.getResults());
}

ValueRange WindowedLoad::load(ArrayRef<const VectorAccess *> vectors, function_ref<Value(const VectorAccess &)> aligned,
                              function_ref<Value(const VectorAccess &)> fill) {
  SmallVector<Type> types(vectors.size(), type);
  Value isAligned =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, shift, lowering.constant32(0));
  auto branch = scf::IfOp::create(builder, loc, types, isAligned, true, true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  SmallVector<Value> loaded;
  for (const VectorAccess *vector : vectors)
    loaded.push_back(aligned(*vector));
  scf::YieldOp::create(builder, loc, loaded);
  builder.setInsertionPointToStart(branch.elseBlock());
  SmallVector<Words> words;
  for (const VectorAccess *vector : vectors)
    words.push_back(wordsAround(*vector));
  loaded = choose(words, bytes / 2);
  for (auto [vector, value] : llvm::zip(vectors, loaded))
    if (Value other = fill(*vector); other && vector->condition)
      value = arith::SelectOp::create(builder, loc, vector->condition, value, other);
  scf::YieldOp::create(builder, loc, loaded);
  return branch.getResults();
}
