// Faults: collecting and printing them.
#include "tilec/Simulator/Report.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace tilec::simulator;
using llvm::StringRef;

StringRef tilec::simulator::nameOf(FaultKind kind) {
  switch (kind) {
  case FaultKind::OutOfBounds:
    return "out-of-bounds";
  case FaultKind::Misaligned:
    return "misaligned";
  case FaultKind::UninitializedMemory:
    return "uninitialized-memory";
  case FaultKind::UninitializedRegister:
    return "uninitialized-register";
  case FaultKind::SharedRace:
    return "shared-race";
  case FaultKind::GlobalRace:
    return "global-race";
  case FaultKind::MissingProxyFence:
    return "missing-proxy-fence";
  case FaultKind::PendingRegister:
    return "pending-register";
  case FaultKind::MissingWgmmaFence:
    return "missing-wgmma-fence";
  case FaultKind::BarrierMisuse:
    return "barrier-misuse";
  case FaultKind::Deadlock:
    return "deadlock";
  case FaultKind::RegisterBudget:
    return "register-budget";
  case FaultKind::SharedLifetime:
    return "shared-lifetime";
  case FaultKind::Trap:
    return "trap";
  case FaultKind::Unsupported:
    return "unsupported";
  }
  return "";
}

void Report::add(Fault fault) {
  auto [entry, isNew] = known.try_emplace({fault.kind, fault.site.instruction, fault.other.instruction}, list.size());
  if (isNew)
    list.push_back(std::move(fault));
  else
    ++list[entry->second].count;
}

bool Report::contains(FaultKind kind) const {
  return llvm::any_of(list, [kind](const Fault &fault) { return fault.kind == kind; });
}

std::string tilec::simulator::describe(const Instruction *instruction, const PtxModule &module) {
  if (!instruction)
    return "the launch";
  std::string text = "ptx:" + std::to_string(instruction->line);
  if (instruction->sourceLine && instruction->sourceFile < module.files.size())
    text += " (" + module.files[instruction->sourceFile] + ":" + std::to_string(instruction->sourceLine) + ")";
  return text;
}

static std::string describePlace(const Site &site) {
  std::string text = "block " + std::to_string(site.block);
  if (site.warp >= 0)
    text += ", warp " + std::to_string(site.warp);
  if (site.lane >= 0)
    text += ", lane " + std::to_string(site.lane);
  return text;
}

std::string Report::exemptionText(const PtxModule &module) const {
  std::string text;
  for (const auto &[exemption, count] : exemptions)
    text += describe(exemption.second, module) + ": exempt by " + exemption.first + ", " + std::to_string(count) +
            (count == 1 ? " time\n" : " times\n");
  return text;
}

std::string Report::text(const PtxModule &module) const {
  std::string text;
  llvm::raw_string_ostream out(text);
  for (const Fault &fault : list) {
    out << describe(fault.site.instruction, module) << ": " << nameOf(fault.kind) << ": " << fault.message << '\n';
    out << "  in " << describePlace(fault.site);
    if (fault.site.instruction)
      out << ", at `" << fault.site.instruction->opcode() << '`';
    if (fault.count > 1)
      out << ", " << fault.count << " times";
    out << '\n';
    if (fault.other.instruction)
      out << "  the other is " << describePlace(fault.other) << ", at `" << fault.other.instruction->opcode() << "`, "
          << describe(fault.other.instruction, module) << '\n';
  }
  return text;
}
