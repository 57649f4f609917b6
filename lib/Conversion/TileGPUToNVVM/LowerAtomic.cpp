// tile.atomic: relaxed read-modify-write operations at device scope, one an element.
#include "MemoryAccess.h"
#include "ScalarOps.h"

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

// 16-bit floats without an instruction of their own: compare-and-swap of the 16 bits alone (atom.cas.b16, PTX
// ISA 9.7.13.5). The backend's expansion would swap the aligned 32-bit word, half of which may belong to another
// allocation.
static void swapUntilStored(Lowering &lowering, tile::CombineKind kind, Value pointer, Value value) {
  OpBuilder &builder = lowering.builder;
  Location loc = lowering.loc();
  Type type = value.getType(), bits = builder.getIntegerType(16);
  Value start = LLVM::LoadOp::create(builder, loc, bits, pointer, /*alignment=*/2);
  auto loop = scf::WhileOp::create(builder, loc, TypeRange{bits}, ValueRange{start});
  OpBuilder::InsertionGuard guard(builder);
  Block *before = builder.createBlock(&loop.getBefore(), {}, bits, loc);
  Value old = before->getArgument(0);
  Value current = arith::BitcastOp::create(builder, loc, type, old);
  Value combined = ScalarOps(builder, loc, lowering.machine).combine(kind, current, value, value.getType());
  Value wanted = arith::BitcastOp::create(builder, loc, bits, combined);
  Value seen = Ptx(builder, loc)
                   .assembly("atom.relaxed.gpu.global.cas.b16 $0, [$1], $2, $3;", {bits}, {pointer, old, wanted})[0];
  Value again = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, seen, old);
  scf::ConditionOp::create(builder, loc, again, seen);
  Block *after = builder.createBlock(&loop.getAfter(), {}, bits, loc);
  scf::YieldOp::create(builder, loc, after->getArgument(0));
}

// f16 has an atomic addition from sm_70 on, bf16 from sm_90 on (PTX ISA 9.7.13.6).
static bool needsSwap(tile::CombineKind kind, Type type, const Machine &machine) {
  if (!type.isF16() && !type.isBF16())
    return false;
  return kind != tile::CombineKind::add || (type.isBF16() && machine.arch < 90);
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
      if (needsSwap(op.getKind(), element, machine))
        return swapUntilStored(*this, op.getKind(), one.pointer, values[one.registers[0]]);
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
