// Host expressions: arithmetic of docs/abi.md.
#include "tilec/Runner/HostExpression.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace tilec::runner;
namespace json = llvm::json;

namespace {

int64_t value(const json::Value &expression) {
  HostValues values;
  values.names["M"] = 7;
  values.names["scale"] = Number::ofReal(0.5);
  values.names["nan"] = Number::ofReal(std::nan(""));
  values.aligned = [](llvm::StringRef tensor, int64_t bytes) { return tensor == "A" && bytes <= 16; };
  llvm::Expected<int64_t> result = evaluate(expression, values);
  EXPECT_TRUE(bool(result)) << llvm::toString(result.takeError());
  return result ? *result : -1;
}

TEST(HostExpression, Arithmetic) {
  EXPECT_EQ(value(5), 5);
  EXPECT_EQ(value("M"), 7);
  EXPECT_EQ(value(json::Array{"add", 1, 2, 3}), 6);
  EXPECT_EQ(value(json::Array{"sub", 1, 2}), -1);
  EXPECT_EQ(value(json::Array{"div", -7, 2}), -4);
  EXPECT_EQ(value(json::Array{"rem", -7, 2}), 1);
  EXPECT_EQ(value(json::Array{"div", "M", 0}), 0);
  EXPECT_EQ(value(json::Array{"ceil_div", "M", 4}), 2);
  EXPECT_EQ(value(json::Array{"ceil_div", -7, 4}), -1);
  EXPECT_EQ(value(json::Array{"align_up", "M", 4}), 8);
  EXPECT_EQ(value(json::Array{"min", 3, "M", 1}), 1);
  EXPECT_EQ(value(json::Array{"max", json::Array{"mul", 2, "M"}, 3}), 14);
  EXPECT_EQ(value(json::Array{"mul", INT64_MAX, 2}), -2);
}

TEST(HostExpression, Conditions) {
  EXPECT_EQ(value(json::Array{"and", 1, 2, 0}), 0);
  EXPECT_EQ(value(json::Array{"or", 0, 2}), 1);
  EXPECT_EQ(value(json::Array{"not", 0}), 1);
  EXPECT_EQ(value(json::Array{"le", "M", 7}), 1);
  EXPECT_EQ(value(json::Array{"gt", "scale", 0}), 1);
  EXPECT_EQ(value(json::Array{"lt", "scale", 0.25}), 0);
  EXPECT_EQ(value(json::Array{"ge", "scale", 0x1p-40}), 1);
  EXPECT_EQ(value(json::Array{"le", "scale", 0x1p40}), 1);
  for (const char *comparison : {"eq", "lt", "le", "gt", "ge"})
    EXPECT_EQ(value(json::Array{comparison, "nan", 1}), 0);
  EXPECT_EQ(value(json::Array{"aligned", "A", 16}), 1);
  EXPECT_EQ(value(json::Array{"aligned", "B", 16}), 0);
}

TEST(HostExpression, MalformedOnesFail) {
  HostValues values;
  for (json::Value expression : {json::Value("N"), json::Value(json::Array{}), json::Value(json::Array{"add"}),
                                 json::Value(json::Array{"pow", 1, 2}), json::Value(json::Array{"aligned", 1, 2})}) {
    llvm::Expected<int64_t> result = evaluate(expression, values);
    EXPECT_FALSE(bool(result));
    llvm::consumeError(result.takeError());
  }
}

TEST(HostExpression, Text) {
  EXPECT_EQ(expressionText(json::Array{"mul", json::Array{"add", "M", 1}, 2}), "(M + 1) * 2");
  EXPECT_EQ(expressionText(json::Array{"ceil_div", "M", 2}), "ceil_div(M, 2)");
}

} // namespace
