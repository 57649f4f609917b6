// Rule 9: a plain store must be provably injective over the enclosing parallel variables and the axes that it stores.
#include "Injectivity.h"
#include "Analyzer.h"

using namespace tilec;
using namespace tilec::sema;

bool InjectivityProof::isDigit(unsigned atom) const {
  AtomRole role = facts.getAtom(atom).role;
  return role == AtomRole::LoopIndex || role == AtomRole::Position || role == AtomRole::TileIndex;
}

bool InjectivityProof::isUniform(const Poly &p) const {
  return p.isValid() && llvm::all_of(p.getTerms(), [&](const auto &term) {
           return llvm::all_of(term.first,
                               [&](unsigned atom) { return facts.getAtom(atom).role == AtomRole::Uniform; });
         });
}

/// Whether the atom has one value for all iterations that agree in the known digits.
bool InjectivityProof::isKnown(unsigned atom) const {
  const Atom &info = facts.getAtom(atom);
  switch (info.role) {
  case AtomRole::Uniform:
    return true;
  case AtomRole::Unknown:
    return false;
  case AtomRole::Derived:
    return llvm::all_of(info.dependencies, [&](unsigned dependency) { return isKnown(dependency); });
  default:
    return known.count(atom) != 0;
  }
}

void InjectivityProof::assumeEquality(const Expr *condition) {
  const auto *binary = llvm::dyn_cast<Binary>(condition);
  if (!binary)
    return;
  if (binary->op == BinaryOp::LogicalAnd) {
    assumeEquality(binary->lhs);
    assumeEquality(binary->rhs);
    return;
  }
  if (binary->op != BinaryOp::Equal || !isInteger(binary->lhs->type.element))
    return;
  Poly difference = facts.toPoly(binary->lhs) - facts.toPoly(binary->rhs);
  if (difference.isValid())
    solve(difference);
}

std::vector<Poly> InjectivityProof::uniformDifferences(const Expr *lower, const Expr *upper) {
  std::vector<Poly> result;
  for (const Poly &high : facts.upperForms(upper)) {
    for (const Poly &low : facts.lowerForms(lower)) {
      Poly difference = high - low;
      if (isUniform(difference))
        result.push_back(difference);
      if (std::optional<int64_t> bound = facts.upperBound(difference))
        result.push_back(Poly(*bound));
    }
  }
  return result;
}

/// Upper bounds of the number of values of a digit, the same for all iterations.
std::vector<Poly> InjectivityProof::getExtents(unsigned digit) {
  if (auto it = offsetExtents.find(digit); it != offsetExtents.end())
    return it->second;
  const Atom atom = facts.getAtom(digit);
  if (atom.variable)
    return uniformDifferences(atom.variable->lower, atom.variable->upper);
  const Axis *axis = atom.axis;
  std::vector<Poly> sizes = uniformDifferences(axis->lower, axis->upper);
  if (atom.role == AtomRole::Position) {
    if (axis->kind == AxisKind::Range)
      sizes.push_back(Poly(axis->extent));
    return sizes;
  }
  std::vector<Poly> result;
  for (const Poly &size : sizes)
    if (size.isConstant())
      result.push_back(Poly((std::max<int64_t>(size.getConstant(), 0) + axis->extent - 1) / axis->extent));
  // The number of tiles of 0..upper as the language writes it.
  if (const auto *zero = llvm::dyn_cast<Constant>(axis->lower); zero && zero->integer.isZero()) {
    Constant tile(axis->range, ScalarKind::Index, llvm::APInt(64, axis->extent));
    Call count(axis->range, Type(ScalarKind::Index), Builtin::CeilDiv, {axis->upper, &tile});
    Poly p = facts.toPolyOnce(&count);
    if (isUniform(p))
      result.push_back(p);
  }
  return result;
}

/// Writes a digit as start + offset.
void InjectivityProof::replace(unsigned atom, const Poly &start, std::vector<Poly> extents,
                               std::vector<Poly> &subscripts) {
  unsigned offset = facts.createOffset();
  offsetExtents[offset] = std::move(extents);
  offsets[atom] = offset;
  for (Poly &subscript : subscripts)
    if (subscript.mentions(atom))
      subscript = subscript.substituted(atom, start + Poly::atom(offset));
}

/// Expands a digit whose range starts at something that varies from iteration to iteration, and a position beside the
/// number of its tile.
bool InjectivityProof::expandAtom(unsigned id, std::vector<Poly> &subscripts) {
  if (offsets.count(id))
    return false;
  const Atom atom = facts.getAtom(id);
  if (atom.role == AtomRole::TileIndex || !isDigit(id) || offsetExtents.count(id))
    return false;
  const Expr *lower = atom.variable ? atom.variable->lower : atom.axis->lower;
  if (!lower)
    return false;
  Poly start = facts.toPoly(lower);
  if (!isUniform(start)) {
    replace(id, start, getExtents(id), subscripts);
    return true;
  }
  if (!atom.axis || !atom.axis->isTiles())
    return false;
  unsigned tile = facts.getTileIndex(atom.axis);
  if (llvm::none_of(subscripts, [&](const Poly &p) { return p.mentions(tile); }))
    return false;
  replace(id, start + Poly(atom.axis->extent) * Poly::atom(tile), {Poly(atom.axis->extent)}, subscripts);
  return true;
}

void InjectivityProof::expand(std::vector<Poly> &subscripts) {
  bool changed = true;
  while (changed) {
    changed = false;
    llvm::DenseSet<unsigned> atoms;
    for (const Poly &subscript : subscripts)
      for (const auto &term : subscript.getTerms())
        atoms.insert(term.first.begin(), term.first.end());
    std::vector<unsigned> ordered(atoms.begin(), atoms.end());
    llvm::sort(ordered);
    for (unsigned atom : ordered)
      if (expandAtom(atom, subscripts)) {
        changed = true;
        break;
      }
  }
}

/// Mixed radix: some order of the digits has every coefficient at least the coefficient times the extent of the digits
/// below it, and the least coefficient is positive.
bool InjectivityProof::separate(std::vector<Term> terms) {
  for (Term &term : terms) {
    std::optional<int64_t> most = facts.upperBound(term.coefficient);
    if (most && *most < 0)
      term.coefficient = Poly() - term.coefficient;
    if (!facts.isNonNegative(term.coefficient - Poly(1)) && terms.size() == 1)
      return false;
  }
  bool isLeast = true;
  while (!terms.empty()) {
    bool found = false;
    for (size_t i = 0; i < terms.size() && !found; ++i) {
      const Term &least = terms[i];
      if (isLeast && !facts.isNonNegative(least.coefficient - Poly(1)))
        continue;
      std::vector<Poly> extents = terms.size() == 1 ? std::vector<Poly>{Poly(0)} : getExtents(least.digit);
      found = llvm::any_of(extents, [&](const Poly &extent) {
        Poly span = least.coefficient * extent;
        return llvm::all_of(terms, [&](const Term &other) {
          return other.digit == least.digit || facts.isNonNegative(other.coefficient - span);
        });
      });
      if (found)
        terms.erase(terms.begin() + i);
    }
    if (!found)
      return false;
    isLeast = false;
  }
  return true;
}

/// Learns the unknown digits of one subscript, if it determines them; true if it taught something.
bool InjectivityProof::solve(const Poly &subscript) {
  llvm::SmallVector<unsigned, 4> unknown;
  for (const auto &term : subscript.getTerms()) {
    unsigned numUnknown = 0;
    for (unsigned atom : term.first) {
      if (isKnown(atom))
        continue;
      if (!isDigit(atom) || ++numUnknown > 1)
        return false;
      if (!llvm::is_contained(unknown, atom))
        unknown.push_back(atom);
    }
  }
  if (unknown.empty())
    return false;
  std::vector<Term> terms;
  for (unsigned digit : unknown) {
    Poly coefficient, rest;
    if (!subscript.split(digit, coefficient, rest))
      return false;
    terms.push_back({digit, coefficient});
  }
  if (!separate(terms))
    return false;
  known.insert(unknown.begin(), unknown.end());
  return true;
}

bool InjectivityProof::isDetermined(const RequiredDigit &digit) {
  if (digit.index) {
    unsigned atom = facts.getVariable(digit.index);
    auto offset = offsets.find(atom);
    return known.count(offset == offsets.end() ? atom : offset->second);
  }
  unsigned position = facts.getPosition(digit.axis);
  auto offset = offsets.find(position);
  bool positionKnown = known.count(position);
  if (offset != offsets.end()) {
    // The offset tells the position once the start is known, which the other required digits ensure.
    positionKnown = known.count(offset->second);
    if (digit.axis->isTiles() && !digit.needsPosition)
      return known.count(facts.getTileIndex(digit.axis));
    return positionKnown;
  }
  if (digit.needsPosition)
    return positionKnown;
  return positionKnown || known.count(facts.getTileIndex(digit.axis));
}

const RequiredDigit *InjectivityProof::findUndetermined(std::vector<Poly> subscripts,
                                                        llvm::ArrayRef<RequiredDigit> required) {
  llvm::erase_if(subscripts, [](const Poly &p) { return !p.isValid(); });
  expand(subscripts);
  bool progress = true;
  while (progress)
    progress = llvm::any_of(subscripts, [&](const Poly &subscript) { return solve(subscript); });
  for (const RequiredDigit &digit : required)
    if (!isDetermined(digit))
      return &digit;
  return nullptr;
}

/// Whether what a store subscripts, or where one of its axes begins or ends, differs between iterations of a digit.
bool Analyzer::dependsOn(llvm::ArrayRef<Poly> subscripts, llvm::ArrayRef<const Axis *> axes,
                         const RequiredDigit &digit) {
  llvm::SmallVector<unsigned, 2> wanted;
  if (digit.index)
    wanted = {facts.getVariable(digit.index)};
  else
    wanted = {facts.getPosition(digit.axis), facts.getTileIndex(digit.axis)};
  auto mentions = [&](const Poly &p) {
    return llvm::any_of(p.getTerms(), [&](const auto &term) {
      return llvm::any_of(term.first, [&](unsigned atom) {
        return llvm::is_contained(wanted, atom) || llvm::any_of(facts.getAtom(atom).dependencies, [&](unsigned other) {
                 return llvm::is_contained(wanted, other);
               });
      });
    });
  };
  return llvm::any_of(subscripts, mentions) || llvm::any_of(axes, [&](const Axis *axis) {
           return (axis->lower && mentions(facts.toPoly(axis->lower))) ||
                  (axis->upper && mentions(facts.toPoly(axis->upper)));
         });
}

void Analyzer::requireInjective(const ast::AssignStmt *stmt, llvm::ArrayRef<Expr *> subscripts,
                                llvm::ArrayRef<const Axis *> axes) {
  std::vector<RequiredDigit> required;
  for (const EnclosingBinding &binding : enclosing)
    if (binding.isParallel && (binding.index || !llvm::is_contained(axes, binding.axis)))
      required.push_back({binding.index, binding.axis, false});
  for (const Axis *axis : axes)
    required.push_back({nullptr, axis, true});
  InjectivityProof proof(facts);
  for (const Expr *guard : guards)
    proof.assumeEquality(guard);
  std::vector<Poly> polys;
  for (const Expr *subscript : subscripts)
    polys.push_back(facts.toPoly(subscript));
  const RequiredDigit *missing = proof.findUndetermined(polys, required);
  if (!missing)
    return;
  const std::string &name = missing->index ? missing->index->name : missing->axis->name;
  SourceRange declared = missing->index ? missing->index->range : missing->axis->range;
  bool occurs = missing->needsPosition || dependsOn(polys, axes, *missing);
  DiagnosticBuilder builder =
      report(stmt->targetRange(), occurs ? diag::err_not_injective : diag::err_parallel_not_in_store)
      << quote(stmt->targetRange()) << name << stmt->target.name;
  builder.note(declared, diag::note_declared_here) << name;
}
