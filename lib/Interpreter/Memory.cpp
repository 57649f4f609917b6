// Reads and writes elements of tensors in memory.
#include "tilec/Interpreter/Memory.h"

#include <cstring>

using namespace mlir;
using namespace tilec::interpreter;

bool View::isMapped(int64_t i) const {
  int64_t bits = memoryBits(element);
  return i >= 0 && i < static_cast<int64_t>(buffer->bytes.size()) * 8 / bits;
}

void View::read(int64_t i, Tile &tile, int64_t to) const {
  unsigned bits = memoryBits(element);
  uint64_t code = 0;
  if (bits < 8)
    code = buffer->bytes[i * bits / 8] >> (i * bits % 8) & ((1u << bits) - 1);
  else
    std::memcpy(&code, &buffer->bytes[i * bits / 8], bits / 8);
  if (tile.storage == Storage::Integer)
    tile.integers[to] = element.isInteger(1) ? code != 0 : wrapInteger(static_cast<int64_t>(code), bits);
  else if (tile.storage == Storage::Single)
    tile.singles[to] = static_cast<float>(decodeFloat(code, element));
  else
    tile.doubles[to] = decodeFloat(code, element);
}

void View::write(int64_t i, const Tile &tile, int64_t from) {
  unsigned bits = memoryBits(element);
  uint64_t code = tile.storage == Storage::Integer ? static_cast<uint64_t>(tile.integers[from])
                                                   : encodeFloat(tile.number(from), element);
  if (bits >= 8) {
    std::memcpy(&buffer->bytes[i * bits / 8], &code, bits / 8);
    return;
  }
  uint8_t &byte = buffer->bytes[i * bits / 8];
  unsigned shift = i * bits % 8, mask = ((1u << bits) - 1) << shift;
  byte = static_cast<uint8_t>((byte & ~mask) | (code << shift & mask));
}
