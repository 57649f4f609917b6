// What an interpreted program works on: values of its operations, memory, channels and shared buffers.
#ifndef TILEC_LIB_INTERPRETER_STATE_H
#define TILEC_LIB_INTERPRETER_STATE_H

#include "mlir/IR/Operation.h"
#include "tilec/Interpreter/Launch.h"
#include "tilec/Interpreter/Memory.h"
#include <array>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <variant>

namespace tilec::interpreter {

struct AxisValue {
  int64_t start;
  int64_t end;
  int64_t extent;
};

/// A buffer in shared memory; poison until it is written. The threads of a group are one machine here, so the buffer
/// keeps for each element between which two barriers of its group the last accesses were, numbered from 1.
struct SharedBuffer : Tile {
  std::vector<int64_t> written;
  std::vector<int64_t> read;

  SharedBuffer(mlir::Type element, llvm::ArrayRef<int64_t> shape)
      : Tile(element, shape), written(size(), 0), read(size(), 0) {}
};
using SharedTile = std::shared_ptr<SharedBuffer>;

/// A ring of slots. Items are numbered from 0 in the order of acquire; item i lives in slot i % slots.
struct Channel {
  std::string name;
  int64_t slots = 0;
  int64_t acquired = 0;
  int64_t committed = 0;
  /// One entry for each machine that receives, by its number.
  struct Reader {
    int64_t received = 0;
    /// Items below this are released, and these beyond it.
    int64_t released = 0;
    llvm::SmallVector<int64_t, 4> early;
  };
  std::map<int, Reader> readers;
  /// Each item has one reader, the others skip it.
  bool dealtOut = false;
  /// Of such a channel: items that were received, and those that were released.
  std::set<int64_t> taken, returned;
  std::vector<llvm::SmallVector<SharedTile, 4>> contents;

  /// Whether every reader has released the item that the next acquire would overwrite.
  bool hasFreeSlot() const;
  /// Whether every item that was acquired was committed, received and released: nothing is under way.
  bool isDrained() const;
};

struct SlotValue {
  Channel *channel;
  int64_t item;
  bool received;
};

/// A tile in shared memory: a buffer, or the part of it from `offsets`. `slot` is set for buffers of a channel.
struct SharedView {
  SharedTile tile;
  llvm::SmallVector<int64_t, 4> offsets;
  llvm::SmallVector<int64_t, 4> shape;
  std::optional<SlotValue> slot;
};

/// A ring through which a group stores tiles. Items are numbered from 0 in the order of writes; item i lives in slot
/// i % slots. What a flush stores may become visible at any time until the slot is written again or the ring drained.
struct Staging {
  std::string name;
  int64_t slots = 0;
  int64_t written = 0;
  int64_t flushed = 0;
  struct Store {
    mlir::Operation *flush = nullptr;
    View view;
    llvm::SmallVector<int64_t, 4> starts, ends;
    int64_t stage = 0;
    int64_t iteration = 0;
    int64_t execution = 0;
  };
  struct Slot {
    TilePtr tile;
    std::optional<Store> store;
  };
  std::vector<Slot> contents;

  /// Whether every item was stored and nothing is under way.
  bool isDrained() const;
};
using StagingPtr = std::shared_ptr<Staging>;

/// A product and its operands. A started one is computed when it is waited for, from what its shared operands hold
/// then; `number` counts the products that its machine has started, from 0.
struct Product {
  using Operand = std::variant<TilePtr, SharedView>;
  mlir::Operation *op = nullptr;
  Operand a, b;
  /// Null: as if 0.
  TilePtr acc;
  /// The product under way that this one adds to, in place of `acc`.
  std::shared_ptr<Product> previous;
  /// What came out, once it was settled.
  TilePtr result;
  int64_t number = 0;
};

using Datum = std::variant<std::monostate, TilePtr, AxisValue, Pointer, View, Channel *, SlotValue, SharedView,
                           std::shared_ptr<Product>, StagingPtr>;
using Environment = llvm::DenseMap<mlir::Value, Datum>;

/// Shared by the machines of one launch.
struct Context {
  LaunchArguments &arguments;
  std::mt19937_64 random;
  /// The running stage and its iteration (or block); executions of stores so far.
  int64_t stage = 0;
  int64_t iteration = 0;
  int64_t executions = 0;
  /// In tilegpu kernels positions are numbers also where absent, so that masks can be computed from them.
  bool absentIsPoison = true;
  std::array<int64_t, 3> block = {0, 0, 0};
  std::array<int64_t, 3> grid = {1, 1, 1};
  /// The place of the block in its cluster of tiles.
  llvm::SmallVector<int64_t> clusterRank;
  std::vector<std::unique_ptr<Channel>> channels;
  std::vector<StagingPtr> stagings;
  /// For each group of the process whose groups take turns: turns taken and passed.
  struct Turns {
    int64_t taken = 0;
    int64_t passed = 0;
  };
  std::vector<Turns> turns;

  Context(LaunchArguments &arguments, uint64_t seed) : arguments(arguments), random(seed) {}
};

} // namespace tilec::interpreter

#endif // TILEC_LIB_INTERPRETER_STATE_H
