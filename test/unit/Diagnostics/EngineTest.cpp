// Collecting, ordering and counting.
#include "tilec/Diagnostics/DiagnosticEngine.h"
#include "tilec/Diagnostics/Renderer.h"
#include <gtest/gtest.h>

using namespace tilec;

namespace {
/// Keeps the messages.
class RecordingRenderer : public DiagnosticRenderer {
public:
  void render(const Diagnostic &diagnostic) override { messages.push_back(diagnostic.message()); }
  void finish(unsigned numOmitted) override { omitted = numOmitted; }

  std::vector<std::string> messages;
  unsigned omitted = 0;
};

class EngineTest : public testing::Test {
protected:
  SourceManager sources;
  FileID file = sources.addText("0123456789\n", "a.tile");
  DiagnosticEngine engine{sources};
  RecordingRenderer renderer;

  SourceRange at(size_t offset) { return sources.getLoc(file, offset); }
  void expected(size_t offset, llvm::StringRef what) { engine.report(at(offset), diag::err_expected) << what << "x"; }
};
} // namespace

TEST_F(EngineTest, EmitsInSourceOrder) {
  expected(5, "b");
  expected(1, "a");
  expected(5, "c");
  engine.report({}, diag::err_no_kernels) << "x.tile";
  FileID other = sources.addText("x", "b.tile");
  engine.report(sources.getLoc(other, 0), diag::err_expected) << "d" << "x";
  engine.emit(renderer);
  std::vector<std::string> want = {"`x.tile` has no kernel to compile", "expected a, found x", "expected b, found x",
                                   "expected c, found x", "expected d, found x"};
  EXPECT_EQ(renderer.messages, want);
}

TEST_F(EngineTest, DropsRepetitions) {
  expected(5, "b");
  expected(5, "b");
  engine.emit(renderer);
  expected(5, "b");
  engine.finish(renderer);
  EXPECT_EQ(renderer.messages.size(), 1u);
  EXPECT_TRUE(engine.hasErrors());
}

TEST_F(EngineTest, StopsAtTheErrorLimit) {
  engine.setErrorLimit(2);
  for (size_t i = 0; i < 5; ++i)
    expected(i, std::to_string(i));
  engine.finish(renderer);
  EXPECT_EQ(renderer.messages.size(), 2u);
  EXPECT_EQ(renderer.omitted, 3u);
  EXPECT_EQ(engine.getNumErrors(), 5u);
}

TEST_F(EngineTest, LimitZeroIsNone) {
  engine.setErrorLimit(0);
  for (size_t i = 0; i < 30; ++i)
    expected(i % 10, std::to_string(i));
  engine.finish(renderer);
  EXPECT_EQ(renderer.messages.size(), 30u);
  EXPECT_EQ(renderer.omitted, 0u);
}

TEST_F(EngineTest, MemoryIsBounded) {
  for (size_t i = 0; i < 20000; ++i)
    expected(0, std::to_string(i));
  engine.finish(renderer);
  EXPECT_EQ(renderer.messages.size(), 20u);
  EXPECT_EQ(renderer.omitted, 19980u);
}

TEST_F(EngineTest, ArgumentsNotesAndFixIts) {
  auto diagnostic = engine.report(at(2), diag::err_cannot_read_file) << std::string("f") << llvm::Twine("no ") + "file";
  diagnostic << FixIt::removal(SourceRange(at(3), at(4))) << SourceRange(at(5), at(6));
  diagnostic.note(at(7), diag::note_declared_here) << "n";
  diagnostic.note(at(8), diag::note_opened_here) << 42;

  struct Checker : DiagnosticRenderer {
    void render(const Diagnostic &d) override {
      EXPECT_EQ(d.message(), "cannot read `f`: no file");
      ASSERT_EQ(d.fixIts.size(), 1u);
      EXPECT_EQ(d.highlights.size(), 1u);
      ASSERT_EQ(d.notes.size(), 2u);
      EXPECT_EQ(d.notes[0].message(), "`n` is declared here");
      EXPECT_EQ(d.notes[1].message(), "`42` is opened here");
      ++count;
    }
    void finish(unsigned) override {}
    int count = 0;
  } checker;
  engine.finish(checker);
  EXPECT_EQ(checker.count, 1);
}

TEST_F(EngineTest, IgnoredWarningsLeaveNoTrace) {
  engine.getWarningOptions().disableAll();
  engine.report(at(0), diag::warn_spills).note(at(1), diag::note_declared_here) << "x";
  engine.finish(renderer);
  EXPECT_TRUE(renderer.messages.empty());
  EXPECT_EQ(engine.getNumWarnings(), 0u);
}

TEST_F(EngineTest, WarningsAsErrorsCountAsErrors) {
  ASSERT_TRUE(engine.getWarningOptions().apply("error=spills"));
  engine.report(at(0), diag::warn_spills) << "k" << 16;
  EXPECT_EQ(engine.getNumErrors(), 1u);
  EXPECT_EQ(engine.getNumWarnings(), 0u);
}
