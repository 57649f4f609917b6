// The -W options, on a performance warning.
#include "tilec/Diagnostics/WarningOptions.h"
#include <gtest/gtest.h>

using namespace tilec;

namespace {
/// The severity of the warning `slow-path` of the group Perf after some options.
Severity severityAfter(std::initializer_list<llvm::StringRef> options) {
  WarningOptions warnings;
  for (llvm::StringRef option : options)
    EXPECT_TRUE(warnings.apply(option)) << option.str();
  return warnings.getSeverity(diag::warn_slow_path);
}
} // namespace

TEST(WarningOptions, Groups) {
  EXPECT_EQ(severityAfter({}), Severity::Ignored);
  EXPECT_EQ(severityAfter({"all"}), Severity::Ignored);
  EXPECT_EQ(severityAfter({"perf"}), Severity::Warning);
  EXPECT_EQ(severityAfter({"perf", "no-perf"}), Severity::Ignored);
}

TEST(WarningOptions, Names) {
  EXPECT_EQ(severityAfter({"slow-path"}), Severity::Warning);
  EXPECT_EQ(severityAfter({"no-slow-path", "perf"}), Severity::Ignored);
  EXPECT_EQ(severityAfter({"no-slow-path", "slow-path"}), Severity::Warning);
}

TEST(WarningOptions, Errors) {
  EXPECT_EQ(severityAfter({"error"}), Severity::Ignored);
  EXPECT_EQ(severityAfter({"perf", "error"}), Severity::Error);
  EXPECT_EQ(severityAfter({"perf", "error", "no-error"}), Severity::Warning);
  EXPECT_EQ(severityAfter({"error=slow-path"}), Severity::Error);
  EXPECT_EQ(severityAfter({"error=perf"}), Severity::Error);
  EXPECT_EQ(severityAfter({"perf", "error", "no-error=slow-path"}), Severity::Warning);
  EXPECT_EQ(severityAfter({"error=slow-path", "no-slow-path"}), Severity::Ignored);
}

TEST(WarningOptions, ErrorsStayErrors) {
  WarningOptions warnings;
  warnings.disableAll();
  EXPECT_EQ(warnings.getSeverity(diag::err_expected), Severity::Error);
  EXPECT_EQ(warnings.getSeverity(diag::warn_slow_path), Severity::Ignored);
}

TEST(WarningOptions, UnknownNames) {
  WarningOptions warnings;
  EXPECT_FALSE(warnings.apply("spils"));
  EXPECT_FALSE(warnings.apply("no-"));
  EXPECT_FALSE(warnings.apply(""));
  EXPECT_FALSE(warnings.apply("error=nothing"));
  EXPECT_EQ(WarningOptions::suggest("no-spils"), "spills");
  EXPECT_EQ(WarningOptions::suggest("error=pef"), "perf");
  EXPECT_EQ(WarningOptions::suggest("something-else"), "");
}
