// Address arithmetic of tiles in shared memory.
#include "MmaShared.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Matchers.h"
#include "tilec/Dialect/TileGPU/TileGPUDialect.h"

using namespace mlir;
using namespace tilec;

// Rows after which every swizzle repeats.
static constexpr int64_t swizzlePeriod = 8;

SharedAccess::SharedAccess(OpBuilder &builder, Location loc, const SharedPart &part, Value row, Value column,
                           int64_t columnBound)
    : builder(builder), loc(loc), tile(part.tile), address(part.address), row(add(row, part.rowOffset)),
      column(add(column, part.columnOffset)), columnBound(part.columnOffset ? 0
                                                          : column          ? columnBound
                                                                            : 1) {}

Value SharedAccess::constant(int64_t value) {
  return arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(static_cast<int32_t>(value)));
}

Value SharedAccess::add(Value a, Value b) {
  if (!a || !b)
    return a ? a : b;
  return builder.createOrFold<arith::AddIOp>(loc, a, b);
}

Value SharedAccess::times(Value a, int64_t factor) {
  return a ? builder.createOrFold<arith::MulIOp>(loc, a, constant(factor)) : Value();
}

SharedAccess::Column SharedAccess::columnBytes(int64_t columnOffset) {
  int64_t bytes = tile.elementBits / 8, columns = tile.panelColumns();
  if (!column)
    return {constant(columnOffset / columns * tile.panelBytes()), constant(columnOffset % columns * bytes)};
  Value position = columnOffset ? add(column, constant(columnOffset)) : column;
  if (staysInPanel(columnOffset))
    return {constant(0), times(position, bytes)};
  Value panel = builder.createOrFold<arith::DivUIOp>(loc, position, constant(columns));
  Value inside = builder.createOrFold<arith::RemUIOp>(loc, position, constant(columns));
  return {tile.panels() == 1 ? constant(0) : times(panel, tile.panelBytes()), times(inside, bytes)};
}

bool SharedAccess::staysInPanel(int64_t columnInPanel) const {
  return columnBound && columnInPanel + columnBound <= tile.panelColumns();
}

// Without the rows that are whole periods. Panels start at multiples of the period where the tile has whole periods of
// rows, so that the xor depends on the row alone.
Value SharedAccess::swizzled(int64_t rowOffset, int64_t columnOffset) {
  auto [panel, inside] = columnBytes(columnOffset);
  Value position = rowOffset ? add(row, constant(rowOffset)) : row;
  Value rowBytes = position ? times(position, tile.layout.span()) : constant(0);
  bool rowDecides = tile.panels() == 1 || tile.rows % swizzlePeriod == 0;
  Value base = rowDecides ? rowBytes : add(rowBytes, panel);
  Value phase = builder.createOrFold<arith::ShRUIOp>(loc, base, constant(7));
  phase = builder.createOrFold<arith::AndIOp>(loc, phase, constant(tile.layout.swizzleMask()));
  phase = builder.createOrFold<arith::ShLIOp>(loc, phase, constant(4));
  Value chunk = builder.createOrFold<arith::XOrIOp>(loc, inside, phase);
  return add(add(address, add(rowBytes, panel)), chunk);
}

Value SharedAccess::at(int64_t rowOffset, int64_t columnOffset) {
  // What a constant addition brings: whole periods of rows and whole panels, or everything where nothing is swizzled.
  int64_t rows = rowOffset, columns = columnOffset, bytes = 0;
  if (tile.layout.isSwizzled()) {
    bool panelsKeepPhase = tile.panels() == 1 || tile.rows % swizzlePeriod == 0;
    int64_t inPanel = columnOffset % tile.panelColumns();
    rows = panelsKeepPhase ? rowOffset - rowOffset % swizzlePeriod : 0;
    columns = panelsKeepPhase && staysInPanel(inPanel) ? columnOffset - inPanel : 0;
    bytes = rows * tile.pitch() + columns / tile.panelColumns() * tile.panelBytes();
  } else {
    bytes = rows * tile.pitch() + columns * tile.elementBits / 8;
  }
  Value &base = known[{rowOffset - rows, columnOffset - columns}];
  if (!base && tile.layout.isSwizzled())
    base = swizzled(rowOffset - rows, columnOffset - columns);
  else if (!base)
    base = add(address, add(times(row, tile.pitch()), times(column, tile.elementBits / 8)));
  return bytes ? add(base, constant(bytes)) : base;
}

Value tilec::sumOfTerms(OpBuilder &builder, Location loc, ArrayRef<Term> terms, Value lane, Value warp) {
  auto constant = [&](int64_t value) {
    return arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(value)).getResult();
  };
  Value sum;
  for (const Term &term : terms) {
    Value digit = term.owner == Owner::Lane ? lane : warp;
    digit = builder.createOrFold<arith::DivUIOp>(loc, digit, constant(term.divisor));
    digit = builder.createOrFold<arith::RemUIOp>(loc, digit, constant(term.radix));
    digit = builder.createOrFold<arith::MulIOp>(loc, digit, constant(term.stride));
    sum = sum ? builder.createOrFold<arith::AddIOp>(loc, sum, digit) : digit;
  }
  return sum;
}

Type tilec::storageType(Type elementType) {
  MLIRContext *context = elementType.getContext();
  if (elementType.isIndex())
    return IntegerType::get(context, 64);
  if (elementType.isTF32())
    return Float32Type::get(context);
  if (isa<FloatType>(elementType) && elementType.getIntOrFloatBitWidth() == 8)
    return IntegerType::get(context, 8);
  return elementType;
}

SmallVector<Value, 8> tilec::loadShared(OpBuilder &builder, Location loc, Value address, Type elementType,
                                        int64_t count) {
  Type type = storageType(elementType);
  Value pointer = LLVM::IntToPtrOp::create(builder, loc, LLVM::LLVMPointerType::get(builder.getContext(), 3), address);
  unsigned alignment = count * tilegpu::elementBytes(elementType);
  if (count == 1)
    return {LLVM::LoadOp::create(builder, loc, type, pointer, alignment)};
  Value vector = LLVM::LoadOp::create(builder, loc, VectorType::get(count, type), pointer, alignment);
  SmallVector<Value, 8> elements;
  for (int64_t i = 0; i < count; ++i) {
    Value index = arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(i));
    elements.push_back(LLVM::ExtractElementOp::create(builder, loc, vector, index));
  }
  return elements;
}
