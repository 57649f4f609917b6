// Fills by the threads of a group: cp.async, or loads and stores. Elements outside the view become 0.
#include "GuardedAccess.h"
#include "ThreadFill.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <numeric>

using namespace mlir;
using namespace tilec;

// Accesses that a thread has in flight in a loop; up to twice as many without one. A shifted vector takes eight
// registers until it is put together; a producer has nothing else in its registers.
static constexpr int64_t unrolled = 8, unrolledShifted = 2, unrolledByProducer = 8;

// Bytes that neighbouring threads should read together: two sectors of 32.
static constexpr int64_t coalescedBytes = 64;

ThreadFill::ThreadFill(Lowering &lowering, tilegpu::FillOp op, Value target, Engine engine)
    : lowering(lowering), op(op), builder(lowering.builder), loc(lowering.loc()), ptx(builder, loc), engine(engine),
      view(lowering.view(op.getView())), buffer(filledBuffer(op)), tile(lowering.sharedTileOf(buffer)), target(target),
      mode(engine == Engine::CpAsync ? Mode::Async : Mode::Elements) {}

LogicalResult ThreadFill::chooseWidth() {
  auto chan = op.getChan().getDefiningOp<tilegpu::ChanOp>();
  Type type = buffer.getElementType();
  if (!type.isIntOrFloat() || type.getIntOrFloatBitWidth() < 8)
    return op.emitOpError("has an element type that is not copied element by element: ") << type;
  int64_t bytes = tilegpu::elementBytes(type);
  width = engine == Engine::CpAsync ? static_cast<int64_t>(chan.getWidth()) : bytes;
  if (canShift(bytes)) {
    shifted.emplace(lowering, view, bytes);
    width = ShiftedLoad::bytes;
  }
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

void ThreadFill::chooseGrid() {
  int64_t threads = lowering.groupThreads, common = std::gcd(vectorsPerRow, threads);
  bool everyThread = common == vectorsPerRow || common * width >= coalescedBytes;
  lanes = everyThread ? common : std::min(vectorsPerRow, threads);
  rowsAtOnce = threads / lanes;
  rounds = llvm::divideCeil(tile.rows, rowsAtOnce);
  columnBlocks = llvm::divideCeil(vectorsPerRow, lanes);
  Value thread = lowering.threadInGroup;
  firstRow = builder.createOrFold<arith::DivUIOp>(loc, thread, constant(lanes));
  firstColumn = lowering.mulConstant(builder.createOrFold<arith::RemUIOp>(loc, thread, constant(lanes)), elements);
}

Interval ThreadFill::insideOf(unsigned dim, int64_t extent) {
  return placesInside(lowering, lowering.scalar(op.getStarts()[dim]), view.sizes[dim], extent);
}

// Outside in a dimension that the tile does not have: nothing is inside.
void ThreadFill::prepareBounds() {
  Value outside;
  unsigned last = op.getBox().size() - 1;
  for (unsigned d = 0; d < last; ++d) {
    if (llvm::is_contained(op.getKept(), static_cast<int64_t>(d))) {
      rowIntervals.push_back(insideOf(d, op.getBox()[d]));
      continue;
    }
    Value beyond = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::uge, lowering.scalar(op.getStarts()[d]),
                                         view.sizes[d]);
    outside = outside ? arith::OrIOp::create(builder, loc, outside, beyond).getResult() : beyond;
  }
  columns = insideOf(last, op.getBox()[last]);
  if (outside)
    columns.limit = arith::SelectOp::create(builder, loc, outside, columns.first, columns.limit);
  for (int64_t block = 0; block < columnBlocks; ++block) {
    Value column = lowering.addConstant(firstColumn, block * lanes * elements);
    counts.push_back(countInside(column));
    if (shifted)
      whole.push_back(arith::AndIOp::create(builder, loc, isInside(lowering, column, columns),
                                            isInside(lowering, lowering.addConstant(column, elements - 1), columns)));
  }
}

// i32: how many elements of the vector at this column lie inside. A vector begins inside or has none inside: it is
// aligned, and so are the box and the tensor.
Value ThreadFill::countInside(Value column) {
  Value left = builder.createOrFold<arith::SubIOp>(loc, columns.limit, column);
  left = arith::MinSIOp::create(builder, loc, left, constant(elements));
  return arith::SelectOp::create(builder, loc, isInside(lowering, column, columns), left, constant(0));
}

// The coordinate in the tile's leading dimension `number` of a row of the flattened tile.
Value ThreadFill::localCoordinate(unsigned number, Value row) {
  ArrayRef<int64_t> leading = op.getKept().drop_back();
  int64_t inner = 1;
  for (int64_t d : leading.drop_front(number + 1))
    inner *= op.getBox()[d];
  Value local = inner == 1 ? row : builder.createOrFold<arith::DivUIOp>(loc, row, constant(inner));
  return number == 0 ? local : builder.createOrFold<arith::RemUIOp>(loc, local, constant(op.getBox()[leading[number]]));
}

// i1, or null for a tile of one row.
Value ThreadFill::rowInside(Value row) {
  Value inside;
  for (auto [number, interval] : llvm::enumerate(rowIntervals)) {
    Value condition = isInside(lowering, localCoordinate(number, row), interval);
    inside = inside ? arith::AndIOp::create(builder, loc, inside, condition).getResult() : condition;
  }
  return inside;
}

// Elements from the start of the box to a row of the tile.
Value ThreadFill::rowOffset(Value row) {
  Value offset = lowering.constantIndex(0);
  for (auto [number, dim] : llvm::enumerate(op.getKept().drop_back())) {
    Value local = lowering.toIndex(localCoordinate(number, row));
    offset = lowering.add(offset, builder.createOrFold<arith::MulIOp>(loc, local, view.strides[dim]));
  }
  return offset;
}

Value ThreadFill::moved(Value pointer, Value elementsFurther) {
  Value offset = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), elementsFurther);
  return LLVM::GEPOp::create(builder, loc, pointer.getType(), storageType(buffer.getElementType()), pointer,
                             ArrayRef<LLVM::GEPArg>{offset});
}

// One element, 0 outside.
Value ThreadFill::load(Value source, Value count) {
  Type type = storageType(buffer.getElementType());
  Value inside = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, count, constant(0));
  auto branch = scf::IfOp::create(builder, loc, type, inside, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  Value loaded = policy ? loadWithPolicy(lowering, type, source, policy, /*ordered=*/true)
                        : LLVM::LoadOp::create(builder, loc, type, source).getResult();
  scf::YieldOp::create(builder, loc, loaded);
  builder.setInsertionPointToStart(branch.elseBlock());
  Value zero = arith::ConstantOp::create(builder, loc, cast<TypedAttr>(builder.getZeroAttr(type)));
  scf::YieldOp::create(builder, loc, zero);
  return branch.getResult(0);
}

// False at places of the grid beyond the tile, whose shared memory is not the tile's; null where there are none.
Value ThreadFill::isInTile(Value row, Value column) {
  Value exists;
  auto require = [&](Value coordinate, int64_t extent) {
    Value below = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, coordinate, constant(extent));
    exists = exists ? arith::AndIOp::create(builder, loc, exists, below).getResult() : below;
  };
  if (tile.rows % rowsAtOnce)
    require(row, tile.rows);
  if (vectorsPerRow % lanes)
    require(column, vectorsPerRow * elements);
  return exists;
}

// `inside`: whether the row is, null for always.
void ThreadFill::moveVector(Value row, Value inside, int64_t block, Value source, Value address) {
  Value exists = isInTile(row, lowering.addConstant(firstColumn, block * lanes * elements));
  if (mode == Mode::Shifted)
    return moveShifted(inside, block, exists, source, address);
  Value count = counts[block];
  if (inside)
    count = arith::SelectOp::create(builder, loc, inside, count, constant(0));
  if (mode == Mode::Elements) {
    if (exists)
      count = arith::SelectOp::create(builder, loc, exists, count, constant(0));
    stores.push_back({load(source, count), address, exists});
    return;
  }
  auto copy = [&] { ptx.copyAsync(address, source, width, lowering.mulConstant(count, width / elements), policy); };
  if (exists)
    lowering.emitIf(exists, copy);
  else
    copy();
}

// `count` steps of the grid along the rows from step `round` (i32), where `pointer` is the thread's first element.
void ThreadFill::moveRows(Value round, Value pointer, int64_t count) {
  Value start = lowering.add(firstRow, lowering.mulConstant(round, rowsAtOnce));
  SharedPart part{tile, target, nullptr, nullptr};
  SharedAccess access(builder, loc, part, start, firstColumn, lanes * elements);
  Value rowStep = equalSteps() && op.getKept().size() == 2
                      ? lowering.mulConstant(view.strides[op.getKept()[0]], rowsAtOnce)
                      : Value();
  Value rowPointer = pointer;
  for (int64_t i = 0; i < count; ++i) {
    Value row = lowering.addConstant(start, i * rowsAtOnce);
    if (i && rowStep)
      rowPointer = moved(rowPointer, rowStep);
    else if (!equalSteps())
      rowPointer = moved(pointer, rowOffset(row));
    Value inside = rowInside(row);
    for (int64_t block = 0; block < columnBlocks; ++block) {
      int64_t distance = block * lanes * elements;
      Value source = block ? moved(rowPointer, lowering.mulConstant(view.strides.back(), distance)) : rowPointer;
      moveVector(row, inside, block, source, access.at(i * rowsAtOnce, distance));
    }
  }
  if (mode != Mode::Shifted)
    return emitStores();
  auto branch = scf::IfOp::create(builder, loc, allFit, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  emitStores();
  builder.setInsertionPointToStart(branch.elseBlock());
  moveElements(start, pointer, count);
  allFit = nullptr;
}

void ThreadFill::emitStores() {
  for (const Store &store : stores) {
    auto emit = [&] { LLVM::StoreOp::create(builder, loc, store.value, ptx.sharedPointer(store.address)); };
    if (store.condition)
      lowering.emitIf(store.condition, emit);
    else
      emit();
  }
  stores.clear();
}

LogicalResult ThreadFill::run() {
  if (failed(chooseWidth()))
    return failure();
  policy = evictionPolicy(lowering, op.getEvictAttr());
  chooseGrid();
  prepareBounds();
  offset = builder.createOrFold<arith::MulIOp>(loc, lowering.toIndex(firstColumn), view.strides.back());
  for (auto [start, stride] : llvm::zip(op.getStarts(), view.strides))
    offset = lowering.add(offset, builder.createOrFold<arith::MulIOp>(loc, lowering.scalar(start), stride));
  int64_t busy = lanes * rowsAtOnce;
  if (busy == lowering.groupThreads) {
    fillByMode();
    return success();
  }
  Value works = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, lowering.threadInGroup, constant(busy));
  lowering.emitIf(works, [&] { fillByMode(); });
  return success();
}

void ThreadFill::fillAs(Mode chosen) {
  mode = chosen;
  fill();
}

void ThreadFill::fill() {
  int64_t shiftedInFlight = lowering.inProcess ? unrolledByProducer : unrolledShifted;
  int64_t inFlight = mode == Mode::Shifted ? shiftedInFlight : unrolled;
  if (rounds * columnBlocks <= 2 * inFlight)
    return moveRows(constant(0), moved(view.pointer, equalSteps() ? lowering.add(offset, rowOffset(firstRow)) : offset),
                    rounds);
  int64_t together = std::max<int64_t>(1, inFlight / columnBlocks);
  while (rounds % together)
    --together;
  auto loop = scf::ForOp::create(builder, loc, constant(0), constant(rounds), constant(together));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value round = loop.getInductionVar(), place = offset;
  if (equalSteps())
    place = lowering.add(place, rowOffset(lowering.add(firstRow, lowering.mulConstant(round, rowsAtOnce))));
  moveRows(round, moved(view.pointer, place), together);
}

LogicalResult tilec::emitThreadFill(Lowering &lowering, tilegpu::FillOp op, Value target, Engine engine) {
  return ThreadFill(lowering, op, target, engine).run();
}
