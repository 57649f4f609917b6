// What is proved: extents by linear arithmetic, injectivity of stores, and the absence of races.
#include "SemaTestSupport.h"
#include "gtest/gtest.h"

using namespace tilec;
using namespace tilec::test;

static std::string withBody(const std::string &head, const std::string &body) {
  return "kernel k(" + head + " {\n" + body + "\n}\n";
}

TEST(SemaExtents, FollowFromConstantsContractsAndMinima) {
  struct Extent {
    std::string head;
    std::string axis;
    std::string dump;
  };
  const Extent extents[] = {
      {"A: f32[M, D], out C: f32[M]) where D <= 256", "axis d = 0..D", "axis d<256>"},
      {"A: f32[M, D], out C: f32[M]) where D < 256", "axis d = 0..D", "axis d<255>"},
      {"A: f32[M, D], out C: f32[M], E: dim) where D == 2 * E, E <= 64", "axis d = 0..D", "axis d<128>"},
      {"A: f32[M, D], out C: f32[M])", "axis d = m.start..min(m.start + 64, D)", "axis d<64>"},
      {"A: f32[M, D], out C: f32[M])", "axis d = max(m.start, 3)..m.end", "axis d<16>"},
      {"A: f32[M, D], out C: f32[M], E: dim) where D <= E, E <= 32", "axis d = 1..D", "axis d<31>"},
      {"A: f32[M, H], out C: f32[M], HK: dim) where H / HK <= 16", "axis d = 0..H / HK", "axis d<16>"},
      {"A: f32[M, D], out C: f32[M]) where D <= 100", "axis d = 0..ceil_div(D, 8)", "axis d<13>"},
      {"A: f32[M, D], out C: f32[M])", "axis d = 0..D % 8", "axis d<7>"},
      {"A: f32[M, D], out C: f32[M])", "let lo = m.start * 2\n axis d = lo..lo + 8", "axis d<8>"},
      {"A: f32[M, D], out C: f32[M])", "axis d = m.range", "axis d<16>"},
  };
  for (const Extent &extent : extents) {
    Analysis analysis(withBody(extent.head, "parallel m in tiles(M, 16) {\n" + extent.axis + "\nC[m] = 0\n}"));
    EXPECT_NE(analysis.dump("k").find(extent.dump), std::string::npos) << extent.axis << "\n"
                                                                       << analysis.all() << analysis.dump("k");
  }
  for (const char *axis : {"axis d = 0..D", "axis d = m.start..D", "axis d = 0..D * D", "axis d = 0..max(D, 4)"}) {
    Analysis analysis(withBody("A: f32[M, D], out C: f32[M])",
                               std::string("parallel m in tiles(M, 16) {\n") + axis + "\nC[m] = 0\n}"));
    EXPECT_TRUE(analysis.find(diag::err_unbounded_extent)) << axis;
  }
}

TEST(SemaInjectivity, Accepted) {
  const std::string stores[] = {
      "parallel i in 0..N { C[i] = 0 }",
      "parallel i in 0..N { C[N - 1 - i] = 0 }",
      "parallel i in 0..N { C[i * 3 + 1] = 0 }",
      "parallel i in tiles(N, 64) { C[i + n] = 0 }",
      "parallel i in tiles(N, 64) { C[i.index] = 0 }",
      "parallel i in tiles(N, 64) { axis c = 0..64\n C[i.start + c] = 0 }",
      "parallel i in tiles(N, 64) { axis c = i.range\n C[c] = 0 }",
      "parallel i in 0..N, j in 0..8 { C[i * 8 + j] = 0 }",
      "parallel i in 0..N, j in tiles(M, 8) { C[i * M + j] = 0 }",
      "parallel i in 0..N, j in 0..M { C[j * N + i] = 0 }",
      "parallel g in 0..M, r in 0..N / M { C[g * (N / M) + r] = 0 }",
      "parallel i in 0..4, j in 0..4, l in 0..N { C[l * 16 + j * 4 + i] = 0 }",
      "parallel b in 0..ceil_div(N, 1024) { for m in tiles(b * 1024..min(N, b * 1024 + 1024), 64) { C[m] = 0 } }",
      "parallel i in 0..N, j in 0..M { if j == 0 { C[i] = 0 } }",
      "parallel i in 0..N, j in tiles(M, 8) { if j.index == 3 && n > 0 { C[i] = 0 } }",
      "parallel i in tiles(N, 64) { for j in 0..8 { C[i] = f32(j) } }",
      "parallel i in 0..N, j in tiles(M, 8) { C2[i, j] = 0 }",
      "parallel i in 0..N { C2[i, I[i]] = 0 }",
      "parallel i in 0..N { for j in 0..8 { C[i * 8 + j] = 0 } }",
      "parallel i in tiles(N, 64) { unique C[i / 2] = 0 }",
      "parallel i in 0..N, j in 0..ceil_div(M, 4) { C[i * ceil_div(M, 4) + j] = 0 }",
      "parallel i in 0..N, j in tiles(M, 4) { C[i * ceil_div(M, 4) + j.index] = 0 }",
  };
  for (const std::string &store : stores) {
    Analysis analysis(withBody("I: i32[N], out C: f32[N], out C2: f32[N, M], n: i32)", store));
    EXPECT_EQ(analysis.all(), "") << store;
  }
}

TEST(SemaInjectivity, Rejected) {
  const std::string stores[] = {
      "parallel i in 0..N { C[0] = 0 }",
      "parallel i in tiles(N, 64) { C[i / 2] = 0 }",
      "parallel i in tiles(N, 64) { C[i % 8] = 0 }",
      "parallel i in 0..N { C[I[i]] = 0 }",
      "parallel i in 0..N, j in 0..9 { C[i * 8 + j] = 0 }",
      "parallel i in 0..N, j in 0..M { C[i + j] = 0 }",
      "parallel i in 0..N, j in 0..M { C[i * n + j] = 0 }",
      "parallel i in 0..N { for j in 0..8 { C[i + j] = 0 } }",
      "parallel i in 0..N { C[i * M] = 0 }",
      "parallel i in 0..N, j in 0..M { if j > 0 { C[i] = 0 } }",
      "parallel i in tiles(N, 64) { axis c = 0..65\n C[i.start + c] = 0 }",
      "parallel i in 0..N { var j = 0\n for l in 0..4 { C[j] = 0\n j += 1 } }",
      "parallel i in 0..N, j in tiles(M, 8) { C[i * i + j] = 0 }",
  };
  for (const std::string &store : stores) {
    Analysis analysis(withBody("I: i32[N], out C: f32[N], out C2: f32[N, M], n: i32)", store));
    EXPECT_TRUE(analysis.find(diag::err_not_injective) || analysis.find(diag::err_parallel_not_in_store))
        << store << "\n"
        << analysis.all();
  }
}

TEST(SemaRaces, DecidedByOwnElements) {
  struct Race {
    std::string body;
    std::optional<diag::Kind> kind;
  };
  const Race races[] = {
      {"parallel i in tiles(N, 64) { Y[i] = Y[i] + 1 }", std::nullopt},
      {"parallel i in 0..N { axis j = 0..8\n Z[i, j] = Z[i, j + 1] }", std::nullopt},
      {"parallel i in 0..N { axis j = 0..8\n Z[i, j] = Z[i, idx[i]] }", std::nullopt},
      {"parallel i in 0..N { let y = Y[0]\n atomic Y[i] += y }", diag::warn_undecided_race},
      {"parallel i in tiles(N, 64) { let y = Y[idx[i]]\n Y[i] = y }", diag::warn_undecided_race},
      {"parallel i in tiles(N, 64) { Y[i] = Y[i + 1] }", diag::err_race},
      {"parallel i in 0..N { Y[i] += Y[i - 1] }", diag::err_race},
      {"parallel i in 0..N { Y[2 * i] = Y[2 * i + 1] }", diag::warn_undecided_race},
      {"parallel i in 0..N { Z[0, i] = Z[1, i + 1] }", std::nullopt},
  };
  for (const Race &race : races) {
    Analysis analysis(withBody("inout Y: f32[N], inout Z: f32[N, M], idx: i32[N])", race.body));
    if (race.kind)
      EXPECT_TRUE(analysis.find(*race.kind)) << race.body << "\n" << analysis.all();
    else
      EXPECT_EQ(analysis.all(), "") << race.body;
  }
}

TEST(SemaContracts, GiveBoundsAndDivisors) {
  Analysis analysis("kernel k(A: f32[M, K], out C: f32[M], n: i32) where K % 16 == 0, K <= 4096, M >= 8, n < 5 {\n"
                    "parallel m in tiles(M, 16) { C[m] = 0 } }");
  std::string dump = analysis.dump("k");
  EXPECT_NE(dump.find("dim K: index min 0 max 4096 divisible 16"), std::string::npos) << dump << analysis.all();
  EXPECT_NE(dump.find("dim M: index min 8\n"), std::string::npos) << dump;
  EXPECT_NE(dump.find("scalar n: i32 max 4"), std::string::npos) << dump;
  EXPECT_NE(dump.find("contract [\"eq\",[\"rem\",\"K\",16],0]"), std::string::npos) << dump;
}

/// Programs whose naive analysis takes exponential time or space.
TEST(SemaLimits, PathologicalProgramsEnd) {
  std::string doubled = "kernel k(out C: f32[M]) { parallel m in tiles(M, 16) {\nlet a0 = m.start\n";
  std::string divided = "m.start", constants, functions = "fn g0(x: f32) -> f32 { x }\n";
  for (int i = 1; i <= 60; ++i) {
    std::string n = std::to_string(i), p = std::to_string(i - 1);
    doubled += "let a" + n + " = a" + p + " + a" + p + "\n";
    divided = "(" + divided + " / 2)";
    constants += "const C" + n + " = " + (i == 1 ? std::string("3") : "C" + p + " * C" + p) + "\n";
    functions += "fn g" + n + "(x: f32) -> f32 { g" + p + "(x) + g" + p + "(x) }\n";
  }
  Analysis lets(doubled + "axis d = a40..a40 + 4\nC[m] = 0\n} }");
  EXPECT_EQ(lets.all(), "");
  Analysis divisions("kernel k(out C: f32[M]) { parallel m in tiles(M, 16) {\naxis d = " + divided + ".." + divided +
                     " + 4\nC[m] = 0\n} }");
  EXPECT_EQ(divisions.all(), "");
  Analysis squares(constants + "kernel k(out C: f32[1]) {}");
  EXPECT_TRUE(squares.find(diag::err_constant_operation)) << squares.all();
  Analysis calls(functions + "kernel k(out C: f32[M]) { parallel m in tiles(M, 16) { C[m] = g60(1.0) } }");
  EXPECT_TRUE(calls.find(diag::err_too_many_calls)) << calls.all();
}
