// Polynomials of expressions, the facts that come with their atoms, and contracts.
#include "Facts.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace tilec;
using namespace tilec::sema;

/// What the value of an expression may vary with.
struct Facts::Properties {
  /// A mutable variable, or an element of a written tensor.
  bool unknown = false;
  std::vector<unsigned> dependencies;
  std::string key;
};

unsigned Facts::intern(Atom atom, bool &isNew) {
  auto [it, inserted] = ids.try_emplace(atom.key, atoms.size());
  isNew = inserted;
  if (inserted)
    atoms.push_back(std::move(atom));
  return it->second;
}

void Facts::assumeNonPositive(Poly p) {
  if (p.isValid() && !p.isConstant() && factKeys.insert(p.key()).second)
    facts.push_back(std::move(p));
}

void Facts::describeRange(unsigned atom, const Expr *lower, const Expr *upper) {
  Poly self = Poly::atom(atom);
  for (const Poly &low : lowerForms(lower))
    assumeNonPositive(low - self);
  for (const Poly &high : upperForms(upper))
    assumeNonPositive(self + Poly(1) - high);
}

unsigned Facts::getVariable(const Variable *variable) {
  Atom atom;
  atom.key = "v" + std::to_string(variable->id);
  atom.variable = variable;
  atom.role = variable->kind == VariableKind::LoopIndex ? AtomRole::LoopIndex : AtomRole::Uniform;
  if (variable->kind == VariableKind::Var) {
    atom.key = "u" + std::to_string(numFresh++);
    atom.role = AtomRole::Unknown;
  }
  bool isNew;
  unsigned id = intern(std::move(atom), isNew);
  if (!isNew)
    return id;
  if (variable->kind == VariableKind::Dimension)
    assumeNonPositive(Poly() - Poly::atom(id));
  if (variable->kind == VariableKind::LoopIndex)
    describeRange(id, variable->lower, variable->upper);
  return id;
}

unsigned Facts::getPosition(const Axis *axis) {
  Atom atom;
  atom.key = "a" + std::to_string(axis->id);
  atom.axis = axis;
  atom.role = AtomRole::Position;
  bool isNew;
  unsigned id = intern(std::move(atom), isNew);
  if (!isNew || !axis->lower)
    return id;
  describeRange(id, axis->lower, axis->upper);
  if (axis->isTiles()) {
    Poly start = toPoly(axis->lower) + Poly(axis->extent) * Poly::atom(getTileIndex(axis));
    assumeNonPositive(start - Poly::atom(id));
    assumeNonPositive(Poly::atom(id) - start - Poly(axis->extent - 1));
  }
  return id;
}

unsigned Facts::getTileIndex(const Axis *axis) {
  Atom atom;
  atom.key = "t" + std::to_string(axis->id);
  atom.axis = axis;
  atom.role = AtomRole::TileIndex;
  bool isNew;
  unsigned id = intern(std::move(atom), isNew);
  if (!isNew)
    return id;
  assumeNonPositive(Poly() - Poly::atom(id));
  Poly lower = toPoly(axis->lower);
  for (const Poly &high : upperForms(axis->upper))
    assumeNonPositive(Poly(axis->extent) * Poly::atom(id) + Poly(1) - (high - lower));
  return id;
}

unsigned Facts::createOffset() {
  Atom atom;
  atom.key = "l" + std::to_string(numFresh++);
  atom.role = AtomRole::Position;
  bool isNew;
  return intern(std::move(atom), isNew);
}

void Facts::addDependencies(const Poly &p, Properties &result) {
  for (const auto &term : p.getTerms()) {
    for (unsigned id : term.first) {
      const Atom &atom = atoms[id];
      if (atom.role == AtomRole::Unknown)
        result.unknown = true;
      else if (atom.role == AtomRole::Derived)
        result.dependencies.insert(result.dependencies.end(), atom.dependencies.begin(), atom.dependencies.end());
      else if (atom.role != AtomRole::Uniform)
        result.dependencies.push_back(id);
    }
  }
}

static bool hasPoly(const Expr *expr) { return isInteger(expr->type.element); }

void Facts::properties(const Expr *expr, Properties &result) {
  if (hasPoly(expr)) {
    Poly p = toPoly(expr);
    addDependencies(p, result);
    result.key += "(" + p.key() + ")";
    return;
  }
  result.key += "(" + std::to_string(static_cast<unsigned>(expr->kind)) + getSpelling(expr->type.element).str();
  switch (expr->kind) {
  case ExprKind::Constant: {
    const auto *constant = llvm::cast<Constant>(expr);
    llvm::SmallString<32> digits;
    constant->real.toString(digits);
    result.key += digits;
    result.key += llvm::toString(constant->integer, 10, /*Signed=*/false);
    break;
  }
  case ExprKind::VariableRef:
    addDependencies(Poly::atom(getVariable(llvm::cast<VariableRef>(expr)->variable)), result);
    result.key += "v" + std::to_string(llvm::cast<VariableRef>(expr)->variable->id);
    break;
  case ExprKind::Unary:
    properties(llvm::cast<Unary>(expr)->operand, result);
    break;
  case ExprKind::Binary:
    result.key += std::to_string(static_cast<unsigned>(llvm::cast<Binary>(expr)->op));
    properties(llvm::cast<Binary>(expr)->lhs, result);
    properties(llvm::cast<Binary>(expr)->rhs, result);
    break;
  case ExprKind::Cast:
    properties(llvm::cast<Cast>(expr)->operand, result);
    break;
  case ExprKind::Call:
    result.key += std::to_string(static_cast<unsigned>(llvm::cast<Call>(expr)->builtin));
    for (const Expr *argument : llvm::cast<Call>(expr)->arguments)
      properties(argument, result);
    break;
  default:
    result.unknown = true;
    break;
  }
  result.key += ")";
}

Poly Facts::opaque(const Expr *expr) {
  Properties found;
  found.key = "o" + std::to_string(static_cast<unsigned>(expr->kind)) + getSpelling(expr->type.element).str();
  if (const auto *call = llvm::dyn_cast<Call>(expr)) {
    found.key += std::to_string(static_cast<unsigned>(call->builtin));
    for (const Expr *argument : call->arguments)
      properties(argument, found);
  } else if (const auto *binary = llvm::dyn_cast<Binary>(expr)) {
    found.key += std::to_string(static_cast<unsigned>(binary->op));
    properties(binary->lhs, found);
    properties(binary->rhs, found);
  } else if (const auto *unary = llvm::dyn_cast<Unary>(expr)) {
    found.key += std::to_string(static_cast<unsigned>(unary->op));
    properties(unary->operand, found);
  } else if (const auto *cast = llvm::dyn_cast<Cast>(expr)) {
    properties(cast->operand, found);
  } else if (const auto *load = llvm::dyn_cast<Load>(expr)) {
    found.unknown = load->tensor->access != TensorAccess::In;
    found.key += load->tensor->name;
    for (const Expr *subscript : load->subscripts)
      properties(subscript, found);
    if (load->fallback)
      properties(load->fallback, found);
  } else {
    found.unknown = true;
  }
  Atom atom;
  atom.role = found.unknown ? AtomRole::Unknown : (found.dependencies.empty() ? AtomRole::Uniform : AtomRole::Derived);
  atom.key = found.unknown ? "u" + std::to_string(numFresh++) : found.key;
  llvm::sort(found.dependencies);
  found.dependencies.erase(llvm::unique(found.dependencies), found.dependencies.end());
  atom.dependencies = std::move(found.dependencies);
  bool isNew;
  unsigned id = intern(std::move(atom), isNew);
  if (!isNew)
    return Poly::atom(id);
  Poly self = Poly::atom(id);
  const auto *call = llvm::dyn_cast<Call>(expr);
  if (call && (call->builtin == Builtin::Min || call->builtin == Builtin::Max)) {
    for (const Expr *argument : call->arguments) {
      Poly p = toPoly(argument);
      assumeNonPositive(call->builtin == Builtin::Min ? self - p : p - self);
    }
  }
  if (expr->kind == ExprKind::Load && !isSigned(expr->type.element))
    assumeNonPositive(Poly() - self);
  return self;
}

/// Floor and ceiling division and remainder: an atom with the inequalities that define it where the divisor is a
/// positive constant, and those that hold for non-negative operands otherwise.
Poly Facts::division(const Expr *expr, BinaryOp op, const Expr *lhs, const Expr *rhs) {
  Poly a = toPoly(lhs), b = toPoly(rhs);
  if (a == b && op == BinaryOp::Remainder)
    return Poly();
  Poly self = opaque(expr);
  if (a.isConstant() && b.isConstant())
    return self;
  if (b.isConstant() && b.getConstant() > 0) {
    if (op == BinaryOp::Divide) {
      assumeNonPositive(b * self - a);
      assumeNonPositive(a - b * self - Poly(b.getConstant() - 1));
    } else {
      assumeNonPositive(Poly() - self);
      assumeNonPositive(self - Poly(b.getConstant() - 1));
    }
  } else if (isNonNegative(a) && isNonNegative(b)) {
    assumeNonPositive(Poly() - self);
    assumeNonPositive(self - a);
    if (op == BinaryOp::Divide)
      assumeNonPositive(b * self - a);
  }
  return self;
}

Poly Facts::axisAttribute(const AxisAttribute *attribute) {
  const Axis *axis = attribute->axis;
  if (!axis->lower)
    return Poly::invalid(); // An axis parameter.
  if (axis->rangeOf && attribute->attribute != AxisAttributeKind::Index) {
    AxisAttribute same(attribute->range, axis->rangeOf, attribute->attribute);
    return axisAttribute(&same);
  }
  Poly start =
      axis->isTiles() ? toPoly(axis->lower) + Poly(axis->extent) * Poly::atom(getTileIndex(axis)) : toPoly(axis->lower);
  switch (attribute->attribute) {
  case AxisAttributeKind::Start:
    return start;
  case AxisAttributeKind::Index:
    return axis->isTiles() ? Poly::atom(getTileIndex(axis)) : Poly();
  default:
    break;
  }
  bool isEnd = attribute->attribute == AxisAttributeKind::End;
  Atom atom;
  atom.key = (isEnd ? "e" : "z") + std::to_string(axis->id);
  Properties found;
  if (axis->isTiles())
    found.dependencies.push_back(getTileIndex(axis));
  addDependencies(start, found);
  addDependencies(toPoly(axis->upper), found);
  atom.role = found.unknown ? AtomRole::Unknown : (found.dependencies.empty() ? AtomRole::Uniform : AtomRole::Derived);
  atom.dependencies = found.dependencies;
  bool isNew;
  Poly self = Poly::atom(intern(std::move(atom), isNew));
  if (!isNew)
    return self;
  Poly size = isEnd ? self - start : self;
  if (axis->extent > 0)
    assumeNonPositive(size - Poly(axis->extent));
  if (!isEnd)
    assumeNonPositive(Poly() - self);
  else
    for (const Poly &high : upperForms(axis->upper))
      assumeNonPositive(self - high);
  return self;
}

Poly Facts::letPoly(const Variable *variable) {
  if (auto known = letPolys.find(variable); known != letPolys.end())
    return known->second;
  Poly definition = toPoly(variable->initial);
  // A definition that mentions something mutable holds for the moment of the let only: the let is an atom of its own.
  Properties found;
  addDependencies(definition, found);
  if (found.unknown) {
    Atom atom;
    atom.key = "u" + std::to_string(numFresh++);
    atom.role = AtomRole::Unknown;
    bool isNew;
    definition = Poly::atom(intern(std::move(atom), isNew));
  }
  letPolys[variable] = definition;
  return definition;
}

Poly Facts::toPoly(const Expr *expr) {
  switch (expr->kind) {
  case ExprKind::Constant:
  case ExprKind::VariableRef:
  case ExprKind::AxisPositions:
  case ExprKind::AxisAttribute:
    return computePoly(expr);
  default:
    break;
  }
  if (auto known = polys.find(expr); known != polys.end())
    return known->second;
  Poly result = computePoly(expr);
  polys[expr] = result;
  return result;
}

Poly Facts::computePoly(const Expr *expr) {
  bool wraps = expr->type.element != ScalarKind::Index && expr->type.element != ScalarKind::I64;
  switch (expr->kind) {
  case ExprKind::Constant:
    if (isFloat(expr->type.element))
      return Poly::invalid();
    if (std::optional<int64_t> value = getConstantInteger(expr))
      return Poly(*value);
    return Poly::invalid();
  case ExprKind::VariableRef: {
    const Variable *variable = llvm::cast<VariableRef>(expr)->variable;
    if (variable->kind == VariableKind::Let && variable->initial)
      return letPoly(variable);
    return Poly::atom(getVariable(variable));
  }
  case ExprKind::AxisPositions:
    return Poly::atom(getPosition(llvm::cast<AxisPositions>(expr)->axis));
  case ExprKind::AxisAttribute:
    return axisAttribute(llvm::cast<AxisAttribute>(expr));
  case ExprKind::Cast: {
    const Expr *operand = llvm::cast<Cast>(expr)->operand;
    if (isInteger(operand->type.element) && containsAll(expr->type.element, operand->type.element))
      return toPoly(operand);
    return opaque(expr);
  }
  case ExprKind::Unary:
    if (!wraps && llvm::cast<Unary>(expr)->op == UnaryOp::Negate)
      return Poly() - toPoly(llvm::cast<Unary>(expr)->operand);
    return opaque(expr);
  case ExprKind::Binary: {
    const auto *binary = llvm::cast<Binary>(expr);
    if (binary->op == BinaryOp::Divide || binary->op == BinaryOp::Remainder)
      return isInteger(expr->type.element) ? division(expr, binary->op, binary->lhs, binary->rhs) : opaque(expr);
    if (wraps)
      return opaque(expr);
    switch (binary->op) {
    case BinaryOp::Add:
      return toPoly(binary->lhs) + toPoly(binary->rhs);
    case BinaryOp::Subtract:
      return toPoly(binary->lhs) - toPoly(binary->rhs);
    case BinaryOp::Multiply:
      return toPoly(binary->lhs) * toPoly(binary->rhs);
    case BinaryOp::ShiftLeft:
      if (std::optional<int64_t> count = getConstantInteger(binary->rhs); count && *count >= 0 && *count < 62)
        return toPoly(binary->lhs) * Poly(int64_t(1) << *count);
      return opaque(expr);
    default:
      return opaque(expr);
    }
  }
  case ExprKind::Call: {
    const auto *call = llvm::cast<Call>(expr);
    if (call->builtin == Builtin::CeilDiv && isInteger(expr->type.element)) {
      Poly a = toPoly(call->arguments[0]), b = toPoly(call->arguments[1]);
      Poly self = opaque(expr);
      if (b.isConstant() && b.getConstant() > 0) {
        assumeNonPositive(a - b * self);
        assumeNonPositive(b * self - a - Poly(b.getConstant() - 1));
      }
      return self;
    }
    return opaque(expr);
  }
  default:
    return opaque(expr);
  }
}
