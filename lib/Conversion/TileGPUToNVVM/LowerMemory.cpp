// tile.load and tile.store: vector accesses of global memory.
#include "GuardedAccess.h"
#include "MemoryAccess.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace tilec;

// Stores of a thread up to which they are predicated instructions; the number is that of rows and element-wise tiles.
static constexpr size_t maxPredicated = 32;

static ArrayRef<bool> flags(std::optional<ArrayRef<bool>> attribute) { return attribute.value_or(ArrayRef<bool>()); }

// bool tensors hold one byte an element.
static Type memoryType(OpBuilder &builder, Type registerType) {
  return registerType.isInteger(1) ? builder.getI8Type() : registerType;
}

static Value loadUnderBranch(Lowering &lowering, Type type, Value condition, Value otherwise,
                             function_ref<Value()> load) {
  OpBuilder &builder = lowering.builder;
  Location loc = lowering.loc();
  auto guarded = scf::IfOp::create(builder, loc, TypeRange{type}, condition, true, true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(guarded.thenBlock());
  scf::YieldOp::create(builder, loc, load());
  builder.setInsertionPointToStart(guarded.elseBlock());
  scf::YieldOp::create(builder, loc, otherwise ? otherwise : Value(LLVM::ZeroOp::create(builder, loc, type)));
  return guarded.getResult(0);
}

LogicalResult Lowering::lowerLoad(tile::LoadOp op) {
  const LoweredView &source = view(op.getView());
  MemoryAccess access(*this, source, op.getSubscripts(), op.getDims(), op.getResult(), {}, flags(op.getInbounds()), {});
  Type element = registerType(getElementTypeOrSelf(op.getType())), memory = memoryType(builder, element);
  int64_t bytes = tilegpu::elementBytes(getElementTypeOrSelf(op.getType()));
  ArrayRef<Value> otherwise = op.getOtherwise() ? lowered(op.getOtherwise()) : ArrayRef<Value>();
  unsigned count = isTile(op.getResult()) ? layoutOf(op.getResult()).numRegisters() : 1;
  Registers results(count);
  tile::ViewOp viewOp = source.op;
  bool readOnly = viewOp.getAccess() == tile::Access::in;
  Value policy = evictionPolicy(*this, op.getAnnotations().getAs<StringAttr>("evict"));
  for (const VectorAccess &vector : access.build(16, /*writersOnly=*/false)) {
    unsigned width = vector.registers.size();
    Type type = width == 1 ? memory : Type(VectorType::get(width, memory));
    auto load = [&]() -> Value {
      if (policy)
        return loadWithPolicy(*this, type, vector.pointer, policy, !readOnly);
      auto loaded = LLVM::LoadOp::create(builder, location, type, vector.pointer, /*alignment=*/bytes * width);
      loaded.setInvariant(readOnly);
      return loaded;
    };
    Value value;
    if (vector.condition) {
      Value fill;
      for (auto [i, reg] : llvm::enumerate(vector.registers)) {
        if (otherwise.empty())
          break;
        Value other = otherwise.size() == 1 ? otherwise[0] : otherwise[reg];
        if (other.getType().isInteger(1))
          other = arith::ExtUIOp::create(builder, location, memory, other);
        if (!fill)
          fill = width == 1 ? other : Value(LLVM::PoisonOp::create(builder, location, type));
        if (width > 1)
          fill = LLVM::InsertElementOp::create(builder, location, fill, other, constant32(i));
      }
      value = policy ? loadUnderBranch(*this, type, vector.condition, fill, load)
                     : guardedLoad(*this, type, vector, fill, readOnly);
    } else {
      value = load();
    }
    for (auto [i, reg] : llvm::enumerate(vector.registers)) {
      Value one = width == 1 ? value : Value(LLVM::ExtractElementOp::create(builder, location, value, constant32(i)));
      if (element.isInteger(1))
        one = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::ne, one,
                                    arith::ConstantIntOp::create(builder, location, 0, 8));
      results[reg] = one;
    }
  }
  set(op.getResult(), std::move(results));
  return success();
}

LogicalResult Lowering::lowerStore(tile::StoreOp op) {
  MemoryAccess access(*this, view(op.getView()), op.getSubscripts(), op.getDims(), op.getValue(), op.getAxes(),
                      flags(op.getInbounds()), flags(op.getFull()));
  Type element = registerType(getElementTypeOrSelf(op.getValue().getType())), memory = memoryType(builder, element);
  int64_t bytes = tilegpu::elementBytes(getElementTypeOrSelf(op.getValue().getType()));
  ArrayRef<Value> values = lowered(op.getValue());
  SmallVector<VectorAccess, 0> accesses = access.build(16, /*writersOnly=*/true);
  // LLVM moves the arithmetic of one element into the branch around its store. Without branches it computes large
  // tiles, such as those of accumulators, before it stores them, and needs their registers twice.
  bool branches = accesses.size() > maxPredicated;
  for (const VectorAccess &vector : accesses) {
    unsigned width = vector.registers.size();
    auto bitsOf = [&](uint32_t reg) -> Value {
      Value value = values[reg];
      return element.isInteger(1) ? Value(arith::ExtUIOp::create(builder, location, memory, value)) : value;
    };
    Value packed = bitsOf(vector.registers[0]);
    if (width > 1) {
      packed = LLVM::PoisonOp::create(builder, location, VectorType::get(width, memory));
      for (auto [i, reg] : llvm::enumerate(vector.registers))
        packed = LLVM::InsertElementOp::create(builder, location, packed, bitsOf(reg), constant32(i));
    }
    auto store = [&] { LLVM::StoreOp::create(builder, location, packed, vector.pointer, /*alignment=*/bytes * width); };
    if (!vector.condition)
      store();
    else if (branches)
      emitIf(vector.condition, store);
    else
      guardedStore(*this, packed, vector);
  }
  return success();
}
