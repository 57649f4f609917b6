// tile.atomic: relaxed read-modify-write operations at device scope, one an element.
#include "MemoryAccess.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace tilec;

static LLVM::AtomicBinOp atomicOf(tile::CombineKind kind, bool isFloat) {
  switch (kind) {
  case tile::CombineKind::add:
    return isFloat ? LLVM::AtomicBinOp::fadd : LLVM::AtomicBinOp::add;
  case tile::CombineKind::maxf:
    return LLVM::AtomicBinOp::fmaximum;
  case tile::CombineKind::minf:
    return LLVM::AtomicBinOp::fminimum;
  case tile::CombineKind::maxs:
    return LLVM::AtomicBinOp::max;
  case tile::CombineKind::maxu:
    return LLVM::AtomicBinOp::umax;
  case tile::CombineKind::mins:
    return LLVM::AtomicBinOp::min;
  case tile::CombineKind::minu:
    return LLVM::AtomicBinOp::umin;
  case tile::CombineKind::andi:
    return LLVM::AtomicBinOp::_and;
  case tile::CombineKind::ori:
    return LLVM::AtomicBinOp::_or;
  case tile::CombineKind::xori:
    return LLVM::AtomicBinOp::_xor;
  case tile::CombineKind::mul:
    break;
  }
  llvm_unreachable("the language has no atomic multiplication");
}

LogicalResult Lowering::lowerAtomic(tile::AtomicOp op) {
  auto flags = [](std::optional<ArrayRef<bool>> attribute) { return attribute.value_or(ArrayRef<bool>()); };
  MemoryAccess access(*this, view(op.getView()), op.getSubscripts(), op.getDims(), op.getValue(), op.getAxes(),
                      flags(op.getInbounds()), flags(op.getFull()));
  Type element = registerType(getElementTypeOrSelf(op.getValue().getType()));
  if (op.getKind() == tile::CombineKind::mul || element.getIntOrFloatBitWidth() < 16)
    return op.emitError("E0432: atomics work on i32, u32, i64, u64, f16, bf16, f32 and f64");
  ArrayRef<Value> values = lowered(op.getValue());
  LLVM::AtomicBinOp kind = atomicOf(op.getKind(), isa<FloatType>(element));
  for (const VectorAccess &one : access.build(1, /*writersOnly=*/true)) {
    auto combine = [&] {
      LLVM::AtomicRMWOp::create(builder, location, kind, one.pointer, values[one.registers[0]],
                                LLVM::AtomicOrdering::monotonic, "device");
    };
    if (one.condition)
      emitIf(one.condition, combine);
    else
      combine();
  }
  return success();
}
