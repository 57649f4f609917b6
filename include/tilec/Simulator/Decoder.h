// From instructions to `Op`s: what a decoding function may ask for, and the table of them.
#ifndef TILEC_SIMULATOR_DECODER_H
#define TILEC_SIMULATOR_DECODER_H

#include "tilec/Simulator/Program.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/Twine.h"
#include <map>
#include <optional>

namespace tilec::simulator {

/// The last modifier of most instructions.
struct PtxType {
  enum Kind : uint8_t { Bits, Unsigned, Signed, Float, BFloat, Predicate } kind = Bits;
  unsigned bits = 32;
  /// f16x2, bf16x2.
  bool packed = false;
};
std::optional<PtxType> parseType(llvm::StringRef name);

/// Decodes one instruction. Functions return false after `fail`; asking for an operand that is not there fails too.
class Decoder {
public:
  Decoder(Program &program) : program(program) {}

  const Instruction *instruction = nullptr;
  Op *op = nullptr;

  bool fail(const llvm::Twine &message);
  bool failed() const { return !message.empty(); }

  const Operand &operand(unsigned index);
  unsigned numOperands() const { return static_cast<unsigned>(instruction->operands.size()); }

  /// Appends to op->uses: a register, or the slot of a constant or special register. A vector appends its elements.
  /// `type` tells how to read a floating-point literal.
  void use(const Operand &operand, PtxType type = {PtxType::Bits, 64, false});
  void define(const Operand &operand);
  /// Appends to op->predicateUses; true and false literals are not allowed. `op->data[1]` is left alone.
  void usePredicate(const Operand &operand);
  void definePredicate(const Operand &operand);
  /// [register + offset]: appends the base to op->uses and sets op->offset (the last address's).
  void address(const Operand &operand);
  /// A number known now, or fails.
  uint64_t constant(const Operand &operand);
  /// The modifier that is one of `names`, or empty.
  llvm::StringRef oneOf(std::initializer_list<llvm::StringRef> names) const;
  /// From the modifiers: .global, .shared, .shared::cta, ...; Generic without one.
  Space space() const;
  /// The slot of a number in all lanes.
  Slot constantSlot(uint64_t value);

  llvm::Error takeError();
  Program &program;

private:
  Slot variableSlot(const Operand &operand);
  Slot specialSlot(llvm::StringRef name);
  std::string message;
  std::map<uint64_t, Slot> constantOf, sharedOf;
  llvm::StringMap<Slot> specialOf;
};

using DecodeFunction = bool (*)(Decoder &decoder);
/// The decoding functions by the instruction's name ("mma"), or by name and first modifiers ("cp.async.bulk.tensor");
/// the longest name wins.
using InstructionTable = llvm::StringMap<DecodeFunction>;

// One function a file of instructions.
void addIntegerInstructions(InstructionTable &table);
void addExtendedIntegerInstructions(InstructionTable &table); // sad, dp4a, bfind, addc, ...
void addFloatInstructions(InstructionTable &table);
void addComparisonInstructions(InstructionTable &table); // setp, set, testp, slct
void addMoveInstructions(InstructionTable &table);
void addConversionInstructions(InstructionTable &table);
void addControlInstructions(InstructionTable &table);
void addMemoryInstructions(InstructionTable &table);
void addAtomicInstructions(InstructionTable &table);
void addWarpInstructions(InstructionTable &table);
void addBarrierInstructions(InstructionTable &table);
void addMbarrierInstructions(InstructionTable &table);
void addMatrixInstructions(InstructionTable &table); // ldmatrix, stmatrix, mma
void addWgmmaInstructions(InstructionTable &table);  // wgmma.*
void addCopyInstructions(InstructionTable &table);   // cp.async.*, cp.reduce.async.*, prefetch.tensormap
void addRemoteInstructions(InstructionTable &table); // st.async, red.async

} // namespace tilec::simulator

#endif // TILEC_SIMULATOR_DECODER_H
