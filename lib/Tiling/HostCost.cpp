// Arithmetic on host expressions, and the lengths of axes as such.
#include "HostCost.h"

using namespace tilec;
using namespace tilec::sema;
using llvm::json::Array;

template <typename Fold> static HostExpr operation(llvm::StringRef op, HostExpr a, HostExpr b, Fold fold) {
  std::optional<int64_t> x = a.getAsInteger(), y = b.getAsInteger();
  if (x && y)
    return HostExpr(fold(*x, *y));
  return HostExpr(Array{op, std::move(a), std::move(b)});
}

HostExpr host::add(HostExpr a, HostExpr b) {
  if (a.getAsInteger() == 0)
    return b;
  if (b.getAsInteger() == 0)
    return a;
  return operation("add", std::move(a), std::move(b), [](int64_t x, int64_t y) { return x + y; });
}

HostExpr host::mul(HostExpr a, HostExpr b) {
  if (a.getAsInteger() == 1)
    return b;
  if (b.getAsInteger() == 1)
    return a;
  return operation("mul", std::move(a), std::move(b), [](int64_t x, int64_t y) { return x * y; });
}

HostExpr host::div(HostExpr a, HostExpr b) {
  return operation("div", std::move(a), std::move(b), [](int64_t x, int64_t y) { return x / y; });
}

HostExpr host::ceilDiv(HostExpr a, HostExpr b) {
  return operation("ceil_div", std::move(a), std::move(b), [](int64_t x, int64_t y) { return (x + y - 1) / y; });
}

HostExpr host::max(HostExpr a, HostExpr b) {
  return operation("max", std::move(a), std::move(b), [](int64_t x, int64_t y) { return std::max(x, y); });
}

HostExpr host::min(HostExpr a, HostExpr b) {
  return operation("min", std::move(a), std::move(b), [](int64_t x, int64_t y) { return std::min(x, y); });
}

HostExpr host::isNoMultiple(HostExpr a, int64_t b) {
  HostExpr rest = operation("rem", std::move(a), b, [](int64_t x, int64_t y) { return x % y; });
  return operation("ne", std::move(rest), 0, [](int64_t x, int64_t y) { return int64_t(x != y); });
}

HostExpr host::multiprocessors() { return "sm_count"; }

/// An upper bound of a scalar that the host can compute.
static std::optional<HostExpr> boundOf(const Expr *expr) {
  if (std::optional<HostExpr> host = toHostExpr(expr))
    return host;
  if (const auto *attribute = llvm::dyn_cast<AxisAttribute>(expr); attribute && attribute->axis->upper)
    return boundOf(attribute->axis->upper);
  if (const auto *ref = llvm::dyn_cast<VariableRef>(expr); ref && ref->variable->kind == VariableKind::Let)
    return boundOf(ref->variable->initial);
  if (const auto *value = llvm::dyn_cast<BlockValue>(expr))
    return boundOf(value->value);
  if (const auto *call = llvm::dyn_cast<Call>(expr); call && call->builtin == Builtin::Min)
    for (const Expr *argument : call->arguments)
      if (std::optional<HostExpr> bound = boundOf(argument))
        return bound;
  return std::nullopt;
}

static std::optional<HostExpr> lengthOf(const Expr *lower, const Expr *upper) {
  std::optional<HostExpr> low = toHostExpr(lower), high = boundOf(upper);
  if (!high)
    return std::nullopt;
  if (!low || low->getAsInteger() == 0)
    return high;
  return HostExpr(Array{"sub", std::move(*high), std::move(*low)});
}

std::optional<HostExpr> host::lengthOf(const Axis &axis) { return ::lengthOf(axis.lower, axis.upper); }

bool host::knowsLengthOf(const Axis &axis) { return toHostExpr(axis.lower) && toHostExpr(axis.upper); }

std::optional<HostExpr> host::lengthOf(const Binding &binding) { return ::lengthOf(binding.lower(), binding.upper()); }
