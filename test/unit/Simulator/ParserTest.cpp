// The parser: what it makes of names, scopes and numbers, and its errors.
#include "tilec/Simulator/Ptx.h"
#include "gtest/gtest.h"

using namespace tilec::simulator;

static PtxModule parsed(const std::string &text) {
  auto module = parsePtx(text);
  if (module)
    return std::move(*module);
  ADD_FAILURE() << llvm::toString(module.takeError());
  return {};
}

static std::string errorOf(const std::string &text) {
  auto module = parsePtx(text);
  return module ? "" : llvm::toString(module.takeError());
}

static std::string kernel(const std::string &body) { return ".visible .entry k()\n{\n" + body + "\n}\n"; }

TEST(Parser, ParametersAreLaidOut) {
  PtxModule module = parsed(".version 8.6\n.target sm_80\n.entry k(.param .u32 a, .param .align 64 .b8 b[128],\n"
                            ".param .u64 .ptr .global .align 1 c)\n.reqntid 288\n{\nret;\n}\n");
  ASSERT_EQ(module.kernels.size(), 1u);
  const PtxKernel &k = module.kernels[0];
  ASSERT_EQ(k.parameters.size(), 3u);
  EXPECT_EQ(k.parameters[1].offset, 64u);
  EXPECT_EQ(k.parameters[2].offset, 192u);
  EXPECT_EQ(k.parameterBytes, 200u);
  EXPECT_EQ(k.requiredThreads[0], 288u);
  EXPECT_EQ(module.target, "sm_80");
}

TEST(Parser, InnerScopesHideNames) {
  PtxModule module =
      parsed(kernel(".reg .pred p;\n.reg .b32 %r<3>;\nL:\n{\n.reg .pred p;\nL: @p bra L;\n}\n@!p bra L;"));
  const auto &code = module.kernels[0].instructions;
  ASSERT_EQ(code.size(), 2u);
  EXPECT_EQ(code[0].operands[0].index, 0u);
  EXPECT_NE(code[0].guard, code[1].guard);
  EXPECT_TRUE(code[1].guardNegated);
  EXPECT_EQ(code[1].operands[0].index, 0u);
  EXPECT_EQ(module.kernels[0].registers.size(), 5u);
}

TEST(Parser, OperandsOfEveryForm) {
  PtxModule module = parsed(kernel(".reg .b32 %r<4>;\n.reg .b64 %rd<2>;\n.reg .pred %p<2>;\n"
                                   "mov.b32 {%r0, _}, %rd0;\nld.global.v2.b32 {%r0, %r1}, [%rd1+-8];\n"
                                   "elect.sync %r0|%p1, -1;\nmov.f32 %r1, 0fBF800000;\nmov.f64 %rd0, 1.5e+1;\n"
                                   "mov.u32 %r2, %tid.x;\n"));
  const auto &code = module.kernels[0].instructions;
  EXPECT_TRUE(code[0].operands[0].elements[1].is(Operand::Kind::Sink));
  EXPECT_EQ(int64_t(code[1].operands[1].elements[0].bits), -8);
  EXPECT_TRUE(code[2].operands[0].is(Operand::Kind::Pair));
  EXPECT_EQ(int64_t(code[2].operands[1].bits), -1);
  EXPECT_EQ(code[3].operands[1].bits, 0xBF800000u);
  EXPECT_EQ(code[4].operands[1].bits, 0x402E000000000000u);
  EXPECT_EQ(code[5].operands[1].name, "%tid.x");
  EXPECT_EQ(code[1].opcode(), "ld.global.v2.b32");
  EXPECT_EQ(code[0].line, 6u);
}

TEST(Parser, ConstantsAndLocations) {
  PtxModule module =
      parsed(".const .align 8 .b8 table[4] = {1, 2, 255};\n.file 1 \"a.tile\"\n" + kernel(".loc 1 7 3\nret;"));
  EXPECT_EQ(module.variables[0].initializer, (std::vector<uint8_t>{1, 2, 255, 0}));
  EXPECT_EQ(module.kernels[0].instructions[0].sourceLine, 7u);
  EXPECT_EQ(module.files[1], "a.tile");
}

TEST(Parser, CallsBecomeTheFunction) {
  PtxModule module =
      parsed(".func (.param .b32 r) f(.param .b32 p);\n" +
             kernel(".reg .b32 %r<2>;\nSTART:\n{\n.param .b32 a;\n.param .b32 b;\n"
                    "st.param.b32 [a], %r0;\ncall.uni (b), f, (a);\nld.param.b32 %r1, [b];\n}\nbra START;") +
             ".func (.param .b32 r) f(.param .b32 p)\n{\n.reg .b32 %x;\n.reg .pred %q;\n"
             "ld.param.b32 %x, [p];\nst.param.b32 [r], %x;\n@%q ret;\nst.param.b32 [r], 0;\nret;\n}\n");
  const PtxKernel &k = module.kernels[0];
  ASSERT_EQ(k.instructions.size(), 8u);
  EXPECT_EQ(k.instructions[1].operands[1].elements[0].index, k.instructions[0].operands[0].elements[0].index);
  EXPECT_EQ(k.instructions[3].name, "bra");
  EXPECT_EQ(k.instructions[3].operands[0].index, 6u);
  EXPECT_EQ(k.instructions[3].guard, 3);
  EXPECT_EQ(k.instructions[7].operands[0].index, 0u);
  EXPECT_EQ(k.registers.size(), 4u);
}

TEST(Parser, ErrorsNameTheirLine) {
  EXPECT_EQ(errorOf(kernel("bra NOWHERE;")), "line 3: `NOWHERE` is not declared");
  EXPECT_EQ(errorOf(kernel("add.s32 %r1, %r2")), "line 4: expected `;`, found `}`");
  EXPECT_EQ(errorOf(kernel(".reg .b256 %r;")), "line 3: registers of type `.b256`");
  EXPECT_EQ(errorOf(".texref t;\n"), "line 1: the simulator does not know the directive `.texref`");
  EXPECT_EQ(errorOf(kernel("call f, ();")), "line 3: `f` is not defined");
  EXPECT_EQ(errorOf(".func f()\n{\ncall f, ();\n}\n"), "line 3: `f` calls itself");
  EXPECT_EQ(errorOf(kernel("@%q ret;")), "line 3: `%q` is not a predicate");
  EXPECT_EQ(errorOf(".entry k() {"), "line 1: `{` without `}`");
}
