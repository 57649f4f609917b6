// Channels: rings of slots with the discipline that the hardware needs; turns of groups. In one sequential program a
// wait for ever is an error; between processes another one goes on.
#include "Machine.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::interpreter;

static bool isReleased(const Channel::Reader &reader, int64_t item) {
  return item < reader.released || llvm::is_contained(reader.early, item);
}

bool Channel::hasFreeSlot() const {
  int64_t previous = acquired - slots;
  if (dealtOut)
    return previous < 0 || returned.count(previous);
  return llvm::all_of(readers, [&](const auto &entry) { return isReleased(entry.second, previous); });
}

bool Channel::isDrained() const {
  if (dealtOut)
    return acquired == committed && static_cast<int64_t>(returned.size()) == committed;
  return acquired == committed && llvm::all_of(readers, [&](const auto &entry) {
           return entry.second.received == committed && entry.second.released == committed;
         });
}

// A barrier tells only two laps of a ring apart: whoever waits for an item before the one that was in its slot has come
// takes that one for it.
static bool isLapAhead(const Channel &channel, int64_t item) { return item - channel.slots >= channel.committed; }

bool Machine::waits(Operation *op) {
  if (auto take = dyn_cast<tilegpu::AcquireOp>(op))
    return !std::get<Channel *>(environment.lookup(take.getChan()))->hasFreeSlot();
  if (auto take = dyn_cast<tilegpu::ReceiveOp>(op)) {
    Channel *channel = std::get<Channel *>(environment.lookup(take.getChan()));
    int64_t item = channel->readers[number].received;
    return item >= channel->committed && !isLapAhead(*channel, item);
  }
  if (isa<tilegpu::TurnTakeOp>(op) && group < static_cast<int64_t>(context.turns.size())) {
    // Group 0 follows the last group's turn in the round before.
    int64_t round = context.turns[group].taken;
    return group == 0 ? context.turns.back().passed < round : context.turns[group - 1].passed <= round;
  }
  return false;
}

bool Machine::holds(const SlotValue &slot) const {
  if (!slot.received)
    return slot.item >= slot.channel->committed;
  auto reader = slot.channel->readers.find(number);
  return reader != slot.channel->readers.end() && !isReleased(reader->second, slot.item);
}

LogicalResult Machine::makeChannel(tilegpu::ChanOp op) {
  auto channel = std::make_unique<Channel>();
  channel->name = op.getName().str();
  channel->slots = op.getType().getSlots();
  for (int64_t slot = 0; slot < channel->slots; ++slot) {
    channel->contents.emplace_back();
    for (Type payload : op.getType().getPayload())
      channel->contents.back().push_back(uninitialised(cast<tilegpu::SmemType>(payload)));
  }
  channel->readers[number];
  set(op.getResult(), channel.get());
  context.channels.push_back(std::move(channel));
  return success();
}

LogicalResult Machine::acquire(tilegpu::AcquireOp op) {
  Channel *channel = std::get<Channel *>(environment.lookup(op.getChan()));
  int64_t item = channel->acquired++;
  for (SharedTile &tile : channel->contents[item % channel->slots])
    tile->poison.assign(tile->size(), 1);
  set(op.getSlot(), SlotValue{channel, item, false});
  return success();
}

LogicalResult Machine::fill(tilegpu::FillOp op) {
  SlotValue slot = std::get<SlotValue>(environment.lookup(op.getSlot()));
  const View view = std::get<View>(environment.lookup(op.getView()));
  SmallVector<int64_t, 4> starts, box(op.getBox().begin(), op.getBox().end()), point(box.size(), 0);
  if (failed(integers(op, op.getStarts(), starts)))
    return failure();
  if (slot.received || !holds(slot))
    return op.emitError() << "fills a slot of channel '" << slot.channel->name << "' that is not acquired";
  SharedBuffer &target = *slot.channel->contents[slot.item % slot.channel->slots][op.getPayload()];
  target.poison.clear();
  std::fill(target.written.begin(), target.written.end(), 0);
  for (int64_t i = 0, n = target.size(); i < n; ++i) {
    bool inside = true;
    int64_t element = 0;
    for (size_t d = 0; d < point.size(); ++d) {
      int64_t position = starts[d] + point[d];
      inside &= position >= 0 && position < view.sizes[d];
      element += position * view.strides[d];
    }
    if (inside && !view.isMapped(element))
      return op.emitError() << "copies an element that the array of '" << view.buffer->name << "' does not have";
    if (inside)
      view.read(element, target, i);
    else
      target.copyElement(i, Tile(target.element, {}), 0);
    advance(point, box);
  }
  return success();
}

LogicalResult Machine::commit(tilegpu::CommitOp op) {
  SlotValue slot = std::get<SlotValue>(environment.lookup(op.getSlot()));
  if (slot.received || slot.item != slot.channel->committed)
    return op.emitError() << "commits items of channel '" << slot.channel->name << "' out of their order";
  ++slot.channel->committed;
  return success();
}

LogicalResult Machine::receive(tilegpu::ReceiveOp op) {
  Channel *channel = std::get<Channel *>(environment.lookup(op.getChan()));
  int64_t item = channel->readers[number].received++;
  if (isLapAhead(*channel, item))
    return op.emitError() << "waits for an item of channel '" << channel->name << "' a lap ahead of its ring";
  if (channel->dealtOut && !channel->taken.insert(item).second)
    return op.emitError() << "receives an item of channel '" << channel->name << "' that another group has received";
  set(op.getSlot(), SlotValue{channel, item, true});
  return success();
}

LogicalResult Machine::release(tilegpu::ReleaseOp op) {
  SlotValue slot = std::get<SlotValue>(environment.lookup(op.getSlot()));
  if (!slot.received || !holds(slot))
    return op.emitError() << "releases an item of channel '" << slot.channel->name << "' that it does not hold";
  if (slot.channel->dealtOut)
    slot.channel->returned.insert(slot.item);
  Channel::Reader &reader = slot.channel->readers[number];
  reader.early.push_back(slot.item);
  while (llvm::is_contained(reader.early, reader.released))
    llvm::erase(reader.early, reader.released++);
  return success();
}

LogicalResult Machine::skip(tilegpu::SkipOp op) {
  Channel *channel = std::get<Channel *>(environment.lookup(op.getChan()));
  FailureOr<int64_t> count = integer(op, op.getCount());
  if (failed(count))
    return failure();
  if (*count < 0)
    return op.emitError("skips a negative number of items");
  Channel::Reader &reader = channel->readers[number];
  if (reader.released != reader.received)
    return op.emitError() << "skips items of channel '" << channel->name << "' while it holds one";
  reader.received += *count;
  reader.released = reader.received;
  return success();
}

LogicalResult Machine::slotView(tilegpu::SlotViewOp op) {
  SlotValue slot = std::get<SlotValue>(environment.lookup(op.getSlot()));
  SharedView view;
  view.tile = slot.channel->contents[slot.item % slot.channel->slots][op.getPayload()];
  view.offsets.assign(view.tile->shape.size(), 0);
  view.shape = view.tile->shape;
  view.slot = slot;
  set(op.getResult(), std::move(view));
  return success();
}

LogicalResult Machine::takeTurn(Operation *op) {
  if (group >= static_cast<int64_t>(context.turns.size()))
    return op->emitError("takes a turn outside consumer groups");
  Context::Turns &turns = context.turns[group];
  if (turns.taken != turns.passed)
    return op->emitError("takes a turn that the group has already");
  ++turns.taken;
  return success();
}

LogicalResult Machine::passTurn(Operation *op) {
  if (group >= static_cast<int64_t>(context.turns.size()) || context.turns[group].taken == context.turns[group].passed)
    return op->emitError("passes a turn that the group does not have");
  ++context.turns[group].passed;
  return success();
}
