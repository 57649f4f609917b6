// Tensor Core instructions: wgmma, mma.sync, and the matrix loads and stores that feed them.
#include "Ptx.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/ErrorHandling.h"

using namespace mlir;
using namespace tilec;

StringRef tilec::mmaTypeName(MmaType type) {
  static constexpr StringLiteral names[] = {"f16", "bf16", "tf32", "e4m3", "e5m2", "s8", "u8", "f64"};
  return names[static_cast<unsigned>(type)];
}

unsigned tilec::mmaTypeBits(MmaType type) {
  static constexpr unsigned bits[] = {16, 16, 32, 8, 8, 8, 8, 64};
  return bits[static_cast<unsigned>(type)];
}

std::optional<MmaType> tilec::mmaTypeOf(Type elementType, bool isUnsigned) {
  return llvm::TypeSwitch<Type, std::optional<MmaType>>(elementType)
      .Case<Float16Type>([](auto) { return MmaType::F16; })
      .Case<BFloat16Type>([](auto) { return MmaType::BF16; })
      .Case<FloatTF32Type>([](auto) { return MmaType::TF32; })
      .Case<Float8E4M3FNType>([](auto) { return MmaType::E4M3; })
      .Case<Float8E5M2Type>([](auto) { return MmaType::E5M2; })
      .Case<Float64Type>([](auto) { return MmaType::F64; })
      .Case<IntegerType>([&](IntegerType type) -> std::optional<MmaType> {
        if (type.getWidth() != 8)
          return std::nullopt;
        return isUnsigned ? MmaType::U8 : MmaType::S8;
      })
      .Default([](Type) { return std::nullopt; });
}

static bool isInteger(MmaType type) { return type == MmaType::S8 || type == MmaType::U8; }

// `{$first, ..., $(first + count - 1)}`, the operand numbers of a vector.
static std::string vectorOperand(unsigned first, unsigned count) {
  std::string text = "{";
  for (unsigned i = 0; i < count; ++i)
    text += (i ? ", $" : "$") + std::to_string(first + i);
  return text + "}";
}

//===----------------------------------------------------------------------===//
// wgmma
//===----------------------------------------------------------------------===//

namespace {
// The text of a sequence. Operands: $0.. accumulators, then the descriptors, register operands and the flag.
class WgmmaText {
public:
  WgmmaText(OpBuilder &builder, Location loc, const WgmmaSequence &sequence, unsigned numAccumulators)
      : builder(builder), loc(loc), sequence(sequence), next(numAccumulators) {}

  std::string build();
  Ptx::Values operands;

private:
  unsigned operand(Value value) {
    operands.push_back(value);
    return next++;
  }
  std::string descriptor(Value base, int64_t offset);
  void instruction(const WgmmaStep &step);

  OpBuilder &builder;
  Location loc;
  const WgmmaSequence &sequence;
  unsigned next;
  llvm::DenseMap<std::pair<Value, int64_t>, unsigned> descriptors;
  std::string declarations, addresses, instructions;
};
} // namespace

// The operand that is descriptor + offset. Added up outside of the text, where those that stay the same leave loops:
// the instructions then follow one another without uniform arithmetic between them.
std::string WgmmaText::descriptor(Value base, int64_t offset) {
  auto [it, isNew] = descriptors.insert({{base, offset}, next});
  if (isNew && offset != 0) {
    Value step = arith::ConstantIntOp::create(builder, loc, offset, 64);
    operand(arith::AddIOp::create(builder, loc, base, step));
  } else if (isNew) {
    operand(base);
  }
  return "$" + std::to_string(it->second);
}

void WgmmaText::instruction(const WgmmaStep &step) {
  const WgmmaInstruction &info = sequence.instruction;
  unsigned k = 256 / mmaTypeBits(info.a);
  bool registersA = !step.registersA.empty();
  std::string a;
  if (registersA) {
    unsigned first = next;
    for (Value value : step.registersA)
      operand(value);
    a = vectorOperand(first, step.registersA.size());
  } else {
    a = descriptor(sequence.descriptorA, step.offsetA);
  }
  std::string b = descriptor(sequence.descriptorB, step.offsetB);
  std::string scaleD = "1";
  if (step.first && sequence.accumulators.empty())
    scaleD = "0";
  else if (step.first && sequence.ignoreAccumulators)
    scaleD = "accumulate";
  llvm::raw_string_ostream os(instructions);
  os << "wgmma.mma_async.sync.aligned.m64n" << info.n << "k" << k << (isInteger(info.a) ? ".s32." : ".f32.")
     << mmaTypeName(info.a) << "." << mmaTypeName(info.b) << " "
     << vectorOperand(step.accumulator, info.numAccumulators()) << ", " << a << ", " << b << ", " << scaleD;
  if (!isInteger(info.a))
    os << ", 1, 1";
  if (mmaTypeBits(info.a) == 16)
    os << (registersA ? "" : info.transA ? ", 1" : ", 0") << (info.transB ? ", 1" : ", 0");
  os << ";\n";
}

std::string WgmmaText::build() {
  for (const WgmmaStep &step : sequence.steps)
    instruction(step);
  if (sequence.ignoreAccumulators && !sequence.accumulators.empty()) {
    unsigned flag = operand(sequence.ignoreAccumulators);
    declarations += ".reg .pred accumulate;\n";
    addresses += "setp.eq.b32 accumulate, $" + std::to_string(flag) + ", 0;\n";
  }
  return "{\n" + declarations + addresses + "wgmma.fence.sync.aligned;\n" + instructions +
         "wgmma.commit_group.sync.aligned;\n" + (sequence.wait ? "wgmma.wait_group.sync.aligned 0;\n" : "") + "}";
}

Ptx::Values Ptx::wgmma(const WgmmaSequence &sequence) {
  WgmmaSequence copy = sequence;
  if (copy.ignoreAccumulators)
    copy.ignoreAccumulators = arith::ExtUIOp::create(builder, loc, builder.getI32Type(), copy.ignoreAccumulators);
  WgmmaText text(builder, loc, copy, copy.numAccumulators);
  std::string body = text.build();
  Type type = isInteger(copy.instruction.a) ? Type(builder.getI32Type()) : builder.getF32Type();
  AssemblyOptions options;
  options.earlyClobber = copy.accumulators.empty();
  options.tied = copy.accumulators;
  return assembly(body, SmallVector<Type>(copy.numAccumulators, type), text.operands, options);
}

Ptx::Values Ptx::wgmmaWait(unsigned pending, ValueRange values) {
  AssemblyOptions options;
  options.tied = values;
  return assembly("wgmma.wait_group.sync.aligned " + Twine(pending) + ";", values.getTypes(), {}, options);
}

//===----------------------------------------------------------------------===//
// mma.sync
//===----------------------------------------------------------------------===//

Ptx::Values Ptx::mma(const MmaShape &shape, ValueRange a, ValueRange b, ValueRange c) {
  StringRef sum = isInteger(shape.a) ? "s32" : shape.a == MmaType::F64 ? "f64" : "f32";
  unsigned firstA = c.size(), firstB = firstA + a.size(), firstC = firstB + b.size();
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "mma.sync.aligned.m" << shape.m << "n" << shape.n << "k" << shape.k << ".row.col." << sum << "."
     << mmaTypeName(shape.a) << "." << mmaTypeName(shape.b) << "." << sum << " " << vectorOperand(0, c.size()) << ", "
     << vectorOperand(firstA, a.size()) << ", " << vectorOperand(firstB, b.size()) << ", "
     << vectorOperand(firstC, c.size()) << ";";
  SmallVector<Value> operands(a);
  llvm::append_range(operands, b);
  llvm::append_range(operands, c);
  AssemblyOptions pure;
  pure.sideEffects = pure.memory = false;
  return assembly(text, c.getTypes(), operands, pure);
}

Ptx::Values Ptx::ldmatrix(Value address, unsigned count, bool transpose) {
  SmallVector<Type, 4> types(count, builder.getI32Type());
  std::string text = ("ldmatrix.sync.aligned.m8n8.x" + Twine(count) + (transpose ? ".trans" : "") + ".shared.b16 " +
                      vectorOperand(0, count) + ", " + addressText(count, address) + ";")
                         .str();
  return assembly(text, types, address);
}

void Ptx::stmatrix(Value address, ValueRange values, bool transpose) {
  std::string place = addressText(0, address);
  SmallVector<Value, 5> operands = {address};
  llvm::append_range(operands, values);
  assembly("stmatrix.sync.aligned.m8n8.x" + Twine(values.size()) + (transpose ? ".trans" : "") + ".shared.b16 " +
               place + ", " + vectorOperand(1, values.size()) + ";",
           {}, operands);
}
