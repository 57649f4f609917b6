// Formatting of messages.
#include "tilec/Diagnostics/Diagnostic.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>

using namespace tilec;

namespace {
/// One `{index:style}` of a format, or the text before it.
struct Piece {
  llvm::StringRef text;
  bool isParameter = false;
  unsigned index = 0;
  llvm::StringRef style;
};
} // namespace

/// Takes the next piece off the front of `format`. A brace that does not open a parameter stands for itself.
static Piece takePiece(llvm::StringRef &format) {
  Piece piece;
  if (format.size() > 1 && format[0] == '{' && llvm::isDigit(format[1])) {
    size_t end = format.find('}');
    auto [index, style] = format.slice(1, end).split(':');
    if (end != llvm::StringRef::npos && !index.getAsInteger(10, piece.index)) {
      piece.isParameter = true;
      piece.style = style;
      format = format.drop_front(end + 1);
      return piece;
    }
  }
  size_t next = format.find('{', 1);
  piece.text = format.take_front(next);
  format = format.drop_front(piece.text.size());
  return piece;
}

/// A size as people read it: exact bytes, and KiB from 1 KiB on.
static std::string formatBytes(uint64_t bytes) {
  if (bytes < 1024)
    return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
  uint64_t tenths = bytes * 10 / 1024;
  std::string kib = std::to_string(tenths / 10);
  if (bytes % 1024 != 0)
    kib += "." + std::to_string(tenths % 10);
  return std::to_string(bytes) + " bytes (" + kib + " KiB)";
}

static uint64_t getMagnitude(const DiagnosticArgument &argument) {
  if (const int64_t *value = std::get_if<int64_t>(&argument))
    return *value < 0 ? 0 - static_cast<uint64_t>(*value) : static_cast<uint64_t>(*value);
  if (const uint64_t *value = std::get_if<uint64_t>(&argument))
    return *value;
  return 0;
}

/// Text of the source may be of any length; a message shows its beginning.
static std::string shorten(llvm::StringRef text) {
  constexpr size_t mostBytes = 400;
  if (text.size() <= mostBytes)
    return text.str();
  size_t end = mostBytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) // not inside a UTF-8 character
    --end;
  return text.take_front(end).str() + "...";
}

static std::string formatArgument(const DiagnosticArgument &argument, llvm::StringRef style) {
  if (style == "s")
    return getMagnitude(argument) == 1 ? "" : "s";
  if (const std::string *text = std::get_if<std::string>(&argument))
    return shorten(*text);
  if (style == "bytes")
    return formatBytes(getMagnitude(argument));
  if (const int64_t *value = std::get_if<int64_t>(&argument))
    return std::to_string(*value);
  return std::to_string(std::get<uint64_t>(argument));
}

std::string tilec::formatDiagnostic(llvm::StringRef format, llvm::ArrayRef<DiagnosticArgument> arguments) {
  std::string result;
  while (!format.empty()) {
    Piece piece = takePiece(format);
    if (!piece.isParameter)
      result += piece.text;
    else if (piece.index < arguments.size())
      result += formatArgument(arguments[piece.index], piece.style);
    else
      result += "?";
  }
  return result;
}

unsigned tilec::countParameters(llvm::StringRef format) {
  unsigned count = 0;
  while (!format.empty()) {
    Piece piece = takePiece(format);
    if (piece.isParameter)
      count = std::max(count, piece.index + 1);
  }
  return count;
}

std::string Diagnostic::message() const { return formatDiagnostic(info().message, arguments); }

std::string Diagnostic::hint() const { return formatDiagnostic(info().hint, arguments); }
