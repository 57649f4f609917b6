// Candidates by the kind of kernel, and their costs.
#include "tilec/Tiling/ChooseSizes.h"

#include "HostCost.h"
#include "KernelFacts.h"
#include "tilec/Machine/ConsumerRegisters.h"
#include "tilec/Machine/Rates.h"

using namespace tilec;
using namespace tilec::sema;

namespace {

/// Picoseconds of a nanosecond, the unit of rates.
constexpr int64_t perNanosecond = 1000;
/// Rows that begin at multiples of so many bytes, sectors of the second-level cache, are loaded at full speed.
constexpr int64_t alignedPitch = 32;
/// Elements of a result that two groups hold beside what an epilogue may need.
constexpr int64_t largestTile = 128 * 256;

/// The extent that each axis gets. Written sizes are those of the probe.
class AxisSizes {
public:
  AxisSizes(llvm::ArrayRef<AutoSize> sizes) : sizes(sizes) {}

  /// Wants an extent for an axis; false where the source says otherwise.
  bool want(const Axis &axis, int64_t extent) {
    const AutoSize *size = sizeOf(axis);
    if (!size)
      return axis.extent == extent;
    auto [it, inserted] = values.try_emplace(size->name, extent);
    return inserted || it->second == extent;
  }

  /// Whether the compiler chooses the extent of an axis.
  bool isFree(const Axis &axis) const { return sizeOf(axis) != nullptr; }

  int64_t extentOf(const Axis &axis) const {
    const AutoSize *size = sizeOf(axis);
    auto it = size ? values.find(size->name) : values.end();
    return it == values.end() ? axis.extent : it->second;
  }

  /// The values in order of declaration; sizes that nobody wanted are left to trial.
  std::vector<std::pair<std::string, int64_t>> take() const {
    std::vector<std::pair<std::string, int64_t>> result;
    for (const AutoSize &size : sizes)
      if (auto it = values.find(size.name); it != values.end())
        result.emplace_back(size.name, it->second);
    return result;
  }

private:
  const AutoSize *sizeOf(const Axis &axis) const {
    const AutoSize *it =
        llvm::find_if(sizes, [&](const AutoSize &size) { return llvm::is_contained(size.axes, &axis); });
    return it == sizes.end() ? nullptr : it;
  }

  llvm::ArrayRef<AutoSize> sizes;
  std::map<std::string, int64_t> values;
};

class SizeChooser {
public:
  SizeChooser(const Kernel &probe, llvm::ArrayRef<AutoSize> sizes, const Machine &machine)
      : probe(probe), sizes(sizes), machine(machine), rates(ratesOf(machine)) {}

  std::vector<SizeChoice> run();

private:
  std::vector<SizeChoice> forProduct(const KernelFacts &facts);
  std::vector<SizeChoice> forAttention(const KernelFacts &facts);
  static void add(std::vector<SizeChoice> &result, std::optional<SizeChoice> choice);
  /// Picoseconds beside the steps: of each tile, and of the last one once more.
  struct TileEdges {
    int64_t ofTile, ofBlock;
  };
  bool takesTurns(const KernelFacts &facts, const ProductTile &tile, const AxisSizes &chosen, int64_t elements) const;
  TileEdges edgesOf(const KernelFacts &facts, const ProductTile &tile, int64_t elements, bool inTurns) const;
  std::optional<HostExpr> numberOfTiles(const KernelFacts &facts, const AxisSizes &chosen) const;
  /// Rounds of tiles over the multiprocessors.
  std::optional<HostExpr> waves(const KernelFacts &facts, const AxisSizes &chosen) const;
  /// Where the host cannot know the cost, the sizes that any tensors get are the only ones.
  static std::optional<SizeChoice> unpriced(const AxisSizes &chosen, bool general) {
    return general ? std::optional<SizeChoice>(SizeChoice{chosen.take()}) : std::nullopt;
  }
  /// The sizes with their cost.
  std::optional<SizeChoice> priced(const KernelFacts &facts, const ProductTile &tile, const AxisSizes &chosen) const;
  std::optional<SizeChoice> priced(const KernelFacts &facts, const AttentionTile &tile, const AxisSizes &chosen) const;
  /// Picoseconds of the loads of a step; and of those whose rows do not begin with sectors of the second-level cache.
  int64_t loadTime(const ProductFacts &product, int64_t m, int64_t n, int64_t k) const;
  HostExpr unalignedLoadTime(const ProductFacts &product, int64_t m, int64_t n, int64_t k) const;
  /// Whether tiles beside written sizes fit into registers and, with one slot for each operand, into shared memory.
  bool fits(int64_t elements, int64_t operandBytes) const {
    return elements <= largestTile && operandBytes <= machine.sharedPerBlock * 7 / 8;
  }
  /// Picoseconds of multiply-adds on Tensor Cores at `efficiency` thousandths.
  int64_t productTime(int64_t multiplyAdds, unsigned bits, int64_t efficiency) const {
    return multiplyAdds * bits / 16 * perNanosecond / rates.productsPerNanosecond * 1000 / efficiency;
  }

  const Kernel &probe;
  llvm::ArrayRef<AutoSize> sizes;
  const Machine &machine;
  const MachineRates &rates;
};

} // namespace

/// Bits of an operand in shared memory.
static unsigned operandBits(ScalarKind element) { return element == ScalarKind::TF32 ? 32 : getBitWidth(element); }

std::optional<HostExpr> SizeChooser::numberOfTiles(const KernelFacts &facts, const AxisSizes &chosen) const {
  HostExpr tiles = 1;
  for (const Binding &binding : facts.stage->bindings) {
    std::optional<HostExpr> length = host::lengthOf(binding);
    if (!length)
      return std::nullopt;
    if (binding.axis)
      length = host::ceilDiv(std::move(*length), chosen.extentOf(*binding.axis));
    tiles = host::mul(std::move(tiles), std::move(*length));
  }
  return tiles;
}

std::optional<HostExpr> SizeChooser::waves(const KernelFacts &facts, const AxisSizes &chosen) const {
  std::optional<HostExpr> tiles = numberOfTiles(facts, chosen);
  return tiles ? std::optional(host::ceilDiv(std::move(*tiles), host::multiprocessors())) : std::nullopt;
}

/// Whether the plan will let groups take such tiles in turns (lib/Transforms/PlanGroups.cpp): the registers of one
/// group's thread hold a tile and what the epilogue needs beside it.
bool SizeChooser::takesTurns(const KernelFacts &facts, const ProductTile &tile, const AxisSizes &chosen,
                             int64_t elements) const {
  int64_t registers = registersOfWholeTile(elements, facts.epilogue.kind, facts.epilogue.loads);
  for (const auto &[axis, bytes] : facts.epilogue.vectors)
    registers += registersOfVector(elements, chosen.extentOf(*axis), bytes);
  return tile.inTurns > 0 && !facts.products.front().promoted && registers <= mostConsumerRegisters;
}

/// Picoseconds that an epilogue takes: of every tile, or of the last ones where it runs under the products of others.
/// The last of these has one group for itself, with a third of what two groups do in a cycle.
SizeChooser::TileEdges SizeChooser::edgesOf(const KernelFacts &facts, const ProductTile &tile, int64_t elements,
                                            bool inTurns) const {
  const EpilogueFacts &epilogue = facts.epilogue;
  int64_t instruction = rates.epilogueInstruction * elements;
  int64_t alone = (epilogue.instructions + epilogue.special * rates.specialInstruction) * instruction;
  int64_t loads = epilogue.loads * rates.epilogueLoad * elements, edge = tile.edge * perNanosecond;
  // Short steps of 8-bit operands do not hide the stores of results of 32 bits.
  if (!facts.narrow && operandBits(facts.products.front().element) == 8)
    edge += edge / 2;
  if (!inTurns)
    return {edge + alone + loads, 0};
  bool isShort = epilogue.instructions <= rates.shortEpilogue;
  int64_t ofInstruction = isShort ? rates.shortInTurns : rates.instructionInTurns;
  int64_t remains = (epilogue.instructions * ofInstruction * instruction + loads * rates.loadInTurns) / 1000;
  return {rates.turn * perNanosecond + remains, edge + 2 * epilogue.instructions * instruction + loads};
}

int64_t SizeChooser::loadTime(const ProductFacts &product, int64_t m, int64_t n, int64_t k) const {
  return (m + n) * k * operandBits(product.element) / 8 * perNanosecond / rates.loadPerNanosecond;
}

HostExpr SizeChooser::unalignedLoadTime(const ProductFacts &product, int64_t m, int64_t n, int64_t k) const {
  unsigned bits = operandBits(product.element);
  auto timeOf = [&](int64_t rows, const std::optional<HostExpr> &pitch) -> HostExpr {
    if (!pitch)
      return 0;
    int64_t time = loadTime(product, rows, 0, k) * 1000 / rates.unalignedLoad;
    return host::mul(host::isNoMultiple(host::mul(*pitch, bits / 8), alignedPitch), time);
  };
  return host::add(timeOf(m, product.pitchOfM), timeOf(n, product.pitchOfN));
}

std::optional<SizeChoice> SizeChooser::priced(const KernelFacts &facts, const ProductTile &tile,
                                              const AxisSizes &chosen) const {
  const ProductFacts &product = facts.products.front();
  unsigned bits = operandBits(product.element);
  int64_t m = chosen.extentOf(*product.m), n = chosen.extentOf(*product.n), k = chosen.extentOf(*product.k);
  bool inTurns = takesTurns(facts, tile, chosen, m * n);
  int64_t efficiency = product.promoted ? tile.promoted : tile.efficiency;
  if (!inTurns && efficiency == 0)
    return std::nullopt;
  int64_t computing = productTime(m * n * k, bits, inTurns ? tile.inTurns : efficiency);
  // What a group that has its turn reaches was measured with its loads.
  int64_t alignedStep = inTurns ? computing : std::max(computing, loadTime(product, m, n, k));
  std::optional<HostExpr> tiles = numberOfTiles(facts, chosen);
  // Blocks that have a multiprocessor each share what the second-level cache gives.
  auto unalignedLoad = [&](int64_t rows, int64_t columns) {
    HostExpr time = unalignedLoadTime(product, rows, columns, k);
    if (!tiles || time.getAsInteger() == 0)
      return time;
    HostExpr active = host::min(*tiles, host::multiprocessors());
    return host::div(host::mul(std::move(time), std::move(active)), host::multiprocessors());
  };
  HostExpr step = host::max(alignedStep, unalignedLoad(m, n));
  TileEdges edges = edgesOf(facts, tile, m * n, inTurns);
  std::optional<HostExpr> depth = host::lengthOf(*product.k), rounds = waves(facts, chosen);
  std::optional<HostExpr> rows = host::lengthOf(*product.m), columns = host::lengthOf(*product.n);
  bool general = bits < 16 ? tile.generalOfBytes : tile.general;
  if (!depth || !rounds || !rows || !columns)
    return unpriced(chosen, general);
  // Each further row of tiles reads the columns' operand again, nearly always from the second-level cache.
  HostExpr again = host::add(host::min(host::ceilDiv(*rows, m), 8), 19);
  HostExpr elements = host::add(*rows, host::div(host::mul(*columns, std::move(again)), 20));
  HostExpr bytes = host::mul(host::mul(std::move(elements), *depth), bits / 8);
  for (const Binding &binding : facts.stage->bindings)
    if (!binding.axis)
      bytes = host::mul(std::move(bytes), *host::lengthOf(binding));
  int64_t bandwidth = std::max<int64_t>(machine.bandwidth * tile.traffic / 1000, 1);
  HostExpr traffic =
      host::add(host::div(host::mul(std::move(bytes), perNanosecond), bandwidth), edges.ofTile + edges.ofBlock);
  auto costOfSteps = [&](HostExpr ofStep) {
    HostExpr block = host::add(host::mul(host::ceilDiv(*depth, k), std::move(ofStep)), edges.ofTile);
    HostExpr time = host::add(host::mul(*rounds, std::move(block)), edges.ofBlock);
    return host::add(host::max(std::move(time), traffic), rates.launch * perNanosecond);
  };
  HostExpr cost = costOfSteps(std::move(step));
  HostExpr scalarStores = host::mul(*rounds, m * n * rates.scalarStore);
  // Threads that store rows of any alignment find no registers beside two large accumulators.
  bool fitsUnaligned = !product.promoted || m * n <= 128 * 128;
  SizeChoice result{chosen.take(), std::move(cost), std::move(scalarStores), tile.inputs && fitsUnaligned, general};
  result.packed = tile.packed && fitsUnaligned;
  result.packedCost = costOfSteps(alignedStep);
  // Blocks of a pair wait for each other; what they share each loads half of.
  int64_t inPairs = computing * rates.inPairs / 1000;
  if (tile.pairsAlongM)
    result.clusters.push_back({{2, 1}, costOfSteps(host::max(inPairs, unalignedLoad(m, n / 2)))});
  if (tile.pairsAlongN)
    result.clusters.push_back({{1, 2}, costOfSteps(host::max(inPairs, unalignedLoad(m / 2, n)))});
  return result;
}

std::optional<SizeChoice> SizeChooser::priced(const KernelFacts &facts, const AttentionTile &tile,
                                              const AxisSizes &chosen) const {
  const ProductFacts &scores = facts.products[0], &values = facts.products[1];
  bool isCausal = !host::knowsLengthOf(*scores.n);
  if (isCausal && tile.causalEdge == 0)
    return std::nullopt;
  int64_t queries = chosen.extentOf(*scores.m), keys = chosen.extentOf(*scores.n);
  int64_t elements = scores.k->extent + values.n->extent;
  int64_t step = productTime(queries * keys * elements, operandBits(scores.element), tile.efficiency);
  std::optional<HostExpr> length = host::lengthOf(*scores.n), tiles = numberOfTiles(facts, chosen);
  if (!length || !tiles)
    return unpriced(chosen, tile.general);
  // The first tile under a causal mask has as many keys as queries; half a step is in vain at each end of a row. Tiles
  // of unequal work are dealt out evenly.
  HostExpr steps = isCausal ? host::div(host::mul(host::add(std::move(*length), queries + keys), step), 2 * keys)
                            : host::mul(host::ceilDiv(std::move(*length), keys), step);
  HostExpr block = host::add(std::move(steps), (isCausal ? tile.causalEdge : tile.edge) * perNanosecond);
  HostExpr time = isCausal ? host::div(host::mul(std::move(*tiles), std::move(block)), host::multiprocessors())
                           : host::mul(host::ceilDiv(std::move(*tiles), host::multiprocessors()), std::move(block));
  SizeChoice result{chosen.take(), host::add(std::move(time), rates.launch * perNanosecond)};
  result.inputs = result.general = tile.general;
  return result;
}

/// Unless it is known already, or decides nothing.
void SizeChooser::add(std::vector<SizeChoice> &result, std::optional<SizeChoice> choice) {
  if (choice && !choice->sizes.empty() &&
      llvm::none_of(result, [&](const SizeChoice &other) { return other.sizes == choice->sizes; }))
    result.push_back(std::move(*choice));
}

std::vector<SizeChoice> SizeChooser::forProduct(const KernelFacts &facts) {
  const ProductFacts &product = facts.products.front();
  unsigned bits = operandBits(product.element);
  std::vector<SizeChoice> result;
  // Beside written sizes that no tile of the table has, the free ones are as good as the table's.
  for (bool exact : {true, false}) {
    for (const ProductTile &tile : rates.products) {
      // Where both sides are written, a depth is all that is left to say.
      if (!exact && !result.empty() && !AxisSizes(sizes).isFree(*product.m) && !AxisSizes(sizes).isFree(*product.n))
        break;
      // Tiles that are loaded for the epilogue leave registers for no more than 128x256.
      if (facts.loadsBeside && tile.m * tile.n > largestTile)
        continue;
      AxisSizes chosen(sizes);
      auto want = [&](const Axis &axis, int64_t extent) {
        return chosen.want(axis, extent) || (!exact && !chosen.isFree(axis));
      };
      if (!want(*product.m, tile.m) || !want(*product.n, tile.n) ||
          (chosen.isFree(*product.k) && !chosen.want(*product.k, std::max<int64_t>(tile.depthBytes * 8 / bits, 1))))
        continue;
      int64_t m = chosen.extentOf(*product.m), n = chosen.extentOf(*product.n), k = chosen.extentOf(*product.k);
      bool asMeasured = m == tile.m && n == tile.n && chosen.isFree(*product.k);
      if (asMeasured || fits(m * n, (m + n) * k * bits / 8))
        add(result, priced(facts, tile, chosen));
    }
    if (!result.empty())
      break;
  }
  return result;
}

std::vector<SizeChoice> SizeChooser::forAttention(const KernelFacts &facts) {
  const ProductFacts &scores = facts.products[0];
  const AttentionTile *first =
      llvm::find_if(rates.attention, [&](const AttentionTile &tile) { return scores.k->extent <= tile.head; });
  std::vector<SizeChoice> result;
  for (const AttentionTile *tile = first; tile != rates.attention.end() && tile->head == first->head; ++tile) {
    AxisSizes chosen(sizes);
    bool suitsRows = chosen.want(*scores.m, tile->queries) || !chosen.isFree(*scores.m);
    bool suitsColumns = chosen.want(*scores.n, tile->keys) || !chosen.isFree(*scores.n);
    if (!suitsRows || !suitsColumns)
      continue;
    int64_t queries = chosen.extentOf(*scores.m), keys = chosen.extentOf(*scores.n);
    int64_t elements = queries * scores.k->extent + keys * (scores.k->extent + facts.products[1].n->extent);
    bool asMeasured = queries == tile->queries && keys == tile->keys;
    if (asMeasured || fits(queries * keys, elements * operandBits(scores.element) / 8))
      add(result, priced(facts, *tile, chosen));
  }
  return result;
}

std::vector<SizeChoice> SizeChooser::run() {
  std::optional<KernelFacts> facts = factsOf(probe);
  if (!facts || facts->products.empty())
    return {};
  if (facts->products.size() == 1)
    return forProduct(*facts);
  const ProductFacts &first = facts->products[0], &second = facts->products[1];
  if (facts->products.size() == 2 && second.lhsFromProduct && second.k == first.n && second.m == first.m)
    return forAttention(*facts);
  return {};
}

std::vector<SizeChoice> tilec::chooseSizes(const Kernel &probe, llvm::ArrayRef<AutoSize> sizes,
                                           const Machine &machine) {
  return SizeChooser(probe, sizes, machine).run();
}
