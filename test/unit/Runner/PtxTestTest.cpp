// Directives of PTX files.
#include "tilec/Runner/PtxTest.h"

#include <gtest/gtest.h>

using namespace tilec::runner;

namespace {

TEST(PtxTest, Directives) {
  PtxTest test = llvm::cantFail(parsePtxTest("// RUN-PTX: kernel=k grid=2x3 block=64 shared=1024 cluster=2\n"
                                             "// ARG: out f32 64\n"
                                             "// ARG: in f32 16 iota\n"
                                             "  // ARG: i64 12\n"
                                             "// FAULT: shared-race\n"
                                             ".version 8.6\n"));
  EXPECT_EQ(test.launch.entry, "k");
  EXPECT_EQ(test.launch.grid, (std::array<int64_t, 3>{2, 3, 1}));
  EXPECT_EQ(test.launch.cluster[0], 2);
  EXPECT_EQ(test.launch.block, 64);
  EXPECT_EQ(test.launch.shared, 1024);
  ASSERT_EQ(test.arguments.size(), 3u);
  EXPECT_EQ(test.arguments[0].kind, PtxTestArgument::Out);
  EXPECT_EQ(test.arguments[1].contents, "iota");
  EXPECT_EQ(test.arguments[2].contents, "12");
  EXPECT_EQ(test.faults, std::vector<std::string>{"shared-race"});
}

TEST(PtxTest, MistakesAreNamed) {
  for (const char *text : {"", "// RUN-PTX: grid=2", "// RUN-PTX: kernel=k size=3",
                           "// RUN-PTX: kernel=k\n// ARG: in f32", "// RUN-PTX: kernel=k grid=2x"}) {
    llvm::Expected<PtxTest> test = parsePtxTest(text);
    EXPECT_FALSE(bool(test)) << text;
    llvm::consumeError(test.takeError());
  }
}

} // namespace
