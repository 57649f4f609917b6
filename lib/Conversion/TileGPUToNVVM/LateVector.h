// LateVector: a vector that is spread over a tile of many registers, such as a bias beside accumulators, loaded some
// registers at a time just before arithmetic takes them.
#ifndef TILEC_CONVERSION_TILEGPUTONVVM_LATEVECTOR_H
#define TILEC_CONVERSION_TILEGPUTONVVM_LATEVECTOR_H

#include "LoadEmitter.h"

namespace tilec {

class LateVector {
public:
  /// Emits addresses and conditions. `broadcast` must end such a vector.
  LateVector(Lowering &lowering, tile::BroadcastOp broadcast);

  /// Loads what the tile's registers before `end` need.
  llvm::LogicalResult advance(size_t end);
  /// One value for each register of the tile, those before the last `end`.
  llvm::ArrayRef<mlir::Value> results() const { return values; }

private:
  Lowering &lowering;
  llvm::SmallVector<uint32_t> sources;
  /// From the loaded elements to what is spread.
  llvm::SmallVector<mlir::Operation *, 2> casts;
  std::unique_ptr<LoadEmitter> load;
  Registers values;
};

/// The load of the vector that a broadcast spreads, where all that lies between are casts, and products and sums take
/// the result alone; null elsewhere.
tile::LoadOp matchLateVector(tile::BroadcastOp broadcast);

/// Whether a load, cast or broadcast belongs to such a vector, so that it is lowered by what takes the vector.
bool isPartOfLateVector(mlir::Operation *op);

} // namespace tilec

#endif // TILEC_CONVERSION_TILEGPUTONVVM_LATEVECTOR_H
