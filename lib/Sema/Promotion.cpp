// Rule 11: promotion and the meeting of types.
#include "Promotion.h"

using namespace tilec;
using namespace tilec::sema;

ScalarKind sema::promote(ScalarKind kind) {
  if (isFloat(kind))
    return kind == ScalarKind::F64 ? kind : ScalarKind::F32;
  if (isInteger(kind) && getBitWidth(kind) < 32)
    return ScalarKind::I32;
  return kind;
}

/// Candidates of a meeting, the smaller ones first.
static constexpr ScalarKind integersBySize[] = {ScalarKind::U2,  ScalarKind::U4,  ScalarKind::I4,  ScalarKind::U8,
                                                ScalarKind::I8,  ScalarKind::U16, ScalarKind::I16, ScalarKind::U32,
                                                ScalarKind::I32, ScalarKind::U64, ScalarKind::I64};
static constexpr ScalarKind floatsBySize[] = {ScalarKind::F8E4M3, ScalarKind::F8E5M2, ScalarKind::F16, ScalarKind::BF16,
                                              ScalarKind::TF32,   ScalarKind::F32,    ScalarKind::F64};

template <size_t N>
static std::optional<ScalarKind> smallestWithBoth(const ScalarKind (&kinds)[N], ScalarKind a, ScalarKind b) {
  for (ScalarKind kind : kinds)
    // tf32 exists for operands of dot only; other types do not meet in it.
    if ((kind != ScalarKind::TF32 || a == kind || b == kind) && containsAll(kind, a) && containsAll(kind, b))
      return kind;
  return std::nullopt;
}

static std::optional<ScalarKind> meetIntegers(ScalarKind a, ScalarKind b) {
  std::optional<ScalarKind> met = smallestWithBoth(integersBySize, a, b);
  bool hasIndex = a == ScalarKind::Index || b == ScalarKind::Index;
  return met && hasIndex ? ScalarKind::Index : met;
}

std::optional<ScalarKind> sema::meetKeeping(ScalarKind a, ScalarKind b) {
  if (a == b)
    return a;
  if (a == ScalarKind::Bool || b == ScalarKind::Bool)
    return std::nullopt;
  if (isInteger(a) && isInteger(b))
    return meetIntegers(a, b);
  if (isFloat(a) && isFloat(b))
    return smallestWithBoth(floatsBySize, a, b);
  // A meeting never makes a float wider than its float operand.
  ScalarKind floating = isFloat(a) ? a : b;
  ScalarKind integer = isFloat(a) ? b : a;
  return containsAll(floating, integer) ? std::optional(floating) : std::nullopt;
}

std::optional<ScalarKind> sema::meetInArithmetic(ScalarKind a, ScalarKind b) {
  if (a == ScalarKind::Bool || b == ScalarKind::Bool)
    return std::nullopt;
  // An integer beside a float is looked at before its promotion: i16 meets f32 as f32.
  if (isFloat(a) != isFloat(b))
    return meetKeeping(isFloat(a) ? promote(a) : a, isFloat(b) ? promote(b) : b);
  return meetKeeping(promote(a), promote(b));
}

bool sema::convertsImplicitly(ScalarKind to, ScalarKind from) {
  if (to == ScalarKind::TF32 || from == ScalarKind::TF32)
    return to == from || (from == ScalarKind::TF32 && containsAll(to, from));
  return containsAll(to, from);
}

ScalarKind sema::getAccumulator(ScalarKind kind) {
  if (isFloat(kind))
    return promote(kind);
  if (getBitWidth(kind) > 32)
    return kind;
  return isSigned(kind) || kind == ScalarKind::Bool ? ScalarKind::I32 : ScalarKind::U32;
}
