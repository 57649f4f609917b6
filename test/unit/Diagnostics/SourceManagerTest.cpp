// Positions, lines and columns over several files.
#include "tilec/Diagnostics/SourceManager.h"
#include <gtest/gtest.h>

using namespace tilec;

TEST(SourceManager, PositionsOfSeveralFiles) {
  SourceManager sources;
  FileID a = sources.addText("one\ntwo", "a.tile");
  FileID b = sources.addText("", "b.tile", sources.getLoc(a, 4));
  FileID c = sources.addText("xyz", "c.tile");
  EXPECT_EQ(sources.getFile(sources.getLoc(a, 0)), a);
  EXPECT_EQ(sources.getFile(sources.getEndLoc(a)), a);
  EXPECT_EQ(sources.getFile(sources.getLoc(b, 0)), b);
  EXPECT_EQ(sources.getFile(sources.getLoc(c, 3)), c);
  EXPECT_EQ(sources.getOffset(sources.getLoc(c, 2)), 2u);
  EXPECT_FALSE(sources.getFile(SourceLoc()).isValid());
  EXPECT_EQ(sources.getName(b), "b.tile");
  EXPECT_EQ(sources.getImportLoc(b), sources.getLoc(a, 4));
  EXPECT_FALSE(sources.getImportLoc(a).isValid());
  EXPECT_EQ(sources.getText(SourceRange(sources.getLoc(c, 1), sources.getLoc(c, 3))), "yz");
  EXPECT_EQ(sources.getText(SourceRange()), "");
  EXPECT_TRUE(sources.getLoc(a, 5) < sources.getLoc(c, 0));
}

TEST(SourceManager, LinesAndColumns) {
  SourceManager sources;
  FileID file = sources.addText("a\r\nbb\rccc\n\nd", "a.tile");
  auto place = [&](size_t offset) {
    LineColumn at = sources.getLineColumn(sources.getLoc(file, offset));
    return std::make_pair(at.line, at.column);
  };
  EXPECT_EQ(place(0), std::make_pair(1u, 1u));
  EXPECT_EQ(place(3), std::make_pair(2u, 1u));
  EXPECT_EQ(place(4), std::make_pair(2u, 2u));
  EXPECT_EQ(place(6), std::make_pair(3u, 1u));
  EXPECT_EQ(place(10), std::make_pair(4u, 1u));
  EXPECT_EQ(place(12), std::make_pair(5u, 2u));
  EXPECT_EQ(sources.getLine(file, 1), "a");
  EXPECT_EQ(sources.getLine(file, 3), "ccc");
  EXPECT_EQ(sources.getLine(file, 4), "");
  EXPECT_EQ(sources.getLine(file, 5), "d");
}

TEST(SourceManager, ColumnsCountCharacters) {
  SourceManager sources;
  FileID file = sources.addText("\t\xC3\xA9\xE4\xB8\xAD"
                                "x",
                                "a.tile"); // tab, e acute, a CJK character, x
  EXPECT_EQ(sources.getLineColumn(sources.getLoc(file, 1)).column, 2u);
  EXPECT_EQ(sources.getLineColumn(sources.getLoc(file, 3)).column, 3u);
  EXPECT_EQ(sources.getLineColumn(sources.getLoc(file, 6)).column, 4u);
}
