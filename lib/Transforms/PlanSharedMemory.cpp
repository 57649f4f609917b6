// plan-shared-memory: offsets of rings, buffers, scratch and barriers in a block's shared memory.
#include "tilec/Dialect/TileGPU/Scratch.h"
#include "tilec/Transforms/Passes.h"

#include "mlir/Interfaces/LoopLikeInterface.h"

namespace tilec {
#define GEN_PASS_DEF_PLANSHAREDMEMORY
#include "tilec/Transforms/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

namespace {

// A full and an empty barrier of 8 bytes for each slot.
constexpr int64_t barrierBytes = 16;
// Scratch up to this size is not shared by operations outside loops.
constexpr int64_t singleUseBytes = 1024;

struct PlanSharedMemoryPass : tilec::impl::PlanSharedMemoryBase<PlanSharedMemoryPass> {
  void runOnOperation() override {
    tilegpu::KernelOp kernel = getOperation();
    const Machine &machine = targetMachine(kernel);
    Builder builder(kernel.getContext());
    SmallVector<std::pair<std::string, int64_t>> buffers;
    int64_t next = 0;
    auto place = [&](Operation *op, std::string name, int64_t bytes) {
      op->setAttr("offset", builder.getI64IntegerAttr(next));
      next += llvm::alignTo(bytes, tilegpu::bufferAlignment);
      buffers.push_back({std::move(name), bytes});
    };
    kernel.walk([&](tilegpu::ChanOp chan) {
      auto type = chan.getType();
      place(chan, chan.getName().str() + " " + std::to_string(type.getSlots()) + " x ",
            type.slotBytes() * type.getSlots());
    });
    kernel.walk([&](tilegpu::AllocOp alloc) {
      place(alloc, "staged operand ",
            llvm::alignTo(alloc.getType().allocBytes(), tilegpu::bufferAlignment) * kernel.getGroups());
    });
    // One scratch serves the conversions and reductions of a group: each starts with a barrier of the group. Small ones
    // outside loops get their own bytes and need none.
    int64_t scratch = 0, own = 0;
    SmallVector<std::pair<Operation *, int64_t>> single;
    kernel.walk([&](Operation *op) {
      int64_t bytes = llvm::alignTo(tilegpu::scratchBytes(op), 16);
      if (bytes > 0 && bytes <= singleUseBytes && !op->getParentOfType<LoopLikeOpInterface>() &&
          own < 8 * singleUseBytes) {
        single.push_back({op, own});
        own += bytes;
      } else {
        scratch = std::max(scratch, bytes);
      }
    });
    scratch = llvm::alignTo(scratch, 16);
    kernel.walk([&](Operation *op) {
      if (tilegpu::scratchBytes(op) > 0)
        op->setAttr("tilegpu.scratch", builder.getI64IntegerAttr(next));
    });
    for (auto [op, offset] : single) {
      op->setAttr("tilegpu.scratch", builder.getI64IntegerAttr(next + scratch + offset));
      op->setAttr("tilegpu.single_use", builder.getUnitAttr());
    }
    scratch += own;
    kernel->setAttr("tilegpu.scratch_stride", builder.getI64IntegerAttr(scratch));
    if (scratch > 0)
      buffers.push_back({"scratch ", scratch * kernel.getGroups()});
    next += scratch * kernel.getGroups();
    kernel.walk([&](tilegpu::ChanOp chan) {
      chan.setBarriers(next);
      next += barrierBytes * chan.getType().getSlots();
    });
    kernel.setSharedBytes(next);
    if (next <= machine.sharedPerBlock)
      return;
    InFlightDiagnostic error = kernel.emitError("E0412: this kernel needs ")
                               << llvm::divideCeil(next, 1024) << " KiB of shared memory, " << machine.name << " has "
                               << machine.sharedPerBlock / 1024 << ": ";
    for (auto [i, buffer] : llvm::enumerate(buffers))
      error << (i ? ", " : "") << buffer.first << llvm::divideCeil(buffer.second, 1024) << " KiB";
    signalPassFailure();
  }
};

} // namespace
