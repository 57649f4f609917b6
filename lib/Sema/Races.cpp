// Rule 10: reads of elements that another iteration of the stage stores.
#include "Analyzer.h"
#include "Injectivity.h"

using namespace tilec;
using namespace tilec::sema;

void Analyzer::recordAccess(Access::Kind kind, Tensor *tensor, SourceRange range, llvm::ArrayRef<Expr *> subscripts) {
  accesses.push_back({tensor, range, subscripts.vec(), kind, conditionalDepth != 0, /*isUnique=*/false});
}

/// Reports a read that does not stay with what its own iteration stores.
void Analyzer::checkRace(const Access &read, const Access &write) {
  std::vector<RequiredDigit> required;
  for (const EnclosingBinding &binding : enclosing)
    if (binding.isParallel)
      required.push_back({binding.index, binding.axis, false});
  std::vector<Poly> equal;
  bool isShift = !read.isGuarded && !write.isGuarded, moves = false;
  for (auto [r, w] : llvm::zip(read.subscripts, write.subscripts)) {
    Poly from = facts.toPoly(r), to = facts.toPoly(w);
    Poly difference = from - to;
    if (from.isConstant() && to.isConstant() && from != to)
      return; // Different rows.
    if (from == to) {
      equal.push_back(from);
      continue;
    }
    // `Y[i + 1]` beside `Y[i]`, where i is a digit by itself: another iteration's element.
    Poly rest = to - Poly(to.getConstant());
    std::optional<unsigned> digit = rest.asAtom();
    bool isDigit = digit && facts.getAtom(*digit).role != AtomRole::Uniform &&
                   facts.getAtom(*digit).role != AtomRole::Derived && facts.getAtom(*digit).role != AtomRole::Unknown;
    isShift &= difference.isConstant() && isDigit;
    moves = true;
  }
  InjectivityProof proof(facts);
  if (!proof.findUndetermined(equal, required))
    return;
  bool isError = isShift && moves;
  DiagnosticBuilder builder = report(read.range, isError ? diag::err_race : diag::warn_undecided_race)
                              << quote(read.range) << read.tensor->name;
  builder.note(write.range, diag::note_stored_here) << read.tensor->name;
}

/// Whether an atom by itself numbers iterations of the enclosing parallel, and some two of them are `shift` apart for
/// all that is known of the range.
bool Analyzer::separatesIterations(unsigned atom, int64_t shift) {
  const Atom &digit = facts.getAtom(atom);
  auto encloses = [&](const EnclosingBinding &binding) {
    return binding.isParallel && ((digit.role == AtomRole::LoopIndex && binding.index == digit.variable) ||
                                  (digit.role == AtomRole::Position && binding.axis == digit.axis));
  };
  if (llvm::none_of(enclosing, encloses))
    return false;
  std::optional<int64_t> least = facts.lowerBound(Poly::atom(atom)), most = facts.upperBound(Poly::atom(atom));
  if (!least || !most)
    return true;
  int64_t width = *most - *least + 1;
  bool oneTile = digit.role == AtomRole::Position && width <= digit.axis->extent;
  return !oneTile && std::abs(shift) < width;
}

/// Rule 9 for two stores: reported where they provably meet, `Y[i] = ...` beside `Y[i + 1] = ...`. In one iteration
/// they are ordered.
void Analyzer::checkStorePair(const Access &first, const Access &second) {
  if (first.isUnique || second.isUnique || first.isGuarded || second.isGuarded)
    return;
  bool moves = false;
  for (auto [a, b] : llvm::zip(first.subscripts, second.subscripts)) {
    Poly from = facts.toPoly(a), to = facts.toPoly(b);
    if (from == to)
      continue;
    Poly difference = to - from;
    std::optional<unsigned> digit = (from - Poly(from.getConstant())).asAtom();
    if (!difference.isConstant() || !digit || !separatesIterations(*digit, difference.getConstant()))
      return;
    moves = true;
  }
  if (!moves)
    return;
  DiagnosticBuilder builder = report(second.range, diag::err_store_conflict)
                              << quote(second.range) << quote(first.range);
  builder.note(first.range, diag::note_stored_here) << first.tensor->name;
}

void Analyzer::checkRaces() {
  for (auto [i, second] : llvm::enumerate(accesses))
    for (const Access &first : llvm::ArrayRef(accesses).take_front(i))
      if (first.kind == Access::Write && second.kind == Access::Write && first.tensor == second.tensor)
        checkStorePair(first, second);
  for (const Access &read : accesses) {
    if (read.kind != Access::Read)
      continue;
    unsigned reported = globals.engine.getNumErrors() + globals.engine.getNumWarnings();
    for (const Access &write : accesses) {
      if (write.kind == Access::Read || write.tensor != read.tensor)
        continue;
      checkRace(read, write);
      if (globals.engine.getNumErrors() + globals.engine.getNumWarnings() != reported)
        break;
    }
  }
}
