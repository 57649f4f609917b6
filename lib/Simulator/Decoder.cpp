// Decoding: operands to slots, and the walk over a kernel's instructions.
#include "tilec/Simulator/Decoder.h"

#include "ControlFlow.h"
#include "SpecialRegisters.h"
#include "tilec/Simulator/Memory.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>

using namespace tilec::simulator;
using llvm::StringRef;
using llvm::Twine;

std::optional<PtxType> tilec::simulator::parseType(StringRef name) {
  if (name == "pred")
    return PtxType{PtxType::Predicate, 1, false};
  if (name == "bf16" || name == "bf16x2")
    return PtxType{PtxType::BFloat, 16, name == "bf16x2"};
  if (name == "f16x2")
    return PtxType{PtxType::Float, 16, true};
  PtxType type;
  if (name.empty() || name.drop_front().getAsInteger(10, type.bits) || !llvm::isPowerOf2_32(type.bits) ||
      type.bits < 8 || type.bits > 128)
    return std::nullopt;
  switch (name[0]) {
  case 'b':
    type.kind = PtxType::Bits;
    return type;
  case 'u':
    type.kind = PtxType::Unsigned;
    return type;
  case 's':
    type.kind = PtxType::Signed;
    return type;
  case 'f':
    type.kind = PtxType::Float;
    return type;
  default:
    return std::nullopt;
  }
}

/// Behind every message about an instruction that is not known.
static constexpr char howToAdd[] = "; docs/simulator.md, \"Adding an instruction\", says how to add it";

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

bool Decoder::fail(const Twine &what) {
  if (message.empty())
    message = ("line " + Twine(instruction->line) + ": `" + instruction->opcode() + "`: " + what).str();
  return false;
}

llvm::Error Decoder::takeError() {
  return message.empty() ? llvm::Error::success() : llvm::createStringError(message + howToAdd);
}

const Operand &Decoder::operand(unsigned index) {
  static const Operand missing;
  if (index < numOperands())
    return instruction->operands[index];
  fail("operand " + Twine(index + 1) + " is missing");
  return missing;
}

Slot Decoder::constantSlot(uint64_t value) {
  auto [entry, isNew] = constantOf.try_emplace(value, program.numSlots);
  if (isNew) {
    program.constants.push_back({program.numSlots++, value});
    program.slotNames.push_back(std::to_string(value));
  }
  return entry->second;
}

Slot Decoder::specialSlot(StringRef name) {
  if (!isSpecialRegister(name.drop_front())) {
    fail("the simulator does not know `" + name + "`");
    return program.sinkSlot;
  }
  auto [entry, isNew] = specialOf.try_emplace(name, program.numSlots);
  if (isNew) {
    program.specials.push_back({program.numSlots++, name.drop_front().str()});
    program.slotNames.push_back(name.str());
  }
  return entry->second;
}

// The address of a variable in its own space; of parameters and module variables as far as they have one.
Slot Decoder::variableSlot(const Operand &operand) {
  const PtxVariable *variable = &program.variable(operand.index);
  uint64_t address = program.addressOf.lookup(variable) + operand.bits;
  if (variable->space != Space::Shared)
    return constantSlot(address);
  auto [entry, isNew] = sharedOf.try_emplace(address, program.numSlots);
  if (isNew) {
    program.sharedAddresses.push_back({program.numSlots++, address});
    program.slotNames.push_back(variable->name);
  }
  return entry->second;
}

static uint64_t literalBits(const Operand &operand, PtxType type) {
  if (operand.kind == Operand::Kind::Float64 && type.kind == PtxType::Float && type.bits == 32) {
    double wide;
    std::memcpy(&wide, &operand.bits, sizeof(wide));
    float narrow = static_cast<float>(wide);
    uint32_t bits;
    std::memcpy(&bits, &narrow, sizeof(bits));
    return bits;
  }
  unsigned width = type.packed ? 2 * type.bits : type.bits;
  return width < 64 ? operand.bits & llvm::maskTrailingOnes<uint64_t>(width) : operand.bits;
}

void Decoder::use(const Operand &operand, PtxType type) {
  switch (operand.kind) {
  case Operand::Kind::Register:
    if (program.kernel->registers[operand.index].bits == 1)
      fail("a predicate where a register belongs");
    op->uses.push_back(program.slotOf[operand.index]);
    return;
  case Operand::Kind::Special:
    op->uses.push_back(specialSlot(operand.name));
    return;
  case Operand::Kind::Integer:
  case Operand::Kind::Float32:
  case Operand::Kind::Float64:
    op->uses.push_back(constantSlot(literalBits(operand, type)));
    return;
  case Operand::Kind::Variable:
    op->uses.push_back(variableSlot(operand));
    return;
  case Operand::Kind::Vector:
    for (const Operand &element : operand.elements)
      use(element, type);
    return;
  default:
    fail(operand.name.empty() ? "an operand of this form" : "`" + operand.name + "` is not declared");
  }
}

void Decoder::define(const Operand &operand) {
  if (operand.is(Operand::Kind::Vector)) {
    for (const Operand &element : operand.elements)
      define(element);
    return;
  }
  if (operand.is(Operand::Kind::Sink)) {
    op->defs.push_back(program.sinkSlot);
    return;
  }
  if (!operand.is(Operand::Kind::Register) || program.kernel->registers[operand.index].bits == 1) {
    fail("the result is not a register");
    return;
  }
  op->defs.push_back(program.slotOf[operand.index]);
}

static bool isPredicate(const Program &program, const Operand &operand) {
  return operand.is(Operand::Kind::Register) && program.kernel->registers[operand.index].bits == 1;
}

void Decoder::usePredicate(const Operand &operand) {
  if (!isPredicate(program, operand))
    fail("expected a predicate");
  else
    op->predicateUses.push_back(program.slotOf[operand.index]);
}

void Decoder::definePredicate(const Operand &operand) {
  if (operand.is(Operand::Kind::Sink))
    op->predicateDefs.push_back(program.sinkPredicate);
  else if (!isPredicate(program, operand))
    fail("the result is not a predicate");
  else
    op->predicateDefs.push_back(program.slotOf[operand.index]);
}

void Decoder::address(const Operand &operand) {
  if (!operand.is(Operand::Kind::Address)) {
    fail("expected an address");
    return;
  }
  Operand base = operand.elements.front();
  // The parameters of calls are local variables.
  if (base.is(Operand::Kind::Variable) && op->space == Space::Parameter)
    op->space = program.variable(base.index).space;
  if (base.is(Operand::Kind::Register)) {
    op->offset = static_cast<int64_t>(base.bits);
    base.bits = 0;
  }
  use(base);
}

uint64_t Decoder::constant(const Operand &operand) {
  if (!operand.is(Operand::Kind::Integer))
    fail("expected a number");
  return operand.bits;
}

StringRef Decoder::oneOf(std::initializer_list<StringRef> names) const {
  for (StringRef name : names)
    if (instruction->has(name))
      return name;
  return {};
}

Space Decoder::space() const {
  for (StringRef modifier : instruction->modifiers) {
    StringRef first = modifier.split("::").first;
    Space space = llvm::StringSwitch<Space>(first)
                      .Case("global", Space::Global)
                      .Case("shared", Space::Shared)
                      .Case("const", Space::Constant)
                      .Case("local", Space::Local)
                      .Case("param", Space::Parameter)
                      .Default(Space::Generic);
    if (space != Space::Generic)
      return space;
  }
  return Space::Generic;
}

const PtxVariable &Program::variable(unsigned index) const {
  if (index < kernelVariable)
    return module->variables[index];
  index -= kernelVariable;
  return index < kernel->parameters.size() ? kernel->parameters[index]
                                           : kernel->variables[index - kernel->parameters.size()];
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

static const InstructionTable &instructionTable() {
  static const InstructionTable table = [] {
    InstructionTable all;
    addIntegerInstructions(all);
    addExtendedIntegerInstructions(all);
    addFloatInstructions(all);
    addComparisonInstructions(all);
    addMoveInstructions(all);
    addConversionInstructions(all);
    addControlInstructions(all);
    addMemoryInstructions(all);
    addAtomicInstructions(all);
    addWarpInstructions(all);
    addBarrierInstructions(all);
    addMbarrierInstructions(all);
    addMatrixInstructions(all);
    addWgmmaInstructions(all);
    addCopyInstructions(all);
    addRemoteInstructions(all);
    return all;
  }();
  return table;
}

// The longest of "cp", "cp.async", "cp.async.bulk" that is in the table.
static DecodeFunction findFunction(const Instruction &instruction) {
  const InstructionTable &table = instructionTable();
  DecodeFunction function = table.lookup(instruction.name);
  std::string name = instruction.name;
  for (const std::string &modifier : instruction.modifiers) {
    name += "." + modifier;
    if (DecodeFunction longer = table.lookup(name))
      function = longer;
  }
  return function;
}

// Declared registers become slots, predicates are numbered apart; then the sinks.
static void layOutRegisters(Program &program) {
  for (const PtxRegister &reg : program.kernel->registers) {
    bool predicate = reg.bits == 1;
    program.slotOf.push_back(predicate ? program.numPredicates++ : program.numSlots++);
    (predicate ? program.predicateNames : program.slotNames).push_back(reg.name);
    if (!predicate)
      program.slotBits.push_back(std::min(reg.bits, 64u));
  }
  program.sinkSlot = program.numSlots++;
  program.slotNames.push_back("_");
  program.sinkPredicate = program.numPredicates++;
  program.predicateNames.push_back("_");
}

static void layOutMemory(Program &program) {
  uint64_t offset = sharedBase, end = 0;
  auto place = [&](const PtxVariable &variable, uint64_t &next) {
    next = llvm::alignTo(next, variable.alignment);
    program.addressOf[&variable] = next;
    next += variable.size;
  };
  uint64_t dynamicAlignment = 16;
  for (const PtxVariable &variable : program.module->variables) {
    if (variable.space == Space::Shared && variable.isExtern)
      dynamicAlignment = std::max<uint64_t>(dynamicAlignment, variable.alignment);
    else if (variable.space == Space::Shared)
      place(variable, offset);
    else if (variable.space == Space::Constant)
      place(variable, end);
  }
  for (const PtxVariable &variable : program.kernel->variables)
    place(variable, variable.space == Space::Shared ? offset : program.localBytes);
  for (const PtxVariable &parameter : program.kernel->parameters)
    program.addressOf[&parameter] = parameter.offset;
  program.staticShared = offset - sharedBase;
  program.dynamicShared = llvm::alignTo(offset, dynamicAlignment);
  program.constantBytes.resize(end);
  for (const PtxVariable &variable : program.module->variables) {
    if (variable.space == Space::Shared && variable.isExtern)
      program.addressOf[&variable] = program.dynamicShared;
    if (variable.space == Space::Constant && !variable.initializer.empty())
      std::memcpy(&program.constantBytes[program.addressOf[&variable]], variable.initializer.data(), variable.size);
  }
}

// The most that a thread may have so that the block fits: 64K registers, handed out in four quarters of the warps,
// eight by eight.
static unsigned registersAtLaunch(const PtxKernel &kernel) {
  constexpr unsigned all = 65536, most = 255, quarter = 4, warpSize = 32, unit = 8;
  unsigned threads = kernel.requiredThreads[0]
                         ? kernel.requiredThreads[0] * kernel.requiredThreads[1] * kernel.requiredThreads[2]
                         : std::max(kernel.maximumThreads, 1u);
  unsigned warps = llvm::alignTo(llvm::divideCeil(threads, warpSize), quarter);
  unsigned fits = all / (warps * warpSize * std::max(kernel.minimumBlocks, 1u)) / unit * unit;
  return std::min({most, fits, kernel.maximumRegisters ? kernel.maximumRegisters : most});
}

// Loops around a compare-and-swap begin with a plain load from its address: the value is a guess that the swap checks.
static void markGuesses(Program &program) {
  llvm::DenseSet<std::pair<Slot, int64_t>> swapped;
  auto addressOf = [](const Op &op) { return std::make_pair(op.uses[0], op.offset); };
  for (const Op &op : program.ops)
    if (op.source->name == "atom" && op.source->has("cas"))
      swapped.insert(addressOf(op));
  for (Op &op : program.ops)
    if (op.source->name == "ld" && !op.uses.empty() && op.space != Space::Parameter && swapped.count(addressOf(op)))
      op.data[0] = guessOfCompareAndSwap;
}

llvm::Expected<std::unique_ptr<Program>> tilec::simulator::decodeKernel(const PtxModule &module,
                                                                        const PtxKernel &kernel) {
  auto program = std::make_unique<Program>();
  program->module = &module;
  program->kernel = &kernel;
  layOutRegisters(*program);
  layOutMemory(*program);
  Decoder decoder(*program);
  program->ops.resize(kernel.instructions.size());
  for (auto [index, instruction] : llvm::enumerate(kernel.instructions)) {
    Op &op = program->ops[index];
    op.source = &instruction;
    if (instruction.guard >= 0) {
      op.guard = static_cast<int>(program->slotOf[instruction.guard]);
      op.guardNegated = instruction.guardNegated;
    }
    decoder.instruction = &instruction;
    decoder.op = &op;
    op.space = decoder.space();
    DecodeFunction function = findFunction(instruction);
    if (!function)
      return llvm::createStringError("line " + Twine(instruction.line) + ": the simulator does not know `" +
                                     instruction.opcode() + "`" + howToAdd);
    bool decoded = function(decoder);
    if (llvm::Error error = decoder.takeError())
      return std::move(error);
    if (!decoded || !op.execute)
      return llvm::createStringError("line " + Twine(instruction.line) +
                                     ": the simulator does not know this form of `" + instruction.opcode() + "`" +
                                     howToAdd);
  }
  // A kernel may end without ret.
  program->end.name = "ret";
  program->end.line = kernel.instructions.empty() ? 0 : kernel.instructions.back().line;
  Op end;
  end.source = decoder.instruction = &program->end;
  decoder.op = &end;
  findFunction(program->end)(decoder);
  program->ops.push_back(end);
  markGuesses(*program);
  program->order = computeOrder(*program);
  program->launchRegisters = registersAtLaunch(kernel);
  return std::move(program);
}
