// What the asynchronous copies of CopyInstructions.cpp and BulkInstructions.cpp share.
#ifndef TILEC_LIB_SIMULATOR_COPYINSTRUCTIONS_H
#define TILEC_LIB_SIMULATOR_COPYINSTRUCTIONS_H

#include "tilec/Simulator/Block.h"
#include "tilec/Simulator/Decoder.h"

namespace tilec::simulator {

/// Counts arrivals or bytes at the mbarrier at a shared::cluster address; reports a fault if there is none.
void signalMbarrier(Cluster &cluster, uint32_t address, const Access &access, int64_t arrivals, int64_t bytes);

/// cp.async.bulk.*, cp.reduce.async.bulk.*, prefetches.
void addBulkInstructions(InstructionTable &table);

} // namespace tilec::simulator

#endif // TILEC_LIB_SIMULATOR_COPYINSTRUCTIONS_H
