// checkTileSizes, checkCarriedRegisters: the compiler never spills silently (rule 22 of the language).
#include "tilec/Transforms/RegisterLimits.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilec;

// A thread has 255 registers of 32 bits on every target (PTX ISA, .maxnreg). Element-wise code streams through a tile,
// so that a few more elements than registers are still fine; code for more of them takes minutes to assemble.
static constexpr int64_t registersPerThread = 255;
static constexpr int64_t elementsPerThread = 256;

static int64_t threadsOf(Operation *op, tilegpu::KernelOp kernel) {
  auto process = op->getParentOfType<tilegpu::ProcessOp>();
  return (process ? process.getWarps() : kernel.getWarps()) * 32;
}

static std::string shapeText(RankedTensorType type) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleave(type.getShape(), os, " x ");
  return text;
}

/// Whether an operation knows its place in the source; folded constants do not.
static bool hasPlace(Operation *op) { return static_cast<bool>(op->getLoc()->findInstanceOf<FileLineColLoc>()); }

LogicalResult tilec::checkTileSizes(tilegpu::KernelOp kernel) {
  Operation *largest = nullptr;
  RankedTensorType found;
  kernel.walk([&](Operation *op) {
    for (Value value : op->getResults()) {
      auto type = dyn_cast<RankedTensorType>(value.getType());
      if (!type || type.getNumElements() <= elementsPerThread * threadsOf(op, kernel))
        continue;
      if (!largest || (!hasPlace(largest) && hasPlace(op)))
        std::tie(largest, found) = std::pair(op, type);
    }
  });
  if (!largest)
    return success();
  int64_t threads = threadsOf(largest, kernel);
  return mlir::emitError(hasPlace(largest) ? largest->getLoc() : kernel.getLoc(), "E0413: a tile of ")
         << shapeText(found) << " positions gives each of the " << threads << " threads of a block "
         << llvm::divideCeil(found.getNumElements(), threads) << " elements, more than the " << elementsPerThread
         << " that it can hold";
}

static int64_t registersOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !tilegpu::layoutOf(type))
    return 0;
  unsigned bits = type.getElementType().isIndex() ? 64 : type.getElementTypeBitWidth();
  int64_t words = std::max(bits, 32u) / 32;
  return tilegpu::layoutOf(type).getLayout().numRegisters() * words;
}

LogicalResult tilec::checkCarriedRegisters(tilegpu::KernelOp kernel) {
  auto result = kernel.walk([&](LoopLikeOpInterface loop) {
    int64_t registers = 0;
    for (Value carried : loop.getRegionIterArgs())
      registers += registersOf(carried);
    if (registers <= registersPerThread)
      return WalkResult::advance();
    loop.emitError("E0413: the variables that this loop carries take ")
        << registers << " registers in each of the " << threadsOf(loop, kernel) << " threads, and a thread has "
        << registersPerThread;
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}
