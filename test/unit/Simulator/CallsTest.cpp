// Calls of PTX functions by lanes that have diverged.
#include "PtxRunner.h"

using namespace tilec::simulator;

static const char *functions = R"(
.func (.param .b32 result) twice(.param .b32 value)
{
  .reg .b32 %x;
  .reg .pred %big;
  ld.param.b32 %x, [value];
  add.u32 %x, %x, %x;
  st.param.b32 [result], %x;
  setp.gt.u32 %big, %x, 100;
  @!%big ret;
  st.param.b32 [result], 100;
  ret;
}
.func (.param .b32 result) fourfold(.param .b32 value)
{
  .reg .b32 %x;
  .param .b32 argument;
  .param .b32 answer;
  ld.param.b32 %x, [value];
  st.param.b32 [argument], %x;
  call.uni (answer), twice, (argument);
  ld.param.b32 %x, [answer];
  st.param.b32 [argument], %x;
  call.uni (answer), twice, (argument);
  ld.param.b32 %x, [answer];
  st.param.b32 [result], %x;
  ret;
}
)";

static const char *body = R"(
.param .b32 argument;
.param .b32 answer;
and.b32 %r0, %t, 1;
setp.ne.u32 %p0, %r0, 0;
rem.u32 %r0, %t, 3;
setp.eq.u32 %p1, %r0, 0;
st.param.b32 [argument], %t;
st.param.b32 [answer], 7;
@%p0 bra ODD;
call (answer), fourfold, (argument);
bra JOIN;
ODD:
@!%p1 call (answer), twice, (argument);
JOIN:
ld.param.b32 %r0, [answer];
cvt.u64.u32 %out, %r0;
)";

TEST(Calls, LanesCallFromDifferentPlacesAndUnderPredicates) {
  PtxResult result = runPtx(body, 64, {}, functions);
  ASSERT_EQ(result.error + result.faults, "");
  for (unsigned t = 0; t < 64; ++t) {
    unsigned twice = std::min(2 * t, 100u), fourfold = std::min(2 * twice, 100u);
    EXPECT_EQ(result.values[t], t % 2 == 0 ? fourfold : t % 3 == 0 ? 7 : twice) << t;
  }
}
