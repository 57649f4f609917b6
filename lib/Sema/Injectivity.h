// The proof that subscripts determine iterations (rule 9). Iterations are told apart by digits: indices of scalar
// loops, positions on axes, and numbers of tiles. A subscript that is a sum of digits with coefficients as in a
// mixed-radix number determines all of them, and digits that are known turn into constants of the other subscripts.
#ifndef TILEC_SEMA_INJECTIVITY_H
#define TILEC_SEMA_INJECTIVITY_H

#include "Facts.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace tilec::sema {

/// A digit that must be determined, and what to call it in a message.
struct RequiredDigit {
  /// One of the two.
  const Variable *index = nullptr;
  const Axis *axis = nullptr;
  /// Of an axis of the store, its positions; of an enclosing parallel axis, the number of the tile.
  bool needsPosition = false;
};

class InjectivityProof {
public:
  explicit InjectivityProof(Facts &facts) : facts(facts) {}

  /// A digit that a guard fixes: `if s == 0`.
  void assumeEquality(const Expr *condition);
  /// The first of the required digits that the subscripts do not determine; null if they determine all.
  const RequiredDigit *findUndetermined(std::vector<Poly> subscripts, llvm::ArrayRef<RequiredDigit> required);

private:
  struct Term {
    unsigned digit;
    Poly coefficient;
  };
  void expand(std::vector<Poly> &subscripts);
  bool expandAtom(unsigned atom, std::vector<Poly> &subscripts);
  void replace(unsigned atom, const Poly &start, std::vector<Poly> extents, std::vector<Poly> &subscripts);
  std::vector<Poly> getExtents(unsigned digit);
  std::vector<Poly> uniformDifferences(const Expr *lower, const Expr *upper);
  bool isDigit(unsigned atom) const;
  bool isUniform(const Poly &p) const;
  bool isKnown(unsigned atom) const;
  bool solve(const Poly &subscript);
  bool separate(std::vector<Term> terms);
  bool isDetermined(const RequiredDigit &digit);

  Facts &facts;
  llvm::DenseSet<unsigned> known;
  /// Offsets that stand for digits whose range starts at something that varies.
  llvm::DenseMap<unsigned, std::vector<Poly>> offsetExtents;
  llvm::DenseMap<unsigned, unsigned> offsets;
};

} // namespace tilec::sema

#endif // TILEC_SEMA_INJECTIVITY_H
