// Rule 10: reads of elements that another iteration of the stage stores.
#include "Analyzer.h"
#include "Injectivity.h"

using namespace tilec;
using namespace tilec::sema;

void Analyzer::recordAccess(Access::Kind kind, Tensor *tensor, SourceRange range, llvm::ArrayRef<Expr *> subscripts) {
  accesses.push_back({tensor, range, subscripts.vec(), kind, conditionalDepth != 0});
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

void Analyzer::checkRaces() {
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
