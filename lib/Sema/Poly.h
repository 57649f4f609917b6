// Polynomials with integer coefficients over atoms: the form in which extents, shapes and subscripts are compared.
#ifndef TILEC_SEMA_POLY_H
#define TILEC_SEMA_POLY_H

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace tilec::sema {

/// Atoms are numbers of a Facts; a monomial is their sorted product, the empty one 1. Coefficients that leave 64 bits
/// make the polynomial invalid, and nothing is proved of it.
class Poly {
public:
  using Monomial = std::vector<unsigned>;

  Poly() = default;
  explicit Poly(int64_t constant) {
    if (constant != 0)
      terms[{}] = constant;
  }
  static Poly atom(unsigned id) {
    Poly result;
    result.terms[{id}] = 1;
    return result;
  }
  static Poly invalid() {
    Poly result;
    result.valid = false;
    return result;
  }

  bool isValid() const { return valid; }
  const std::map<Monomial, int64_t> &getTerms() const { return terms; }
  bool isConstant() const { return valid && (terms.empty() || (terms.size() == 1 && terms.begin()->first.empty())); }
  int64_t getConstant() const { return coefficient({}); }
  int64_t coefficient(const Monomial &monomial) const {
    auto it = terms.find(monomial);
    return it == terms.end() ? 0 : it->second;
  }
  /// The atom if the polynomial is just that.
  std::optional<unsigned> asAtom() const;
  bool mentions(unsigned atom) const;
  /// Splits p = q * atom + rest where neither q nor rest mentions the atom; false if a higher power occurs.
  bool split(unsigned atom, Poly &factor, Poly &rest) const;
  Poly substituted(unsigned atom, const Poly &value) const;

  void add(const Monomial &monomial, int64_t coefficient);
  friend Poly operator+(const Poly &a, const Poly &b) { return a.plus(b, 1); }
  friend Poly operator-(const Poly &a, const Poly &b) { return a.plus(b, -1); }
  friend Poly operator*(const Poly &a, const Poly &b);
  friend bool operator==(const Poly &a, const Poly &b) { return a.valid && b.valid && a.terms == b.terms; }
  friend bool operator!=(const Poly &a, const Poly &b) { return !(a == b); }

  /// A text that two polynomials share only if they are equal.
  std::string key() const;

private:
  Poly plus(const Poly &other, int64_t factor) const;

  std::map<Monomial, int64_t> terms;
  bool valid = true;
};

} // namespace tilec::sema

#endif // TILEC_SEMA_POLY_H
