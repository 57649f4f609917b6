// Arithmetic of polynomials.
#include "Poly.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <string>

using namespace tilec::sema;

std::optional<unsigned> Poly::asAtom() const {
  if (!valid || terms.size() != 1 || terms.begin()->first.size() != 1 || terms.begin()->second != 1)
    return std::nullopt;
  return terms.begin()->first.front();
}

bool Poly::mentions(unsigned atom) const {
  return llvm::any_of(terms, [&](const auto &term) { return llvm::is_contained(term.first, atom); });
}

bool Poly::split(unsigned atom, Poly &factor, Poly &rest) const {
  factor = rest = Poly();
  for (const auto &[monomial, coefficient] : terms) {
    size_t degree = llvm::count(monomial, atom);
    if (degree > 1)
      return false;
    if (degree == 0) {
      rest.add(monomial, coefficient);
      continue;
    }
    Monomial others;
    llvm::copy_if(monomial, std::back_inserter(others), [&](unsigned other) { return other != atom; });
    factor.add(others, coefficient);
  }
  return valid;
}

Poly Poly::substituted(unsigned atom, const Poly &value) const {
  Poly factor, rest;
  if (!split(atom, factor, rest))
    return invalid();
  return factor * value + rest;
}

void Poly::add(const Monomial &monomial, int64_t coefficient) {
  int64_t &slot = terms[monomial];
  if (llvm::AddOverflow(slot, coefficient, slot))
    valid = false;
  if (slot == 0)
    terms.erase(monomial);
}

Poly Poly::plus(const Poly &other, int64_t factor) const {
  Poly result = *this;
  result.valid = valid && other.valid;
  for (const auto &[monomial, coefficient] : other.terms) {
    int64_t scaled;
    if (llvm::MulOverflow(coefficient, factor, scaled))
      return invalid();
    result.add(monomial, scaled);
  }
  return result;
}

Poly tilec::sema::operator*(const Poly &a, const Poly &b) {
  Poly result;
  result.valid = a.valid && b.valid;
  for (const auto &[left, x] : a.terms) {
    for (const auto &[right, y] : b.terms) {
      Poly::Monomial product = left;
      product.insert(product.end(), right.begin(), right.end());
      llvm::sort(product);
      int64_t coefficient;
      if (llvm::MulOverflow(x, y, coefficient))
        return Poly::invalid();
      result.add(product, coefficient);
    }
  }
  return result;
}

std::string Poly::key() const {
  std::string text = valid ? "" : "?";
  for (const auto &[monomial, coefficient] : terms) {
    text += (coefficient < 0 ? "" : "+") + std::to_string(coefficient);
    for (unsigned atom : monomial)
      text += "*" + std::to_string(atom);
  }
  return text;
}
