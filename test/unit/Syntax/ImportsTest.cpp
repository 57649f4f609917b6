// Main files with their imports.
#include "SyntaxTestSupport.h"
#include "llvm/ADT/StringMap.h"

using namespace tilec;

namespace {
/// Files by name.
class ImportsTest : public testing::Test {
protected:
  SourceManager sources;
  DiagnosticEngine engine{sources};
  ast::ASTContext context;
  llvm::StringMap<std::string> texts;
  llvm::StringMap<FileID> loaded;

  FileID load(llvm::StringRef path, SourceLoc importLoc, std::string &error) {
    if (!texts.count(path)) {
      error = "no such file";
      return FileID();
    }
    auto [entry, isNew] = loaded.try_emplace(path);
    if (isNew)
      entry->second = sources.addText(texts[path], path, importLoc);
    return entry->second;
  }

  /// The names of the files in the order of the program.
  std::string parse(llvm::StringRef main) {
    std::string error;
    FileID file = load(main, SourceLoc(), error);
    ast::Program program = parseProgram(file, context, engine,
                                        [&](llvm::StringRef path, FileID, SourceLoc importLoc, std::string &reason) {
                                          return load(path, importLoc, reason);
                                        });
    std::string names;
    for (const ast::SourceFile &source : program.files)
      names += (names.empty() ? "" : " ") + sources.getName(source.file).str();
    EXPECT_EQ(sources.getName(program.mainFile().file), main);
    return names;
  }

  std::string diagnostics() {
    std::string result;
    llvm::raw_string_ostream os(result);
    TextRenderer renderer(os, sources, /*colour=*/false);
    engine.finish(renderer);
    return result;
  }
};
} // namespace

TEST_F(ImportsTest, EachFileOnceAndFirst) {
  texts["main"] = "import \"a\"\nimport \"b\"\nconst X = 1\n";
  texts["a"] = "import \"c\"\n";
  texts["b"] = "import \"c\"\nimport \"a\"\n";
  texts["c"] = "";
  EXPECT_EQ(parse("main"), "c a b main");
  EXPECT_EQ(diagnostics(), "");
}

TEST_F(ImportsTest, MissingFile) {
  texts["main"] = "import \"a\"\nconst X = 1\n";
  EXPECT_EQ(parse("main"), "main");
  EXPECT_EQ(diagnostics(), "main:1:8: error[E0150]: cannot import `a`: no such file\n"
                           "  import \"a\"\n"
                           "         ^~~\n");
}

TEST_F(ImportsTest, Cycle) {
  texts["main"] = "import \"a\"\n";
  texts["a"] = "import \"b\"\n";
  texts["b"] = "import \"a\"\n";
  EXPECT_EQ(parse("main"), "b a main");
  std::string text = diagnostics();
  EXPECT_NE(text.find("b:1:8: error[E0151]: import cycle: `a` imports `b` imports `a`\n"), std::string::npos) << text;
  EXPECT_NE(text.find("a:1:8: note: `b` is imported here\n"), std::string::npos) << text;
}

TEST_F(ImportsTest, ImportOfItself) {
  texts["main"] = "import \"main\"\n";
  EXPECT_EQ(parse("main"), "main");
  EXPECT_NE(diagnostics().find("import cycle: `main` imports `main`"), std::string::npos);
}

TEST_F(ImportsTest, LongChains) {
  for (unsigned i = 0; i < 2000; ++i)
    texts["f" + std::to_string(i)] = "import \"f" + std::to_string(i + 1) + "\"\n";
  parse("f0");
  EXPECT_NE(diagnostics().find("error[E0135]"), std::string::npos);
}
