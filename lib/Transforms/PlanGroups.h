// Consumer groups of wgmma products: how many share the rows of a tile, and the registers of their threads.
#ifndef TILEC_LIB_TRANSFORMS_PLANGROUPS_H
#define TILEC_LIB_TRANSFORMS_PLANGROUPS_H

#include "DotFacts.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "tilec/Machine/ConsumerRegisters.h"

namespace tilec {

/// How many groups share the rows: at most 128 registers a thread of accumulators that live at once, if possible.
int64_t chooseGroups(llvm::ArrayRef<DotFacts> dots);

/// Whether groups can take parts of the rows and need not wait for each other: nothing reduces, contracts or omits the
/// rows, and of a tensor that is accessed more than once each group touches its own.
bool canSplit(tile::KernelOp kernel, llvm::ArrayRef<DotFacts> dots);

/// What an instruction of this product needs at least in a thread of `groups` groups: its accumulators, descriptors and
/// addresses.
int64_t leastRegisters(const DotFacts &facts, int64_t groups);

/// Columns of one instruction of a product whose rows `groups` groups share. Promoted sums leave an instruction in
/// registers of their own, beside all accumulators: the widest for which there is room.
int64_t instructionColumns(const DotFacts &facts, int64_t groups);

/// Consumer groups of a block, of which `sharing` work on the rows of one tile.
struct ConsumerGroups {
  int64_t groups, sharing;
};

/// Whether a thread has the registers for a tile of one group where `groups` groups take tiles in turns.
bool fitsOneGroup(tile::KernelOp kernel, llvm::ArrayRef<DotFacts> dots, int64_t groups);

/// Sets `producer_registers` and `consumer_registers` where consumers need more than their share at launch. `pinned` is
/// `@maxregs` or null, `staged` whether stores leave through shared memory. Fails with E0709 where the pinned number
/// does not suffice.
llvm::LogicalResult planRegisters(mlir::NamedAttrList &plan, tile::KernelOp kernel, llvm::ArrayRef<DotFacts> dots,
                                  ConsumerGroups consumers, mlir::IntegerAttr pinned, bool staged);

/// What a thread of a consumer group has for tiles and the rest, after planRegisters.
int64_t registersOfConsumers(const mlir::NamedAttrList &plan, int64_t groups, mlir::IntegerAttr pinned, bool staged);

/// Whether consumers that store their accumulators themselves fit into the registers of the launch, so that a producer
/// keeps its share.
bool fitsLaunchRegisters(tile::KernelOp kernel, llvm::ArrayRef<DotFacts> dots, int64_t groups);

/// Whether the producer has too few registers to go on from tile to tile alone, as the consumers need all others.
bool isShortOfRegisters(const mlir::NamedAttrList &plan);

/// Whether a block has the registers to go on from tile to tile, after planRegisters and the marks of staged stores.
/// Where the producer has few, others must decode its tiles, from a queue, and TMA must store those of the consumers,
/// which have the rest.
bool canRunOn(const mlir::NamedAttrList &plan, tile::KernelOp kernel, llvm::ArrayRef<DotFacts> dots, bool queued);

} // namespace tilec

#endif // TILEC_LIB_TRANSFORMS_PLANGROUPS_H
