// Source files and positions.
#include "tilec/Diagnostics/SourceManager.h"
#include <algorithm>
#include <cassert>
#include <limits>

using namespace tilec;

/// Offsets at which lines start. A line ends at \n, \r\n or a lone \r.
static std::vector<size_t> findLineStarts(llvm::StringRef text) {
  std::vector<size_t> starts = {0};
  for (size_t i = 0; i < text.size(); ++i) {
    bool isCRLF = text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n';
    if (text[i] == '\n' || (text[i] == '\r' && !isCRLF))
      starts.push_back(i + 1);
  }
  return starts;
}

FileID SourceManager::addBuffer(std::unique_ptr<llvm::MemoryBuffer> buffer, llvm::StringRef name,
                                SourceLoc importedFrom) {
  // Position 0 is "no position", and each file has one position past its last byte.
  uint64_t base = files.empty() ? 1 : files.back().base + files.back().buffer->getBufferSize() + 1;
  if (base + buffer->getBufferSize() + 1 > std::numeric_limits<uint32_t>::max())
    return FileID();
  File file;
  file.lineStarts = findLineStarts(buffer->getBuffer());
  file.buffer = std::move(buffer);
  file.name = name.str();
  file.importedFrom = importedFrom;
  file.base = static_cast<uint32_t>(base);
  files.push_back(std::move(file));
  return FileID{static_cast<uint32_t>(files.size() - 1)};
}

FileID SourceManager::addText(llvm::StringRef text, llvm::StringRef name, SourceLoc importedFrom) {
  return addBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, name), name, importedFrom);
}

llvm::StringRef SourceManager::getText(FileID file) const { return get(file).buffer->getBuffer(); }

llvm::StringRef SourceManager::getName(FileID file) const { return get(file).name; }

SourceLoc SourceManager::getImportLoc(FileID file) const { return get(file).importedFrom; }

SourceLoc SourceManager::getLoc(FileID file, size_t offset) const {
  assert(offset <= getText(file).size() && "position past the end of the file");
  return SourceLoc::fromRaw(static_cast<uint32_t>(get(file).base + offset));
}

FileID SourceManager::getFile(SourceLoc loc) const {
  if (!loc.isValid() || files.empty())
    return FileID();
  auto after = std::upper_bound(files.begin(), files.end(), loc.getRaw(),
                                [](uint32_t raw, const File &file) { return raw < file.base; });
  return FileID{static_cast<uint32_t>(after - files.begin() - 1)};
}

size_t SourceManager::getOffset(SourceLoc loc) const { return loc.getRaw() - get(getFile(loc)).base; }

llvm::StringRef SourceManager::getText(SourceRange range) const {
  FileID file = getFile(range.begin);
  if (!file.isValid())
    return llvm::StringRef();
  return getText(file).slice(getOffset(range.begin), range.end.getRaw() - get(file).base);
}

/// Bytes of the form 10xxxxxx continue a UTF-8 sequence.
static bool startsCharacter(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }

LineColumn SourceManager::getLineColumn(SourceLoc loc) const {
  FileID id = getFile(loc);
  if (!id.isValid())
    return LineColumn();
  const File &file = get(id);
  size_t offset = getOffset(loc);
  auto after = std::upper_bound(file.lineStarts.begin(), file.lineStarts.end(), offset);
  size_t lineStart = *(after - 1);
  llvm::StringRef before = file.buffer->getBuffer().slice(lineStart, offset);
  LineColumn result;
  result.line = static_cast<unsigned>(after - file.lineStarts.begin());
  result.column = static_cast<unsigned>(1 + std::count_if(before.begin(), before.end(), startsCharacter));
  return result;
}

size_t SourceManager::getLineStart(FileID file, unsigned line) const { return get(file).lineStarts[line - 1]; }

llvm::StringRef SourceManager::getLine(FileID file, unsigned line) const {
  size_t start = getLineStart(file, line);
  llvm::StringRef rest = getText(file).drop_front(start);
  return rest.take_front(rest.find_first_of("\r\n"));
}
