// Damaged and random sources: the parser ends, does not crash, and reports what it cannot parse.
#include "SyntaxTestSupport.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <random>

using namespace tilec;
using namespace tilec::test;

/// Parses and prints; nothing more is asked.
static void survive(llvm::StringRef text) {
  Parsed parsed(text);
  std::string dump = parsed.dump();
  // Every error has a place and a text.
  EXPECT_EQ(parsed.codes().empty(), parsed.text().empty());
}

static std::vector<std::string> readCases() {
  std::vector<std::string> texts;
  std::error_code error;
  std::string root = TILEC_SOURCE_FOLDER "/test/Conformance";
  for (llvm::sys::fs::recursive_directory_iterator it(root, error), end; it != end && !error; it.increment(error))
    if (llvm::sys::path::extension(it->path()) == ".tile")
      if (auto buffer = llvm::MemoryBuffer::getFile(it->path()))
        texts.push_back((*buffer)->getBuffer().str());
  return texts;
}

TEST(Fuzz, Truncations) {
  for (const std::string &text : readCases())
    for (size_t size = 0; size < text.size(); size += 3)
      survive(llvm::StringRef(text).take_front(size));
}

TEST(Fuzz, DeletedAndChangedCharacters) {
  std::mt19937 random(1);
  llvm::StringRef alphabet = "(){}[]<>=+-*/%&|^!~.,:;@#\"'\\ \n\taA0_\xC3\xFF";
  for (const std::string &text : readCases()) {
    for (unsigned i = 0; i < 60; ++i) {
      std::string changed = text;
      for (unsigned change = 0; change <= i % 4 && !changed.empty(); ++change) {
        size_t at = random() % changed.size();
        if (random() % 2)
          changed.erase(at, 1 + random() % 3);
        else
          changed.insert(at, 1, alphabet[random() % alphabet.size()]);
      }
      survive(changed);
    }
  }
}

TEST(Fuzz, SwappedLines) {
  std::mt19937 random(2);
  for (const std::string &text : readCases()) {
    llvm::SmallVector<llvm::StringRef> lines;
    llvm::StringRef(text).split(lines, '\n');
    for (unsigned i = 0; i < 20; ++i) {
      std::swap(lines[random() % lines.size()], lines[random() % lines.size()]);
      std::string joined;
      for (llvm::StringRef line : lines)
        joined += (line + "\n").str();
      survive(joined);
    }
  }
}

TEST(Fuzz, TokenSoup) {
  std::vector<std::string> vocabulary = {"a",     "k",    "M",       "1",    "2.5", "\"s\"",  "\n",
                                         "\n",    ";",    "tiles",   "sum",  "max", "max=",   "assert",
                                         "print", "arch", "reverse", "type", "dim", "strides"};
#define TILEC_PUNCTUATION(Kind, spelling) vocabulary.push_back(spelling);
#define TILEC_KEYWORD(Kind, spelling) vocabulary.push_back(spelling);
#include "tilec/Syntax/Tokens.def"
#define TILEC_SOUP(kind, spelling) vocabulary.push_back(spelling);
  TILEC_SCALARS(TILEC_SOUP)
#undef TILEC_SOUP
  std::mt19937 random(3);
  for (unsigned round = 0; round < 4000; ++round) {
    std::string text = round % 2 ? "kernel f(A: f32[M]) {\n" : "";
    for (unsigned size = random() % 60; size != 0; --size)
      text += vocabulary[random() % vocabulary.size()] + (random() % 4 ? " " : "");
    survive(text);
  }
}

TEST(Fuzz, RandomBytes) {
  std::mt19937 random(4);
  for (unsigned round = 0; round < 2000; ++round) {
    std::string text;
    for (unsigned size = random() % 100; size != 0; --size)
      text += static_cast<char>(random() % 256);
    survive(text);
  }
}

TEST(Fuzz, RepeatedOpeners) {
  for (llvm::StringRef piece :
       {"(",     "[",     "{",  "a(", "a[", "if a {", "if (", "for i in (", "@a(",    "kernel f(",
        "fn f[", "let (", "a<", "-",  "!",  "a.",     "a,",   "else ",      "where ", "f<T = "}) {
    for (llvm::StringRef start : {"", "kernel f() {\n", "const A = ", "fn f() -> f32 { "}) {
      std::string text = start.str();
      for (unsigned i = 0; i < 3000; ++i)
        text += piece;
      survive(text);
      std::string onLines = start.str();
      for (unsigned i = 0; i < 1000; ++i)
        onLines += (piece + "\n").str();
      survive(onLines);
    }
  }
}
