// The examples of the pages of `tilec --explain` for the kinds of this component: each wrong one is reported with the
// page's code, each right one is accepted, or refused only as not built yet.
#include "SemaTestSupport.h"
#include "gtest/gtest.h"

using namespace tilec;
using namespace tilec::test;

/// The code block after a line that begins with `heading`; empty if there is none.
static std::string findExample(llvm::StringRef page, llvm::StringRef heading) {
  size_t at = page.find(("\n" + heading).str());
  if (at == llvm::StringRef::npos)
    return {};
  llvm::StringRef rest = page.drop_front(at).split("```tile\n").second;
  return rest.split("```").first.str();
}

TEST(SemaExplanations, ExamplesOfThePages) {
  for (const KindInfo &info : getAllKinds()) {
    llvm::StringRef code = info.code;
    if (!code.starts_with("E02") && !(code.starts_with("E03") && code < "E0340") && !code.starts_with("E07") &&
        !code.starts_with("W05"))
      continue;
    ASSERT_TRUE(hasExplanationPage(code)) << code.str();
    std::string page = *explain(code);
    std::vector<std::pair<std::string, std::string>> defines;
    if (info.kind == diag::err_define_matches_nothing)
      defines.emplace_back("P", "8");
    std::string wrong = findExample(page, "Wrong");
    if (!wrong.empty()) {
      Analysis analysis(wrong, defines);
      EXPECT_TRUE(analysis.find(info.kind)) << code.str() << "\n" << wrong << analysis.all();
    }
    std::string right = findExample(page, "Right");
    if (!right.empty()) {
      Analysis analysis(right, defines);
      for (const Analysis::Message &message : analysis.messages)
        EXPECT_EQ(message.kind, diag::err_not_built) << code.str() << "\n" << right << analysis.all();
    }
  }
}
