// Staged stores. A store takes effect at a random moment between its flush and the reuse of its slot.
#include "Machine.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::interpreter;

bool Staging::isDrained() const {
  return written == flushed && llvm::none_of(contents, [](const Slot &slot) { return slot.store.has_value(); });
}

LogicalResult Machine::makeStaging(tilegpu::StagingOp op) {
  auto ring = std::make_shared<Staging>();
  ring->name = op.getName().str();
  ring->slots = op.getType().getSlots();
  ring->contents.resize(ring->slots);
  context.stagings.push_back(ring);
  set(op.getResult(), ring);
  return success();
}

LogicalResult Machine::write(tilegpu::WriteOp op) {
  StagingPtr ring = staging(op.getRing());
  int64_t item = ring->written++;
  if (item - ring->slots >= ring->flushed)
    return op.emitError() << "overwrites an item of '" << ring->name << "' that was not stored";
  Staging::Slot &slot = ring->contents[item % ring->slots];
  if (failed(finishStore(slot)))
    return failure();
  auto buffer = cast<tilegpu::SmemType>(op.getRing().getType().getPayload().front());
  const Tile &value = tile(op.getValue());
  auto unit = std::make_shared<Tile>(buffer.getElementType(), buffer.getShape());
  SmallVector<int64_t, 4> strides = rowMajorStrides(value.shape), point(buffer.getShape().size(), 0);
  for (int64_t i = 0, n = unit->size(); i < n; ++i) {
    int64_t from = 0;
    for (auto [position, dim] : llvm::zip(point, op.getOrder()))
      from += (op.getOffsets()[dim] + position) * strides[dim];
    unit->copyElement(i, value, from);
    advance(point, buffer.getShape());
  }
  slot.tile = unit;
  set(op.getSlot(), SlotValue{nullptr, item, false});
  return success();
}

LogicalResult Machine::flush(tilegpu::FlushOp op) {
  StagingPtr ring = staging(op.getRing());
  SlotValue slot = std::get<SlotValue>(environment.lookup(op.getSlot()));
  if (slot.item != ring->flushed)
    return op.emitError() << "stores items of '" << ring->name << "' out of their order";
  ++ring->flushed;
  Staging::Store store{op, std::get<View>(environment.lookup(op.getView())), {}, {}, 0, 0, 0};
  if (failed(integers(op, op.getStarts(), store.starts)) || failed(integers(op, op.getEnds(), store.ends)))
    return failure();
  store.stage = context.stage;
  store.iteration = context.iteration;
  store.execution = context.executions++;
  Staging::Slot &content = ring->contents[slot.item % ring->slots];
  content.store = std::move(store);
  return context.random() % 2 ? finishStore(content) : success();
}

LogicalResult Machine::drain(tilegpu::DrainOp op) {
  StagingPtr ring = staging(op.getRing());
  if (ring->written != ring->flushed)
    return op.emitError() << "leaves items of '" << ring->name << "' that were not stored";
  for (Staging::Slot &slot : ring->contents)
    if (failed(finishStore(slot)))
      return failure();
  return success();
}

// Stores all elements inside the view. None of them may be absent.
LogicalResult Machine::finishStore(Staging::Slot &slot) {
  if (!slot.store)
    return success();
  Staging::Store store = std::move(*slot.store);
  slot.store.reset();
  auto op = cast<tilegpu::FlushOp>(store.flush);
  SmallVector<int64_t, 4> point(store.starts.size(), 0), box(op.getBox().begin(), op.getBox().end());
  for (int64_t i = 0, n = slot.tile->size(); i < n; ++i, advance(point, box)) {
    bool inside = true, present = true;
    int64_t element = 0;
    for (size_t d = 0; d < point.size(); ++d) {
      int64_t position = store.starts[d] + point[d];
      inside &= position >= 0 && position < store.view.sizes[d];
      element += position * store.view.strides[d];
    }
    if (!inside)
      continue;
    for (auto [dim, end] : llvm::zip(op.getKept(), store.ends))
      present &= store.starts[dim] + point[dim] < end;
    if (!present || slot.tile->isPoison(i))
      return op.emitError() << "stores an element of an absent position to '" << store.view.buffer->name << "'";
    if (!store.view.isMapped(element))
      return op.emitError() << "stores an element that the array of '" << store.view.buffer->name << "' does not have";
    StoreRecord &record = store.view.buffer->stores[element];
    if (record.execution == store.execution || (record.stage == store.stage && record.iteration != store.iteration))
      return op.emitError() << "stores element " << element << " of '" << store.view.buffer->name
                            << "' twice in one stage";
    record = {store.stage, store.iteration, store.execution};
    store.view.write(element, *slot.tile, i);
  }
  return success();
}
