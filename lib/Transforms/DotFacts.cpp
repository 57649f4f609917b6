// Products as the plan sees them.
#include "DotFacts.h"

#include "Sources.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tilec/Transforms/AxisClasses.h"
#include "tilec/Transforms/DotOperand.h"

using namespace mlir;
using namespace tilec;

bool tilec::isF8(Type type) { return isa<Float8E4M3FNType, Float8E5M2Type>(type); }
bool tilec::isPromoted(const DotFacts &facts) { return isF8(facts.lhs) && !facts.op().getFast(); }
static bool is16Bit(Type type) { return type.isF16() || type.isBF16(); }

int64_t tilec::tensorCoreK(const DotFacts &facts) {
  if (is16Bit(facts.lhs) && facts.lhs == facts.rhs)
    return 16;
  if (facts.lhs.isTF32() && facts.rhs.isTF32())
    return 8;
  if (facts.lhs.isInteger(8) && facts.rhs.isInteger(8))
    return 32;
  if (isF8(facts.lhs) && isF8(facts.rhs))
    return 32;
  return 0;
}

bool tilec::dependsOnDot(Value tile, llvm::function_ref<bool(Operation *)> within) {
  return anySource(tile, [&](Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || rankOf(value) == 0 || !within(op))
      return WalkResult::skip();
    return isa<tile::DotOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
  });
}

// A loop's result comes from what it yields, and from its initial value.
static void addSourcesThroughRegions(OpResult value, SmallVectorImpl<Value> &sources) {
  unsigned number = value.getResultNumber();
  if (auto loop = dyn_cast<scf::ForOp>(value.getOwner())) {
    sources.push_back(loop.getYieldedValues()[number]);
    sources.push_back(loop.getInitArgs()[number]);
  } else if (auto branch = dyn_cast<scf::IfOp>(value.getOwner())) {
    for (Region &region : branch->getRegions())
      if (!region.empty())
        sources.push_back(region.front().getTerminator()->getOperand(number));
  } else {
    addOperands(value, sources);
  }
}

bool tilec::comesFromDot(Value tile) {
  return anySource(
      tile,
      [](Value value) {
        if (rankOf(value) == 0)
          return WalkResult::skip();
        return value.getDefiningOp<tile::DotOp>() ? WalkResult::interrupt() : WalkResult::advance();
      },
      addSourcesThroughRegions);
}

DotFacts tilec::factsOf(tile::DotOp dot) {
  auto lhs = cast<RankedTensorType>(dot.getLhs().getType()), rhs = cast<RankedTensorType>(dot.getRhs().getType());
  bool lhsKMajor = dot.getLhsContract()[0] == 1, rhsKMajor = dot.getRhsContract()[0] == 1;
  return {dot,
          lhs.getDimSize(lhsKMajor ? 0 : 1),
          rhs.getDimSize(rhsKMajor ? 0 : 1),
          lhs.getDimSize(lhsKMajor ? 1 : 0),
          lhs.getElementType(),
          rhs.getElementType(),
          lhsKMajor,
          rhsKMajor,
          dependsOnDot(dot.getLhs(), [](Operation *) { return true; })};
}

bool tilec::hasTmaOperand(Value value, bool kMajor) {
  Type element = getElementTypeOrSelf(value);
  // tf32 values are casts of f32 loads; the hardware reads the f32 words and drops the low bits.
  if (auto cast = value.getDefiningOp<tile::CastOp>(); cast && element.isTF32())
    value = cast.getInput();
  std::optional<BoxLoad> box = matchBoxLoad(value);
  return box && box->kept.size() == 2 && (kMajor || is16Bit(element)) && tmaSpan(*box) != 0;
}

static bool hasThreadOperand(Value value) {
  std::optional<BoxLoad> box = matchBoxLoad(value);
  return box && threadSpan(*box) != 0;
}

bool tilec::canUseWgmma(const DotFacts &facts, const Machine &machine, bool byThreads) {
  int64_t k = tensorCoreK(facts);
  if (!machine.hasWgmma || k == 0 || facts.m % 64 != 0 || facts.n % 8 != 0 || facts.n > 256 || facts.k % k != 0)
    return false;
  // 8-bit integer shapes: n = 8, 24 or a multiple of 16 (PTX ISA, wgmma.mma_async matrix shapes).
  if (facts.lhs.isInteger(8) && facts.n % 16 != 0 && facts.n != 8 && facts.n != 24)
    return false;
  auto comes = [&](Value value, bool kMajor) {
    return hasTmaOperand(value, kMajor) || (byThreads && hasThreadOperand(value));
  };
  bool lhs = comes(facts.op().getLhs(), facts.lhsKMajor) || (is16Bit(facts.lhs) && facts.lhsKMajor && facts.lhsFromDot);
  return lhs && comes(facts.op().getRhs(), facts.rhsKMajor);
}

std::string tilec::obstacleToWgmma(const DotFacts &facts) {
  int64_t k = tensorCoreK(facts);
  if (k == 0)
    return "Tensor Cores do not multiply these types";
  if (facts.m % 64 != 0)
    return "its rows (" + std::to_string(facts.m) + ") are not a multiple of 64";
  if (facts.n % 8 != 0 || facts.n > 256)
    return "its columns (" + std::to_string(facts.n) + ") are not a multiple of 8 up to 256";
  if (facts.k % k != 0)
    return "its depth (" + std::to_string(facts.k) + ") is not a multiple of " + std::to_string(k);
  return "an operand is no box of an input tensor whose rows are multiples of 16 bytes";
}
