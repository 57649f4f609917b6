// Vectors at any address, from the words around them (docs/decisions/parted-rows.md).
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
  beginsAtWord = op.getAlign().value_or(1) % wordBytes == 0;
  isExpectedWhole = op->getAttrOfType<BoolAttr>(tile::windowedName).getValue();
  address = LLVM::PtrToIntOp::create(builder, loc, builder.getI32Type(), view.pointer);
  bitsInWord = arith::AndIOp::create(builder, loc, address, lowering.constant32(wordBytes - 1));
  bitsInWord = lowering.mulConstant(bitsInWord, 8);
}

// The word behind a vector that begins at a word is not read.
Value WindowedLoad::shifted(const VectorAccess &vector, Value fill) {
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext(), 1);
  Type word = builder.getI32Type();
  VectorAccess access = vector;
  Value isSplit;
  int64_t count = bytes / wordBytes;
  if (elementBytes < wordBytes && !beginsAtWord) {
    Value mask = LLVM::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(-wordBytes));
    Value base = LLVM::PtrToIntOp::create(builder, loc, builder.getI64Type(), vector.base);
    access.base =
        LLVM::IntToPtrOp::create(builder, loc, pointer, arith::AndIOp::create(builder, loc, base, mask).getResult());
    isSplit = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, bitsInWord, lowering.constant32(0));
  }
  if (!access.condition)
    access.condition = arith::ConstantIntOp::create(builder, loc, 1, 1);
  Value parts = fill ? LLVM::BitcastOp::create(builder, loc, VectorType::get(count, word), fill).getResult() : Value();
  SmallVector<Value> words;
  for (int64_t i = 0; i < count + (isSplit ? 1 : 0); ++i) {
    access.offsetBytes = vector.offsetBytes + i * wordBytes;
    if (i == count)
      access.condition = arith::AndIOp::create(builder, loc, access.condition, isSplit);
    // Shifted together, equal halves of a filled vector stay what they are.
    Value other = parts
                      ? LLVM::ExtractElementOp::create(builder, loc, parts, lowering.constant32(std::min(i, count - 1)))
                            .getResult()
                      : Value();
    words.push_back(guardedLoad(lowering, word, access, other, isReadOnly));
  }
  Value result = LLVM::PoisonOp::create(builder, loc, VectorType::get(count, word));
  for (int64_t i = 0; i < count; ++i) {
    Value part = words[i];
    if (isSplit)
      part = LLVM::FshrOp::create(builder, loc, words[i + 1], part, bitsInWord);
    result = LLVM::InsertElementOp::create(builder, loc, result, part, lowering.constant32(i));
  }
  return LLVM::BitcastOp::create(builder, loc, type, result);
}

SmallVector<Value> WindowedLoad::load(ArrayRef<const VectorAccess *> vectors,
                                      function_ref<Value(const VectorAccess &)> whole,
                                      function_ref<Value(const VectorAccess &)> fill) {
  auto each = [&](function_ref<Value(const VectorAccess &)> one) {
    SmallVector<Value> loaded;
    for (const VectorAccess *vector : vectors)
      loaded.push_back(one(*vector));
    return loaded;
  };
  auto inWords = [&](const VectorAccess &vector) { return shifted(vector, fill(vector)); };
  if (!isExpectedWhole)
    return each(inWords);
  SmallVector<Type> types(vectors.size(), type);
  Value shift = arith::AndIOp::create(builder, loc, address, lowering.constant32(bytes - 1));
  Value isWhole = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, shift, lowering.constant32(0));
  auto branch = scf::IfOp::create(builder, loc, types, isWhole, true, true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(builder, loc, each(whole));
  builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(builder, loc, each(inWords));
  return llvm::to_vector_of<Value>(branch.getResults());
}
