// A source line as a terminal shows it: tabs expanded, unprintable bytes replaced, and the column of every byte.
#ifndef TILEC_DIAGNOSTICS_SOURCELINE_H
#define TILEC_DIAGNOSTICS_SOURCELINE_H

#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace tilec {

struct SourceLine {
  /// Printable text, cut to a window around the byte of interest if the line is very long.
  std::string text;
  /// Column (from 0) at which each byte of the original line is shown, and one more for its end.
  std::vector<unsigned> columns;
};

/// Lays out a line for display so that the byte `focus` is visible.
SourceLine layOutLine(llvm::StringRef line, size_t focus);

} // namespace tilec

#endif // TILEC_DIAGNOSTICS_SOURCELINE_H
