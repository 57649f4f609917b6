// Staged stores: registers to a slot of a ring in shared memory by stmatrix or vectors, slots to global memory by TMA
// or threads (ThreadFlush.cpp).
//
// The first thread of a group starts all stores, so that the bulk groups it waits for are those of the ring's slots, in
// order. Between threads and TMA stand the proxy fence of every writing thread and the group's barrier (PTX ISA
// 9.7.13.4, 9.7.9.25).
#include "StagedStores.h"

#include "MmaShared.h"
#include "SharedScratch.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Matchers.h"
#include "tilec/Layout/MatrixAccess.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilec;

namespace {

// The registers of one unit of a tile, written to a slot.
class UnitWriter {
public:
  UnitWriter(Lowering &lowering, tilegpu::WriteOp op, Value address)
      : lowering(lowering), builder(lowering.builder), loc(lowering.loc()), layout(Lowering::layoutOf(op.getValue())),
        values(lowering.lowered(op.getValue())),
        buffer(cast<tilegpu::SmemType>(op.getRing().getType().getPayload().front())), rowDim(op.getOrder()[0]),
        columnDim(op.getOrder()[1]), offsets(op.getOffsets()) {
    part = {lowering.sharedTileOf(buffer), address, Value(), Value()};
  }

  void write() {
    unsigned bits = part.tile.elementBits;
    std::optional<MatrixAccess> access = planMatrixAccess(layout, rowDim, columnDim, bits);
    if (access && staysInUnit(*access))
      writeMatrices(*access);
    else
      writeVectors();
  }

  std::pair<size_t, size_t> registers() const {
    size_t first = layout.numRegisters(), end = 0;
    for (uint32_t reg = 0; reg < layout.numRegisters(); ++reg)
      if (!isNever(reg)) {
        first = std::min<size_t>(first, reg);
        end = reg + 1;
      }
    return {std::min(first, end), end};
  }

private:
  // Whether the register's element is in another unit whatever the thread.
  bool isNever(uint32_t reg) const {
    return llvm::any_of(ArrayRef<unsigned>{rowDim, columnDim}, [&](unsigned dim) {
      int64_t first = layout.registerOffset(reg)[dim] - offsets[dim];
      return first + bound(dim, nullptr) <= 0 || first >= extent(dim);
    });
  }
  int64_t extent(unsigned dim) const { return buffer.getShape()[dim == rowDim ? 0 : 1]; }

  // Whether the register's element is in the unit whatever the thread, or in another one whatever the thread.
  bool isInside(uint32_t reg, unsigned dim) const {
    int64_t offset = layout.registerOffset(reg)[dim] - offsets[dim];
    return offset >= 0 && offset < extent(dim);
  }
  bool isInside(uint32_t reg) const { return isInside(reg, rowDim) && isInside(reg, columnDim); }

  // All matrices of an instruction belong to one unit.
  bool staysInUnit(const MatrixAccess &access) const {
    return llvm::all_of(access.instructions, [&](const auto &operands) {
      bool inside = isInside(operands.front().front());
      return llvm::all_of(operands, [&](const MatrixAccess::Operand &operand) {
        return llvm::all_of(operand, [&](uint32_t reg) { return isInside(reg) == inside; });
      });
    });
  }

  // The thread's part of a coordinate: that of its elements, or for stmatrix of the row whose address it gives.
  SmallVector<Term, 4> terms(unsigned dim, const MatrixAccess *access) const {
    SmallVector<Term, 4> result;
    if (access)
      result.assign(access->laneTerms[dim].begin(), access->laneTerms[dim].end());
    for (const Term &term : layout.terms(dim))
      if (!access || term.owner != Owner::Lane)
        result.push_back(term);
    return result;
  }
  Value coordinate(unsigned dim, const MatrixAccess *access) const {
    return sumOfTerms(builder, loc, terms(dim, access), lowering.lane, lowering.warp);
  }
  int64_t bound(unsigned dim, const MatrixAccess *access) const {
    int64_t bound = 1;
    for (const Term &term : terms(dim, access))
      bound += (term.radix - 1) * term.stride;
    return bound;
  }
  SharedAccess addresses(const MatrixAccess *access) const {
    return SharedAccess(builder, loc, part, coordinate(rowDim, access), coordinate(columnDim, access),
                        bound(columnDim, access));
  }
  Value addressOf(SharedAccess &places, uint32_t reg) const {
    Coordinates offset = layout.registerOffset(reg);
    return places.at(offset[rowDim] - offsets[rowDim], offset[columnDim] - offsets[columnDim]);
  }

  Value packed(ArrayRef<uint32_t> registers) const {
    Type type = Lowering::registerType(buffer.getElementType());
    Value vector = LLVM::PoisonOp::create(builder, loc, VectorType::get(registers.size(), type));
    for (auto [i, reg] : llvm::enumerate(registers))
      vector = LLVM::InsertElementOp::create(builder, loc, vector, values[reg], lowering.constant32(i));
    return LLVM::BitcastOp::create(builder, loc, builder.getI32Type(), vector);
  }

  void writeMatrices(const MatrixAccess &access) {
    SharedAccess places = addresses(&access);
    for (const auto &operands : access.instructions) {
      if (!isInside(operands.front().front()))
        continue;
      SmallVector<Value, 4> words;
      for (const MatrixAccess::Operand &operand : operands)
        words.push_back(packed(operand));
      Ptx(builder, loc).stmatrix(addressOf(places, operands.front().front()), words, access.transposed);
    }
  }

  void writeVectors();

  Lowering &lowering;
  OpBuilder &builder;
  Location loc;
  const Layout &layout;
  ArrayRef<Value> values;
  tilegpu::SmemType buffer;
  unsigned rowDim, columnDim;
  /// Where the unit begins in each dimension of the tile.
  ArrayRef<int64_t> offsets;
  SharedPart part;
};

} // namespace

// Layouts in which a register's place relative to the unit depends on the thread, and copies and padding, need a
// condition each; those of products have none.
void UnitWriter::writeVectors() {
  Type type = Lowering::registerType(buffer.getElementType());
  SharedScratch scratch(lowering, lowering.constant32(0), type);
  uint32_t width = layout.vectorWidth(columnDim, static_cast<uint32_t>(128 / part.tile.elementBits));
  SmallVector<uint32_t, 8> run = layout.contiguousRegisters(columnDim);
  run.resize(width);
  int64_t rowBound = bound(rowDim, nullptr), columnBound = bound(columnDim, nullptr);
  SharedAccess places = addresses(nullptr);
  SmallVector<bool> done(layout.numRegisters(), false);
  for (uint32_t reg = 0; reg < layout.numRegisters(); ++reg) {
    if (done[reg])
      continue;
    SmallVector<Value, 8> vector;
    for (uint32_t step : run) {
      vector.push_back(values[reg + step]);
      done[reg + step] = true;
    }
    if (isNever(reg))
      continue;
    Coordinates offset = layout.registerOffset(reg);
    Value condition;
    for (auto [dim, threads] : {std::pair(rowDim, rowBound), std::pair(columnDim, columnBound)}) {
      int64_t first = offset[dim] - offsets[dim], last = first + threads - 1;
      if (first >= 0 && last < extent(dim))
        continue;
      Value place = coordinate(dim, nullptr);
      place = lowering.addConstant(place ? place : lowering.constant32(0), first);
      Value inside =
          arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, place, lowering.constant32(extent(dim)));
      condition = condition ? Value(arith::AndIOp::create(builder, loc, condition, inside)) : inside;
    }
    // Outside the unit the address is not used.
    Value address = addressOf(places, reg);
    auto store = [&] { scratch.storeAt(vector, address); };
    if (condition)
      lowering.emitIf(condition, store);
    else
      store();
  }
}

namespace {

// The operations of one ring at the lowering's insertion point.
class StagingEndpoint {
public:
  StagingEndpoint(Lowering &lowering, Value ring)
      : lowering(lowering), builder(lowering.builder), loc(lowering.loc()), ptx(builder, loc), ring(ring),
        staging(ring.getDefiningOp<tilegpu::StagingOp>()), type(staging.getType()) {}

  LogicalResult write(tilegpu::WriteOp op, bool apart, function_ref<LogicalResult()> compute);
  void flush(tilegpu::FlushOp op);
  void drain() {
    if (staging.getByThreads())
      return;
    byFirstThread([&] { ptx.waitBulkGroup(0, /*read=*/true); });
  }

private:
  Operation *neighbour(Operation *op, bool forwards);
  Value nextSlot();
  Value slotAddress(Value slot);
  void byFirstThread(function_ref<void()> body, Value condition = {});
  Value isNotEmpty(Value view);
  Value isNotEmpty(tilegpu::WriteOp op);

  Lowering &lowering;
  OpBuilder &builder;
  Location loc;
  Ptx ptx;
  Value ring;
  tilegpu::StagingOp staging;
  tilegpu::ChanType type;
};

} // namespace

// The ring's next, or last, write or flush in the block.
Operation *StagingEndpoint::neighbour(Operation *op, bool forwards) {
  auto isOfRing = [&](Operation *other) {
    if (auto write = dyn_cast<tilegpu::WriteOp>(other))
      return write.getRing() == ring;
    auto flush = dyn_cast<tilegpu::FlushOp>(other);
    return flush && flush.getRing() == ring;
  };
  do
    op = forwards ? op->getNextNode() : op->getPrevNode();
  while (op && !isOfRing(op));
  return op;
}

// The number of the ring's next slot.
Value StagingEndpoint::nextSlot() {
  if (type.getSlots() == 1)
    return lowering.constant32(0);
  Value &counter = lowering.counters[{ring, 0}].first;
  if (!counter)
    counter = lowering.emitCounter();
  Value slot = LLVM::LoadOp::create(builder, loc, builder.getI32Type(), counter);
  Value following = lowering.addConstant(slot, 1);
  Value wraps =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, following, lowering.constant32(type.getSlots()));
  LLVM::StoreOp::create(builder, loc, arith::SelectOp::create(builder, loc, wraps, lowering.constant32(0), following),
                        counter);
  return slot;
}

Value StagingEndpoint::slotAddress(Value slot) {
  Value address = lowering.sharedAddress(staging.getOffset().value_or(0));
  if (lowering.inProcess)
    address = lowering.add(address, lowering.mulConstant(lowering.groupNumber, type.slotBytes() * type.getSlots()));
  return type.getSlots() == 1 ? address : lowering.add(address, lowering.mulConstant(slot, type.slotBytes()));
}

void StagingEndpoint::byFirstThread(function_ref<void()> body, Value condition) {
  Value first =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, lowering.threadInGroup, lowering.constant32(0));
  lowering.emitIf(condition ? Value(arith::AndIOp::create(builder, loc, first, condition)) : first, body);
}

LogicalResult StagingEndpoint::write(tilegpu::WriteOp op, bool apart, function_ref<LogicalResult()> compute) {
  Value slot = nextSlot();
  if (!isa_and_nonnull<tilegpu::WriteOp>(neighbour(op, /*forwards=*/false))) {
    // All slots that are written before the next flush.
    int64_t writes = 0;
    for (Operation *next = op; isa_and_nonnull<tilegpu::WriteOp>(next); next = neighbour(next, /*forwards=*/true))
      ++writes;
    // With a second slot, threads that have passed the barrier between write and flush have left this one behind.
    if (!staging.getByThreads())
      byFirstThread([&] { ptx.waitBulkGroup(type.getSlots() - writes, /*read=*/true); });
    if (!staging.getByThreads() || type.getSlots() == 1)
      lowering.groupBarrier();
  }
  lowering.setScalar(op.getSlot(), slot);
  LogicalResult result = success();
  auto emit = [&] {
    result = compute();
    if (succeeded(result))
      UnitWriter(lowering, op, slotAddress(slot)).write();
  };
  if (Value condition = apart ? isNotEmpty(op) : Value())
    lowering.emitIf(condition, emit);
  else
    emit();
  return result;
}

// The launcher gives a view without elements a map of one element at no place, which must not be stored to.
Value StagingEndpoint::isNotEmpty(Value view) {
  Value result;
  for (Value size : lowering.view(view).sizes) {
    if (APInt constant; matchPattern(size, m_ConstantInt(&constant)) && constant.sgt(0))
      continue;
    Value some = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sgt, size, lowering.constantIndex(0));
    result = result ? Value(arith::AndIOp::create(builder, loc, result, some)) : some;
  }
  return result;
}

// i1, the same in all threads, which neither LLVM nor ptxas knows to be true; null if there is none.
Value StagingEndpoint::isNotEmpty(tilegpu::WriteOp op) {
  for (Operation *user : op.getSlot().getUsers())
    if (auto flush = dyn_cast<tilegpu::FlushOp>(user))
      return isNotEmpty(flush.getView());
  return nullptr;
}

void StagingEndpoint::flush(tilegpu::FlushOp op) {
  if (staging.getByThreads()) {
    lowering.groupBarrier();
    return emitThreadFlush(lowering, op, slotAddress(lowering.scalar(op.getSlot())));
  }
  if (!isa_and_nonnull<tilegpu::FlushOp>(neighbour(op, /*forwards=*/false))) {
    ptx.fenceProxyAsync();
    lowering.groupBarrier();
  }
  SmallVector<Value, 5> coordinates;
  for (Value start : llvm::reverse(op.getStarts()))
    coordinates.push_back(lowering.toI32(lowering.scalar(start)));
  Value source = slotAddress(lowering.scalar(op.getSlot()));
  Value map = lowering.tensorMapValues[lowering.tensorMapOf.lookup(op)];
  byFirstThread(
      [&] {
        ptx.storeTensor(map, source, coordinates);
        ptx.commitBulkGroup();
      },
      isNotEmpty(op.getView()));
}

// Two barriers of a group and a fence for all of them instead of each. With fewer slots than units, a unit's write
// would wait for others than the oldest.
void tilec::joinStagedStores(tilegpu::KernelOp kernel) {
  for (auto staging : kernel.getOps<tilegpu::StagingOp>()) {
    llvm::MapVector<Block *, SmallVector<tilegpu::FlushOp>> flushes;
    kernel.walk([&](tilegpu::FlushOp flush) {
      if (flush.getRing() == staging.getResult())
        flushes[flush->getBlock()].push_back(flush);
    });
    if (staging.getByThreads())
      continue;
    for (auto &entry : flushes) {
      ArrayRef<tilegpu::FlushOp> ofBlock = entry.second;
      auto isHere = [&](tilegpu::FlushOp flush) {
        Operation *write = flush.getSlot().getDefiningOp();
        return write && write->getBlock() == flush->getBlock() && write->isBeforeInBlock(ofBlock.back());
      };
      if (static_cast<int64_t>(ofBlock.size()) != staging.getType().getSlots() || !llvm::all_of(ofBlock, isHere))
        continue;
      for (tilegpu::FlushOp flush : ofBlock.drop_back())
        flush->moveBefore(ofBlock.back());
    }
  }
}

std::pair<size_t, size_t> tilec::registersOfUnit(Lowering &lowering, tilegpu::WriteOp op) {
  return UnitWriter(lowering, op, Value()).registers();
}

LogicalResult tilec::emitWrite(Lowering &lowering, tilegpu::WriteOp op, bool apart,
                               function_ref<LogicalResult()> compute) {
  return StagingEndpoint(lowering, op.getRing()).write(op, apart, compute);
}

LogicalResult Lowering::lowerStagedStore(Operation *op) {
  if (auto write = dyn_cast<tilegpu::WriteOp>(op))
    return emitWrite(*this, write, /*apart=*/false, [] { return success(); });
  llvm::TypeSwitch<Operation *>(op)
      .Case<tilegpu::StagingOp>([](auto) {})
      .Case<tilegpu::FlushOp>([&](tilegpu::FlushOp flush) { StagingEndpoint(*this, flush.getRing()).flush(flush); })
      .Case<tilegpu::DrainOp>([&](tilegpu::DrainOp drain) { StagingEndpoint(*this, drain.getRing()).drain(); });
  return success();
}
