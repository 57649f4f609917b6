// PTX text as data: modules, kernels, instructions (PTX ISA, "Syntax" and "Directives").
//
// Names are resolved by the parser: a register operand is an index into the kernel's registers, a label an index into
// its instructions, so that scopes and `%r<10>` ranges do not exist behind it.
#ifndef TILEC_SIMULATOR_PTX_H
#define TILEC_SIMULATOR_PTX_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tilec::simulator {

enum class Space : uint8_t { Generic, Global, Shared, Constant, Local, Parameter };

/// What a .reg declares: "pred" is 1 bit; .b16, .u16, .s16, .f16 are all 16 bits.
struct PtxRegister {
  std::string name;
  unsigned bits = 32;
};

/// A variable of .global, .const, .shared or .local, or a parameter.
struct PtxVariable {
  std::string name;
  Space space = Space::Global;
  unsigned alignment = 1;
  /// Bytes; 0 for an unsized extern array.
  uint64_t size = 0;
  bool isExtern = false;
  /// Empty, or `size` bytes.
  std::vector<uint8_t> initializer;
  /// Offset in its space, or of a parameter from the first.
  uint64_t offset = 0;
};

struct Operand {
  enum class Kind : uint8_t {
    Register, // `index`: register of the kernel; `negated`: !%p; `bits`: offset, inside an Address
    Special,  // `name`: %tid.x, or the function of a call
    Integer,  // `bits`
    Float32,  // `bits`: 0fXXXXXXXX
    Float64,  // `bits`: 0dX..., or a decimal number
    Variable, // `index`: variable of the module, or of the kernel from `kernelVariable` on; plus `bits`
    Label,    // `index`: instruction
    Address,  // [elements[0], elements[1]...]: elements[0] is Register, Variable or Integer
    Vector,   // {elements}
    Pair,     // elements[0] | elements[1]
    Sink      // _
  };
  Kind kind = Kind::Sink;
  bool negated = false;
  unsigned index = 0;
  uint64_t bits = 0;
  std::string name;
  std::vector<Operand> elements;

  bool is(Kind other) const { return kind == other; }
};

struct Instruction {
  /// "mma", and the modifiers "sync", "aligned" and so on, without dots.
  std::string name;
  llvm::SmallVector<std::string, 4> modifiers;
  std::vector<Operand> operands;
  /// Register of @p or @!p, or -1.
  int guard = -1;
  bool guardNegated = false;
  /// Line in the PTX text, from 1.
  unsigned line = 0;
  /// From .loc: index into PtxModule::files, and line; 0 if there is none.
  unsigned sourceFile = 0, sourceLine = 0;

  /// As written: "mma.sync.aligned".
  std::string opcode() const;
  bool has(llvm::StringRef modifier) const;
  llvm::StringRef lastModifier() const { return modifiers.empty() ? llvm::StringRef() : modifiers.back(); }
};

struct PtxKernel {
  std::string name;
  /// Of a function: the variables of its results come first, `numResults` of them.
  std::vector<PtxVariable> parameters;
  unsigned numResults = 0;
  uint64_t parameterBytes = 0;
  /// .shared and .local variables of the body, and the .param variables of its calls as local ones.
  std::vector<PtxVariable> variables;
  std::vector<PtxRegister> registers;
  std::vector<Instruction> instructions;
  /// .reqntid and .maxntid; 0 where not given.
  unsigned requiredThreads[3] = {0, 0, 0};
  unsigned maximumThreads = 0;
  unsigned minimumBlocks = 0;
  unsigned maximumRegisters = 0;
  unsigned requiredCluster[3] = {0, 0, 0};
};

struct PtxModule {
  std::string target;
  std::vector<PtxVariable> variables;
  std::vector<PtxKernel> kernels;
  /// Functions that kernels call; their calls have been replaced by their bodies (Calls.cpp).
  std::vector<PtxKernel> functions;
  /// Names of .file directives by their number.
  std::vector<std::string> files;

  const PtxKernel *find(llvm::StringRef kernel) const;
};

/// Operand::index of variables of the kernel (parameters first, then `variables`) begins here.
constexpr unsigned kernelVariable = 1u << 20;

/// Fails with "line 12: ..." where the text is not PTX as this parser knows it.
llvm::Expected<PtxModule> parsePtx(llvm::StringRef text);

} // namespace tilec::simulator

#endif // TILEC_SIMULATOR_PTX_H
