// Diagnostics as text and as JSON.
#include "tilec/Diagnostics/Renderer.h"
#include "tilec/Diagnostics/DiagnosticEngine.h"
#include <cstdlib>
#include <gtest/gtest.h>

using namespace tilec;

namespace {
class RendererTest : public testing::Test {
protected:
  SourceManager sources;
  DiagnosticEngine engine{sources};
  FileID file;

  void load(llvm::StringRef text) { file = sources.addText(text, "a.tile"); }
  SourceLoc at(size_t offset) { return sources.getLoc(file, offset); }
  SourceRange range(size_t begin, size_t end) { return SourceRange(at(begin), at(end)); }
  std::string text(bool colour = false) {
    std::string result;
    llvm::raw_string_ostream os(result);
    TextRenderer renderer(os, sources, colour);
    engine.finish(renderer);
    return result;
  }
  llvm::json::Value json() {
    std::string result;
    llvm::raw_string_ostream os(result);
    JSONRenderer renderer(os, sources);
    engine.finish(renderer);
    llvm::Expected<llvm::json::Value> value = llvm::json::parse(result);
    if (value)
      return *value;
    ADD_FAILURE() << llvm::toString(value.takeError()) << result;
    return nullptr;
  }
};
} // namespace

TEST_F(RendererTest, CaretAndRange) {
  load("let a = bcd\nlet e = 1\n");
  engine.report(range(8, 11), diag::err_expected) << "`;`" << "`bcd`" << range(4, 5);
  EXPECT_EQ(text(), "a.tile:1:9: error[E0101]: expected `;`, found `bcd`\n"
                    "  let a = bcd\n"
                    "      ~   ^~~\n");
}

TEST_F(RendererTest, RangesOverSeveralLinesStopAtTheFirst) {
  load("f(a,\n  b)\n");
  engine.report(range(1, 9), diag::err_unused_value);
  EXPECT_NE(text().find("  f(a,\n   ^~~\n"), std::string::npos);
}

TEST_F(RendererTest, EndOfFileAndEmptyLine) {
  load("a\n");
  engine.report(at(2), diag::err_expected) << "x" << "the end of the file";
  EXPECT_EQ(text(), "a.tile:2:1: error[E0101]: expected x, found the end of the file\n"
                    "  \n"
                    "  ^\n");
}

TEST_F(RendererTest, TabsAndWideCharacters) {
  load("\t\xE4\xB8\xAD = x"); // a CJK character is two columns wide
  engine.report(at(7), diag::err_unexpected_character) << "`x`";
  EXPECT_EQ(text(), "a.tile:1:6: error[E0102]: unexpected character `x`\n"
                    "          \xE4\xB8\xAD = x\n"
                    "               ^\n");
}

TEST_F(RendererTest, UnprintableBytes) {
  load("a\x01\xFF"
       "b");
  engine.report(at(3), diag::err_unexpected_character) << "`b`";
  EXPECT_EQ(text(), "a.tile:1:4: error[E0102]: unexpected character `b`\n"
                    "  a\xEF\xBF\xBD\xEF\xBF\xBD"
                    "b\n"
                    "     ^\n");
}

TEST_F(RendererTest, LongLinesAreCut) {
  load(std::string(1000, 'a') + "b" + std::string(1000, 'c'));
  engine.report(at(1000), diag::err_unexpected_character) << "`b`";
  std::string result = text();
  EXPECT_LT(result.size(), 700u);
  llvm::SmallVector<llvm::StringRef> lines;
  llvm::StringRef(result).split(lines, '\n');
  ASSERT_GE(lines.size(), 3u);
  EXPECT_EQ(lines[1][lines[2].find('^')], 'b');
}

TEST_F(RendererTest, HintsNotesAndFixIts) {
  load("let ok = lo < x < hi\nx");
  auto diagnostic = engine.report(range(16, 17), diag::err_chained_comparison) << "<";
  diagnostic << FixIt::insertion(at(16), "&& x ");
  diagnostic.note(range(21, 22), diag::note_declared_here) << "x";
  EXPECT_EQ(text(), "a.tile:1:17: error[E0115]: comparisons do not chain: `<` would compare a `bool`\n"
                    "  let ok = lo < x < hi\n"
                    "                  ^\n"
                    "  fix: let ok = lo < x && x < hi\n"
                    "  hint: compare twice and join with `&&`\n"
                    "a.tile:2:1: note: `x` is declared here\n"
                    "  x\n"
                    "  ^\n");
}

TEST_F(RendererTest, FixItsOverTwoLines) {
  load("a = b\n  + c\n");
  engine.report(at(8), diag::err_unused_value) << FixIt::insertion(at(5), " +") << FixIt::removal(range(8, 10));
  EXPECT_NE(text().find("  fix: a = b +\n  fix: c\n"), std::string::npos);
}

TEST_F(RendererTest, OverlappingFixItsAreNotShown) {
  load("abcdef\n");
  engine.report(at(0), diag::err_unused_value) << FixIt::removal(range(0, 3)) << FixIt::removal(range(2, 4));
  EXPECT_EQ(text().find("fix:"), std::string::npos);
}

TEST_F(RendererTest, Warnings) {
  load("k\n");
  ASSERT_TRUE(engine.getWarningOptions().apply("perf"));
  engine.report(at(0), diag::warn_spills) << "k" << 2048;
  ASSERT_TRUE(engine.getWarningOptions().apply("error"));
  engine.report(at(1), diag::warn_spills) << "k" << 2048;
  std::string result = text();
  EXPECT_NE(result.find("a.tile:1:1: warning[W0601]: "), std::string::npos) << result;
  EXPECT_NE(result.find(" [-Wspills]\n"), std::string::npos) << result;
  EXPECT_NE(result.find("a.tile:1:2: error[W0601]: "), std::string::npos) << result;
  EXPECT_NE(result.find(" [-Werror=spills]\n"), std::string::npos) << result;
}

TEST_F(RendererTest, WithoutAPlace) {
  engine.report({}, diag::err_cannot_read_file) << "x.tile" << "no such file";
  EXPECT_EQ(text(), "tilec: error[E0002]: cannot read `x.tile`: no such file\n");
}

TEST_F(RendererTest, ImportedFile) {
  load("import \"b.tile\"\n");
  FileID imported = sources.addText("x\n", "b.tile", at(7));
  engine.report(sources.getLoc(imported, 0), diag::err_expected_declaration) << "`x`";
  EXPECT_EQ(text().substr(0, 73), "in the file imported by a.tile:1:\nb.tile:1:1: error[E0112]: expected a de");
}

TEST_F(RendererTest, OmittedErrors) {
  load("abc\n");
  engine.setErrorLimit(1);
  engine.report(at(0), diag::err_unused_value);
  engine.report(at(1), diag::err_unused_value);
  EXPECT_NE(text().find("tilec: 1 more error not shown (--error-limit=0 shows all)\n"), std::string::npos);
}

TEST_F(RendererTest, Colour) {
  load("abc\n");
  engine.report(at(0), diag::err_unused_value);
  std::string result = text(/*colour=*/true);
  EXPECT_NE(result.find("\x1b[1;31merror[E0118]:\x1b[0m"), std::string::npos) << result;
  EXPECT_NE(result.find("\x1b[1;32m^\x1b[0m"), std::string::npos) << result;
}

TEST(Colour, Modes) {
  std::string buffer;
  llvm::raw_string_ostream os(buffer);
  EXPECT_TRUE(shouldUseColour(ColourMode::Always, os));
  EXPECT_FALSE(shouldUseColour(ColourMode::Never, os));
  EXPECT_FALSE(shouldUseColour(ColourMode::Auto, os));
}

TEST_F(RendererTest, JSON) {
  load("let ok = lo < x < hi\nx");
  auto diagnostic = engine.report(range(16, 17), diag::err_chained_comparison) << "<";
  diagnostic << FixIt::insertion(at(16), "&& x ");
  diagnostic.note(range(21, 22), diag::note_declared_here) << "x";
  llvm::json::Value value = json();
  const llvm::json::Object &object = *value.getAsArray()->front().getAsObject();
  EXPECT_EQ(object.getString("severity"), "error");
  EXPECT_EQ(object.getString("code"), "E0115");
  EXPECT_EQ(object.getString("hint"), "compare twice and join with `&&`");
  const llvm::json::Object &place = *object.getObject("range");
  EXPECT_EQ(place.getString("file"), "a.tile");
  EXPECT_EQ(place.getObject("begin")->getInteger("line"), 1);
  EXPECT_EQ(place.getObject("begin")->getInteger("column"), 17);
  EXPECT_EQ(place.getObject("end")->getInteger("offset"), 17);
  const llvm::json::Object &fixIt = *object.getArray("fixIts")->front().getAsObject();
  EXPECT_EQ(fixIt.getString("text"), "&& x ");
  EXPECT_EQ(object.getArray("notes")->front().getAsObject()->getString("message"), "`x` is declared here");
}

TEST_F(RendererTest, JSONWithoutAPlaceAndWithInvalidText) {
  engine.report({}, diag::err_cannot_read_file) << "\xFF" << "bad";
  llvm::json::Value value = json();
  const llvm::json::Object &object = *value.getAsArray()->front().getAsObject();
  EXPECT_TRUE(object.get("range")->getAsNull().has_value());
  EXPECT_EQ(object.getString("message"), "cannot read `\xEF\xBF\xBD`: bad");
}

TEST_F(RendererTest, JSONOfNothing) { EXPECT_TRUE(json().getAsArray()->empty()); }

TEST_F(RendererTest, JSONWarningsAndLimit) {
  load("abc\n");
  engine.setErrorLimit(1);
  ASSERT_TRUE(engine.getWarningOptions().apply("perf"));
  engine.report(at(0), diag::warn_spills) << "k" << 16;
  engine.report(at(1), diag::err_unused_value);
  engine.report(at(2), diag::err_unused_value);
  llvm::json::Value value = json();
  const llvm::json::Array &array = *value.getAsArray();
  ASSERT_EQ(array.size(), 3u);
  EXPECT_EQ(array[0].getAsObject()->getString("severity"), "warning");
  EXPECT_EQ(array[0].getAsObject()->getString("flag"), "spills");
  EXPECT_EQ(array[2].getAsObject()->getInteger("omittedErrors"), 1);
}
