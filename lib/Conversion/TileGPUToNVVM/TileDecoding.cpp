// The part of each process's program that only a tile's number decides, matched across processes.
#include "TileDecoding.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "tilec/Dialect/TileGPU/Queue.h"
#include "tilec/Transforms/StagedStore.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace tilec;

scf::ForOp tilec::persistentLoopOf(tilegpu::ProcessOp process) {
  auto loops = process.getBody().front().getOps<scf::ForOp>();
  return *llvm::find_if(loops, [](scf::ForOp loop) { return loop->hasAttr(persistentLoop); });
}

bool tilec::isOfKernel(Value value) {
  Operation *op = value.getDefiningOp();
  return op && isa<tilegpu::KernelOp>(op->getParentOp());
}

static bool isInteger32(Operation &op) {
  return op.getNumResults() == 1 && op.getNumRegions() == 0 && op.getResult(0).getType().isInteger(32) &&
         isa<arith::ArithDialect>(op.getDialect());
}

// Operations of a loop that depend on nothing but the tile's number and values of the whole kernel.
static Decoding chainOf(scf::ForOp loop) {
  Decoding decoding{loop.getInductionVar(), {}, {}};
  llvm::SmallPtrSet<Operation *, 16> chain;
  auto isKnown = [&](Value value) {
    Operation *op = value.getDefiningOp();
    return value == decoding.number || chain.contains(op) || isOfKernel(value);
  };
  for (Operation &op : *loop.getBody()) {
    if (!isInteger32(op) || !llvm::all_of(op.getOperands(), isKnown))
      continue;
    chain.insert(&op);
    decoding.chain.push_back(&op);
  }
  return decoding;
}

// Which results of the chain depend on the number and are used behind it.
static llvm::SmallBitVector usedResults(const Decoding &decoding) {
  llvm::SmallPtrSet<Operation *, 16> chain(decoding.chain.begin(), decoding.chain.end());
  llvm::SmallPtrSet<Value, 16> ofNumber;
  ofNumber.insert(decoding.number);
  llvm::SmallBitVector used(decoding.chain.size());
  for (auto [i, op] : llvm::enumerate(decoding.chain)) {
    if (llvm::none_of(op->getOperands(), [&](Value operand) { return ofNumber.contains(operand); }))
      continue;
    ofNumber.insert(op->getResult(0));
    used[i] = llvm::any_of(op->getUsers(), [&](Operation *user) { return !chain.contains(user); });
  }
  return used;
}

namespace {

// Finds operations of one process's decoding by what they compute from the tile's number.
class DecodingIndex {
public:
  explicit DecodingIndex(const Decoding &whole) : whole(whole) {
    // The first of equal ones stands for all.
    placesOf(whole);
  }

  /// For each operation of a decoding, the number of one that computes the same; nothing if some has none.
  std::optional<SmallVector<unsigned>> placesOf(const Decoding &own) {
    representatives[own.number] = whole.number;
    SmallVector<unsigned> places;
    for (Operation *op : own.chain) {
      auto *same = llvm::find_if(whole.chain, [&](Operation *other) { return isSame(op, other); });
      if (same == whole.chain.end())
        return std::nullopt;
      places.push_back(same - whole.chain.begin());
      representatives[op->getResult(0)] = (*same)->getResult(0);
    }
    return places;
  }

private:
  Value representative(Value value) {
    auto known = representatives.find(value);
    return known == representatives.end() ? value : known->second;
  }

  bool isSame(Operation *a, Operation *b) {
    return a->getName() == b->getName() && a->getAttrDictionary() == b->getAttrDictionary() &&
           llvm::equal(a->getOperands(), b->getOperands(),
                       [&](Value x, Value y) { return representative(x) == representative(y); });
  }

  const Decoding &whole;
  llvm::SmallDenseMap<Value, Value> representatives;
};

} // namespace

tilegpu::ProcessOp tilec::decoderOf(tilegpu::KernelOp kernel) {
  tilegpu::ProcessOp decoder;
  size_t longest = 0;
  for (auto process : kernel.getOps<tilegpu::ProcessOp>()) {
    size_t length = chainOf(persistentLoopOf(process)).chain.size();
    if (!decoder || length > longest)
      std::tie(decoder, longest) = std::make_pair(process, length);
  }
  return decoder;
}

Decoding tilec::decodingOf(tilegpu::ProcessOp process) {
  auto kernel = process->getParentOfType<tilegpu::KernelOp>();
  Decoding whole = chainOf(persistentLoopOf(decoderOf(kernel))), result;
  DecodingIndex index(whole);
  llvm::SmallBitVector used(whole.chain.size());
  SmallVector<Value> values(whole.chain.size());
  for (auto other : kernel.getOps<tilegpu::ProcessOp>()) {
    Decoding own = chainOf(persistentLoopOf(other));
    std::optional<SmallVector<unsigned>> places = index.placesOf(own);
    if (!places)
      return {};
    llvm::SmallBitVector uses = usedResults(own);
    for (auto [i, place] : llvm::enumerate(*places)) {
      if (uses[i])
        used.set(place);
      if (other == process)
        values[place] = own.chain[i]->getResult(0);
    }
    if (other == process)
      result = own;
  }
  for (unsigned i : used.set_bits())
    result.results.push_back(values[i]);
  return !result.results.empty() && result.results.size() < tilegpu::queueWords ? result : Decoding();
}
