// Element-wise operations of the interpreter.
#ifndef TILEC_LIB_INTERPRETER_ELEMENTWISE_H
#define TILEC_LIB_INTERPRETER_ELEMENTWISE_H

#include "mlir/IR/Operation.h"
#include "tilec/Interpreter/Tile.h"

namespace tilec::interpreter {

using Operands = llvm::ArrayRef<const Tile *>;

/// The result of an element-wise operation of arith, math or tile on tiles of one shape (of which `arith.select`
/// may have a scalar condition); an element is poison where an operand that it depends on is. Null for other
/// operations. The first two are the parts for floats and for integers.
TilePtr evaluateFloat(mlir::Operation *op, Operands operands);
TilePtr evaluateInteger(mlir::Operation *op, Operands operands);
TilePtr evaluateElementwise(mlir::Operation *op, Operands operands);

/// `f` of the elements of tiles that share one storage.
template <typename R, typename A, typename F> void mapElements(Tile &result, F f, const Tile &a) {
  std::vector<R> &out = result.data<R>();
  const std::vector<A> &x = a.data<A>();
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = f(x[i]);
}
template <typename R, typename A, typename F> void mapElements(Tile &result, F f, const Tile &a, const Tile &b) {
  std::vector<R> &out = result.data<R>();
  const std::vector<A> &x = a.data<A>(), &y = b.data<A>();
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = f(x[i], y[i]);
}
template <typename R, typename A, typename F>
void mapElements(Tile &result, F f, const Tile &a, const Tile &b, const Tile &c) {
  std::vector<R> &out = result.data<R>();
  const std::vector<A> &x = a.data<A>(), &y = b.data<A>(), &z = c.data<A>();
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = f(x[i], y[i], z[i]);
}

} // namespace tilec::interpreter

#endif // TILEC_LIB_INTERPRETER_ELEMENTWISE_H
