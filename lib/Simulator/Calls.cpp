// Calls become copies of the function: its parameters are the variables that the caller names, its registers and
// variables are the caller's, once for all calls, which lanes that are in different ones share without meeting.
#include "Calls.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/Twine.h"

using namespace tilec::simulator;
using llvm::Twine;

namespace {
class Inliner {
public:
  explicit Inliner(PtxModule &module) {
    for (PtxKernel &function : module.functions)
      functions[function.name] = &function;
  }

  llvm::Error expand(PtxKernel &caller);

private:
  /// Where a function's registers and variables lie in the caller.
  struct Placement {
    unsigned firstRegister, firstVariable;
  };
  llvm::Error append(PtxKernel &caller, const Instruction &call, std::vector<Instruction> &code);
  Placement place(PtxKernel &caller, const PtxKernel &function);
  void rewrite(Operand &operand, const PtxKernel &caller, const PtxKernel &function, const Instruction &call,
               Placement placement, unsigned firstInstruction);

  enum class State : uint8_t { Untouched, Active, Done };
  llvm::StringMap<PtxKernel *> functions;
  llvm::StringMap<State> states;
  llvm::StringMap<Placement> placements; // in the caller that is being expanded
};
} // namespace

Inliner::Placement Inliner::place(PtxKernel &caller, const PtxKernel &function) {
  Placement next{static_cast<unsigned>(caller.registers.size()), static_cast<unsigned>(caller.variables.size())};
  auto [entry, isNew] = placements.try_emplace(function.name, next);
  if (isNew) {
    caller.registers.insert(caller.registers.end(), function.registers.begin(), function.registers.end());
    caller.variables.insert(caller.variables.end(), function.variables.begin(), function.variables.end());
  }
  return entry->second;
}

void Inliner::rewrite(Operand &operand, const PtxKernel &caller, const PtxKernel &function, const Instruction &call,
                      Placement placement, unsigned firstInstruction) {
  for (Operand &element : operand.elements)
    rewrite(element, caller, function, call, placement, firstInstruction);
  if (operand.is(Operand::Kind::Register)) {
    operand.index += placement.firstRegister;
  } else if (operand.is(Operand::Kind::Label)) {
    operand.index += firstInstruction;
  } else if (operand.is(Operand::Kind::Variable) && operand.index >= kernelVariable) {
    unsigned index = operand.index - kernelVariable, results = function.numResults;
    if (index < results)
      operand.index = call.operands[0].elements[index].index;
    else if (index < function.parameters.size())
      operand.index = call.operands[2].elements[index - results].index;
    else
      operand.index = kernelVariable + caller.parameters.size() + placement.firstVariable + index -
                      static_cast<unsigned>(function.parameters.size());
  }
}

// In place of `source`, without its guard.
static Instruction branchTo(unsigned target, const Instruction &source) {
  Instruction branch;
  branch.name = "bra";
  branch.line = source.line;
  branch.sourceFile = source.sourceFile;
  branch.sourceLine = source.sourceLine;
  branch.operands.emplace_back();
  branch.operands[0].kind = Operand::Kind::Label;
  branch.operands[0].index = target;
  return branch;
}

llvm::Error Inliner::append(PtxKernel &caller, const Instruction &call, std::vector<Instruction> &code) {
  auto fail = [&](const Twine &what) {
    return llvm::createStringError("line " + Twine(call.line) + ": `" + call.operands[1].name + "` " + what);
  };
  PtxKernel *function = functions.lookup(call.operands[1].name);
  if (!function)
    return fail("is not defined");
  if (states.lookup(function->name) == State::Active)
    return fail("calls itself");
  const std::vector<Operand> &results = call.operands[0].elements, &arguments = call.operands[2].elements;
  if (results.size() != function->numResults || results.size() + arguments.size() != function->parameters.size())
    return fail("has other parameters than the call");
  for (const std::vector<Operand> *list : {&results, &arguments})
    for (const Operand &operand : *list)
      if (!operand.is(Operand::Kind::Variable))
        return fail("is called with something that is no .param variable");
  Placement placement = place(caller, *function);
  unsigned first = code.size() + (call.guard >= 0 ? 1 : 0), end = first + function->instructions.size();
  if (call.guard >= 0) {
    code.push_back(branchTo(end, call));
    code.back().guard = call.guard;
    code.back().guardNegated = !call.guardNegated;
  }
  for (Instruction instruction : function->instructions) {
    if (instruction.name == "ret") {
      Instruction jump = branchTo(end - first, instruction);
      jump.guard = instruction.guard;
      jump.guardNegated = instruction.guardNegated;
      instruction = std::move(jump);
    }
    if (instruction.guard >= 0)
      instruction.guard += static_cast<int>(placement.firstRegister);
    for (Operand &operand : instruction.operands)
      rewrite(operand, caller, *function, call, placement, first);
    code.push_back(std::move(instruction));
  }
  return llvm::Error::success();
}

// Functions first, so that what is copied has no calls.
llvm::Error Inliner::expand(PtxKernel &caller) {
  State &state = states[caller.name];
  if (state == State::Done)
    return llvm::Error::success();
  state = State::Active;
  bool calls = false;
  for (const Instruction &instruction : caller.instructions)
    if (instruction.name == "call") {
      calls = true;
      PtxKernel *function = functions.lookup(instruction.operands[1].name);
      if (function && states.lookup(function->name) == State::Untouched)
        if (llvm::Error error = expand(*function))
          return error;
    }
  if (calls) {
    placements.clear();
    std::vector<Instruction> code;
    std::vector<unsigned> moved;
    std::vector<std::pair<unsigned, unsigned>> copied; // ranges, whose labels are right already
    for (const Instruction &instruction : caller.instructions) {
      moved.push_back(code.size());
      if (instruction.name != "call") {
        code.push_back(instruction);
        continue;
      }
      unsigned first = code.size();
      if (llvm::Error error = append(caller, instruction, code))
        return error;
      copied.push_back({first, static_cast<unsigned>(code.size())});
    }
    moved.push_back(code.size());
    auto range = copied.begin();
    for (unsigned i = 0; i < code.size(); ++i) {
      while (range != copied.end() && i >= range->second)
        ++range;
      if (range != copied.end() && i >= range->first)
        continue;
      for (Operand &operand : code[i].operands)
        if (operand.is(Operand::Kind::Label))
          operand.index = moved[operand.index];
    }
    caller.instructions = std::move(code);
  }
  states[caller.name] = State::Done;
  return llvm::Error::success();
}

llvm::Error tilec::simulator::inlineCalls(PtxModule &module) {
  Inliner inliner(module);
  for (PtxKernel &function : module.functions)
    if (llvm::Error error = inliner.expand(function))
      return error;
  for (PtxKernel &kernel : module.kernels)
    if (llvm::Error error = inliner.expand(kernel))
      return error;
  return llvm::Error::success();
}
