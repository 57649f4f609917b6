// Fills by the threads of a group: cp.async, or loads and stores. Elements outside the view become 0.
#include "Channels.h"
#include "MmaShared.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tilec;

namespace {

// More accesses than this a thread become a loop.
constexpr int64_t maxUnrolled = 16;

class ThreadFill {
public:
  ThreadFill(Lowering &lowering, tilegpu::FillOp op, Value target, Engine engine)
      : lowering(lowering), op(op), builder(lowering.builder), loc(lowering.loc()), ptx(builder, loc), engine(engine),
        view(lowering.view(op.getView())), buffer(filledBuffer(op)), tile(lowering.sharedTileOf(buffer)),
        target(target) {}

  LogicalResult run();

private:
  LogicalResult chooseWidth();
  void copyRows(Value row, Value column, int64_t rounds, int64_t step);
  void copyRound(Value vector);
  void copyVector(Value row, Value column, Value address);
  Value coordinate(unsigned dim, Value row, Value column);
  Value countInside(Value position, Value size);
  void copyAsync(Value source, Value count, Value address);
  void copyThroughRegister(Value source, Value count, Value address);
  Value constant(int64_t value) { return lowering.constant32(value); }

  Lowering &lowering;
  tilegpu::FillOp op;
  OpBuilder &builder;
  Location loc;
  Ptx ptx;
  Engine engine;
  const LoweredView &view;
  tilegpu::SmemType buffer;
  SharedTile tile;
  Value target;
  /// Bytes and elements of one access.
  int64_t width = 0, elements = 0;
  int64_t vectorsPerRow = 0;
};

} // namespace

LogicalResult ThreadFill::chooseWidth() {
  auto chan = op.getChan().getDefiningOp<tilegpu::ChanOp>();
  Type type = buffer.getElementType();
  if (!type.isIntOrFloat() || type.getIntOrFloatBitWidth() < 8)
    return op.emitOpError("has an element type that is not copied element by element: ") << type;
  int64_t bytes = tilegpu::elementBytes(type);
  width = engine == Engine::CpAsync ? static_cast<int64_t>(chan.getWidth()) : bytes;
  while (width > 4 && (tile.rowBytes() % width || tile.pitch() % width))
    width /= 2;
  bool possible = engine != Engine::CpAsync || width == 4 || width == 8 || width == 16;
  if (!possible || width < bytes || tile.rowBytes() % width || tile.pitch() % width)
    return op.emitOpError("has rows that accesses of ") << width << " bytes do not cover";
  if (op.getKept().empty() || op.getKept().back() + 1 != static_cast<int64_t>(op.getBox().size()))
    return op.emitOpError("needs the last dimension of the view in the tile");
  elements = width / bytes;
  vectorsPerRow = tile.rowBytes() / width;
  return success();
}

// The coordinate in dimension `dim` of the view: the box's start plus what the row and column contribute.
Value ThreadFill::coordinate(unsigned dim, Value row, Value column) {
  Value start = lowering.scalar(op.getStarts()[dim]);
  auto *kept = llvm::find(op.getKept(), static_cast<int64_t>(dim));
  if (kept == op.getKept().end())
    return start;
  if (kept + 1 == op.getKept().end())
    return lowering.add(start, lowering.toIndex(column));
  int64_t inner = 1;
  for (int64_t d : ArrayRef<int64_t>(kept + 1, op.getKept().end() - 1))
    inner *= op.getBox()[d];
  Value local = row;
  if (inner != 1)
    local = builder.createOrFold<arith::DivUIOp>(loc, local, constant(inner));
  if (kept != op.getKept().begin())
    local = builder.createOrFold<arith::RemUIOp>(loc, local, constant(op.getBox()[dim]));
  return lowering.add(start, lowering.toIndex(local));
}

// i32: how many of the vector's elements lie inside the last dimension.
Value ThreadFill::countInside(Value position, Value size) {
  Value zero = lowering.constantIndex(0);
  Value left = arith::SubIOp::create(builder, loc, size, position);
  left = arith::MaxSIOp::create(builder, loc, left, zero);
  left = arith::MinSIOp::create(builder, loc, left, lowering.constantIndex(elements));
  Value inside = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge, position, zero);
  return lowering.toI32(arith::SelectOp::create(builder, loc, inside, left, zero));
}

void ThreadFill::copyAsync(Value source, Value count, Value address) {
  ptx.copyAsync(address, source, width, lowering.mulConstant(count, width / elements));
}

void ThreadFill::copyThroughRegister(Value source, Value count, Value address) {
  Type type = storageType(buffer.getElementType());
  Value inside = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, count, constant(0));
  auto branch = scf::IfOp::create(builder, loc, type, inside, /*withElseRegion=*/true);
  OpBuilder thenBuilder = branch.getThenBodyBuilder(), elseBuilder = branch.getElseBodyBuilder();
  scf::YieldOp::create(thenBuilder, loc, LLVM::LoadOp::create(thenBuilder, loc, type, source).getResult());
  auto zero = cast<TypedAttr>(builder.getZeroAttr(type));
  scf::YieldOp::create(elseBuilder, loc, arith::ConstantOp::create(elseBuilder, loc, zero).getResult());
  LLVM::StoreOp::create(builder, loc, branch.getResult(0), ptx.sharedPointer(address));
}

void ThreadFill::copyVector(Value row, Value column, Value address) {
  Value offset, outside;
  unsigned last = op.getBox().size() - 1;
  Value count;
  for (unsigned d = 0; d <= last; ++d) {
    Value position = coordinate(d, row, column);
    Value step = builder.createOrFold<arith::MulIOp>(loc, position, view.strides[d]);
    offset = lowering.add(offset, step);
    if (d == last) {
      count = countInside(position, view.sizes[d]);
      continue;
    }
    Value beyond = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::uge, position, view.sizes[d]);
    outside = outside ? arith::OrIOp::create(builder, loc, outside, beyond).getResult() : beyond;
  }
  if (outside)
    count = arith::SelectOp::create(builder, loc, outside, constant(0), count);
  Value offset64 = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), offset);
  Value source = LLVM::GEPOp::create(builder, loc, view.pointer.getType(), storageType(buffer.getElementType()),
                                     view.pointer, ArrayRef<LLVM::GEPArg>{offset64});
  if (engine == Engine::CpAsync)
    copyAsync(source, count, address);
  else
    copyThroughRegister(source, count, address);
}

// One access by each thread: vector number `vector` (i32).
void ThreadFill::copyRound(Value vector) {
  auto copy = [&] {
    Value row = builder.createOrFold<arith::DivUIOp>(loc, vector, constant(vectorsPerRow));
    Value column = builder.createOrFold<arith::RemUIOp>(loc, vector, constant(vectorsPerRow));
    column = lowering.mulConstant(column, elements);
    SharedPart part{tile, target, nullptr, nullptr};
    copyVector(row, column, SharedAccess(builder, loc, part, row, column).at(0, 0));
  };
  int64_t total = tile.rows * vectorsPerRow;
  if (total % lowering.groupThreads == 0)
    return copy();
  Value some = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, vector, constant(total));
  lowering.emitIf(some, copy);
}

// The threads cover whole rows at once: each keeps its column and takes every `step`-th row, at constant distances.
void ThreadFill::copyRows(Value row, Value column, int64_t rounds, int64_t step) {
  SharedPart part{tile, target, nullptr, nullptr};
  SharedAccess access(builder, loc, part, row, column);
  for (int64_t round = 0; round < rounds; ++round)
    copyVector(lowering.addConstant(row, round * step), column, access.at(round * step, 0));
}

LogicalResult ThreadFill::run() {
  if (failed(chooseWidth()))
    return failure();
  int64_t threads = lowering.groupThreads, total = tile.rows * vectorsPerRow;
  int64_t rounds = llvm::divideCeil(total, threads);
  Value thread = lowering.threadInGroup;
  if (rounds <= maxUnrolled && threads % vectorsPerRow == 0 && total % threads == 0) {
    Value row = builder.createOrFold<arith::DivUIOp>(loc, thread, constant(vectorsPerRow));
    Value column = builder.createOrFold<arith::RemUIOp>(loc, thread, constant(vectorsPerRow));
    copyRows(row, lowering.mulConstant(column, elements), rounds, threads / vectorsPerRow);
    return success();
  }
  if (rounds <= maxUnrolled) {
    for (int64_t round = 0; round < rounds; ++round)
      copyRound(lowering.addConstant(thread, round * threads));
    return success();
  }
  auto loop = scf::ForOp::create(builder, loc, constant(0), constant(rounds), constant(1));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  copyRound(lowering.add(thread, lowering.mulConstant(loop.getInductionVar(), threads)));
  return success();
}

LogicalResult tilec::emitThreadFill(Lowering &lowering, tilegpu::FillOp op, Value target, Engine engine) {
  return ThreadFill(lowering, op, target, engine).run();
}
