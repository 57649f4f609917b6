// Products of a loop that add to one accumulator, started over the ends of iterations.
#ifndef TILEC_LIB_TRANSFORMS_CHAINPRODUCTS_H
#define TILEC_LIB_TRANSFORMS_CHAINPRODUCTS_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tilec {

/// Starts the product of an iteration before that of the iteration before has ended, where the loop does nothing else
/// than to add products up: one group then keeps the Tensor Cores busy. An iteration releases the items of the one
/// before. A turn that is passed right behind the loop is passed before the last product ends. False, and nothing
/// changed, where the loop is another one.
bool chainProducts(mlir::scf::ForOp loop);

} // namespace tilec

#endif // TILEC_LIB_TRANSFORMS_CHAINPRODUCTS_H
