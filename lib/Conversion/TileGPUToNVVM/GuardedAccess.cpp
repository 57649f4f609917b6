// Predicated loads and stores, loads with a cache policy (PTX ISA 9.7.9.8 ld, 9.7.9.11 st): values travel as words of
// 32 bits, or 16 if smaller.
#include "GuardedAccess.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace tilec;

static int64_t bytesOf(Type type) {
  if (auto vector = dyn_cast<VectorType>(type))
    return vector.getNumElements() * vector.getElementTypeBitWidth() / 8;
  return type.getIntOrFloatBitWidth() / 8;
}

static unsigned wordCount(int64_t bytes) { return std::max<int64_t>(bytes / 4, 1); }

static Type wordType(OpBuilder &builder, int64_t bytes) { return builder.getIntegerType(bytes < 4 ? 16 : 32); }

// ".v4.b32", ".b16" and so on.
static std::string suffixOf(int64_t bytes) {
  std::string vector = bytes > 4 ? ".v" + std::to_string(bytes / 4) : "";
  return vector + (bytes == 1 ? ".b8 " : bytes == 2 ? ".b16 " : ".b32 ");
}

// "{$2, $3}" or "$2".
static std::string operandList(unsigned first, unsigned count) {
  std::string text;
  for (unsigned i = 0; i < count; ++i)
    text += (i ? ", $" : "$") + std::to_string(first + i);
  return count > 1 ? "{" + text + "}" : text;
}

static std::string addressText(unsigned operand, const VectorAccess &access) {
  std::string text = "[$" + std::to_string(operand);
  return text + (access.offsetBytes ? "+" + std::to_string(access.offsetBytes) : "") + "]";
}

static Value index32(OpBuilder &builder, Location loc, int64_t value) {
  return LLVM::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(value));
}

static SmallVector<Value> toWords(OpBuilder &builder, Location loc, Value value) {
  int64_t bytes = bytesOf(value.getType());
  unsigned count = wordCount(bytes);
  if (bytes == 1)
    return {arith::ExtUIOp::create(builder, loc, builder.getI16Type(), value)};
  Type word = wordType(builder, bytes);
  Type type = count == 1 ? word : Type(VectorType::get(count, word));
  if (value.getType() != type)
    value = LLVM::BitcastOp::create(builder, loc, type, value);
  if (count == 1)
    return {value};
  SmallVector<Value> words;
  for (unsigned i = 0; i < count; ++i)
    words.push_back(LLVM::ExtractElementOp::create(builder, loc, value, index32(builder, loc, i)));
  return words;
}

static Value fromWords(OpBuilder &builder, Location loc, ArrayRef<Value> words, Type type) {
  if (bytesOf(type) == 1)
    return arith::TruncIOp::create(builder, loc, builder.getI8Type(), words[0]);
  Value value = words[0];
  if (words.size() > 1) {
    value = LLVM::PoisonOp::create(builder, loc, VectorType::get(words.size(), words[0].getType()));
    for (auto [i, word] : llvm::enumerate(words))
      value = LLVM::InsertElementOp::create(builder, loc, value, word, index32(builder, loc, i));
  }
  return value.getType() == type ? value : Value(LLVM::BitcastOp::create(builder, loc, type, value));
}

Value tilec::guardedLoad(Lowering &lowering, Type type, const VectorAccess &access, Value otherwise, bool readOnly) {
  OpBuilder &builder = lowering.builder;
  Location loc = lowering.loc();
  int64_t bytes = bytesOf(type);
  unsigned count = wordCount(bytes);
  Type word = wordType(builder, bytes);
  SmallVector<Value> fill = otherwise ? toWords(builder, loc, otherwise)
                                      : SmallVector<Value>(count, LLVM::ZeroOp::create(builder, loc, word));
  std::string text = "@$" + std::to_string(count + 1) + " ld.global" + (readOnly ? ".nc" : "") + suffixOf(bytes) +
                     operandList(0, count) + ", " + addressText(count, access) + ";";
  Ptx::AssemblyOptions options;
  options.sideEffects = options.memory = !readOnly;
  options.tied = fill;
  Ptx::Values words =
      Ptx(builder, loc).assembly(text, SmallVector<Type>(count, word), {access.base, access.condition}, options);
  return fromWords(builder, loc, words, type);
}

void tilec::guardedStore(Lowering &lowering, Value value, const VectorAccess &access) {
  OpBuilder &builder = lowering.builder;
  Location loc = lowering.loc();
  SmallVector<Value> operands = {access.base, access.condition};
  SmallVector<Value> words = toWords(builder, loc, value);
  operands.append(words);
  std::string text = "@$1 st.global" + suffixOf(bytesOf(value.getType())) + addressText(0, access) + ", " +
                     operandList(2, words.size()) + ";";
  Ptx(builder, loc).assembly(text, {}, operands);
}

Value tilec::evictionPolicy(Lowering &lowering, StringAttr evict) {
  if (!evict)
    return nullptr;
  std::string priority = ("evict_" + evict.getValue()).str();
  return Ptx(lowering.builder, lowering.loc()).createCachePolicy(priority);
}

Value tilec::loadWithPolicy(Lowering &lowering, Type type, Value pointer, Value policy, bool ordered) {
  OpBuilder &builder = lowering.builder;
  Location loc = lowering.loc();
  int64_t bytes = bytesOf(type);
  unsigned count = wordCount(bytes);
  std::string text = "ld.global.L2::cache_hint" + suffixOf(bytes) + operandList(0, count) + ", [$" +
                     std::to_string(count) + "], $" + std::to_string(count + 1) + ";";
  Ptx::AssemblyOptions options;
  options.sideEffects = options.memory = ordered;
  SmallVector<Type> types(count, wordType(builder, bytes));
  return fromWords(builder, loc, Ptx(builder, loc).assembly(text, types, {pointer, policy}, options), type);
}
