// Sums, prints and checks the simulator's counts.
#include "tilec/Runner/Counts.h"

#include "Loops.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace llvm;
using namespace tilec::runner;
using namespace tilec::simulator;

static void add(LineCounts &sum, const LineCounts &counts) {
  for (const CountField &count : countFields)
    sum.*count.field += counts.*count.field;
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

CountReport::CountReport(ArrayRef<Report> reports, const PtxModule &module) : module(module) {
  DenseMap<const Instruction *, LineCounts> sums;
  for (const Report &report : reports)
    for (const auto &[instruction, counts] : report.counts) {
      add(sums[instruction], counts);
      add(total, counts);
    }
  for (const PtxKernel &kernel : module.kernels) {
    size_t before = lines.size();
    for (const Instruction &instruction : kernel.instructions)
      if (auto counts = sums.find(&instruction); counts != sums.end()) {
        lines.push_back({&instruction, counts->second, -1});
        sums.erase(counts);
      }
    if (lines.size() != before)
      findLoops(kernel);
  }
  // The return behind the last instruction is none of the text.
  for (const auto &[instruction, counts] : sums)
    lines.push_back({instruction, counts, -1});
}

// Later loops lie inside of earlier ones.
void CountReport::findLoops(const PtxKernel &kernel) {
  std::vector<PtxLoop> found = tilec::runner::findLoops(kernel);
  DenseMap<const Instruction *, int> loopOf;
  int first = static_cast<int>(loops.size());
  for (const auto &[i, loop] : enumerate(found)) {
    for (size_t at : loop.body)
      loopOf[&kernel.instructions[at]] = first + static_cast<int>(i);
    loops.push_back({&kernel.instructions[loop.body.front()],
                     loop.parent < 0 ? -1 : first + loop.parent,
                     loop.depth,
                     loop.innermost,
                     {}});
  }
  for (PtxLine &line : lines) {
    auto loop = loopOf.find(line.instruction);
    if (loop == loopOf.end())
      continue;
    line.loop = loop->second;
    add(loops[static_cast<size_t>(line.loop)].counts, line.counts);
  }
}

std::string CountReport::placeOf(const Instruction &instruction) const {
  if (instruction.sourceLine == 0 || instruction.sourceFile >= module.files.size())
    return module.files.empty() ? "ptx:" + std::to_string(instruction.line) : "without a line";
  StringRef file = module.files[instruction.sourceFile];
  return (file.substr(file.rfind('/') + 1) + ":" + Twine(instruction.sourceLine)).str();
}

std::vector<std::pair<std::string, LineCounts>> CountReport::sourceLines() const {
  std::vector<std::pair<std::string, LineCounts>> result;
  StringMap<size_t> known;
  for (const PtxLine &line : lines) {
    std::string place = placeOf(*line.instruction);
    auto [entry, isNew] = known.try_emplace(place, result.size());
    if (isNew)
      result.push_back({place, {}});
    add(result[entry->second].second, line.counts);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

namespace {
// A table of numbers whose columns are as wide as they need to be.
class Table {
public:
  explicit Table(const LineCounts &total) {
    for (const CountField &count : countFields)
      if (total.*count.field != 0 || count.field == &LineCounts::executed || count.field == &LineCounts::bankConflicts)
        columns.push_back(
            {&count, std::max(std::string(count.title).size(), std::to_string(total.*count.field).size())});
  }
  void head(raw_ostream &os, StringRef name) const {
    os << "  " << left_justify(name, nameWidth);
    for (const auto &[count, width] : columns)
      os << "  " << right_justify(count->title, static_cast<unsigned>(width));
    os << "\n";
  }
  void row(raw_ostream &os, StringRef name, const LineCounts &counts) const {
    os << "  " << left_justify(name, nameWidth);
    for (const auto &[count, width] : columns)
      os << "  " << right_justify(std::to_string(counts.*count->field), static_cast<unsigned>(width));
    os << "\n";
  }

private:
  static constexpr unsigned nameWidth = 34;
  std::vector<std::pair<const CountField *, size_t>> columns;
};
} // namespace

// Cycles and sectors; lines that move and compute nothing come last, by their instructions.
static std::pair<uint64_t, uint64_t> costOf(const LineCounts &counts) {
  constexpr unsigned sectorBytes = 32, operationsOfCycle = 8192;
  return {counts.sharedAccesses + counts.bankConflicts + counts.globalSectors + counts.bulkBytes / sectorBytes +
              counts.tensorOperations / operationsOfCycle,
          counts.executed};
}

void CountReport::print(raw_ostream &os) const {
  Table table(total);
  std::vector<std::pair<std::string, LineCounts>> rows = sourceLines();
  stable_sort(rows, [](const auto &a, const auto &b) { return costOf(a.second) > costOf(b.second); });
  table.head(os, "line");
  for (const auto &[name, counts] : rows)
    table.row(os, name, counts);
  table.row(os, "all", total);
  if (loops.empty())
    return;
  table.head(os, "loop, without those inside");
  for (const Loop &loop : loops) {
    std::string name(2 * (loop.depth - 1), ' ');
    name += loop.entry->sourceLine == 0 ? "ptx:" + std::to_string(loop.entry->line)
                                        : placeOf(*loop.entry) + " (ptx:" + std::to_string(loop.entry->line) + ")";
    table.row(os, name, loop.counts);
  }
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static std::string underscored(StringRef key) {
  std::string text = key.str();
  llvm::replace(text, '-', '_');
  return text;
}

static void addCounts(json::Object &object, const LineCounts &counts) {
  for (const CountField &count : countFields)
    object[underscored(count.key)] = counts.*count.field;
}

json::Object CountReport::placeJson(const Instruction &instruction) const {
  json::Object object;
  bool known = instruction.sourceLine != 0 && instruction.sourceFile < module.files.size();
  object["file"] = known ? json::Value(module.files[instruction.sourceFile]) : json::Value(nullptr);
  object["line"] = known ? json::Value(instruction.sourceLine) : json::Value(nullptr);
  object["ptx_line"] = instruction.line;
  return object;
}

json::Value CountReport::toJson() const {
  json::Array sources, ptx, loopList;
  for (const auto &[place, counts] : sourceLines()) {
    json::Object object;
    object["place"] = place;
    addCounts(object, counts);
    sources.push_back(std::move(object));
  }
  for (const PtxLine &line : lines) {
    json::Object object = placeJson(*line.instruction);
    object["opcode"] = line.instruction->opcode();
    object["loop"] = line.loop < 0 ? json::Value(nullptr) : json::Value(line.loop);
    addCounts(object, line.counts);
    ptx.push_back(std::move(object));
  }
  for (const Loop &loop : loops) {
    json::Object object = placeJson(*loop.entry);
    object["parent"] = loop.parent < 0 ? json::Value(nullptr) : json::Value(loop.parent);
    object["depth"] = loop.depth;
    object["innermost"] = loop.innermost;
    addCounts(object, loop.counts);
    loopList.push_back(std::move(object));
  }
  json::Object totals;
  addCounts(totals, total);
  return json::Object{{"totals", std::move(totals)},
                      {"lines", std::move(sources)},
                      {"ptx", std::move(ptx)},
                      {"loops", std::move(loopList)}};
}

//===----------------------------------------------------------------------===//
// Requirements
//===----------------------------------------------------------------------===//

bool CountReport::isInMainLoop(const PtxLine &line) const {
  if (line.loop < 0)
    return false;
  const Loop &loop = loops[static_cast<size_t>(line.loop)];
  return loop.innermost || loop.counts.tensorOperations != 0;
}

Error CountReport::requireZero(StringRef name) const {
  StringRef key = name;
  bool inLoops = key.consume_front("loop-");
  const CountField *count = find_if(countFields, [&](const CountField &candidate) { return key == candidate.key; });
  if (count == std::end(countFields))
    return createStringError("there is no count `" + name + "`");
  uint64_t sum = 0;
  std::string places;
  constexpr unsigned mostPlaces = 5;
  unsigned numPlaces = 0;
  for (const PtxLine &line : lines) {
    uint64_t value = line.counts.*count->field;
    if (value == 0 || (inLoops && !isInMainLoop(line)))
      continue;
    sum += value;
    if (++numPlaces <= mostPlaces)
      places += "\n  " + describe(line.instruction, module) + ": " + line.instruction->opcode() + ": " +
                std::to_string(value);
  }
  if (sum == 0)
    return Error::success();
  if (numPlaces > mostPlaces)
    places += "\n  and " + std::to_string(numPlaces - mostPlaces) + " more lines";
  return createStringError("--report-fail=" + name + ": " + Twine(sum) + places);
}
