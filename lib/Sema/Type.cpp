// Properties of element types, and the text of types.
#include "tilec/Sema/Type.h"
#include "llvm/Support/ErrorHandling.h"

using namespace tilec;
using namespace tilec::sema;

bool sema::isFloat(ScalarKind kind) {
  switch (kind) {
  case ScalarKind::F16:
  case ScalarKind::BF16:
  case ScalarKind::F32:
  case ScalarKind::F64:
  case ScalarKind::F8E4M3:
  case ScalarKind::F8E5M2:
  case ScalarKind::TF32:
    return true;
  default:
    return false;
  }
}

bool sema::isInteger(ScalarKind kind) { return kind != ScalarKind::Bool && !isFloat(kind); }

bool sema::isSigned(ScalarKind kind) {
  switch (kind) {
  case ScalarKind::I4:
  case ScalarKind::I8:
  case ScalarKind::I16:
  case ScalarKind::I32:
  case ScalarKind::I64:
  case ScalarKind::Index:
    return true;
  default:
    return false;
  }
}

unsigned sema::getBitWidth(ScalarKind kind) {
  switch (kind) {
  case ScalarKind::Bool:
    return 1;
  case ScalarKind::U2:
    return 2;
  case ScalarKind::I4:
  case ScalarKind::U4:
    return 4;
  case ScalarKind::I8:
  case ScalarKind::U8:
  case ScalarKind::F8E4M3:
  case ScalarKind::F8E5M2:
    return 8;
  case ScalarKind::I16:
  case ScalarKind::U16:
  case ScalarKind::F16:
  case ScalarKind::BF16:
    return 16;
  case ScalarKind::I32:
  case ScalarKind::U32:
  case ScalarKind::F32:
  case ScalarKind::TF32:
    return 32;
  case ScalarKind::I64:
  case ScalarKind::U64:
  case ScalarKind::F64:
  case ScalarKind::Index:
    return 64;
  }
  llvm_unreachable("not a scalar type");
}

const llvm::fltSemantics &sema::getFloatSemantics(ScalarKind kind) {
  switch (kind) {
  case ScalarKind::F16:
    return llvm::APFloat::IEEEhalf();
  case ScalarKind::BF16:
    return llvm::APFloat::BFloat();
  case ScalarKind::F32:
    return llvm::APFloat::IEEEsingle();
  case ScalarKind::F64:
    return llvm::APFloat::IEEEdouble();
  case ScalarKind::F8E4M3:
    return llvm::APFloat::Float8E4M3FN();
  case ScalarKind::F8E5M2:
    return llvm::APFloat::Float8E5M2();
  case ScalarKind::TF32:
    return llvm::APFloat::FloatTF32();
  default:
    llvm_unreachable("not a floating-point type");
  }
}

/// The range of a float type: the smallest subnormal and the greatest binade as powers of two.
static bool floatContainsFloat(ScalarKind to, ScalarKind from) {
  const llvm::fltSemantics &a = getFloatSemantics(to);
  const llvm::fltSemantics &b = getFloatSemantics(from);
  int precisionTo = llvm::APFloat::semanticsPrecision(a);
  int precisionFrom = llvm::APFloat::semanticsPrecision(b);
  int leastTo = llvm::APFloat::semanticsMinExponent(a) - precisionTo;
  int leastFrom = llvm::APFloat::semanticsMinExponent(b) - precisionFrom;
  return precisionTo >= precisionFrom && leastTo <= leastFrom &&
         llvm::APFloat::semanticsMaxExponent(a) >= llvm::APFloat::semanticsMaxExponent(b);
}

bool sema::containsAll(ScalarKind to, ScalarKind from) {
  if (to == from)
    return true;
  if (to == ScalarKind::Bool || from == ScalarKind::Bool)
    return false;
  if (isFloat(from))
    return isFloat(to) && floatContainsFloat(to, from);
  unsigned valueBits = getBitWidth(from) - (isSigned(from) ? 1 : 0);
  if (isFloat(to)) {
    // The integers up to 2^p are exact in a float with p bits of precision; the range must hold them too.
    const llvm::fltSemantics &semantics = getFloatSemantics(to);
    return valueBits <= llvm::APFloat::semanticsPrecision(semantics) &&
           static_cast<int>(valueBits) <= llvm::APFloat::semanticsMaxExponent(semantics);
  }
  if (isSigned(from) && !isSigned(to))
    return false;
  return valueBits <= getBitWidth(to) - (isSigned(to) ? 1 : 0);
}

std::string Type::str() const {
  std::string text = getSpelling(element).str();
  if (axes.empty())
    return text;
  for (size_t i = 0; i < axes.size(); ++i)
    text += (i == 0 ? "[" : ", ") + axes[i]->name;
  return text + "]";
}
