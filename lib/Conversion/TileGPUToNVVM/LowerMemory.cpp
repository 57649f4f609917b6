// tile.load and tile.store: vector accesses of global memory.
#include "AbsentElements.h"
#include "GuardedAccess.h"
#include "LoadEmitter.h"
#include "WindowedLoad.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace tilec;

// Stores of a thread up to which they are predicated instructions; the number is that of rows and element-wise tiles.
static constexpr size_t maxPredicated = 32;

// Without branches, elements that are computed before they are stored. More hide latencies, such as that of a norm's
// weights, but ptxas keeps them all.
static constexpr size_t registersBetweenStores = 16;

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

LoadEmitter::LoadEmitter(Lowering &lowering, tile::LoadOp op, bool inOrder)
    : lowering(lowering), op(op), source(lowering.view(op.getView())), builder(lowering.builder), loc(lowering.loc()),
      element(Lowering::registerType(getElementTypeOrSelf(op.getType()))), memory(memoryType(builder, element)) {
  MemoryAccess access(lowering, source, op.getSubscripts(), op.getDims(), op.getResult(), {}, flags(op.getInbounds()),
                      {});
  tile::ViewOp viewOp = source.op;
  invariant = viewOp.getAccess() == tile::Access::in && !inOrder;
  if (op.getOtherwise())
    llvm::append_range(otherwise, lowering.lowered(op.getOtherwise()));
  else if (auto absent = op->getAttrOfType<FloatAttr>(absentElement))
    otherwise.push_back(arith::ConstantOp::create(builder, loc, absent));
  values.resize(Lowering::isTile(op.getResult()) ? Lowering::layoutOf(op.getResult()).numRegisters() : 1);
  policy = evictionPolicy(lowering, op.getAnnotations().getAs<StringAttr>("evict"));
  accesses = access.build(16, /*writersOnly=*/false);
}

Value LoadEmitter::fromMemory(Value value) {
  if (!element.isInteger(1))
    return value;
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, value,
                               arith::ConstantIntOp::create(builder, loc, 0, 8));
}

// The elements where the access does not happen; null for zeros.
Value LoadEmitter::fill(const VectorAccess &vector, Type type) {
  if (otherwise.empty())
    return nullptr;
  Value result;
  for (auto [i, reg] : llvm::enumerate(vector.registers)) {
    Value other = otherwise.size() == 1 ? otherwise[0] : otherwise[reg];
    if (other.getType().isInteger(1))
      other = arith::ExtUIOp::create(builder, loc, memory, other);
    if (vector.registers.size() == 1)
      return other;
    if (!result)
      result = LLVM::PoisonOp::create(builder, loc, type);
    result = LLVM::InsertElementOp::create(builder, loc, result, other, lowering.constant32(i));
  }
  return result;
}

Value LoadEmitter::load(const VectorAccess &vector, Type type) {
  auto always = [&]() -> Value {
    if (policy)
      return loadWithPolicy(lowering, type, vector.pointer, policy, !invariant);
    int64_t bytes = tilegpu::elementBytes(getElementTypeOrSelf(op.getType()));
    auto loaded = LLVM::LoadOp::create(builder, loc, type, vector.pointer,
                                       /*alignment=*/bytes * static_cast<int64_t>(vector.registers.size()));
    loaded.setInvariant(invariant);
    return loaded;
  };
  if (!vector.condition)
    return always();
  Value other = fill(vector, type);
  return policy ? loadUnderBranch(lowering, type, vector.condition, other, always)
                : guardedLoad(lowering, type, vector, other, invariant);
}

void LoadEmitter::set(const VectorAccess &vector, Value value) {
  unsigned width = vector.registers.size();
  for (auto [i, reg] : llvm::enumerate(vector.registers))
    values[reg] = fromMemory(
        width == 1 ? value : Value(LLVM::ExtractElementOp::create(builder, loc, value, lowering.constant32(i))));
}

void LoadEmitter::emitWindowed(ArrayRef<const VectorAccess *> vectors) {
  auto type = VectorType::get(vectors.front()->registers.size(), memory);
  SmallVector<Value> loaded = WindowedLoad(lowering, source, type)
                                  .load(
                                      vectors, [&](const VectorAccess &vector) { return load(vector, type); },
                                      [&](const VectorAccess &vector) { return fill(vector, type); });
  for (auto [vector, value] : llvm::zip(vectors, loaded))
    set(*vector, value);
}

void LoadEmitter::emit(size_t begin, size_t end) {
  emit([&](const VectorAccess &vector) { return vector.registers.front() >= begin && vector.registers.front() < end; });
}

void LoadEmitter::emit(const llvm::SmallDenseSet<uint32_t> &registers) {
  emit([&](const VectorAccess &vector) {
    return llvm::any_of(vector.registers, [&](uint32_t reg) { return registers.contains(reg); });
  });
}

void LoadEmitter::emit(function_ref<bool(const VectorAccess &)> isWanted) {
  SmallVector<const VectorAccess *> windowed;
  for (const VectorAccess &vector : accesses) {
    if (!isWanted(vector))
      continue;
    int64_t width = static_cast<int64_t>(vector.registers.size()), bytes = memory.getIntOrFloatBitWidth() / 8;
    if (isWindowed(source.op) && width > 1 && width * bytes >= 4)
      windowed.push_back(&vector);
    else
      set(vector, load(vector, width == 1 ? memory : Type(VectorType::get(width, memory))));
  }
  if (!windowed.empty())
    emitWindowed(windowed);
}

LogicalResult Lowering::lowerLoad(tile::LoadOp op) {
  LoadEmitter load(*this, op);
  load.emit(0, load.results().size());
  set(op.getResult(), Registers(load.results()));
  return success();
}

namespace {

// The vectors of one store.
class StoreEmitter {
public:
  StoreEmitter(Lowering &lowering, tile::StoreOp op)
      : lowering(lowering), op(op), element(Lowering::registerType(getElementTypeOrSelf(op.getValue().getType()))),
        memory(memoryType(lowering.builder, element)) {
    MemoryAccess access(lowering, lowering.view(op.getView()), op.getSubscripts(), op.getDims(), op.getValue(),
                        op.getAxes(), flags(op.getInbounds()), flags(op.getFull()));
    accesses = access.build(16, /*writersOnly=*/true);
  }

  bool isLike(const StoreEmitter &other) const {
    return llvm::equal(accesses, other.accesses, [](const VectorAccess &a, const VectorAccess &b) {
      return a.registers == b.registers && !a.condition == !b.condition;
    });
  }
  void emit(const VectorAccess &vector, bool isPresent, bool branches);

  SmallVector<VectorAccess, 0> accesses;

private:
  Value packed(const VectorAccess &vector);

  Lowering &lowering;
  tile::StoreOp op;
  Type element, memory;
};

} // namespace

Value StoreEmitter::packed(const VectorAccess &vector) {
  OpBuilder &builder = lowering.builder;
  Location loc = lowering.loc();
  ArrayRef<Value> values = lowering.lowered(op.getValue());
  auto bitsOf = [&](uint32_t reg) -> Value {
    return element.isInteger(1) ? Value(arith::ExtUIOp::create(builder, loc, memory, values[reg])) : values[reg];
  };
  unsigned width = vector.registers.size();
  if (width == 1)
    return bitsOf(vector.registers[0]);
  Value result = LLVM::PoisonOp::create(builder, loc, VectorType::get(width, memory));
  for (auto [i, reg] : llvm::enumerate(vector.registers))
    result = LLVM::InsertElementOp::create(builder, loc, result, bitsOf(reg), lowering.constant32(i));
  return result;
}

// `isPresent`: the condition has been tested.
void StoreEmitter::emit(const VectorAccess &vector, bool isPresent, bool branches) {
  Value value = packed(vector);
  int64_t bytes = tilegpu::elementBytes(getElementTypeOrSelf(op.getValue().getType()));
  auto store = [&] {
    LLVM::StoreOp::create(lowering.builder, lowering.loc(), value, vector.pointer,
                          /*alignment=*/bytes * static_cast<int64_t>(vector.registers.size()));
  };
  if (!vector.condition || isPresent)
    store();
  else if (branches)
    lowering.emitIf(vector.condition, store);
  else
    guardedStore(lowering, value, vector);
}

LogicalResult Lowering::lowerStores(ArrayRef<tile::StoreOp> ops, function_ref<LogicalResult(size_t)> compute,
                                    size_t apart) {
  SmallVector<StoreEmitter, 2> stores;
  for (tile::StoreOp op : ops)
    stores.emplace_back(*this, op);
  bool areAlike = llvm::all_of(stores, [&](const StoreEmitter &store) { return store.isLike(stores.front()); });
  if (!areAlike)
    return failure(llvm::any_of(ops, [&](tile::StoreOp op) { return failed(lowerStores(op, compute, 0)); }));
  ArrayRef<VectorAccess> accesses = stores.front().accesses;
  // LLVM moves the arithmetic of one element into the branch around its store. Without branches it computes what comes
  // before a store, such as the large tiles of accumulators, and needs its registers twice.
  bool branches = accesses.size() > maxPredicated;
  bool isApart = apart > 0 && llvm::all_of(accesses, [&](const VectorAccess &vector) {
                   return vector.registers.size() == apart && vector.registers.front() % apart == 0;
                 });
  size_t step = branches || isApart ? 1 : registersBetweenStores;
  size_t registers = compute ? Lowering::layoutOf(tile::StoreOp(ops.front()).getValue()).numRegisters() : 1;
  auto emit = [&](size_t i) -> LogicalResult {
    size_t end = llvm::alignTo(1 + *llvm::max_element(accesses[i].registers), step);
    if (compute && failed(compute(std::min(end, registers))))
      return failure();
    for (StoreEmitter &store : stores)
      store.emit(store.accesses[i], /*isPresent=*/isApart && stores.size() == 1, branches);
    return success();
  };
  LogicalResult result = success();
  for (size_t i = 0; i < accesses.size(); ++i) {
    Value isAny = accesses[i].condition;
    for (StoreEmitter &other : llvm::drop_begin(stores))
      if (isApart && isAny)
        isAny = arith::OrIOp::create(builder, location, isAny, other.accesses[i].condition);
    if (isApart && isAny)
      emitIf(isAny, [&] { result = emit(i); });
    else
      result = emit(i);
    if (failed(result))
      return failure();
  }
  return success();
}
