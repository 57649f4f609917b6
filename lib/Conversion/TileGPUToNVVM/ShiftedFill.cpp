// Fills from rows that are no multiples of 16 bytes: by shifted vectors where these lie inside, else element by
// element.
#include "ThreadFill.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilec;

// Rows of the slot consist of whole vectors, and neighbours in it are neighbours in memory.
bool ThreadFill::canShift(int64_t elementBytes) {
  return engine == Engine::LdSt && elementBytes <= 4 && !op.getEvictAttr() &&
         matchPattern(view.strides.back(), m_One()) && tile.rowBytes() % ShiftedLoad::bytes == 0 &&
         tile.pitch() % ShiftedLoad::bytes == 0;
}

// `block`: of the columns.
void ThreadFill::moveShifted(Value inside, int64_t block, Value exists, Value source, Value address) {
  Value fits = arith::AndIOp::create(builder, loc, whole[block], shifted->isInside(source));
  if (inside)
    fits = arith::AndIOp::create(builder, loc, fits, inside);
  stores.push_back({shifted->load(source, fits), address, exists});
  if (exists) {
    Value beyond = arith::XOrIOp::create(builder, loc, exists, arith::ConstantIntOp::create(builder, loc, 1, 1));
    fits = arith::OrIOp::create(builder, loc, fits, beyond);
  }
  allFit = allFit ? arith::AndIOp::create(builder, loc, allFit, fits).getResult() : fits;
}

// `count` steps of the grid from row `start`, all elements one by one: at the ends of rows and of the tensor.
void ThreadFill::moveElements(Value start, Value pointer, int64_t count) {
  auto loop = scf::ForOp::create(builder, loc, constant(0), constant(count * columnBlocks), constant(1));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value step = builder.createOrFold<arith::DivUIOp>(loc, loop.getInductionVar(), constant(columnBlocks));
  Value block = builder.createOrFold<arith::RemUIOp>(loc, loop.getInductionVar(), constant(columnBlocks));
  Value row = lowering.add(start, lowering.mulConstant(step, rowsAtOnce));
  Value distance = lowering.mulConstant(block, lanes * elements), column = lowering.add(firstColumn, distance);
  Value source = pointer;
  if (!equalSteps())
    source = moved(pointer, rowOffset(row));
  else if (op.getKept().size() == 2)
    source = moved(pointer,
                   builder.createOrFold<arith::MulIOp>(loc, lowering.toIndex(lowering.mulConstant(step, rowsAtOnce)),
                                                       view.strides[op.getKept()[0]]));
  source = moved(source, lowering.toIndex(distance));
  SharedPart part{tile, target, nullptr, nullptr};
  Value address = SharedAccess(builder, loc, part, row, column).at(0, 0);
  auto copy = [&] { copyElements(column, rowInside(row), source, address); };
  if (Value exists = isInTile(row, column))
    lowering.emitIf(exists, copy);
  else
    copy();
}

// The elements of one vector, one by one.
void ThreadFill::copyElements(Value column, Value inside, Value source, Value address) {
  auto loop = scf::ForOp::create(builder, loc, constant(0), constant(elements), constant(1));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value number = loop.getInductionVar();
  Value present = isInside(lowering, lowering.add(column, number), columns);
  if (inside)
    present = arith::AndIOp::create(builder, loc, present, inside);
  Value count = arith::ExtUIOp::create(builder, loc, builder.getI32Type(), present);
  Value loaded = load(moved(source, lowering.toIndex(number)), count);
  Value place = lowering.add(address, lowering.mulConstant(number, width / elements));
  LLVM::StoreOp::create(builder, loc, loaded, ptx.sharedPointer(place));
}

// Whether rows begin at multiples of a vector depends on the tensor and the box, and is the same for all threads.
void ThreadFill::fillByMode() {
  if (!shifted)
    return fill();
  OpBuilder::InsertionGuard guard(builder);
  auto byAlignment = scf::IfOp::create(builder, loc, isAligned(), /*withElseRegion=*/true);
  builder.setInsertionPointToStart(byAlignment.thenBlock());
  fillAs(Mode::Async);
  builder.setInsertionPointToStart(byAlignment.elseBlock());
  fillAs(Mode::Shifted);
}

// i1: whether all rows of the box, and the tensor's first column, begin at multiples of a vector.
Value ThreadFill::isAligned() {
  Type i64 = builder.getI64Type();
  int64_t bytes = width / elements;
  auto inBytes = [&](Value number) {
    number = builder.createOrFold<arith::MulIOp>(loc, number, lowering.constantIndex(bytes));
    return arith::IndexCastOp::create(builder, loc, i64, number).getResult();
  };
  Value start = lowering.constantIndex(0);
  for (auto [first, stride] : llvm::zip(op.getStarts(), view.strides))
    start = lowering.add(start, builder.createOrFold<arith::MulIOp>(loc, lowering.scalar(first), stride));
  Value bits =
      arith::AddIOp::create(builder, loc, LLVM::PtrToIntOp::create(builder, loc, i64, view.pointer), inBytes(start));
  for (int64_t dim : op.getKept().drop_back())
    bits = arith::OrIOp::create(builder, loc, bits, inBytes(view.strides[dim]));
  Value low = arith::AndIOp::create(builder, loc, arith::TruncIOp::create(builder, loc, builder.getI32Type(), bits),
                                    constant(ShiftedLoad::bytes - 1));
  // Where the tensor begins within a vector of the box, as it may left of a shifted subscript, no vector is whole.
  low = arith::OrIOp::create(builder, loc, low,
                             arith::AndIOp::create(builder, loc, columns.first, constant(elements - 1)));
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, low, constant(0));
}
