// Layout of source lines for display.
#include "SourceLine.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/Unicode.h"
#include <algorithm>

using namespace tilec;

static constexpr unsigned tabWidth = 8;
/// Lines longer than this many bytes are cut to a window of that size.
static constexpr size_t windowSize = 240;

static bool continuesCharacter(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

/// The bytes of the valid UTF-8 character at the start of `text`, or 1 for a byte that starts none.
static size_t getCharacterLength(llvm::StringRef text) {
  size_t length = llvm::getNumBytesForUTF8(static_cast<llvm::UTF8>(text[0]));
  const auto *data = reinterpret_cast<const llvm::UTF8 *>(text.data());
  return length <= text.size() && llvm::isLegalUTF8Sequence(data, data + length) ? length : 1;
}

/// The part of the line to show: all of it, or a window with `focus` in its middle, at character boundaries.
static std::pair<size_t, size_t> chooseWindow(llvm::StringRef line, size_t focus) {
  if (line.size() <= windowSize)
    return {0, line.size()};
  size_t begin = focus > windowSize / 2 ? focus - windowSize / 2 : 0;
  begin = std::min(begin, line.size() - windowSize);
  size_t end = begin + windowSize;
  while (begin > 0 && continuesCharacter(line[begin]))
    --begin;
  while (end < line.size() && continuesCharacter(line[end]))
    ++end;
  return {begin, end};
}

SourceLine tilec::layOutLine(llvm::StringRef line, size_t focus) {
  SourceLine result;
  auto [begin, end] = chooseWindow(line, std::min(focus, line.size()));
  unsigned column = 0;
  auto append = [&](llvm::StringRef shown, unsigned width) {
    result.text += shown;
    column += width;
  };
  if (begin != 0)
    append("...", 3);
  result.columns.assign(begin, column);
  for (size_t i = begin; i < end;) {
    llvm::StringRef rest = line.slice(i, end);
    size_t length = getCharacterLength(rest);
    result.columns.insert(result.columns.end(), length, column);
    llvm::StringRef character = rest.take_front(length);
    int width = llvm::sys::unicode::columnWidthUTF8(character);
    if (character == "\t")
      append(std::string(tabWidth - column % tabWidth, ' '), tabWidth - column % tabWidth);
    else if (width < 0)
      append("\xEF\xBF\xBD", 1); // U+FFFD, the replacement character
    else
      append(character, static_cast<unsigned>(width));
    i += length;
  }
  result.columns.insert(result.columns.end(), line.size() + 1 - end, column);
  if (end != line.size())
    result.text += "...";
  return result;
}
