// Conversions of element types: exact constants into types, operands into the type that they meet in, and stores.
#include "Analyzer.h"
#include "Promotion.h"
#include "llvm/ADT/APSInt.h"

using namespace tilec;
using namespace tilec::sema;

std::string Analyzer::quote(SourceRange range) const {
  constexpr size_t longest = 48;
  llvm::StringRef source = text(range);
  if (source.empty() || source.size() > longest || source.contains('\n'))
    return "this value";
  return ("`" + source + "`").str();
}

Expr *Analyzer::castTo(Expr *expr, ScalarKind element, SourceRange range) {
  if (expr->type.element == element)
    return expr;
  auto *constant = llvm::dyn_cast<Constant>(expr);
  if (constant && !isFloat(constant->type.element))
    return makeConstant(context, range, element,
                        constant->type.element == ScalarKind::Bool ? Number::integer(constant->integer, false)
                                                                   : getNumber(constant));
  return context.create<Cast>(range, element, expr);
}

/// Whether a float type holds an integer exactly.
static bool isExactIn(const Number &number, ScalarKind element) {
  llvm::APSInt back(256, /*isUnsigned=*/false);
  bool isExact = false;
  number.toFloat(element).convertToInteger(back, llvm::APFloat::rmTowardZero, &isExact);
  return isExact && Number::compare(BinaryOp::Equal, Number::integer(back, true), number);
}

/// An exact constant in the type that it meets; reports what does not fit.
Expr *Analyzer::literalTo(const Value &value, ScalarKind element) {
  const Number &number = *value.number;
  llvm::StringRef name = getSpelling(element);
  if (element == ScalarKind::Bool) {
    report(value.range, diag::err_number_as_bool) << quote(value.range);
    return nullptr;
  }
  if (isFloat(element)) {
    llvm::APFloat rounded = number.toFloat(element);
    bool overflows = number.kind() <= Number::Kind::Real && rounded.isInfinity();
    if (overflows || (number.isInteger() && !isExactIn(number, element))) {
      report(value.range, diag::err_constant_does_not_fit) << number.str() << name;
      return nullptr;
    }
    return makeConstant(context, value.range, element, number);
  }
  if (!number.isInteger()) {
    report(value.range, diag::err_real_beside_integer) << quote(value.range) << name;
    return nullptr;
  }
  if (!number.fits(element)) {
    report(value.range, diag::err_constant_does_not_fit) << number.str() << name;
    return nullptr;
  }
  return makeConstant(context, value.range, element, number);
}

Expr *Analyzer::materialize(const Value &value) {
  if (value.isError)
    return nullptr;
  if (value.isTuple()) {
    report(value.range, diag::err_tuple_here);
    return nullptr;
  }
  return value.number ? literalTo(value, value.element()) : value.expr;
}

Expr *Analyzer::toElement(const Value &value, ScalarKind element) {
  if (value.isError)
    return nullptr;
  return value.number ? literalTo(value, element) : castTo(value.expr, element, value.range);
}

Expr *Analyzer::convertTo(const Value &value, ScalarKind element) {
  if (value.isError)
    return nullptr;
  if (value.isTuple()) {
    report(value.range, diag::err_tuple_here);
    return nullptr;
  }
  if (value.number)
    return literalTo(value, element);
  ScalarKind from = value.element();
  if (convertsImplicitly(element, from) || (isInteger(from) && getBitWidth(from) == 64 && isSigned(from) &&
                                            isInteger(element) && getBitWidth(element) == 64 && isSigned(element)))
    return castTo(value.expr, element, value.range);
  std::string before = (getSpelling(element) + "(").str(), after = ")";
  if (from == ScalarKind::Bool) {
    before = "select(";
    after = ", 1, 0)";
  } else if (element == ScalarKind::Bool) {
    before = "";
    after = " != 0";
  }
  llvm::StringRef written = text(value.range);
  bool isShort = quote(value.range).front() == '`';
  report(value.range, diag::err_needs_cast)
      << quote(value.range) << getSpelling(from) << getSpelling(element)
      << before + (isShort ? written : llvm::StringRef("x")).str() + after
      << FixIt::insertion(value.range.begin, before) << FixIt::insertion(value.range.end, after);
  return nullptr;
}

/// A subscript, bound or count: any integer whose values index holds.
Expr *Analyzer::toIndex(const Value &value) {
  if (value.isError)
    return nullptr;
  if (!value.isTuple() && !isInteger(value.element())) {
    report(value.range, diag::err_expected_integer) << quote(value.range) << value.type.str();
    return nullptr;
  }
  return convertTo(value, ScalarKind::Index);
}

std::optional<ScalarKind> Analyzer::meetTwo(const Value &a, const Value &b, bool keeping) const {
  auto meetTypes = keeping ? meetKeeping : meetInArithmetic;
  if (a.number && b.number) {
    if (isFloat(a.element()) != isFloat(b.element()))
      return isFloat(a.element()) ? a.element() : b.element();
    if (a.element() == b.element() || a.isDeclared == b.isDeclared)
      return meetTypes(a.element(), b.element());
    return a.isDeclared ? a.element() : b.element();
  }
  if (!a.number && !b.number)
    return meetTypes(a.element(), b.element());
  const Value &typed = a.number ? b : a;
  const Number &number = a.number ? *a.number : *b.number;
  ScalarKind own = typed.element();
  ScalarKind promoted = own == ScalarKind::Bool ? own : promote(own);
  if (!keeping)
    return promoted;
  // A constant beyond the type meets it after promotion.
  bool beyond = isInteger(own) && number.isInteger() && !number.fits(own);
  return beyond ? promoted : own;
}

void Analyzer::reportNoMeeting(const Value &a, const Value &b) {
  const Value *integer = isInteger(a.element()) && isFloat(b.element()) ? &a : nullptr;
  if (isInteger(b.element()) && isFloat(a.element()))
    integer = &b;
  const Value &converted = integer ? *integer : b;
  ScalarKind other = (&converted == &a ? b : a).element();
  ScalarKind target = other == ScalarKind::Bool ? ScalarKind::Bool : promote(other);
  bool isShort = quote(converted.range).front() == '`';
  std::string before = (getSpelling(target) + "(").str();
  DiagnosticBuilder builder = report(SourceRange(a.range, b.range), diag::err_no_common_type)
                              << quote(a.range) << getSpelling(a.element()) << quote(b.range)
                              << getSpelling(b.element())
                              << before + (isShort ? text(converted.range) : llvm::StringRef("x")).str() + ")";
  if (integer)
    builder << FixIt::insertion(integer->range.begin, before) << FixIt::insertion(integer->range.end, ")");
}

std::optional<ScalarKind> Analyzer::meet(llvm::ArrayRef<Value> values, bool keeping, SourceRange range) {
  // The typed operands decide; exact constants follow.
  const Value *first = nullptr;
  Value met;
  for (bool exact : {false, true}) {
    for (const Value &value : values) {
      if (value.isError)
        return std::nullopt;
      if (value.isTuple()) {
        report(value.range, diag::err_tuple_here);
        return std::nullopt;
      }
      if (value.number.has_value() != exact)
        continue;
      if (!first) {
        first = &value;
        met = value;
        if (!keeping && value.element() != ScalarKind::Bool && !value.number)
          met.type.element = values.size() == 1 ? promote(value.element()) : value.element();
        continue;
      }
      std::optional<ScalarKind> next = meetTwo(met, value, keeping);
      if (!next) {
        Value shown = *first;
        shown.type.element = met.element();
        reportNoMeeting(shown, value);
        return std::nullopt;
      }
      bool stillExact = met.number && value.number;
      met.type.element = *next;
      if (!stillExact)
        met.number.reset();
      else
        met.isDeclared |= value.isDeclared;
    }
  }
  return met.element();
}
