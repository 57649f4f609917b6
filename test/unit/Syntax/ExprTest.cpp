// Expressions: precedence, every form, and their errors.
#include "SyntaxTestSupport.h"

using namespace tilec;
using namespace tilec::test;

TEST(Expr, Precedence) {
  EXPECT_EQ(grouped("a + b * c"), "(a + (b * c))");
  EXPECT_EQ(grouped("a - b - c"), "((a - b) - c)");
  EXPECT_EQ(grouped("a / b % c * d"), "(((a / b) % c) * d)");
  EXPECT_EQ(grouped("a << b + c"), "(a << (b + c))");
  EXPECT_EQ(grouped("a & b << c"), "(a & (b << c))");
  EXPECT_EQ(grouped("a ^ b & c"), "(a ^ (b & c))");
  EXPECT_EQ(grouped("a | b ^ c"), "(a | (b ^ c))");
  EXPECT_EQ(grouped("a & b == c | d"), "((a & b) == (c | d))");
  EXPECT_EQ(grouped("a < b && c >= d"), "((a < b) && (c >= d))");
  EXPECT_EQ(grouped("a || b && c || d"), "((a || (b && c)) || d)");
  EXPECT_EQ(grouped("(a + b) * c"), "((a + b) * c)");
}

TEST(Expr, Unary) {
  EXPECT_EQ(grouped("-a * b"), "(-a * b)");
  EXPECT_EQ(grouped("a * -b"), "(a * -b)");
  EXPECT_EQ(grouped("a - -b"), "(a - -b)");
  EXPECT_EQ(grouped("!a && ~b == c"), "(!a && (~b == c))");
  EXPECT_EQ(grouped("-x[m]"), "-x[m]");
  EXPECT_EQ(grouped("!!a"), "!!a");
}

TEST(Expr, Literals) {
  EXPECT_EQ(dumpExpr("0xFF_FF"), "integer 65535\n");
  EXPECT_EQ(dumpExpr("0b101"), "integer 5\n");
  EXPECT_EQ(dumpExpr("18446744073709551615"), "integer 18446744073709551615\n");
  EXPECT_EQ(dumpExpr("1.5e-3"), "real 1.5e-3\n");
  EXPECT_EQ(dumpExpr("true"), "bool true\n");
  EXPECT_EQ(dumpExpr("false"), "bool false\n");
}

TEST(Expr, Names) {
  EXPECT_EQ(dumpExpr("tiles"), "name tiles\n");
  EXPECT_EQ(dumpExpr("reverse + dim"), "binary +\n  name reverse\n  name dim\n");
  EXPECT_EQ(dumpExpr("f32.lowest"), "member lowest\n  scalar f32\n");
  EXPECT_EQ(dumpExpr("t.index"), "member index\n  name t\n");
  EXPECT_EQ(dumpExpr("t.in.if"), "member if\n  member in\n    name t\n");
}

TEST(Expr, Tuples) {
  EXPECT_EQ(dumpExpr("(a, 1, b)"), "tuple\n  name a\n  integer 1\n  name b\n");
  EXPECT_EQ(dumpExpr("((a))"), "name a\n");
}

TEST(Expr, Subscripts) {
  EXPECT_EQ(dumpExpr("X[]"), "index\n  name X\n  at\n");
  EXPECT_EQ(dumpExpr("X[i + 1, j]"),
            "index\n  name X\n  at\n    binary +\n      name i\n      integer 1\n    name j\n");
  EXPECT_EQ(dumpExpr("X[i else -1]"), "index\n  name X\n  at\n    name i\n  else\n    unary -\n      integer 1\n");
  EXPECT_EQ(dumpExpr("X[row[t]]"), "index\n  name X\n  at\n    index\n      name row\n      at\n        name t\n");
}

TEST(Expr, Substitutions) {
  EXPECT_EQ(dumpExpr("v[i = j ^ 1, k = 0]"),
            "substitute\n  name v\n  axis i\n    binary ^\n      name j\n      integer 1\n  axis k\n    integer 0\n");
  EXPECT_EQ(dumpExpr("v[i = j else 0]"), "substitute\n  name v\n  axis i\n    name j\n  else\n    integer 0\n");
  EXPECT_EQ(dumpExpr("f(x)[i = 0]"), "substitute\n  call\n    name f\n    name x\n  axis i\n    integer 0\n");
}

TEST(Expr, Calls) {
  EXPECT_EQ(dumpExpr("f()"), "call\n  name f\n");
  EXPECT_EQ(dumpExpr("bf16(x)"), "call\n  scalar bf16\n  name x\n");
  EXPECT_EQ(dumpExpr("bitcast(f32, x)"), "call\n  name bitcast\n  scalar f32\n  name x\n");
  EXPECT_EQ(dumpExpr("f(x, reverse = true, in = 2)"),
            "call\n  name f\n  name x\n  argument reverse\n    bool true\n  argument in\n    integer 2\n");
}

TEST(Expr, AxisCalls) {
  EXPECT_EQ(dumpExpr("sum[k](x)"), "axis-call sum[k]\n  name x\n");
  EXPECT_EQ(dumpExpr("dot[k, j](a, b, accumulate = fast)"),
            "axis-call dot[k, j]\n  name a\n  name b\n  argument accumulate\n    name fast\n");
  EXPECT_EQ(dumpExpr("softmax[j where j <= i](s)"),
            "axis-call softmax[j]\n  where\n    binary <=\n      name j\n      name i\n  name s\n");
  EXPECT_EQ(dumpExpr("topk[k -> r](x)"), "axis-call topk[k -> r]\n  name x\n");
}

TEST(Expr, If) {
  EXPECT_EQ(dumpExpr("if a { 1 } else { let t = 2; t }"),
            "if-value\n  name a\n  then\n    value\n      integer 1\n  else\n    let t\n      integer 2\n    value\n"
            "      name t\n");
  EXPECT_EQ(
      dumpExpr("if a { 1 } else if b { 2 } else { 3 }"),
      "if-value\n  name a\n  then\n    value\n      integer 1\n  else\n    value\n      if-value\n        name b\n"
      "        then\n          value\n            integer 2\n        else\n          value\n"
      "            integer 3\n");
  EXPECT_EQ(grouped("1 + if a { 2 } else { 3 } * 4"), "(1 + (if a { 2 } else { 3 } * 4))");
}

TEST(Expr, ToSource) {
  for (llvm::StringRef text :
       {"a + b * c", "(a + b) * c", "a - (b - c)", "-(a + b)", "(a < b) == c", "X[i, j else 0]", "v[i = j + 1]",
        "sum[k where k < n](a * b, reverse = true)", "topk[k -> r](x)", "f32.lowest", "bf16(x)", "(a, b)",
        "if a { 1 } else { 2 }", "(if a { 1 } else { 2 }) + 3", "~x", "1e-5", "(a + b).x", "X[]"})
    EXPECT_EQ(grouped(text).empty(), false);
  Parsed parsed("const A = (a + b) * -(c - (d - e)) < f[i] && g\n");
  auto *decl = llvm::cast<ast::ConstDecl>(parsed.file().decls.front());
  EXPECT_EQ(ast::toSource(decl->value), "(a + b) * -(c - (d - e)) < f[i] && g");
}

TEST(Expr, ToSourceRoundTrips) {
  for (llvm::StringRef text :
       {"a + b * c", "(a + b) * c", "a - (b - c)", "-(a + b)", "(a < b) == c", "X[i, j else 0]", "v[i = j + 1]",
        "sum[k where k < n](a * b, reverse = true)", "topk[k -> r](x)", "f32.lowest", "bf16(x)", "(a, b)",
        "if a { 1 } else { 2 }", "(if a { 1 } else { 2 }) + 3", "~x", "1e-5", "(a + b).x", "X[]", "a << (b >> c)"}) {
    Parsed parsed(("const A = " + text + "\n").str());
    ASSERT_TRUE(parsed.codes().empty()) << parsed.text();
    auto *decl = llvm::cast<ast::ConstDecl>(parsed.file().decls.front());
    EXPECT_EQ(ast::toSource(decl->value), text);
  }
}

TEST(Expr, RangesCoverTheSource) {
  SourceManager sources;
  DiagnosticEngine engine(sources);
  ast::ASTContext context;
  FileID file = sources.addText("const A = (a + b) * sum[k](X[i].y)\n", "t.tile");
  ast::SourceFile tree = parseFile(file, context, engine);
  auto *product = llvm::cast<ast::BinaryExpr>(llvm::cast<ast::ConstDecl>(tree.decls.front())->value);
  EXPECT_EQ(sources.getText(product->range), "(a + b) * sum[k](X[i].y)");
  EXPECT_EQ(sources.getText(product->opRange), "*");
  EXPECT_EQ(sources.getText(product->lhs->range), "(a + b)");
  EXPECT_TRUE(product->lhs->isParenthesized);
  auto *sum = llvm::cast<ast::AxisCallExpr>(product->rhs);
  EXPECT_EQ(sources.getText(sum->range), "sum[k](X[i].y)");
  EXPECT_EQ(sources.getText(sum->arguments[0].value->range), "X[i].y");
  EXPECT_EQ(product->height, 4u);
}

TEST(Expr, ChainedComparisons) {
  EXPECT_EQ(errorsOfBody("\nlet x = a < b < c\n"), "2:15 E0115");
  EXPECT_EQ(errorsOfBody("\nlet x = a == b == c && d < e > f\n"), "2:16 E0115, 2:30 E0115");
  EXPECT_EQ(errorsOfBody("\nlet x = (a < b) == (c < d)\n"), "");
  EXPECT_EQ(Parsed("const X = a < b + 1 <= c < d\n").repaired(), "const X = a < b + 1 && b + 1 <= c && c < d\n");
}

TEST(Expr, MissingOperands) {
  EXPECT_EQ(errorsOfBody("\nlet x = \n"), "2:8 E0110");
  EXPECT_EQ(errorsOfBody("\nlet x = a *\n"), "2:12 E0110");
  EXPECT_EQ(errorsOfBody("\nlet x = f(a,)\n"), "2:13 E0110");
  EXPECT_EQ(errorsOfBody("\nlet x = ()\n"), "2:10 E0110");
  EXPECT_EQ(errorsOfBody("\nlet x = X[i,]\n"), "2:13 E0110");
  EXPECT_EQ(errorsOfBody("\nlet x = a.\nlet y = 1\n"), "2:11 E0101");
  EXPECT_EQ(errorsOfBody("\nlet x = a.(b)\n"), "2:11 E0101");
}

TEST(Expr, BracketErrors) {
  EXPECT_EQ(errorsOfBody("\nlet x = X[i, j = 0]\n"), "2:10 E0129");
  EXPECT_EQ(errorsOfBody("\nlet x = sum[1](y)\n"), "2:13 E0130");
  EXPECT_EQ(errorsOfBody("\nlet x = sum[i = 1](y)\n"), "2:17 E0130");
  EXPECT_EQ(errorsOfBody("\nlet x = sum[](y)\n"), "2:12 E0130");
  EXPECT_EQ(errorsOfBody("\nlet x = X[i where i < 3]\n"), "2:13 E0131");
  EXPECT_EQ(errorsOfBody("\nlet x = X[i -> j]\n"), "2:13 E0131");
  EXPECT_EQ(errorsOfBody("\nlet x = sum[i else 0](y)\n"), "2:15 E0132");
  EXPECT_EQ(errorsOfBody("\nlet x = topk[i -> 1](y)\n"), "2:19 E0140");
}

TEST(Expr, CallErrors) {
  EXPECT_EQ(errorsOfBody("\nlet x = 2(a)\n"), "2:9 E0133");
  EXPECT_EQ(errorsOfBody("\nlet x = (f)(a)\n"), "2:9 E0133");
  EXPECT_EQ(errorsOfBody("\nlet x = a.b[k](c)\n"), "2:9 E0133");
  EXPECT_EQ(errorsOfBody("\nlet x = print(\"a\")\n"), "2:9 E0134");
  EXPECT_EQ(errorsOfBody("\nlet x = \"a\"\n"), "2:9 E0126");
  EXPECT_EQ(errorsOfBody("\nlet x = f(\"a\")\n"), "2:11 E0126");
  EXPECT_EQ(errorsOfBody("\nlet x = auto\n"), "2:9 E0127");
}

TEST(Expr, IfErrors) {
  EXPECT_EQ(errorsOfBody("\nlet x = if a { 1 }\n"), "2:9 E0120");
  EXPECT_EQ(errorsOfBody("\nlet x = if a { 1 } else { }\n"), "2:27 E0119");
  EXPECT_EQ(errorsOfBody("\nlet x = if a { 1; 2 } else { 3 }\n"), "2:16 E0118");
  EXPECT_EQ(errorsOfBody("\nlet x = if a = b { 1 } else { 2 }\n"), "2:14 E0139");
}

TEST(Expr, OperatorsOfOtherLanguages) {
  EXPECT_EQ(errorsOfBody("\nx++\n"), "2:2 E0141");
  EXPECT_EQ(errorsOfBody("\nx--\n"), "2:2 E0141");
  EXPECT_EQ(errorsOfBody("\nx %= 3\n"), "2:3 E0141");
  EXPECT_EQ(errorsOfBody("\nx <<= 3\n"), "2:3 E0141");
  EXPECT_EQ(errorsOfBody("\nx >>= 3\n"), "2:3 E0141");
  EXPECT_EQ(errorsOfBody("\nlet y = x - -x\n"), "");
}

TEST(Expr, DeepNesting) {
  auto parens = [](size_t n) { return "const X = " + std::string(n, '(') + "1" + std::string(n, ')') + "\n"; };
  EXPECT_TRUE(Parsed(parens(maxNestingDepth - 1)).codes().empty());
  EXPECT_EQ(Parsed(parens(maxNestingDepth)).codes(), std::vector<std::string>{"E0135"});
  EXPECT_EQ(Parsed(parens(100000)).codes(), std::vector<std::string>{"E0135"});
  EXPECT_EQ(Parsed("const X = " + std::string(100000, '-') + "1\n").codes(), std::vector<std::string>{"E0135"});
  EXPECT_EQ(Parsed("const X = " + std::string(100000, '(')).codes(), std::vector<std::string>{"E0135"});
  EXPECT_EQ(Parsed("const X = " + std::string(100000, '[')).codes(), std::vector<std::string>{"E0110"});
  EXPECT_EQ(Parsed("const X = a" + std::string(100000, '[')).codes(), std::vector<std::string>{"E0110"});
}

TEST(Expr, LongChains) {
  auto chain = [](llvm::StringRef first, llvm::StringRef link, size_t n) {
    std::string result = ("const X = " + first).str();
    for (size_t i = 0; i < n; ++i)
      result += link;
    return result + "\n";
  };
  EXPECT_TRUE(Parsed(chain("1", " + 1", maxNestingDepth)).codes().empty());
  EXPECT_EQ(Parsed(chain("1", " + 1", maxNestingDepth + 1)).codes(), std::vector<std::string>{"E0135"});
  EXPECT_EQ(Parsed(chain("a", ".b", 100000)).codes(), std::vector<std::string>{"E0135"});
  EXPECT_EQ(Parsed(chain("a", "[0]", 100000)).codes(), std::vector<std::string>{"E0135"});
  EXPECT_EQ(Parsed(chain("if a { 1 }", " else if a { 1 }", 100000)).codes(), std::vector<std::string>{"E0135"});
}
