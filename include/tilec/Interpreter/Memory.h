// Global memory of the interpreter: one buffer a tensor parameter, and views into it.
#ifndef TILEC_INTERPRETER_MEMORY_H
#define TILEC_INTERPRETER_MEMORY_H

#include "tilec/Interpreter/Tile.h"
#include "llvm/ADT/DenseMap.h"
#include <string>

namespace tilec::interpreter {

/// Who wrote an element last by a plain store: the stage, the iteration in it and the execution of the store.
struct StoreRecord {
  int64_t stage = -1;
  int64_t iteration = -1;
  int64_t execution = -1;
};

/// The bytes of a tensor argument from its first element on.
struct Buffer {
  std::string name;
  std::vector<uint8_t> bytes;
  /// By element number; filled as elements are stored.
  llvm::DenseMap<int64_t, StoreRecord> stores;
};

/// The address of an element of a tensor, `offset` elements behind the first.
struct Pointer {
  Buffer *buffer = nullptr;
  int64_t offset = 0;
};

/// A tensor with sizes and strides in elements. Packed types of fewer than 8 bits hold the first element of a byte in
/// its low bits.
struct View {
  Buffer *buffer = nullptr;
  /// The number in the buffer of the view's first element.
  int64_t offset = 0;
  mlir::Type element;
  llvm::SmallVector<int64_t, 4> sizes;
  llvm::SmallVector<int64_t, 4> strides;

  /// Whether element number `i` of the buffer lies in its bytes.
  bool isMapped(int64_t i) const;
  /// Reads element number `i` into `tile[to]`, or writes it from there.
  void read(int64_t i, Tile &tile, int64_t to) const;
  void write(int64_t i, const Tile &tile, int64_t from);
};

} // namespace tilec::interpreter

#endif // TILEC_INTERPRETER_MEMORY_H
