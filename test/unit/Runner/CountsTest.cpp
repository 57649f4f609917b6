// Sums of counts by line and loop.
#include "tilec/Runner/Counts.h"
#include "gtest/gtest.h"

using namespace tilec;
using namespace tilec::runner;
using namespace tilec::simulator;

namespace {

// A loop in a loop, and one that waits for an mbarrier, which is part of what is around it.
constexpr const char *loops = R"(.version 8.0
.target sm_90a
.address_size 64
.visible .entry k()
{
  .reg .b32 %i, %j;
  .reg .pred %p, %q;
  .shared .align 8 .b8 bar[8];
  mov.u32 %i, 0;
outer:
  mov.u32 %j, 0;
inner:
  add.u32 %j, %j, 1;
  setp.lt.u32 %p, %j, 4;
  @%p bra inner;
wait:
  mbarrier.try_wait.parity.shared::cta.b64 %q, [bar], 0;
  @!%q bra wait;
  add.u32 %i, %i, 1;
  setp.lt.u32 %p, %i, 4;
  @%p bra outer;
  ret;
}
)";

class CountsTest : public testing::Test {
protected:
  CountsTest() : module(llvm::cantFail(parsePtx(loops))), reports(1) {
    for (const Instruction &instruction : module.kernels[0].instructions) {
      LineCounts counts;
      counts.executed = instruction.line;
      counts.bankConflicts = instruction.line == 12 ? 3 : 0;
      counts.waits = instruction.name == "mbarrier" ? 2 : 0;
      reports[0].counts[&instruction] = counts;
    }
  }
  PtxModule module;
  std::vector<Report> reports;
};

TEST_F(CountsTest, LoopsWithoutThoseInside) {
  llvm::json::Value json = CountReport(reports, module).toJson();
  const llvm::json::Array &found = *json.getAsObject()->getArray("loops");
  ASSERT_EQ(found.size(), 2u);
  const llvm::json::Object &outer = *found[0].getAsObject(), &inner = *found[1].getAsObject();
  EXPECT_EQ(outer.getInteger("ptx_line"), 11);
  EXPECT_EQ(outer.getBoolean("innermost"), false);
  EXPECT_EQ(outer.getInteger("waits"), 2);
  EXPECT_EQ(outer.getInteger("instructions"), 11 + 17 + 18 + 19 + 20 + 21);
  EXPECT_EQ(inner.getInteger("parent"), 0);
  EXPECT_EQ(inner.getInteger("depth"), 2);
  EXPECT_EQ(inner.getInteger("instructions"), 13 + 14 + 15);
}

TEST_F(CountsTest, RequiredZeros) {
  CountReport report(reports, module);
  EXPECT_FALSE(llvm::errorToBool(report.requireZero("clipped-bytes")));
  EXPECT_FALSE(llvm::errorToBool(report.requireZero("loop-waits")));
  EXPECT_TRUE(llvm::errorToBool(report.requireZero("waits")));
  EXPECT_EQ(llvm::toString(report.requireZero("loop-instructions")),
            "--report-fail=loop-instructions: 42\n  ptx:13: add.u32: 13\n  ptx:14: setp.lt.u32: 14\n  ptx:15: bra: 15");
}

TEST_F(CountsTest, TablesLeaveOutWhatIsZero) {
  std::string text;
  llvm::raw_string_ostream os(text);
  CountReport(reports, module).print(os);
  EXPECT_NE(text.find("instructions  waits  conflicts\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("boxes"), std::string::npos);
  EXPECT_NE(text.find("  all"), std::string::npos);
}

} // namespace
