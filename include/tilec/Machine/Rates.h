// Rates: how fast a machine computes tiles of certain shapes. Data for the choice of tile sizes.
#ifndef TILEC_MACHINE_RATES_H
#define TILEC_MACHINE_RATES_H

#include "tilec/Machine/Machine.h"

namespace tilec {

/// Sizes of the tiles of C[m, n] over k, and how fast they go.
struct ProductTile {
  int64_t m;
  int64_t n;
  /// Of the operands' rows, which is what the slots of a ring hold.
  int64_t depthBytes;
  /// Of the Tensor Core's peak while every multiprocessor has such a tile, in thousandths.
  int64_t efficiency;
  /// Of the card's bandwidth where operands stream from memory, in thousandths.
  int64_t traffic;
  /// What a tile costs beside its steps (start of the ring, stores), in nanoseconds.
  int64_t edge;
  /// The variants that get these sizes beside `fast`: of tensors whose inputs alone are aligned, of any tensors (one).
  bool inputs = false;
  bool general = false;
  /// In place of `general` for operands of 8 bits, which come byte by byte and take more registers (one).
  bool generalOfBytes = false;
  /// The efficiency where groups take such tiles in turns, so that the edge is paid once; 0: they do not.
  int64_t inTurns = 0;
  /// The efficiency where sums of 8-bit floats are promoted; 0: too many accumulators.
  int64_t promoted = 0;
  /// Clusters of two blocks that deserve a variant, where rows of operands do not begin with sectors of the
  /// second-level cache: along m, along n.
  bool pairsAlongM = false;
  bool pairsAlongN = false;
  /// Whether tensors that are copied to aligned rows first get these sizes.
  bool packed = false;
};

/// Sizes of the tiles of attention: queries of a block and keys of a step, for heads up to `head` elements.
struct AttentionTile {
  int64_t head;
  int64_t queries;
  int64_t keys;
  /// Of the Tensor Core's peak for both products, in thousandths.
  int64_t efficiency;
  /// What a block costs beside its steps, in nanoseconds; and where the number of steps grows with the queries, as
  /// under a causal mask: with the masked steps, and those that some of the groups need not have taken. 0: slower than
  /// others there.
  int64_t edge;
  int64_t causalEdge;
  /// Whether unaligned tensors get these sizes; one for each head size.
  bool general = false;
};

struct MachineRates {
  /// Multiply-adds of 16-bit operands that a multiprocessor's Tensor Cores make in a nanosecond at the clock that the
  /// card holds under load. Operands of b bits take b / 16 of the time.
  int64_t productsPerNanosecond;
  /// Bytes that one multiprocessor can load in a nanosecond; where rows do not begin with sectors of the
  /// second-level cache, all of them at a time load so many thousandths of it.
  int64_t loadPerNanosecond;
  int64_t unalignedLoad;
  /// Thousandths of a step's time that it takes in blocks of a cluster of two.
  int64_t inPairs;
  /// Picoseconds of an element of the result that is stored by itself.
  int64_t scalarStore;
  /// Picoseconds of one instruction of an epilogue on one element, of one that is loaded there; and what of these
  /// remains where the epilogue runs under the products of another group, in thousandths.
  int64_t epilogueInstruction, epilogueLoad, instructionInTurns, loadInTurns;
  /// Of an epilogue of up to so many instructions less remains, in thousandths: the other group leaves them slots. And
  /// how many more instructions one of the unit for special functions is worth, where nothing hides it.
  int64_t shortEpilogue, shortInTurns, specialInstruction;
  /// Nanoseconds from one tile to the next where groups take turns.
  int64_t turn;
  /// From the call to the first instruction and from the last one to the end, in nanoseconds.
  int64_t launch;
  /// The best for large tensors first.
  llvm::ArrayRef<ProductTile> products;
  llvm::ArrayRef<AttentionTile> attention;
};

const MachineRates &ratesOf(const Machine &machine);

} // namespace tilec

#endif // TILEC_MACHINE_RATES_H
