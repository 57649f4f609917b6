// What is known of integers in a kernel: contracts, ranges of loops and axes, and the definitions of divisions, minima
// and maxima, as linear inequalities over atoms. Proves bounds by combining them (rule 1's "linear arithmetic with min
// from constants, contracts and other extents").
#ifndef TILEC_SEMA_FACTS_H
#define TILEC_SEMA_FACTS_H

#include "Poly.h"
#include "tilec/Sema/TypedStmt.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace tilec::sema {

enum class AtomRole : uint8_t {
  /// A dimension, a scalar parameter, or anything that has one value in the whole launch.
  Uniform,
  /// The index of a scalar loop, the position on an axis, or the number of a tile.
  LoopIndex,
  Position,
  TileIndex,
  /// A value that differs from iteration to iteration in a way that is determined by `dependencies` alone.
  Derived,
  /// A mutable variable or an element of a tensor that the kernel writes.
  Unknown,
};

struct Atom {
  std::string key;
  AtomRole role = AtomRole::Uniform;
  const Variable *variable = nullptr;
  const Axis *axis = nullptr;
  /// Digits (LoopIndex, Position, TileIndex atoms) that a Derived atom is a function of.
  std::vector<unsigned> dependencies;
};

class Facts {
public:
  /// The polynomial of an integer or bool expression. Integer types narrower than 64 bits wrap, so that their
  /// arithmetic is opaque.
  Poly toPoly(const Expr *expr);
  /// The same for an expression that does not live as long as this object.
  Poly toPolyOnce(const Expr *expr) { return computePoly(expr); }
  /// Polynomials that are never less (greater) than the expression: `min` (`max`) gives several.
  std::vector<Poly> upperForms(const Expr *expr);
  std::vector<Poly> lowerForms(const Expr *expr);

  /// Records that a condition holds (conjunctions of comparisons of integers; anything else is ignored).
  void assume(const Expr *condition);
  /// Records p <= 0.
  void assumeNonPositive(Poly p);
  /// Conditions after a mark can be taken back: those of `if`.
  size_t mark() const { return conditions.size(); }
  void rollback(size_t mark) { conditions.resize(mark); }

  std::optional<int64_t> upperBound(const Poly &p);
  std::optional<int64_t> lowerBound(const Poly &p);
  bool isNonNegative(const Poly &p);
  bool areEqual(const Poly &a, const Poly &b);

  const Atom &getAtom(unsigned id) const { return atoms[id]; }
  unsigned getVariable(const Variable *variable);
  unsigned getPosition(const Axis *axis);
  unsigned getTileIndex(const Axis *axis);
  /// A new digit: the offset of an axis's position, or of a loop's index, from where its range starts.
  unsigned createOffset();

private:
  struct Properties;
  unsigned intern(Atom atom, bool &isNew);
  Poly computePoly(const Expr *expr);
  Poly letPoly(const Variable *variable);
  Poly opaque(const Expr *expr);
  Poly division(const Expr *expr, BinaryOp op, const Expr *lhs, const Expr *rhs);
  Poly axisAttribute(const AxisAttribute *attribute);
  void describeRange(unsigned atom, const Expr *lower, const Expr *upper);
  void forms(const Expr *expr, bool upper, std::vector<Poly> &result, unsigned depth);
  void properties(const Expr *expr, Properties &result);
  void assumeCondition(Poly p);
  void addDependencies(const Poly &p, Properties &result);
  std::optional<int64_t> search(const Poly &p, unsigned depth, unsigned &budget);

  std::vector<Atom> atoms;
  llvm::StringMap<unsigned> ids;
  /// What holds wherever an atom has a meaning, and what holds under the conditions that were assumed.
  std::vector<Poly> facts;
  llvm::StringSet<> factKeys;
  std::vector<Poly> conditions;
  unsigned numFresh = 0;
  /// Polynomials of expressions and of lets, which would otherwise be expanded again at every use.
  llvm::DenseMap<const Expr *, Poly> polys;
  llvm::DenseMap<const Variable *, Poly> letPolys;
};

} // namespace tilec::sema

#endif // TILEC_SEMA_FACTS_H
