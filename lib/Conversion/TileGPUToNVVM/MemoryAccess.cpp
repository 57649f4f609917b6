// Grouping of a tile's registers into vector accesses, addresses and conditions.
#include "MemoryAccess.h"

#include "Intervals.h"
#include "WindowedLoad.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilec;

MemoryAccess::MemoryAccess(Lowering &lowering, const LoweredView &view, ValueRange subscripts, ArrayAttr dims,
                           Value value, ValueRange axes, ArrayRef<bool> inbounds, ArrayRef<bool> full)
    : lowering(lowering), view(view), subscripts(subscripts), dims(dims), value(value), axes(axes), inbounds(inbounds),
      full(full) {
  tile::ViewOp viewOp = view.op;
  elementBytes = tilegpu::elementBytes(viewOp.getType().getElementType());
  this->inbounds.resize(subscripts.size(), false);
  this->full.resize(axes.size(), false);
}

// Elements of one access: consecutive registers along the tile dimension that runs along the view's contiguous
// dimension with step 1, as many as alignment and bounds allow without taking a vector apart.
unsigned MemoryAccess::vectorWidth(unsigned widest) {
  tile::ViewOp viewOp = view.op;
  APInt one;
  if (!isTile() || !matchPattern(viewOp.getStrides().back(), m_ConstantInt(&one)) || one != 1)
    return 1;
  auto last = cast<ArrayAttr>(dims.getValue().back());
  std::optional<AffineIndex> index = affineIndex(subscripts.back());
  if (!index)
    return 1;
  int64_t contiguous = -1;
  for (auto [i, coefficient] : llvm::enumerate(index->coefficients))
    if (coefficient == 1)
      contiguous = contiguous < 0 ? cast<IntegerAttr>(last[i]).getInt() : -2;
  if (contiguous < 0)
    return 1;
  // The contiguous tile dimension must not move another subscript.
  for (auto entry : dims.getValue().drop_back())
    for (Attribute dim : cast<ArrayAttr>(entry))
      if (cast<IntegerAttr>(dim).getInt() == contiguous)
        return 1;
  contiguousDim = contiguous;
  int64_t width = std::min<int64_t>(widest, 16 / elementBytes);
  width = std::min<int64_t>(width, Lowering::layoutOf(value).vectorWidth(contiguous, widest));
  // Addresses: base, every other stride, the start, and other steps along the last dimension.
  int64_t baseElements = viewOp.getAlign().value_or(elementBytes) / elementBytes;
  if (isWindowed(viewOp) && axes.empty())
    baseElements = 16 / elementBytes;
  width = std::min(width, std::max<int64_t>(baseElements, 1));
  for (Value stride : viewOp.getStrides().drop_back())
    width = std::min(width, divisorOf(stride));
  width = std::min(width, divisorOf(index->base));
  for (int64_t coefficient : index->coefficients)
    if (coefficient != 1 && coefficient != 0)
      width = std::min(width, coefficient & -coefficient);
  // Conditions are the same for a whole vector where size and end are multiples of it.
  if (!inbounds.back())
    width = std::min(width, divisorOf(viewOp.getSizes().back()));
  if (!axes.empty() && !full[contiguous]) {
    auto axis = axes[contiguous].getDefiningOp<tile::AxisOp>();
    width = std::min(width, axis ? std::min(divisorOf(axis.getEnd()), divisorOf(axis.getStart())) : 1);
  }
  return std::max<int64_t>(width, 1);
}

Value MemoryAccess::subscriptAt(unsigned dim, uint32_t reg) {
  Value subscript = subscripts[dim];
  ArrayRef<Value> registers = lowering.lowered(subscript);
  if (!Lowering::isTile(subscript))
    return registers.front();
  // The subscript's own layout is the slice of the value's over the dimensions it does not have.
  const Layout &layout = Lowering::layoutOf(value);
  SmallVector<int64_t> kept;
  for (Attribute attr : cast<ArrayAttr>(dims[dim]))
    kept.push_back(cast<IntegerAttr>(attr).getInt());
  Layout current = layout;
  for (unsigned d = layout.rank(); d-- > 0;)
    if (!llvm::is_contained(kept, static_cast<int64_t>(d))) {
      reg = current.sliceRegister(d, reg);
      current = current.sliceDim(d);
    }
  return registers[reg];
}

Value MemoryAccess::both(Value a, Value b) {
  if (!a || !b)
    return a ? a : b;
  return lowering.builder.createOrFold<arith::AndIOp>(lowering.loc(), a, b);
}

// A sum taken apart into a value (null for 0) and a constant.
static std::pair<Value, int64_t> splitConstant(OpBuilder &builder, Location loc, Value index) {
  APInt constant;
  if (matchPattern(index, m_ConstantInt(&constant)))
    return {Value(), constant.getSExtValue()};
  auto sum = index.getDefiningOp<arith::AddIOp>();
  if (!sum)
    return {index, 0};
  auto [left, a] = splitConstant(builder, loc, sum.getLhs());
  auto [right, b] = splitConstant(builder, loc, sum.getRhs());
  if (a == 0 && b == 0)
    return {index, 0};
  if (!left || !right)
    return {left ? left : right, a + b};
  return {builder.createOrFold<arith::AddIOp>(loc, left, right), a + b};
}

// index < limit for a thread's part of the index plus a constant of the register: one threshold in 32 bits serves all
// registers. Exact for constants from 0 up to the clamp.
Value MemoryAccess::isBelow(Value index, Value limit) {
  constexpr int64_t clampLimit = int64_t(1) << 30;
  OpBuilder &builder = lowering.builder;
  Location loc = lowering.loc();
  auto [rest, constant] = splitConstant(builder, loc, index);
  if (!sharesThresholds || !rest || constant < 0 || constant >= clampLimit)
    return builder.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, index, limit);
  Value left = placesLeft(lowering, limit, rest, clampLimit);
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, lowering.constant32(constant),
                               lowering.opaque(left, thresholdNumber));
}

// All elements of the subscript, absent ones included, are at least 0.
bool MemoryAccess::isNeverNegative(unsigned dim) const {
  std::optional<AffineIndex> index = affineIndex(subscripts[dim]);
  return index && index->base.constant >= 0 &&
         llvm::all_of(index->coefficients, [](int64_t coefficient) { return coefficient >= 0; }) &&
         llvm::all_of(index->base.terms,
                      [](const auto &term) { return term.second >= 0 && isNonNegative(term.first); });
}

// 0 <= index < size, as one unsigned comparison (sizes are not negative).
Value MemoryAccess::inside(unsigned dim, Value index) {
  if (sharesThresholds && isNeverNegative(dim))
    return isBelow(index, view.sizes[dim]);
  return lowering.builder.createOrFold<arith::CmpIOp>(lowering.loc(), arith::CmpIPredicate::ult, index,
                                                      view.sizes[dim]);
}

// Every position of this register's element is before the end of its axis.
Value MemoryAccess::present(uint32_t reg) {
  Value condition;
  for (auto [d, axis] : llvm::enumerate(axes)) {
    if (full[d])
      continue;
    const Layout &layout = Lowering::layoutOf(value);
    const LoweredAxis &bounds = lowering.axis(axis);
    Value position = lowering.add(bounds.start, lowering.toIndex(lowering.threadCoordinate(layout, d)));
    position = lowering.addConstant(position, layout.registerOffset(reg)[d]);
    condition = both(condition, isBelow(position, bounds.end));
  }
  return condition;
}

// Registers beyond the tile's extent hold no element.
Value MemoryAccess::padding(uint32_t reg) {
  const Layout &layout = Lowering::layoutOf(value);
  auto type = cast<RankedTensorType>(value.getType());
  Value condition;
  for (unsigned d = 0; d < layout.rank(); ++d) {
    if (layout.covered(d) <= type.getDimSize(d))
      continue;
    Value coordinate = lowering.addConstant(lowering.threadCoordinate(layout, d), layout.registerOffset(reg)[d]);
    condition = both(condition,
                     lowering.builder.createOrFold<arith::CmpIOp>(lowering.loc(), arith::CmpIPredicate::slt, coordinate,
                                                                  lowering.constant32(type.getDimSize(d))));
  }
  return condition;
}

// True in the first of the threads that hold copies of the same elements.
Value MemoryAccess::writers() {
  if (isTile())
    return lowering.isFirstOf(Lowering::layoutOf(value).replicated());
  OpBuilder &builder = lowering.builder;
  Value number = builder.createOrFold<arith::RemUIOp>(lowering.loc(), lowering.threadInGroup,
                                                      lowering.constant32(lowering.groupThreads));
  return builder.createOrFold<arith::CmpIOp>(lowering.loc(), arith::CmpIPredicate::eq, number, lowering.constant32(0));
}

SmallVector<VectorAccess, 0> MemoryAccess::build(unsigned widest, bool writersOnly) {
  unsigned width = vectorWidth(widest);
  uint32_t count = isTile() ? Lowering::layoutOf(value).numRegisters() : 1;
  SmallVector<uint32_t, 8> run = {0};
  if (width > 1) {
    run = Lowering::layoutOf(value).contiguousRegisters(contiguousDim);
    run.resize(width);
  }
  // Two comparisons of 64 bits are cheaper than a threshold.
  sharesThresholds = count / run.size() > 2;
  thresholdNumber = lowering.newThresholdNumber(count / run.size());
  Value writer = writersOnly ? writers() : Value();
  Type elementType = Lowering::registerType(cast<tile::ViewType>(view.op->getResult(0).getType()).getElementType());
  if (elementType.isInteger(1))
    elementType = lowering.builder.getI8Type();
  SmallVector<VectorAccess, 0> accesses;
  llvm::SmallVector<bool> done(count, false);
  for (uint32_t reg = 0; reg < count; ++reg) {
    if (done[reg])
      continue;
    VectorAccess access;
    for (uint32_t offset : run) {
      access.registers.push_back(reg + offset);
      done[reg + offset] = true;
    }
    access.condition = writer;
    complete(access, elementType);
    accesses.push_back(std::move(access));
  }
  return accesses;
}

// Adds bounds, padding and presence to the condition, and sets the address of the first register.
void MemoryAccess::complete(VectorAccess &access, Type elementType) {
  OpBuilder &builder = lowering.builder;
  Location loc = lowering.loc();
  tile::ViewOp viewOp = view.op;
  uint32_t reg = access.registers.front();
  Value offset;
  int64_t constant = 0;
  for (unsigned d = 0; d < subscripts.size(); ++d) {
    Value index = subscriptAt(d, reg);
    if (!inbounds[d])
      access.condition = both(access.condition, inside(d, index));
    APInt stride;
    bool unit = matchPattern(viewOp.getStrides()[d], m_ConstantInt(&stride)) && stride == 1;
    if (unit) {
      auto [rest, steps] = splitConstant(builder, loc, index);
      index = rest;
      constant += steps;
    }
    offset = lowering.add(offset, unit ? index : builder.createOrFold<arith::MulIOp>(loc, index, view.strides[d]));
  }
  if (isTile()) {
    access.condition = both(access.condition, padding(reg));
    if (!axes.empty())
      access.condition = both(access.condition, present(reg));
  }
  auto pointerType = LLVM::LLVMPointerType::get(builder.getContext(), 1);
  auto moved = [&](Value pointer, Value elements) -> Value {
    return LLVM::GEPOp::create(builder, loc, pointerType, elementType, pointer, ArrayRef<LLVM::GEPArg>{elements});
  };
  access.base = view.pointer;
  if (offset)
    access.base = moved(access.base, builder.createOrFold<arith::IndexCastOp>(loc, builder.getI64Type(), offset));
  access.pointer = access.base;
  access.offsetBytes = constant * elementBytes;
  if (constant != 0)
    access.pointer = moved(access.base, LLVM::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(constant)));
  // The immediate of an address has 32 bits.
  if (!llvm::isInt<31>(access.offsetBytes)) {
    access.base = access.pointer;
    access.offsetBytes = 0;
  }
}
