// Shared-memory layouts: addresses, text form, wgmma descriptors, bank conflicts.
#include "tilec/Layout/SharedLayout.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <array>
#include <cassert>

using namespace tilec;

//===---------------------------------------------------------------------------------------------------------------===
// SharedLayout
//===---------------------------------------------------------------------------------------------------------------===

SharedLayout SharedLayout::swizzled(uint32_t span) {
  assert((span == 32 || span == 64 || span == 128) && "no such swizzle");
  SharedLayout layout;
  layout.spanBytes = span;
  return layout;
}

SharedLayout SharedLayout::padded(uint32_t bytes) {
  SharedLayout layout;
  layout.padBytes = bytes;
  return layout;
}

SharedLayout SharedLayout::forRow(int64_t rowBytes) {
  for (uint32_t span : {128, 64, 32})
    if (rowBytes > 0 && rowBytes % span == 0)
      return swizzled(span);
  return SharedLayout();
}

uint32_t SharedLayout::tmaSwizzleCode() const { return isSwizzled() ? llvm::Log2_32(spanBytes / 16) : 0; }

uint32_t SharedLayout::wgmmaSwizzleCode() const { return isSwizzled() ? 4 - tmaSwizzleCode() : 0; }

void SharedLayout::print(llvm::raw_ostream &os) const {
  if (isSwizzled())
    os << "swizzle = " << spanBytes << ", panels";
  else if (padBytes != 0)
    os << "pad = " << padBytes;
  else
    os << "none";
}

std::string SharedLayout::str() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  print(os);
  return text;
}

std::optional<SharedLayout> SharedLayout::parse(llvm::StringRef text, std::string *error) {
  auto number = [](llvm::StringRef &rest, uint32_t &value) {
    rest = rest.ltrim();
    if (!rest.consume_front("="))
      return false;
    rest = rest.ltrim();
    llvm::StringRef digits = rest.take_while(llvm::isDigit);
    rest = rest.drop_front(digits.size()).ltrim();
    return !digits.getAsInteger(10, value);
  };
  auto fail = [&](const char *reason) {
    if (error)
      *error = reason;
    return std::nullopt;
  };
  llvm::StringRef rest = text.trim();
  uint32_t value = 0;
  if (rest == "none")
    return SharedLayout();
  if (rest.consume_front("pad"))
    return number(rest, value) && rest.empty() ? std::optional(padded(value))
                                               : fail("expected `pad = BYTES` and nothing after it");
  if (!rest.consume_front("swizzle"))
    return fail("expected `swizzle = SPAN, panels`, `pad = BYTES` or `none`");
  if (!number(rest, value) || !rest.consume_front(",") || rest.trim() != "panels")
    return fail("expected `swizzle = SPAN, panels` and nothing after it");
  if (value != 32 && value != 64 && value != 128)
    return fail("the span of a swizzle is 32, 64 or 128 bytes");
  return swizzled(value);
}

//===---------------------------------------------------------------------------------------------------------------===
// SharedTile
//===---------------------------------------------------------------------------------------------------------------===

int64_t SharedTile::panels() const {
  return layout.isSwizzled() ? static_cast<int64_t>(llvm::divideCeil(rowBytes(), layout.span())) : 1;
}

int64_t SharedTile::pitch() const { return layout.isSwizzled() ? layout.span() : rowBytes() + layout.pad(); }

int64_t SharedTile::panelBytes() const { return rows * pitch(); }

int64_t SharedTile::panelColumns() const {
  return layout.isSwizzled() ? int64_t(layout.span()) * 8 / elementBits : columns;
}

int64_t SharedTile::bytes() const { return panels() * panelBytes(); }

int64_t SharedTile::linearAddress(int64_t row, int64_t column) const {
  int64_t byte = column * elementBits / 8;
  if (!layout.isSwizzled())
    return row * pitch() + byte;
  return byte / layout.span() * panelBytes() + row * layout.span() + byte % layout.span();
}

int64_t SharedTile::address(int64_t row, int64_t column) const { return layout.swizzle(linearAddress(row, column)); }

// The core matrix of wgmma is 8 rows of one span.
static constexpr int64_t coreRows = 8;

std::optional<WgmmaDescriptor> SharedTile::wgmmaDescriptor(OperandMajor major) const {
  if (!layout.isSwizzled() || rows % coreRows != 0 || rowBytes() % layout.span() != 0)
    return std::nullopt;
  if (major == OperandMajor::MN && elementBits != 16)
    return std::nullopt;
  WgmmaDescriptor descriptor;
  // K-major swizzled tiles ignore the leading offset; 16 is what the measured kernels pass.
  descriptor.leadingByteOffset = major == OperandMajor::K ? 16 : static_cast<uint32_t>(panelBytes());
  descriptor.strideByteOffset = static_cast<uint32_t>(coreRows) * layout.span();
  descriptor.swizzleCode = layout.wgmmaSwizzleCode();
  descriptor.transposed = major == OperandMajor::MN;
  return descriptor;
}

int64_t SharedTile::wgmmaOffset(OperandMajor major, int64_t mn, int64_t k) const {
  // The hardware applies the xor to the bits of the final address, so a step inside the span is a plain addition.
  return major == OperandMajor::K ? linearAddress(mn, k) : linearAddress(k, mn);
}

uint64_t WgmmaDescriptor::encode() const {
  auto field = [](uint64_t value, unsigned bit) { return value << bit; };
  return field(leadingByteOffset >> 4 & 0x3fff, 16) | field(strideByteOffset >> 4 & 0x3fff, 32) |
         field(swizzleCode, 62);
}

//===---------------------------------------------------------------------------------------------------------------===
// Bank conflicts
//===---------------------------------------------------------------------------------------------------------------===

static constexpr unsigned numBanks = 32, bankBytes = 4, lanes = 32;

unsigned tilec::idealWavefronts(unsigned bytes) { return std::max(bytes, bankBytes) / bankBytes; }

unsigned tilec::sharedWavefronts(llvm::ArrayRef<int64_t> addresses, unsigned bytes) {
  assert(addresses.size() == lanes && bytes >= 1 && bytes <= 16 && "one address a lane");
  unsigned parts = idealWavefronts(bytes), lanesOfPart = lanes / parts, total = 0;
  for (unsigned part = 0; part < parts; ++part) {
    std::array<llvm::SmallVector<int64_t, 4>, numBanks> words;
    for (unsigned lane = part * lanesOfPart; lane < (part + 1) * lanesOfPart; ++lane) {
      if (addresses[lane] < 0)
        continue;
      int64_t last = (addresses[lane] + bytes - 1) / bankBytes;
      for (int64_t word = addresses[lane] / bankBytes; word <= last; ++word) {
        auto &bank = words[word % numBanks];
        if (std::find(bank.begin(), bank.end(), word) == bank.end())
          bank.push_back(word);
      }
    }
    size_t most = 0;
    for (const auto &bank : words)
      most = std::max(most, bank.size());
    total += static_cast<unsigned>(most);
  }
  return total;
}
