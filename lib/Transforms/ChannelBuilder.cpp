// Rings: which loads they carry, where items are put, received and released, how many slots they have.
#include "ChannelBuilder.h"

#include "tilec/Dialect/Tile/AttributeNames.h"
#include "tilec/Dialect/TileGPU/Scratch.h"
#include "tilec/Dialect/TileGPU/TensorMapLimits.h"
#include "tilec/Transforms/AxisClasses.h"
#include "tilec/Transforms/StagedStore.h"

using namespace mlir;
using namespace tilec;

static bool dependsOnGroup(Value value, unsigned depth = 24) {
  Operation *op = value.getDefiningOp();
  if (!op || depth == 0)
    return false;
  if (isa<tilegpu::GroupOp>(op))
    return true;
  return llvm::any_of(op->getOperands(), [&](Value operand) { return dependsOnGroup(operand, depth - 1); });
}

static bool mayBeWritten(tile::ViewOp view) { return view.getAccess() != tile::Access::in; }

// A start of `base + g * part` becomes `base`: the transfer serves all groups.
bool ChannelBuilder::cutGroupPart(Transfer &transfer) {
  for (auto [d, start] : llvm::enumerate(transfer.box.starts)) {
    for (auto *it = start.terms.begin(); it != start.terms.end();) {
      bool isGroup = it->first.getDefiningOp<tilegpu::GroupOp>() != nullptr;
      if (isGroup && transfer.splitDim < 0 && it->second == transfer.box.box[d]) {
        transfer.splitDim = d;
        it = start.terms.erase(it);
        continue;
      }
      if (dependsOnGroup(it->first))
        return false;
      ++it;
    }
  }
  return true;
}

std::optional<Transfer> ChannelBuilder::match(Value load, tilegpu::MmaAttr mma, bool isLhs, int64_t contracted) {
  std::optional<BoxLoad> box = matchBoxLoad(load);
  // Every engine copies rows along the last dimension of the view.
  if (!box || box->kept.size() != 2 || box->kept.back() + 1 != static_cast<int64_t>(box->box.size()))
    return std::nullopt;
  bool wgmma = mma.getKind() == "wgmma";
  Transfer transfer{*box, "", 16, -1, {}, 0, 0};
  if (!cutGroupPart(transfer))
    return std::nullopt;
  Type element = getElementTypeOrSelf(load);
  int64_t span = swizzleSpan(*box);
  bool is16Bit = element.isBF16() || element.isF16();
  if (wgmma && tmaSpan(*box) != 0 && (is16Bit || contracted == 1)) {
    transfer.engine = "tma";
  } else if (wgmma && threadSpan(*box) != 0) {
    transfer.engine = "ldst";
    transfer.width = 16;
    span = threadSpan(*box);
  } else if (!wgmma && asyncCopyWidth(*box) >= 4) {
    transfer.engine = "cp_async";
    transfer.width = asyncCopyWidth(*box);
  } else if (!wgmma && box->view.getType().getElementType().getIntOrFloatBitWidth() >= 8 && !mayBeWritten(box->view)) {
    // Element by element, without holding the tile in registers.
    transfer.engine = "ldst";
    transfer.width = tilegpu::elementBytes(element);
  } else {
    return std::nullopt;
  }
  SmallVector<int64_t> shape;
  for (int64_t d : box->kept)
    shape.push_back(box->box[d] * (d == transfer.splitDim ? kernel.getGroups() : 1));
  if (transfer.engine == "tma" &&
      llvm::any_of(ArrayRef(shape).drop_back(), [](int64_t n) { return n > tilegpu::maxBoxExtent; }))
    return std::nullopt;
  bool swizzled = mma.getKind() != "fma" && span != 0;
  auto shared = tilegpu::SharedAttr::get(kernel.getContext(), swizzled ? span : 0, swizzled ? 0 : 16);
  transfer.buffer = tilegpu::SmemType::get(kernel.getContext(), shape, element, shared, shape);
  return transfer;
}

void ChannelBuilder::planTransfers(tile::DotOp dot) {
  auto mma = dot->getAttrOfType<tilegpu::MmaAttr>("mma");
  SmallVector<Value, 2> planned;
  for (bool isLhs : {true, false}) {
    Value tile = isLhs ? dot.getLhs() : dot.getRhs();
    if (auto cast = tile.getDefiningOp<tile::CastOp>(); cast && getElementTypeOrSelf(tile).isTF32())
      tile = cast.getInput();
    if (transfers.contains(tile))
      continue;
    int64_t contracted = (isLhs ? dot.getLhsContract() : dot.getRhsContract())[0];
    if (std::optional<Transfer> transfer = match(tile, mma, isLhs, contracted)) {
      transfers[tile] = *transfer;
      planned.push_back(tile);
    }
  }
  // Two loads of one block that only this dot reads share a ring and its barriers.
  auto sameRing = [&] {
    return planned.size() == 2 && planned[0].getDefiningOp()->getBlock() == planned[1].getDefiningOp()->getBlock() &&
           planned[0].hasOneUse() && planned[1].hasOneUse() &&
           transfers[planned[0]].engine == transfers[planned[1]].engine;
  };
  if (sameRing()) {
    transfers[planned[0]].width = transfers[planned[1]].width =
        std::min(transfers[planned[0]].width, transfers[planned[1]].width);
    channels.push_back({planned, {}, {}, nullptr});
    return;
  }
  for (Value load : planned)
    channels.push_back({{load}, {}, {}, nullptr});
}

const Transfer *ChannelBuilder::transferOf(Value load) const {
  auto it = transfers.find(load);
  return it == transfers.end() ? nullptr : &it->second;
}

void ChannelBuilder::emitTransfers() {
  for (unsigned number = 0; number < channels.size(); ++number) {
    for (auto [i, load] : llvm::enumerate(channels[number].loads)) {
      transfers[load].channel = number;
      transfers[load].payload = i;
    }
    emit(number);
  }
}

void ChannelBuilder::emit(unsigned number) {
  Channel &channel = channels[number];
  Operation *place = channel.loads.front().getDefiningOp();
  for (Value load : channel.loads)
    if (place->isBeforeInBlock(load.getDefiningOp()))
      place = load.getDefiningOp();
  const Transfer &first = transfers[channel.loads.front()];
  SmallVector<Type> payload;
  std::string name;
  for (Value load : channel.loads) {
    payload.push_back(transfers[load].buffer);
    name += (name.empty() ? "" : ",") + transfers[load].box.viewOp().getName().str();
  }
  MLIRContext *context = kernel.getContext();
  OpBuilder builder(context);
  builder.setInsertionPointToStart(&kernel.getBody().front());
  auto type = tilegpu::ChanType::get(context, payload, 1);
  channel.op = tilegpu::ChanOp::create(builder, place->getLoc(), type, name, first.engine, first.width, IntegerAttr(),
                                       IntegerAttr());
  builder.setInsertionPointAfter(place);
  Location loc = place->getLoc();
  Value chan = channel.op.getResult();
  Value slot = tilegpu::AcquireOp::create(builder, loc, chan);
  for (Value load : channel.loads) {
    const Transfer &transfer = transfers[load];
    SmallVector<Value> starts;
    for (const LinearSum &start : transfer.box.starts)
      starts.push_back(start.materialize(builder, loc));
    SmallVector<int64_t, 4> box = transfer.box.box;
    if (transfer.splitDim >= 0)
      box[transfer.splitDim] *= kernel.getGroups();
    tilegpu::FillOp::create(builder, loc, slot, chan, transfer.payload, transfer.box.viewOp(), starts, box,
                            transfer.box.kept,
                            load.getDefiningOp<tile::LoadOp>().getAnnotations().getAs<StringAttr>("evict"));
  }
  tilegpu::CommitOp::create(builder, loc, slot, chan);
  auto receive = tilegpu::ReceiveOp::create(builder, loc, chan);
  channel.slot = receive;
  channel.lastFill = receive;
}

Value ChannelBuilder::bufferFor(const Transfer &transfer, Operation *user) {
  Channel &channel = channels[transfer.channel];
  OpBuilder builder(user);
  Location loc = user->getLoc();
  Value view = tilegpu::SlotViewOp::create(builder, loc, transfer.buffer, channel.slot, channel.op.getResult(),
                                           transfer.payload);
  if (transfer.splitDim < 0)
    return view;
  SmallVector<int64_t> shape(transfer.buffer.getShape());
  SmallVector<Value> offsets;
  for (auto [i, d] : llvm::enumerate(transfer.box.kept)) {
    Value offset = arith::ConstantIndexOp::create(builder, loc, 0);
    if (d == transfer.splitDim) {
      shape[i] = transfer.box.box[d];
      Value group = tilegpu::GroupOp::create(builder, loc, builder.getIndexType());
      offset = arith::MulIOp::create(builder, loc, group, arith::ConstantIndexOp::create(builder, loc, shape[i]));
    }
    offsets.push_back(offset);
  }
  auto part = tilegpu::SmemType::get(builder.getContext(), shape, transfer.buffer.getElementType(),
                                     transfer.buffer.getShared(), transfer.buffer.getAllocShape());
  return tilegpu::SubviewOp::create(builder, loc, part, view, offsets);
}

Value ChannelBuilder::stage(OpBuilder &builder, Location loc, Value tile, bool asyncProxy) {
  auto type = cast<RankedTensorType>(tile.getType());
  int64_t rowBytes = type.getShape().back() * tilegpu::elementBytes(type.getElementType()), span = 0;
  if (asyncProxy)
    for (int64_t candidate : {32, 64, 128})
      span = rowBytes % candidate == 0 ? candidate : span;
  auto shared = tilegpu::SharedAttr::get(builder.getContext(), span, span ? 0 : 16);
  auto smem =
      tilegpu::SmemType::get(builder.getContext(), type.getShape(), type.getElementType(), shared, type.getShape());
  OpBuilder top(builder.getContext());
  top.setInsertionPointToStart(&kernel.getBody().front());
  Value buffer = tilegpu::AllocOp::create(top, loc, smem, IntegerAttr());
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  tilegpu::BarrierOp::create(builder, loc, false);
  tilegpu::LocalStoreOp::create(builder, loc, tile, buffer, order);
  tilegpu::BarrierOp::create(builder, loc, asyncProxy);
  return buffer;
}

// The item is received right before the first operation of its block that reads it, and released after the last.
void ChannelBuilder::placeRelease(unsigned number) {
  Channel &channel = channels[number];
  Block *block = channel.lastFill->getBlock();
  Operation *last = channel.lastFill, *first = nullptr;
  SmallVector<Operation *> readers(channel.slot.getUsers().begin(), channel.slot.getUsers().end());
  while (!readers.empty()) {
    Operation *reader = readers.pop_back_val();
    if (isa<tilegpu::SlotViewOp, tilegpu::SubviewOp>(reader))
      readers.append(reader->getUsers().begin(), reader->getUsers().end());
    Operation *ancestor = block->findAncestorOpInBlock(*reader);
    if (last->isBeforeInBlock(ancestor))
      last = ancestor;
    if (!first || ancestor->isBeforeInBlock(first))
      first = ancestor;
  }
  if (first)
    channel.slot.getDefiningOp()->moveBefore(first);
  OpBuilder builder(kernel.getContext());
  builder.setInsertionPointAfter(last);
  tilegpu::ReleaseOp::create(builder, last->getLoc(), channel.slot, channel.op.getResult());
}

LogicalResult ChannelBuilder::finish() {
  for (auto &[load, transfer] : transfers) {
    // Other code reads the same item; casts of it that only fed dots are dead.
    for (OpOperand &use : llvm::make_early_inc_range(load.getUses())) {
      Operation *user = use.getOwner();
      if (isOpTriviallyDead(user)) {
        user->erase();
        continue;
      }
      OpBuilder builder(user);
      Value buffer = bufferFor(transfer, user);
      use.set(tilegpu::LocalLoadOp::create(builder, user->getLoc(), load.getType(), buffer, ArrayRef<int64_t>{0, 1}));
    }
  }
  for (unsigned number = 0; number < channels.size(); ++number)
    placeRelease(number);
  for (auto &[load, transfer] : transfers)
    load.getDefiningOp()->erase();
  return chooseSlots();
}

//===----------------------------------------------------------------------===//
// Slots
//===----------------------------------------------------------------------===//

// The loop whose `@stages` says how many slots the ring has; null if there is none.
scf::ForOp ChannelBuilder::pinnedLoopOf(const Channel &channel) {
  auto loop = dyn_cast_or_null<scf::ForOp>(enclosingLoop(channel.lastFill));
  return loop && loop->hasAttr(tile::stagesName) ? loop : scf::ForOp();
}

// One slot for an item of the whole tile, two where the next tile's item comes meanwhile; a ring for items of a loop:
// four when a producer runs ahead (three lose 3 %, two a third of a GEMM's speed), three for cp.async, two for copies
// by the threads. `@stages(n)` pins it.
int64_t ChannelBuilder::wantedSlots(const Channel &channel) const {
  auto loop = dyn_cast_or_null<scf::ForOp>(enclosingLoop(channel.lastFill));
  if (!loop)
    return isPersistent() ? 2 : 1;
  if (auto pinned = loop->getAttrOfType<IntegerAttr>(tile::stagesName))
    return pinned.getInt();
  tilegpu::ChanOp op = channel.op;
  StringRef engine = op.getEngine();
  bool runsAhead = engine == "tma" || (engine == "ldst" && op.getWidth() == 16);
  if (!runsAhead)
    return engine == "cp_async" ? 3 : 2;
  // Small items of a product must be many, for as many bytes to be on their way as a large tile has (192 KiB).
  constexpr int64_t bytesInFlight = 192 * 1024;
  return channel.loads.size() > 1 ? std::clamp<int64_t>(bytesInFlight / op.getType().slotBytes(), 4, 16) : 4;
}

bool ChannelBuilder::isPersistent() const {
  tilegpu::KernelOp op = kernel;
  return op.getPlan().get("persistent") != nullptr;
}

int64_t ChannelBuilder::stagedBytes() const {
  int64_t bytes = 0;
  tilegpu::KernelOp op = kernel;
  op.walk([&](tilegpu::AllocOp alloc) {
    bytes += llvm::alignTo(alloc.getType().allocBytes(), tilegpu::bufferAlignment) * op.getConsumers();
  });
  return bytes;
}

// Rings of loops need two slots beside staged stores; an item of a whole tile can do with one.
int64_t ChannelBuilder::roomForStaging() const {
  int64_t room = machine.sharedPerBlock - tilegpu::scratchBesideStaging - stagedBytes();
  for (const Channel &channel : channels) {
    tilegpu::ChanOp op = channel.op;
    bool once = !enclosingLoop(channel.lastFill);
    int64_t most = pinnedLoopOf(channel) ? INT64_MAX : once ? 1 : 2;
    room -= std::min(most, wantedSlots(channel)) * op.getType().slotBytes();
  }
  return room;
}

LogicalResult ChannelBuilder::chooseSlots() {
  int64_t staging = stagingBytes(kernel);
  int64_t reserved = staging ? tilegpu::scratchBesideStaging : tilegpu::scratchBesideRings;
  int64_t budget = machine.sharedPerBlock - reserved - stagedBytes() - staging, used = 0;
  SmallVector<int64_t> slots, wanted, bytes;
  scf::ForOp pinnedLoop;
  for (Channel &channel : channels) {
    wanted.push_back(wantedSlots(channel));
    bytes.push_back(channel.op.getType().slotBytes());
    scf::ForOp loop = pinnedLoopOf(channel);
    slots.push_back(loop ? wanted.back() : 1);
    if (loop)
      pinnedLoop = loop;
    used += slots.back() * bytes.back();
  }
  if (used > budget) {
    InFlightDiagnostic error = mlir::emitError(pinnedLoop ? pinnedLoop.getLoc() : kernel.getLoc(), "E0412: ")
                               << (pinnedLoop ? "with these stages " : "") << "the kernel needs "
                               << llvm::divideCeil(used, 1024) << " KiB of shared memory, " << machine.name << " has "
                               << budget / 1024 << " KiB for tiles: ";
    for (auto [i, channel] : llvm::enumerate(channels))
      error << (i ? ", " : "") << channel.op.getName() << " " << slots[i] << " x " << bytes[i] / 1024 << " KiB";
    return error;
  }
  // One slot more for each ring in turn, as long as it fits; small items, which are many, first.
  SmallVector<unsigned> order = llvm::to_vector(llvm::seq<unsigned>(0, channels.size()));
  llvm::stable_sort(order, [&](unsigned a, unsigned b) { return bytes[a] < bytes[b]; });
  for (bool grown = true; grown;) {
    grown = false;
    for (unsigned i : order) {
      if (slots[i] >= wanted[i] || used + bytes[i] > budget)
        continue;
      ++slots[i];
      used += bytes[i];
      grown = true;
    }
  }
  for (auto ring : kernel.getOps<tilegpu::StagingOp>()) {
    int64_t more = ring.getType().slotBytes() * kernel.getConsumers();
    if (wantsSecondSlot(ring) && used + more <= budget) {
      setSlots(ring.getResult(), 2);
      used += more;
    }
  }
  for (auto [channel, count] : llvm::zip(channels, slots)) {
    setSlots(channel.op.getResult(), count);
    channel.op.emitRemark() << kernel.getSymName() << ": `" << channel.op.getName() << "` by " << channel.op.getEngine()
                            << ", " << count << " slot" << (count > 1 ? "s" : "") << " of "
                            << llvm::divideCeil(channel.op.getType().slotBytes(), 1024) << " KiB";
  }
  return success();
}
