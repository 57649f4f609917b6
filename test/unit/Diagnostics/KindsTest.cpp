// The declarations of all kinds: codes, wording, parameters, pages.
#include "tilec/Diagnostics/Diagnostic.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include <gtest/gtest.h>

using namespace tilec;

TEST(Kinds, CodesAreUniqueAndWellFormed) {
  llvm::StringSet<> codes;
  for (const KindInfo &info : getAllKinds()) {
    SCOPED_TRACE(info.id.str());
    if (info.severity == Severity::Note) {
      EXPECT_TRUE(info.code.empty());
      continue;
    }
    EXPECT_TRUE(codes.insert(info.code).second);
    ASSERT_EQ(info.code.size(), 5u);
    bool isWarning = info.severity == Severity::Warning;
    EXPECT_EQ(info.code[0], isWarning ? 'W' : 'E');
    EXPECT_EQ(info.code[1], '0');
    EXPECT_EQ(isWarning, info.code[2] == '5' || info.code[2] == '6');
    if (info.group == WarningGroup::Perf)
      EXPECT_EQ(info.code[2], '6');
    EXPECT_EQ(isWarning, !info.flag.empty());
    EXPECT_EQ(info.kind, findKindByCode(info.code)->kind);
  }
}

TEST(Kinds, MessagesFollowTheWordingGuide) {
  for (const KindInfo &info : getAllKinds()) {
    SCOPED_TRACE(info.id.str());
    for (llvm::StringRef text : {llvm::StringRef(info.message), llvm::StringRef(info.hint)}) {
      if (text.empty())
        continue;
      bool isAcronym = text.size() > 1 && llvm::isUpper(text[0]) && llvm::isUpper(text[1]);
      EXPECT_TRUE(!llvm::isUpper(text[0]) || isAcronym) << text.str();
      EXPECT_FALSE(text.ends_with(".")) << text.str();
      EXPECT_EQ(text.count('`') % 2, 0u) << text.str();
    }
    EXPECT_FALSE(info.message.empty());
  }
}

TEST(Kinds, EveryParameterIsUsed) {
  for (const KindInfo &info : getAllKinds()) {
    SCOPED_TRACE(info.id.str());
    unsigned count = std::max(countParameters(info.message), countParameters(info.hint));
    for (unsigned i = 0; i < count; ++i) {
      std::string plain = "{" + std::to_string(i);
      EXPECT_TRUE(info.message.contains(plain) || info.hint.contains(plain)) << plain;
    }
  }
}

TEST(Kinds, FindByCodeIgnoresCase) {
  ASSERT_NE(findKindByCode("e0101"), nullptr);
  EXPECT_EQ(findKindByCode("e0101")->kind, diag::err_expected);
  EXPECT_EQ(findKindByCode("E9999"), nullptr);
  EXPECT_EQ(findKindByCode(""), nullptr);
}

TEST(Explain, EveryCodeHasText) {
  for (const KindInfo &info : getAllKinds()) {
    if (info.code.empty())
      continue;
    std::optional<std::string> page = explain(info.code.lower());
    ASSERT_TRUE(page.has_value()) << info.code.str();
    EXPECT_TRUE(llvm::StringRef(*page).starts_with(("# " + info.code + ": ").str())) << *page;
  }
  EXPECT_FALSE(explain("E9999").has_value());
  EXPECT_FALSE(explain("").has_value());
}

TEST(Explain, SyntaxErrorsHavePages) {
  for (const KindInfo &info : getAllKinds())
    if (info.code.starts_with("E01"))
      EXPECT_TRUE(hasExplanationPage(info.code)) << info.code.str();
}

TEST(Format, ReplacesParameters) {
  std::vector<DiagnosticArgument> arguments = {std::string("acc"), int64_t(-3), uint64_t(1)};
  EXPECT_EQ(formatDiagnostic("`{0}` and {1}, {0}", arguments), "`acc` and -3, acc");
  EXPECT_EQ(formatDiagnostic("{2} byte{2:s}, {1} byte{1:s}", arguments), "1 byte, -3 bytes");
  EXPECT_EQ(formatDiagnostic("{7}", arguments), "?");
  EXPECT_EQ(formatDiagnostic("{ } {x} {0", arguments), "{ } {x} {0");
  EXPECT_EQ(formatDiagnostic("", arguments), "");
}

TEST(Format, Bytes) {
  auto format = [](uint64_t bytes) { return formatDiagnostic("{0:bytes}", DiagnosticArgument(bytes)); };
  EXPECT_EQ(format(1), "1 byte");
  EXPECT_EQ(format(100), "100 bytes");
  EXPECT_EQ(format(2048), "2048 bytes (2 KiB)");
  EXPECT_EQ(format(232448 + 512), "232960 bytes (227.5 KiB)");
}

TEST(Format, CountsParameters) {
  EXPECT_EQ(countParameters("nothing"), 0u);
  EXPECT_EQ(countParameters("{0} {2:s}"), 3u);
}
