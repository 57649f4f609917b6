// Clusters of blocks that share a group, or take tiles side by side: how many blocks they have, and where these meet.
#include "Lowering.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "tilec/Dialect/TileGPU/Scratch.h"

using namespace mlir;
using namespace tilec;

int64_t Lowering::blocksOfCluster() { return clusterBlocks * kernel.getBlocksOfTileCluster(); }

Value Lowering::clusterBarrier(tile::ReduceOp reduce) {
  return addConstant(scratchAddress(reduce), tilegpu::clusterBarrierOffset(reduce));
}

// Each reduction over the cluster runs once: its mbarrier needs one phase, of a word from every warp.
void Lowering::startCluster() {
  SmallVector<tile::ReduceOp> reductions;
  kernel.walk([&](tile::ReduceOp reduce) {
    if (tilegpu::isOverCluster(reduce))
      reductions.push_back(reduce);
  });
  Value thread = NVVM::ThreadIdXOp::create(builder, location, builder.getI32Type());
  Value first = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::eq, thread, constant32(0));
  emitIf(first, [&] {
    Ptx ptx(builder, location);
    for (tile::ReduceOp reduce : reductions)
      ptx.mbarrierInit(clusterBarrier(reduce), 1);
    ptx.fenceMbarrierInit();
    for (tile::ReduceOp reduce : reductions)
      ptx.mbarrierArriveExpectTx(clusterBarrier(reduce), kernel.getWarps() * tilegpu::clusterSlotBytes(reduce));
  });
  NVVM::ClusterArriveRelaxedOp::create(builder, location, builder.getUnitAttr());
}

void Lowering::awaitCluster() {
  if (clusterBlocks > 1 && !clusterRuns)
    NVVM::ClusterWaitOp::create(builder, location, builder.getUnitAttr());
  clusterRuns = true;
}

void Lowering::groupBarrier() {
  Ptx ptx(builder, location);
  if (clusterBlocks > 1) {
    awaitCluster();
    NVVM::ClusterArriveOp::create(builder, location, builder.getUnitAttr());
    NVVM::ClusterWaitOp::create(builder, location, builder.getUnitAttr());
  } else if (!inProcess)
    ptx.blockBarrier();
  else if (kernel.getPlan().get("side_by_side"))
    ptx.oneOfBarriers(groupConditions(), firstGroupBarrier, groupThreads);
  else
    ptx.namedBarrier(addConstant(groupNumber, firstGroupBarrier), groupThreads);
}

SmallVector<Value> Lowering::groupConditions() {
  return llvm::map_to_vector(llvm::seq<int64_t>(0, kernel.getGroups()), [&](int64_t group) -> Value {
    return arith::CmpIOp::create(builder, location, arith::CmpIPredicate::eq, groupNumber, constant32(group));
  });
}

// Threads that have been elected may come by themselves.
void Lowering::meetInCluster() {
  NVVM::ClusterArriveOp::create(builder, location, /*aligned=*/UnitAttr());
  NVVM::ClusterWaitOp::create(builder, location, /*aligned=*/UnitAttr());
}
