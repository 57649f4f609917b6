// What each operation demands of the layouts of its operands, and the layouts that its hardware fixes.
#ifndef TILEC_TRANSFORMS_INFERLAYOUTSRULES_H
#define TILEC_TRANSFORMS_INFERLAYOUTSRULES_H

#include "tilec/Dialect/TileGPU/TileGPUDialect.h"
#include "tilec/Layout/Layout.h"
#include "tilec/Transforms/AxisClasses.h"

namespace tilec {

/// The layout of a tile whose dimension i is dimension `dims[i]` of a tile in `layout`; the dimensions that `dims`
/// leaves out are sliced off.
Layout projectLayout(const Layout &layout, llvm::ArrayRef<int64_t> dims);

/// `type` with the layout as its encoding.
mlir::RankedTensorType withLayout(mlir::Type type, tilegpu::LayoutAttr layout);

/// Bits that an element takes in a register: 64 for `index`, 32 for tf32.
unsigned registerBits(mlir::Type type);

/// Whether all tiles of the operation have the same layout.
bool isElementwise(mlir::Operation *op);

/// Dimensions of the value moved by a load, store or atomic that a subscript runs over.
llvm::SmallVector<int64_t, 4> subscriptDims(mlir::ArrayAttr dims, unsigned subscript);

/// Subscripts and `dims` of a load, store or atomic, and the value that it moves.
struct GlobalOperation {
  tile::ViewOp view;
  mlir::OperandRange subscripts;
  mlir::ArrayAttr dims;
  mlir::Value value;
  /// Empty for loads.
  mlir::ValueRange axes;
  llvm::ArrayRef<bool> inbounds;
  llvm::ArrayRef<bool> full;

  static std::optional<GlobalOperation> match(mlir::Operation *op);
};

/// Layouts of an mma's tiles: accumulator and result, and the operands that are in registers.
struct MmaLayouts {
  Layout accumulator;
  std::optional<Layout> a;
  std::optional<Layout> b;
};

/// Fails with an error where the instruction does not fit a group of `warps` warps.
mlir::FailureOr<MmaLayouts> mmaLayouts(tilegpu::MmaOp op, int64_t warps);

/// The layout that operand `index` of `op` must have, where `own` is the operation's own layout: that of a load's,
/// broadcast's, permutation's or element-wise result, of a reduction's input, of a stored value. None for scalars and
/// for operations with other rules (mma, control flow).
std::optional<Layout> operandLayout(mlir::Operation *op, unsigned index, const Layout &own);

/// Calls `visit(operand, target)` for each operand of a loop, branch or terminator that is a value `target` in a
/// region or a result.
void forEachForwardedTile(mlir::Operation *op, llvm::function_ref<void(mlir::OpOperand &, mlir::Value)> visit);

} // namespace tilec

#endif // TILEC_TRANSFORMS_INFERLAYOUTSRULES_H
