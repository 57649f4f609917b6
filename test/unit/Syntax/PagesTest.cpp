// The examples on the pages of syntax errors: the wrong one gives the error of the page, the right one gives none. With
// the pages being complete (KindsTest), this exercises every kind of the lexer and the parser.
#include "SyntaxTestSupport.h"

using namespace tilec;
using namespace tilec::test;

/// The code blocks of a Markdown page.
static std::vector<std::string> getExamples(llvm::StringRef page) {
  std::vector<std::string> examples;
  while (page.contains("```tile\n")) {
    page = page.split("```tile\n").second;
    auto [example, rest] = page.split("```");
    examples.push_back(example.str());
    page = rest;
  }
  return examples;
}

/// Codes that the parsing of a text and its imports gives. `shapes.tile` exists, `cycle.tile` imports the text again.
static std::vector<std::string> getCodes(llvm::StringRef text) {
  SourceManager sources;
  DiagnosticEngine engine(sources);
  ast::ASTContext context;
  FileID main = sources.addText(text, "main.tile");
  FileID shapes, cycle;
  auto load = [&](llvm::StringRef path, FileID, SourceLoc loc, std::string &error) -> FileID {
    if (path == "main.tile")
      return main;
    if (path == "shapes.tile")
      return shapes.isValid() ? shapes : shapes = sources.addText("const A = 1\n", path, loc);
    if (path == "cycle.tile")
      return cycle.isValid() ? cycle : cycle = sources.addText("import \"main.tile\"\n", path, loc);
    error = "no such file";
    return FileID();
  };
  parseProgram(main, context, engine, load);
  struct Recorder : DiagnosticRenderer {
    void render(const Diagnostic &diagnostic) override { codes.push_back(diagnostic.info().code.str()); }
    void finish(unsigned) override {}
    std::vector<std::string> codes;
  } recorder;
  engine.finish(recorder);
  return recorder.codes;
}

TEST(Pages, ExamplesOfSyntaxErrors) {
  for (const KindInfo &info : getAllKinds()) {
    // Too deep a nesting has no short example; ExprTest and StmtTest provoke it.
    if (!info.code.starts_with("E01") || info.kind == diag::err_nesting_too_deep)
      continue;
    SCOPED_TRACE(info.code.str());
    std::vector<std::string> examples = getExamples(*explain(info.code));
    ASSERT_EQ(examples.size(), 2u);
    std::vector<std::string> wrong = getCodes(examples[0]);
    EXPECT_FALSE(wrong.empty());
    for (const std::string &code : wrong)
      EXPECT_EQ(code, info.code);
    EXPECT_EQ(getCodes(examples[1]), std::vector<std::string>{});
  }
}
