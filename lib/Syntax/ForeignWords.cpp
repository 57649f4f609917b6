// Suggestions for misspelled keywords and for words of other languages.
#include "ForeignWords.h"

using namespace tilec;

namespace {
struct Pair {
  llvm::StringLiteral foreign;
  llvm::StringLiteral ours;
};
} // namespace

static constexpr Pair foreignDeclarations[] = {
    {"def", "fn"},         {"func", "fn"},         {"function", "fn"},       {"void", "fn"},
    {"include", "import"}, {"constexpr", "const"}, {"__global__", "kernel"}, {"template", "instantiate"},
};

static constexpr Pair foreignStatements[] = {
    {"auto", "let"}, {"val", "let"}, {"const", "let"}, {"mut", "var"}, {"foreach", "for"}, {"par", "parallel"},
};

static constexpr Pair advice[] = {
    {"return", "a kernel stores its results in tensors, and the last line of a function is its value"},
    {"elif", "write `} else if c {`"},
    {"elseif", "write `} else if c {`"},
    {"@", "a product of matrices is `dot[k](a, b)`"},
    {"?", "choose with `select(c, a, b)`, or with `if c { a } else { b }`"},
    {"#", "comments begin with `//`"},
    {"'", "strings stand in double quotes"},
    {"(", "a loop is written `for i in lo..hi { ... }` or `for k in tiles(K, 64) { ... }`"},
    {"**", "write `x * x`, or `pow(x, y)`"},
};

static constexpr llvm::StringLiteral declarations[] = {"import", "const", "fn", "kernel", "instantiate"};
static constexpr llvm::StringLiteral statements[] = {"parallel", "for", "while", "if",     "axis",
                                                     "let",      "var", "temp",  "atomic", "unique"};

static llvm::StringRef suggest(llvm::StringRef word, llvm::ArrayRef<Pair> foreign,
                               llvm::ArrayRef<llvm::StringLiteral> keywords) {
  for (const Pair &pair : foreign)
    if (pair.foreign == word)
      return pair.ours;
  // Two letters of a long word, one of a short one.
  unsigned nearest = word.size() >= 5 ? 3 : 2;
  llvm::StringRef best;
  for (llvm::StringRef keyword : keywords) {
    unsigned distance = word.edit_distance_insensitive(keyword, /*AllowReplacements=*/true, nearest);
    if (distance < nearest && keyword.size() > 2) {
      nearest = distance;
      best = keyword;
    }
  }
  return best;
}

llvm::StringRef tilec::suggestDeclaration(llvm::StringRef word) {
  return suggest(word, foreignDeclarations, declarations);
}

llvm::StringRef tilec::suggestStatement(llvm::StringRef word) { return suggest(word, foreignStatements, statements); }

llvm::StringRef tilec::adviseOn(llvm::StringRef foreign) {
  for (const Pair &pair : advice)
    if (pair.foreign == foreign)
      return pair.ours;
  return {};
}
