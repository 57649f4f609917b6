// Source files of one compilation and positions in them. A position is one 32-bit number over the concatenation of all
// files, so that it fits in every syntax node and comparing two positions gives source order.
#ifndef TILEC_DIAGNOSTICS_SOURCEMANAGER_H
#define TILEC_DIAGNOSTICS_SOURCEMANAGER_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tilec {

/// A byte position in some file of a SourceManager; the default value is no position (command-line diagnostics).
class SourceLoc {
public:
  SourceLoc() = default;
  bool isValid() const { return raw != 0; }
  /// The position `delta` bytes later in the same file.
  SourceLoc advanced(int64_t delta) const { return fromRaw(static_cast<uint32_t>(raw + delta)); }
  uint32_t getRaw() const { return raw; }
  static SourceLoc fromRaw(uint32_t raw) {
    SourceLoc loc;
    loc.raw = raw;
    return loc;
  }
  friend bool operator==(SourceLoc a, SourceLoc b) { return a.raw == b.raw; }
  friend bool operator!=(SourceLoc a, SourceLoc b) { return a.raw != b.raw; }
  friend bool operator<(SourceLoc a, SourceLoc b) { return a.raw < b.raw; }

private:
  uint32_t raw = 0;
};

/// The bytes from `begin` up to but not including `end`; empty where begin == end.
struct SourceRange {
  SourceLoc begin;
  SourceLoc end;

  SourceRange() = default;
  SourceRange(SourceLoc loc) : begin(loc), end(loc) {}
  SourceRange(SourceLoc first, SourceLoc last) : begin(first), end(last) {}
  /// From the start of `first` to the end of `last`.
  SourceRange(SourceRange first, SourceRange last) : begin(first.begin), end(last.end) {}
  bool isValid() const { return begin.isValid(); }
  friend bool operator==(SourceRange a, SourceRange b) { return a.begin == b.begin && a.end == b.end; }
};

/// Names one file of a SourceManager.
struct FileID {
  uint32_t index = ~0u;
  bool isValid() const { return index != ~0u; }
  friend bool operator==(FileID a, FileID b) { return a.index == b.index; }
  friend bool operator!=(FileID a, FileID b) { return a.index != b.index; }
};

/// Line and column for people: both count from 1; a column counts characters (a tab or a UTF-8 sequence is one).
struct LineColumn {
  unsigned line = 0;
  unsigned column = 0;
};

/// Owns the text of every file. Addresses and positions stay valid for its lifetime.
class SourceManager {
public:
  /// Adds a file; `name` is what diagnostics print, `importedFrom` the import that asked for it. The result is invalid
  /// if the positions of 4 GiB of source are used up.
  FileID addBuffer(std::unique_ptr<llvm::MemoryBuffer> buffer, llvm::StringRef name, SourceLoc importedFrom = {});
  /// The same, from a copy of `text`.
  FileID addText(llvm::StringRef text, llvm::StringRef name, SourceLoc importedFrom = {});

  unsigned getNumFiles() const { return static_cast<unsigned>(files.size()); }
  llvm::StringRef getText(FileID file) const;
  llvm::StringRef getName(FileID file) const;
  SourceLoc getImportLoc(FileID file) const;

  SourceLoc getLoc(FileID file, size_t offset) const;
  SourceLoc getEndLoc(FileID file) const { return getLoc(file, getText(file).size()); }
  /// The file that holds `loc`; invalid for an invalid position.
  FileID getFile(SourceLoc loc) const;
  /// The byte offset of `loc` in its file.
  size_t getOffset(SourceLoc loc) const;
  llvm::StringRef getText(SourceRange range) const;

  LineColumn getLineColumn(SourceLoc loc) const;
  /// Byte offset of the start of the line (from 1) in the file.
  size_t getLineStart(FileID file, unsigned line) const;
  /// The text of a line (from 1) without its line ending.
  llvm::StringRef getLine(FileID file, unsigned line) const;

private:
  struct File {
    std::unique_ptr<llvm::MemoryBuffer> buffer;
    std::string name;
    SourceLoc importedFrom;
    uint32_t base;
    std::vector<size_t> lineStarts;
  };
  const File &get(FileID file) const { return files[file.index]; }

  std::vector<File> files;
};

} // namespace tilec

#endif // TILEC_DIAGNOSTICS_SOURCEMANAGER_H
