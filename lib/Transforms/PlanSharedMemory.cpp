// plan-shared-memory: offsets of rings, buffers, scratch and barriers in a block's shared memory.
#include "tilec/Dialect/TileGPU/Queue.h"
#include "tilec/Dialect/TileGPU/Scratch.h"
#include "tilec/Transforms/Passes.h"
#include "tilec/Transforms/StagedStore.h"

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

// One division of a kernel's shared memory.
class Division {
public:
  explicit Division(tilegpu::KernelOp kernel) : kernel(kernel), builder(kernel.getContext()) {}

  /// Sets all offsets; the bytes they take.
  int64_t place();
  /// What takes them, for an error.
  ArrayRef<std::pair<std::string, int64_t>> parts() const { return buffers; }

private:
  void place(Operation *op, std::string name, int64_t bytes);
  void placeScratch();

  tilegpu::KernelOp kernel;
  Builder builder;
  SmallVector<std::pair<std::string, int64_t>> buffers;
  int64_t next = 0;
};

void Division::place(Operation *op, std::string name, int64_t bytes) {
  op->setAttr("offset", builder.getI64IntegerAttr(next));
  next += llvm::alignTo(bytes, tilegpu::bufferAlignment);
  buffers.push_back({std::move(name), bytes});
}

// One scratch serves the conversions and reductions of a group: each starts with a barrier of the group. Small ones
// outside loops get their own bytes and need none; those of reductions over a cluster too, which other blocks write at
// any time.
void Division::placeScratch() {
  int64_t scratch = 0, own = 0;
  SmallVector<std::pair<Operation *, int64_t>> single;
  kernel.walk([&](Operation *op) {
    int64_t bytes = llvm::alignTo(tilegpu::scratchBytes(op), 16);
    auto reduce = dyn_cast<tile::ReduceOp>(op);
    bool small = bytes <= singleUseBytes && own < 8 * singleUseBytes;
    if (bytes > 0 && !op->getParentOfType<LoopLikeOpInterface>() &&
        (small || (reduce && tilegpu::isOverCluster(reduce)))) {
      single.push_back({op, own});
      own += bytes;
    } else {
      scratch = std::max(scratch, bytes);
    }
  });
  scratch = llvm::alignTo(scratch, 16);
  kernel.walk([&](Operation *op) {
    if (tilegpu::scratchBytes(op) > 0)
      op->setAttr(tilegpu::scratchName, builder.getI64IntegerAttr(next));
  });
  for (auto [op, offset] : single) {
    op->setAttr(tilegpu::scratchName, builder.getI64IntegerAttr(next + scratch + offset));
    op->setAttr(tilegpu::singleUseName, builder.getUnitAttr());
  }
  scratch += own;
  kernel->setAttr(tilegpu::scratchStrideName, builder.getI64IntegerAttr(scratch));
  if (scratch > 0)
    buffers.push_back({"scratch ", scratch * kernel.getGroups()});
  next += scratch * kernel.getGroups();
}

int64_t Division::place() {
  kernel.walk([&](tilegpu::ChanOp chan) {
    auto type = chan.getType();
    place(chan, chan.getName().str() + " " + std::to_string(type.getSlots()) + " x ",
          type.slotBytes() * type.getSlots());
  });
  kernel.walk([&](tilegpu::StagingOp staging) {
    auto type = staging.getType();
    place(staging, "staged stores of " + staging.getName().str() + " ",
          type.slotBytes() * type.getSlots() * kernel.getGroups());
  });
  kernel.walk([&](tilegpu::AllocOp alloc) {
    place(alloc, "staged operand ",
          llvm::alignTo(alloc.getType().allocBytes(), tilegpu::bufferAlignment) * kernel.getGroups());
  });
  placeScratch();
  kernel.walk([&](tilegpu::ChanOp chan) {
    chan.setBarriers(next);
    next += barrierBytes * chan.getType().getSlots();
  });
  if (kernel->hasAttr(tilegpu::queueName)) {
    kernel->setAttr(tilegpu::queueOffsetName, builder.getI64IntegerAttr(next));
    next += tilegpu::queueBytes;
  }
  return next;
}

// What conversions need is known only now. Rings give way: first the second slots of staging rings, then slots that a
// producer process runs ahead with. False if nothing is left to take.
bool takeSlot(tilegpu::KernelOp kernel) {
  for (auto staging : kernel.getOps<tilegpu::StagingOp>())
    if (staging.getType().getSlots() > 1) {
      setSlots(staging.getResult(), 1);
      return true;
    }
  tilegpu::ChanOp longest;
  for (auto chan : kernel.getOps<tilegpu::ChanOp>())
    if (chan.getEngine() == "tma" && chan.getType().getSlots() > 2 &&
        (!longest || chan.getType().getSlots() > longest.getType().getSlots()))
      longest = chan;
  if (!longest || kernel.getOps<tilegpu::ProcessOp>().empty())
    return false;
  setSlots(longest.getResult(), longest.getType().getSlots() - 1);
  return true;
}

struct PlanSharedMemoryPass : tilec::impl::PlanSharedMemoryBase<PlanSharedMemoryPass> {
  void runOnOperation() override {
    tilegpu::KernelOp kernel = getOperation();
    const Machine &machine = targetMachine(kernel);
    while (true) {
      Division division(kernel);
      int64_t bytes = division.place();
      kernel.setSharedBytes(bytes);
      if (bytes <= machine.sharedPerBlock)
        return;
      if (kernel.getOps<tilegpu::StagingOp>().empty() || !takeSlot(kernel))
        return report(kernel, machine, bytes, division.parts());
    }
  }

  void report(tilegpu::KernelOp kernel, const Machine &machine, int64_t bytes,
              ArrayRef<std::pair<std::string, int64_t>> parts) {
    InFlightDiagnostic error = kernel.emitError("E0412: this kernel needs ")
                               << llvm::divideCeil(bytes, 1024) << " KiB of shared memory, " << machine.name << " has "
                               << machine.sharedPerBlock / 1024 << ": ";
    for (auto [i, buffer] : llvm::enumerate(parts))
      error << (i ? ", " : "") << buffer.first << llvm::divideCeil(buffer.second, 1024) << " KiB";
    signalPassFailure();
  }
};

} // namespace
