// What users of other languages write, and what this one has for it.
#ifndef TILEC_LIB_SYNTAX_FOREIGNWORDS_H
#define TILEC_LIB_SYNTAX_FOREIGNWORDS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace tilec {

/// The keyword that begins a declaration or a statement and that `word` was probably meant to be; empty if none is
/// near.
llvm::StringRef suggestDeclaration(llvm::StringRef word);
llvm::StringRef suggestStatement(llvm::StringRef word);

/// A sentence about a word, operator or character of other languages; empty if there is none.
llvm::StringRef adviseOn(llvm::StringRef foreign);

} // namespace tilec

#endif // TILEC_LIB_SYNTAX_FOREIGNWORDS_H
