// Flushes of staged stores by the threads of a group, for tensors whose rows begin at any element.
//
// A row of the unit covers vectors of 16 bytes in global memory that are whole, and a part of one at each end, together
// one vector: the thread of the first vector stores both parts, element by element.
#include "Intervals.h"
#include "MmaShared.h"
#include "ShiftedLoad.h"
#include "StagedStores.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tilec;

namespace {

class ThreadFlush {
public:
  ThreadFlush(Lowering &lowering, tilegpu::FlushOp op, Value address)
      : lowering(lowering), op(op), builder(lowering.builder), loc(lowering.loc()), view(lowering.view(op.getView())),
        buffer(flushedBuffer(op)), part{lowering.sharedTileOf(buffer), address, Value(), Value()},
        elementBytes(tilegpu::elementBytes(buffer.getElementType())), rowBytes(part.tile.columns * elementBytes) {}

  void run();

private:
  static constexpr int64_t bytes = ShiftedLoad::bytes;

  // What a row of the unit is about: its number, its first byte in the tensor (i64), and how many bytes before that the
  // first vector begins (i32).
  struct Row {
    Value number, address, shift;
  };

  void prepare();
  void storeRow(Value number);
  void storeVector(const Row &row, Value first);
  void storeElements(const Row &row, Value first);
  Value shared(Value row, Value byte);
  Value constant(int64_t value) { return lowering.constant32(value); }
  Value both(Value a, Value b) { return arith::AndIOp::create(builder, loc, a, b); }
  Value pointerTo(const Row &row, Value byte);

  Lowering &lowering;
  tilegpu::FlushOp op;
  OpBuilder &builder;
  Location loc;
  const LoweredView &view;
  tilegpu::SmemType buffer;
  SharedPart part;
  int64_t elementBytes, rowBytes;
  /// The thread's vector of a row, in bytes: i32.
  Value column;
  /// The rows and the bytes of a row of the unit that are inside the view.
  Interval rows, bytesOfRow;
  /// i64: the unit's first byte in the tensor, the bytes from row to row.
  Value base, pitch;
  /// i1, null for true: the dimensions that the unit does not have are inside.
  Value exists;
};

} // namespace

Value ThreadFlush::shared(Value row, Value byte) {
  Value element = builder.createOrFold<arith::DivUIOp>(loc, byte, constant(elementBytes));
  return SharedAccess(builder, loc, part, row, element, part.tile.columns).at(0, 0);
}

Value ThreadFlush::pointerTo(const Row &row, Value byte) {
  Value wide = arith::ExtSIOp::create(builder, loc, builder.getI64Type(), byte);
  Value address = arith::AddIOp::create(builder, loc, row.address, wide);
  return LLVM::IntToPtrOp::create(builder, loc, LLVM::LLVMPointerType::get(builder.getContext(), 1), address);
}

void ThreadFlush::prepare() {
  Type i64 = builder.getI64Type();
  auto inBytes = [&](Value elements) -> Value {
    elements = builder.createOrFold<arith::MulIOp>(loc, elements, lowering.constantIndex(elementBytes));
    return arith::IndexCastOp::create(builder, loc, i64, elements);
  };
  Value offset = lowering.constantIndex(0);
  for (auto [d, start, stride, size] : llvm::enumerate(op.getStarts(), view.strides, view.sizes)) {
    Value first = lowering.scalar(start);
    offset = lowering.add(offset, builder.createOrFold<arith::MulIOp>(loc, first, stride));
    if (!llvm::is_contained(op.getKept(), static_cast<int64_t>(d))) {
      Value inside = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, first, size);
      exists = exists ? both(exists, inside) : inside;
      continue;
    }
    bool isRow = static_cast<int64_t>(d) == op.getKept()[0];
    int64_t extent = isRow ? part.tile.rows : part.tile.columns;
    (isRow ? rows : bytesOfRow) = placesInside(lowering, first, size, extent);
  }
  bytesOfRow = {lowering.mulConstant(bytesOfRow.first, elementBytes),
                lowering.mulConstant(bytesOfRow.limit, elementBytes)};
  pitch = inBytes(view.strides[op.getKept()[0]]);
  base =
      arith::AddIOp::create(builder, loc, LLVM::PtrToIntOp::create(builder, loc, i64, view.pointer), inBytes(offset));
}

void ThreadFlush::run() {
  prepare();
  int64_t vectors = rowBytes / bytes, rowsAtOnce = lowering.groupThreads / vectors;
  Value thread = lowering.threadInGroup;
  Value row = builder.createOrFold<arith::DivUIOp>(loc, thread, constant(vectors));
  column = lowering.mulConstant(builder.createOrFold<arith::RemUIOp>(loc, thread, constant(vectors)), bytes);
  auto loop = scf::ForOp::create(builder, loc, row, constant(part.tile.rows), constant(rowsAtOnce));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value number = loop.getInductionVar(), inside = isInside(lowering, number, rows);
  lowering.emitIf(exists ? both(inside, exists) : inside, [&] { storeRow(number); });
}

void ThreadFlush::storeRow(Value number) {
  Value wide = arith::ExtUIOp::create(builder, loc, builder.getI64Type(), number);
  Value address = arith::AddIOp::create(builder, loc, base, arith::MulIOp::create(builder, loc, wide, pitch));
  Value shift = arith::AndIOp::create(
      builder, loc, arith::TruncIOp::create(builder, loc, builder.getI32Type(), address), constant(bytes - 1));
  Row row{number, address, shift};
  Value first = arith::SubIOp::create(builder, loc, column, shift), end = lowering.addConstant(first, bytes);
  Value whole = both(arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge, first, bytesOfRow.first),
                     arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sle, end, bytesOfRow.limit));
  auto branch = scf::IfOp::create(builder, loc, whole, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  storeVector(row, first);
  builder.setInsertionPointToStart(branch.elseBlock());
  storeElements(row, first);
}

// `first`: the byte of the unit's row with which the vector begins.
void ThreadFlush::storeVector(const Row &row, Value first) {
  Type i32 = builder.getI32Type();
  Value shift = arith::AndIOp::create(builder, loc, first, constant(bytes - 1));
  Value start = arith::SubIOp::create(builder, loc, first, shift);
  // The vector after the last one of a row is not needed: the first then is the whole.
  Value next = arith::MinUIOp::create(builder, loc, lowering.addConstant(start, bytes), constant(rowBytes - bytes));
  SmallVector<Value, 8> words;
  for (Value byte : {start, next})
    words.append(loadShared(builder, loc, shared(row.number, byte), i32, bytes / 4));
  Value vector = vectorWithin(builder, loc, words, shift, elementBytes);
  LLVM::StoreOp::create(builder, loc, vector, pointerTo(row, first), /*alignment=*/bytes);
}

// What lies before the unit's row belongs to another unit; in its place stands the end of the row.
void ThreadFlush::storeElements(const Row &row, Value first) {
  auto loop = scf::ForOp::create(builder, loc, constant(0), constant(bytes), constant(elementBytes));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value byte = arith::AddIOp::create(builder, loc, first, loop.getInductionVar());
  Value isBefore = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, byte, constant(0));
  byte = arith::SelectOp::create(builder, loc, isBefore, lowering.addConstant(byte, rowBytes), byte);
  lowering.emitIf(isInside(lowering, byte, bytesOfRow), [&] {
    Value element = loadShared(builder, loc, shared(row.number, byte), buffer.getElementType(), 1).front();
    LLVM::StoreOp::create(builder, loc, element, pointerTo(row, byte), /*alignment=*/elementBytes);
  });
}

void tilec::emitThreadFlush(Lowering &lowering, tilegpu::FlushOp op, Value address) {
  ThreadFlush(lowering, op, address).run();
}
