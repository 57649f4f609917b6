// Lowering of channel operations: barriers, slots and phases.
#include "Channels.h"
#include "SharedScratch.h"
#include "TileQueue.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilec;

// Bytes of an mbarrier object.
static constexpr int64_t barrierBytes = 8;

//===----------------------------------------------------------------------===//
// Facts of a channel
//===----------------------------------------------------------------------===//

// Operations that read a buffer, through views of it.
static void collectReaders(Value buffer, SmallVectorImpl<Operation *> &readers) {
  for (Operation *user : buffer.getUsers()) {
    if (isa<tilegpu::SubviewOp>(user))
      collectReaders(user->getResult(0), readers);
    else
      readers.push_back(user);
  }
}

static bool isWgmma(Operation *op) {
  auto mma = dyn_cast<tilegpu::MmaOp>(op);
  return mma && mma.getMma().getKind() == "wgmma";
}

bool tilec::isElected(tilegpu::ProcessOp process) {
  if (!process.getElected())
    return false;
  bool onlyTma = true;
  process.walk([&](tilegpu::AcquireOp acquire) {
    auto chan = acquire.getChan().getDefiningOp<tilegpu::ChanOp>();
    onlyTma &= chan && chan.getEngine() == "tma";
  });
  return onlyTma;
}

Channel::Channel(tilegpu::ChanOp op) : op(op), type(op.getType()) {
  engine = op.getEngine() == "tma" ? Engine::Tma : op.getEngine() == "cp_async" ? Engine::CpAsync : Engine::LdSt;
  llvm::SmallPtrSet<Operation *, 4> readers;
  bool isDealtOut = llvm::any_of(op.getResult().getUsers(), [](Operation *user) { return isa<tilegpu::SkipOp>(user); });
  for (Operation *user : op.getResult().getUsers()) {
    auto process = user->getParentOfType<tilegpu::ProcessOp>();
    if (isa<tilegpu::AcquireOp>(user))
      producer = process;
    if (isa<tilegpu::ReleaseOp>(user) && process && readers.insert(process).second)
      readingWarps += process.getWarps() * (isDealtOut ? 1 : process.getReplicas());
    auto view = dyn_cast<tilegpu::SlotViewOp>(user);
    if (!view)
      continue;
    SmallVector<Operation *> users;
    collectReaders(view.getResult(), users);
    for (Operation *reader : users)
      (isWgmma(reader) ? readByWgmma : readByOthers) = true;
  }
}

bool Channel::onlyWgmmaReads(unsigned payload) const {
  SmallVector<Operation *> users;
  auto chan = op;
  for (Operation *user : chan.getResult().getUsers())
    if (auto view = dyn_cast<tilegpu::SlotViewOp>(user); view && view.getPayload() == payload)
      collectReaders(view.getResult(), users);
  return llvm::all_of(users, [](Operation *reader) { return isWgmma(reader) || isa<tilegpu::ZeroTailOp>(reader); });
}

int64_t Channel::fullArrivals(int64_t threads) const {
  switch (engine) {
  case Engine::Tma:
    return 1;
  case Engine::CpAsync:
    return threads;
  case Engine::LdSt:
    return threads / 32;
  }
  llvm_unreachable("all engines are listed");
}

//===----------------------------------------------------------------------===//
// Prologue
//===----------------------------------------------------------------------===//

static LogicalResult verifyChannel(const Channel &channel) {
  tilegpu::ChanOp op = channel.op;
  StringRef engine = op.getEngine();
  if (engine != "tma" && engine != "cp_async" && engine != "ldst")
    return op.emitOpError("has an unknown engine");
  if (!op.getOffset() || !op.getBarriers())
    return op.emitOpError("has no place in shared memory yet");
  return success();
}

LogicalResult Lowering::emitPrologue() {
  SmallVector<Channel> channels;
  kernel.walk([&](tilegpu::ChanOp op) { channels.push_back(Channel(op)); });
  for (const Channel &channel : channels) {
    if (failed(verifyChannel(channel)))
      return failure();
    tilegpu::ChanOp chan = channel.op;
    if (channel.engine == Engine::Tma && !machine.hasTma)
      return chan.emitOpError("needs TMA, which ") << machine.name << " does not have";
  }
  if (channels.empty())
    return success();
  Value isFirst = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::eq, threadInGroup, constant32(0));
  emitIf(isFirst, [&] {
    Ptx ptx(builder, location);
    for (const Channel &channel : channels) {
      tilegpu::ChanOp chan = channel.op;
      int64_t slots = channel.type.getSlots();
      tilegpu::ProcessOp producer = channel.producer;
      int64_t threads = producer ? 32 * producer.getWarps() * producer.getReplicas() : groupThreads;
      for (int64_t slot = 0; slot < slots; ++slot) {
        int64_t full = *chan.getBarriers() + slot * barrierBytes;
        if (channel.hasFullBarrier())
          ptx.mbarrierInit(sharedAddress(full), channel.fullArrivals(threads));
        if (channel.readingWarps)
          ptx.mbarrierInit(sharedAddress(full + slots * barrierBytes),
                           channel.readingWarps * transfers.sharersOf(chan));
      }
    }
    if (queueCounter)
      initializeQueue(*this);
    if (machine.hasTma)
      ptx.fenceMbarrierInit();
    for (Value map : tensorMapValues)
      ptx.prefetchTensorMap(map);
  });
  if (transfers.any())
    meetInCluster();
  else
    Ptx(builder, location).blockBarrier();
  return success();
}

//===----------------------------------------------------------------------===//
// Endpoints
//===----------------------------------------------------------------------===//

namespace {

// The operations of one channel at the lowering's insertion point.
class Endpoint {
public:
  Endpoint(Lowering &lowering, Value chan)
      : lowering(lowering), builder(lowering.builder), loc(lowering.loc()), ptx(builder, loc),
        channel(chan.getDefiningOp<tilegpu::ChanOp>()), slots(channel.type.getSlots()) {}

  Value acquire();
  LogicalResult fill(tilegpu::FillOp op);
  void commit(tilegpu::CommitOp op);
  Value receive();
  void release(Value slot, Value behind);
  void skip(Value count);
  Value bufferAddress(Value slot, unsigned payload);

private:
  enum Side { Producer, Consumer };
  std::pair<Value, Value> counter(Side side);
  std::pair<Value, Value> next(Side side);
  Value barrier(Value slot, bool empty);
  Value isZero(Value number) {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, number, lowering.constant32(0));
  }
  void byFillingThread(function_ref<void()> body);
  bool expectsAtOnce(Value slot, SmallVectorImpl<tilegpu::FillOp> &fills);

  Lowering &lowering;
  OpBuilder &builder;
  Location loc;
  Ptx ptx;
  Channel channel;
  int64_t slots;
};

} // namespace

// The memory of slot number and phase, one of each for all uses of a side: processes run in different threads.
std::pair<Value, Value> Endpoint::counter(Side side) {
  std::pair<Value, Value> &memory = lowering.counters[{channel.op.getResult(), side}];
  if (!memory.first)
    for (Value *cell : {&memory.second, &memory.first})
      *cell = lowering.emitCounter();
  return memory;
}

// The slot and phase of the side's next item; advances the counter.
std::pair<Value, Value> Endpoint::next(Side side) {
  auto [slotCell, phaseCell] = counter(side);
  Type i32 = builder.getI32Type();
  Value phase = LLVM::LoadOp::create(builder, loc, i32, phaseCell);
  Value flipped = arith::XOrIOp::create(builder, loc, phase, lowering.constant32(1));
  if (slots == 1) {
    LLVM::StoreOp::create(builder, loc, flipped, phaseCell);
    return {lowering.constant32(0), phase};
  }
  Value slot = LLVM::LoadOp::create(builder, loc, i32, slotCell);
  Value following = lowering.addConstant(slot, 1);
  Value wraps = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, following, lowering.constant32(slots));
  Value nextSlot = arith::SelectOp::create(builder, loc, wraps, lowering.constant32(0), following);
  LLVM::StoreOp::create(builder, loc, nextSlot, slotCell);
  LLVM::StoreOp::create(builder, loc, arith::SelectOp::create(builder, loc, wraps, flipped, phase), phaseCell);
  return {slot, phase};
}

Value Endpoint::barrier(Value slot, bool empty) {
  int64_t first = *channel.op.getBarriers() + (empty ? slots * barrierBytes : 0);
  return lowering.add(lowering.sharedAddress(first), lowering.mulConstant(slot, barrierBytes));
}

Value Endpoint::bufferAddress(Value slot, unsigned payload) {
  Value address = lowering.sharedAddress(*channel.op.getOffset() + channel.type.payloadOffset(payload));
  return slots == 1 ? address : lowering.add(address, lowering.mulConstant(slot, channel.type.slotBytes()));
}

Value Endpoint::acquire() {
  auto [slot, phase] = next(Producer);
  if (!lowering.inProcess) {
    ptx.blockBarrier();
    return slot;
  }
  Value parity = arith::XOrIOp::create(builder, loc, phase, lowering.constant32(1));
  ptx.mbarrierWait(barrier(slot, /*empty=*/true), parity, lowering.machine.hasTma);
  return slot;
}

// TMA works for one thread: the elected one, or the first of the group.
void Endpoint::byFillingThread(function_ref<void()> body) {
  if (channel.producer && isElected(channel.producer))
    body();
  else
    lowering.emitIf(isZero(lowering.threadInGroup), body);
}

// Whether the fills of a slot all happen, next to its acquire, so that one arrival can expect all their bytes.
bool Endpoint::expectsAtOnce(Value slot, SmallVectorImpl<tilegpu::FillOp> &fills) {
  auto acquire = slot.getDefiningOp<tilegpu::AcquireOp>();
  if (!acquire)
    return false;
  for (Operation *user : slot.getUsers()) {
    if (user->getBlock() != acquire->getBlock() || !isa<tilegpu::FillOp, tilegpu::CommitOp>(user))
      return false;
    if (auto fill = dyn_cast<tilegpu::FillOp>(user))
      fills.push_back(fill);
  }
  llvm::sort(fills, [](tilegpu::FillOp a, tilegpu::FillOp b) { return a->isBeforeInBlock(b); });
  return true;
}

LogicalResult Endpoint::fill(tilegpu::FillOp op) {
  Value slot = lowering.scalar(op.getSlot());
  Value target = bufferAddress(slot, op.getPayload());
  if (channel.engine != Engine::Tma)
    return emitThreadFill(lowering, op, target, channel.engine);
  SmallVector<tilegpu::FillOp, 2> fills;
  bool atOnce = expectsAtOnce(op.getSlot(), fills);
  int64_t bytes = tensorFillBytes(op);
  if (atOnce) {
    bytes = 0;
    for (tilegpu::FillOp fill : fills)
      bytes += tensorFillBytes(fill);
  }
  Value full = barrier(slot, /*empty=*/false);
  LogicalResult result = success();
  byFillingThread([&] {
    if (atOnce && fills.front() == op)
      ptx.mbarrierArriveExpectTx(full, bytes);
    else if (!atOnce)
      ptx.mbarrierExpectTx(full, bytes);
    result = emitTensorFill(lowering, op, target, full);
  });
  return result;
}

void Endpoint::commit(tilegpu::CommitOp op) {
  Value full = barrier(lowering.scalar(op.getSlot()), /*empty=*/false);
  SmallVector<tilegpu::FillOp, 2> fills;
  switch (channel.engine) {
  case Engine::Tma:
    if (!expectsAtOnce(op.getSlot(), fills) || fills.empty())
      byFillingThread([&] { ptx.mbarrierArrive(full); });
    return;
  case Engine::CpAsync:
    ptx.arriveAfterCopies(full);
    return;
  case Engine::LdSt:
    // Boxes whose rows happen to be aligned come by cp.async.
    ptx.commitCopyGroup();
    ptx.waitCopyGroup(0);
    if (channel.readByWgmma)
      ptx.fenceProxyAsync();
    if (!channel.hasFullBarrier())
      return;
    ptx.warpBarrier();
    ptx.mbarrierArrive(full, isZero(lowering.lane));
  }
}

Value Endpoint::receive() {
  auto [slot, phase] = next(Consumer);
  if (channel.hasFullBarrier())
    ptx.mbarrierWait(barrier(slot, /*empty=*/false), phase, lowering.machine.hasTma);
  else
    ptx.blockBarrier();
  // cp.async writes through the generic proxy, wgmma reads through the asynchronous one.
  if (channel.engine == Engine::CpAsync && channel.readByWgmma)
    ptx.fenceProxyAsync();
  return slot;
}

// True, which no compiler knows, as soon as the tile's first register has been computed.
static Value isComputed(Lowering &lowering, Value tile) {
  OpBuilder &builder = lowering.builder;
  Location loc = lowering.loc();
  Type i32 = builder.getI32Type();
  Value bits = toWord(builder, loc, lowering.lowered(tile).front());
  // Grids have one row of blocks.
  Value row = NVVM::BlockIdYOp::create(builder, loc, i32);
  Value zero = arith::AndIOp::create(builder, loc, bits, row);
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, zero, lowering.constant32(0));
}

void Endpoint::release(Value slot, Value behind) {
  if (!lowering.inProcess)
    return;
  // wgmma has been waited for by the whole warp; other reads are ordered before lane 0's arrival here.
  if (channel.readByOthers)
    ptx.warpBarrier();
  int64_t sharers = lowering.transfers.sharersOf(channel.op);
  // One lane arrives, or one for each block that fills the slot.
  Value arrives = sharers == 1 ? isZero(lowering.lane)
                               : arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, lowering.lane,
                                                       lowering.constant32(sharers));
  if (behind)
    arrives = arith::AndIOp::create(builder, loc, arrives, isComputed(lowering, behind));
  if (sharers == 1)
    return ptx.mbarrierArrive(barrier(slot, /*empty=*/true), arrives);
  Value rank = lowering.transfers.rankOfSharer(lowering, channel.op, lowering.lane);
  ptx.mbarrierArriveAt(barrier(slot, /*empty=*/true), rank, arrives);
}

// The counter goes on by `count` items. As laps alternate between two phases, only what exceeds an even number of them
// counts.
void Endpoint::skip(Value count) {
  auto [slotCell, phaseCell] = counter(Consumer);
  Type i32 = builder.getI32Type();
  Value period = lowering.constantIndex(2 * slots);
  Value rest = lowering.toI32(arith::RemUIOp::create(builder, loc, count, period));
  Value place = LLVM::LoadOp::create(builder, loc, i32, slotCell);
  place = arith::AddIOp::create(builder, loc, place, rest);
  Value laps = arith::DivUIOp::create(builder, loc, place, lowering.constant32(slots));
  Value slot = arith::RemUIOp::create(builder, loc, place, lowering.constant32(slots));
  Value phase = LLVM::LoadOp::create(builder, loc, i32, phaseCell);
  Value odd = arith::AndIOp::create(builder, loc, laps, lowering.constant32(1));
  LLVM::StoreOp::create(builder, loc, slot, slotCell);
  LLVM::StoreOp::create(builder, loc, arith::XOrIOp::create(builder, loc, phase, odd), phaseCell);
}

LogicalResult Lowering::lowerChannelOp(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<tilegpu::ChanOp>([&](auto) { return success(); })
      .Case<tilegpu::AcquireOp>([&](tilegpu::AcquireOp acquire) {
        setScalar(acquire.getSlot(), Endpoint(*this, acquire.getChan()).acquire());
        return success();
      })
      .Case<tilegpu::FillOp>([&](tilegpu::FillOp fill) { return Endpoint(*this, fill.getChan()).fill(fill); })
      .Case<tilegpu::CommitOp>([&](tilegpu::CommitOp commit) {
        Endpoint(*this, commit.getChan()).commit(commit);
        return success();
      })
      .Case<tilegpu::ReceiveOp>([&](tilegpu::ReceiveOp receive) {
        setScalar(receive.getSlot(), Endpoint(*this, receive.getChan()).receive());
        return success();
      })
      .Case<tilegpu::ReleaseOp>([&](tilegpu::ReleaseOp release) {
        Endpoint(*this, release.getChan()).release(scalar(release.getSlot()), release.getBehind());
        return success();
      })
      .Case<tilegpu::SkipOp>([&](tilegpu::SkipOp skip) {
        Endpoint(*this, skip.getChan()).skip(scalar(skip.getCount()));
        return success();
      })
      .Case<tilegpu::SlotViewOp>([&](tilegpu::SlotViewOp view) {
        Value address = Endpoint(*this, view.getChan()).bufferAddress(scalar(view.getSlot()), view.getPayload());
        tilegpu::SmemType type = view.getType();
        setShared(view.getResult(), {type, address, SmallVector<Value, 4>(type.getShape().size())});
        return success();
      })
      .Default([](Operation *other) { return other->emitOpError("is no channel operation"); });
}
