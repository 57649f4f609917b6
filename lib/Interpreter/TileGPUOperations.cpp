// Operations of tilegpu on values and shared memory. Encodings of tensors mean nothing here.
#include "Combine.h"
#include "Machine.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::interpreter;

LogicalResult Machine::executeTileGPU(Operation *op) {
  MLIRContext *mlir = op->getContext();
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](tilegpu::BlockIdOp o) {
        set(o.getResult(), makeIndex(mlir, context.block[o.getDim()]));
        return success();
      })
      .Case([&](tilegpu::GridSizeOp o) {
        set(o.getResult(), makeIndex(mlir, context.grid[0]));
        return success();
      })
      .Case([&](tilegpu::ClusterRankOp o) {
        set(o.getResult(), makeIndex(mlir, context.clusterRank[o.getDim()]));
        return success();
      })
      .Case([&](tilegpu::GroupOp o) {
        set(o.getResult(), makeIndex(mlir, group));
        return success();
      })
      .Case([&](tilegpu::BarrierOp o) {
        meet(o.getAsyncProxy());
        return success();
      })
      .Case([&](tilegpu::ConvertOp o) {
        set(o.getResult(), tilePtr(o.getInput()));
        return success();
      })
      .Case([&](tilegpu::AllocOp o) {
        SharedView view;
        view.tile = uninitialised(o.getType());
        view.offsets.assign(o.getType().getShape().size(), 0);
        view.shape.assign(o.getType().getShape().begin(), o.getType().getShape().end());
        set(o.getResult(), std::move(view));
        return success();
      })
      .Case([&](tilegpu::LocalLoadOp o) -> LogicalResult {
        FailureOr<TilePtr> source = readShared(o, std::get<SharedView>(environment.lookup(o.getSource())));
        if (failed(source))
          return failure();
        set(o.getResult(), permuted(o.getType(), **source, o.getOrder()));
        return success();
      })
      .Case([&](tilegpu::LocalStoreOp o) { return writeShared(o); })
      .Case([&](tilegpu::ZeroTailOp o) { return zeroTail(o); })
      .Case([&](tilegpu::SubviewOp o) { return subview(o); })
      .Case([&](tilegpu::MmaOp o) { return mma(o); })
      .Case([&](tilegpu::MmaWaitOp o) { return mmaWait(o); })
      .Case([&](tilegpu::MmaSettleOp o) { return settle(o, started - static_cast<int64_t>(o.getAfter())); })
      .Case([&](tilegpu::TurnTakeOp o) { return takeTurn(o); })
      .Case([&](tilegpu::TurnPassOp o) { return passTurn(o); })
      .Case([&](tilegpu::ChanOp o) { return makeChannel(o); })
      .Case([&](tilegpu::AcquireOp o) { return acquire(o); })
      .Case([&](tilegpu::FillOp o) { return fill(o); })
      .Case([&](tilegpu::CommitOp o) { return commit(o); })
      .Case([&](tilegpu::ReceiveOp o) { return receive(o); })
      .Case([&](tilegpu::ReleaseOp o) { return release(o); })
      .Case([&](tilegpu::SkipOp o) { return skip(o); })
      .Case([&](tilegpu::SlotViewOp o) { return slotView(o); })
      .Case([&](tilegpu::StagingOp o) { return makeStaging(o); })
      .Case([&](tilegpu::WriteOp o) { return write(o); })
      .Case([&](tilegpu::FlushOp o) { return flush(o); })
      .Case([&](tilegpu::DrainOp o) { return drain(o); })
      .Default([](Operation *other) { return other->emitError("is not known to the interpreter"); });
}

SharedTile tilec::interpreter::uninitialised(tilegpu::SmemType type) {
  auto result = std::make_shared<SharedBuffer>(type.getElementType(), type.getShape());
  result->poison.assign(result->size(), 1);
  return result;
}

TilePtr tilec::interpreter::permuted(Type type, const Tile &input, ArrayRef<int64_t> order) {
  auto result = std::make_shared<Tile>(type);
  SmallVector<int64_t, 4> own = rowMajorStrides(input.shape);
  SmallVector<int64_t, 4> point(result->shape.size(), 0);
  for (int64_t i = 0, n = result->size(); i < n; ++i) {
    int64_t from = 0;
    for (size_t d = 0; d < point.size(); ++d)
      from += point[d] * own[order[d]];
    result->copyElement(i, input, from);
    advance(point, result->shape);
  }
  return result;
}

LogicalResult Machine::subview(tilegpu::SubviewOp op) {
  SharedView view = std::get<SharedView>(environment.lookup(op.getSource()));
  SmallVector<int64_t, 4> starts;
  if (failed(integers(op, op.getOffsets(), starts)))
    return failure();
  view.shape.assign(op.getType().getShape().begin(), op.getType().getShape().end());
  for (size_t d = 0; d < starts.size(); ++d) {
    view.offsets[d] += starts[d];
    if (view.offsets[d] < 0 || view.offsets[d] + view.shape[d] > view.tile->shape[d])
      return op.emitError("leaves its buffer");
  }
  set(op.getResult(), std::move(view));
  return success();
}

// Calls `visit(i, element of the buffer)` for each element i of a view, in row-major order.
template <typename F> static void forEachElement(const SharedView &view, F visit) {
  SmallVector<int64_t, 4> own = rowMajorStrides(view.tile->shape), point(view.shape.size(), 0);
  int64_t n = 1;
  for (int64_t size : view.shape)
    n *= size;
  for (int64_t i = 0; i < n; ++i) {
    int64_t element = 0;
    for (size_t d = 0; d < point.size(); ++d)
      element += (view.offsets[d] + point[d]) * own[d];
    visit(i, element);
    advance(point, view.shape);
  }
}

void Machine::meet(bool asyncProxy) {
  ++barrier;
  if (asyncProxy)
    fence = barrier;
}

FailureOr<TilePtr> Machine::readShared(Operation *op, const SharedView &view, bool asyncProxy) {
  if (view.slot && !holds(*view.slot))
    return op->emitError() << "reads a slot of channel '" << view.slot->channel->name << "' that it does not hold";
  auto result = std::make_shared<Tile>(view.tile->element, view.shape);
  bool isRace = false, isUnseen = false;
  forEachElement(view, [&](int64_t i, int64_t element) {
    result->copyElement(i, *view.tile, element);
    int64_t written = view.tile->written[element];
    isRace |= !view.slot && written == barrier;
    isUnseen |= asyncProxy && written != 0 && written >= fence;
    if (!view.slot)
      view.tile->read[element] = barrier;
  });
  if (isRace)
    return op->emitError("reads a buffer that other threads write, without a barrier between");
  if (isUnseen)
    return op->emitError("reads through the asynchronous proxy what threads wrote, without a fence between");
  return TilePtr(result);
}

LogicalResult Machine::writeShared(tilegpu::LocalStoreOp op) {
  SharedView view = std::get<SharedView>(environment.lookup(op.getTarget()));
  if (view.slot && !holds(*view.slot))
    return op.emitError() << "writes a slot of channel '" << view.slot->channel->name << "' that it does not hold";
  RankedTensorType type = RankedTensorType::get(view.shape, view.tile->element);
  TilePtr value = permuted(type, tile(op.getValue()), op.getOrder());
  bool isRace = false;
  forEachElement(view, [&](int64_t i, int64_t element) {
    if (!view.tile->poison.empty())
      view.tile->poison[element] = 0;
    view.tile->copyElement(element, *value, i);
    isRace |= view.tile->read[element] == barrier;
    view.tile->written[element] = barrier;
  });
  if (isRace)
    return op.emitError("overwrites a buffer that other threads read, without a barrier between");
  return success();
}

LogicalResult Machine::zeroTail(tilegpu::ZeroTailOp op) {
  SharedView view = std::get<SharedView>(environment.lookup(op.getTarget()));
  FailureOr<int64_t> first = integer(op, op.getFirst());
  if (failed(first))
    return failure();
  Tile zero(view.tile->element, {});
  int64_t inner = rowMajorStrides(view.shape)[op.getDim()], extent = view.shape[op.getDim()];
  forEachElement(view, [&](int64_t i, int64_t element) {
    if (i / inner % extent < *first)
      return;
    if (!view.tile->poison.empty())
      view.tile->poison[element] = 0;
    view.tile->copyElement(element, zero, 0);
    // Other groups count their barriers by themselves; those that share a slot write the same zeros.
    view.tile->written[element] = view.slot && op.getAsyncProxy() ? 0 : barrier;
  });
  if (*first < extent)
    meet(op.getAsyncProxy());
  return success();
}

FailureOr<TilePtr> Machine::compute(Operation *op, const Product &product) {
  auto mma = cast<tilegpu::MmaOp>(product.op);
  auto read = [&](const Product::Operand &operand) -> FailureOr<TilePtr> {
    bool asyncProxy = mma.getMma().getKind() == "wgmma";
    auto *view = std::get_if<SharedView>(&operand);
    return view ? readShared(op, *view, asyncProxy) : FailureOr<TilePtr>(std::get<TilePtr>(operand));
  };
  FailureOr<TilePtr> a = read(product.a), b = read(product.b);
  if (failed(a) || failed(b))
    return failure();
  Contraction c;
  c.lhsContract = {mma.getTransA() ? 0 : 1};
  c.rhsContract = {mma.getTransB() ? 0 : 1};
  c.present = {(*a)->shape[c.lhsContract[0]]};
  c.lhsUnsigned = mma.getAUnsigned();
  c.rhsUnsigned = mma.getBUnsigned();
  return TilePtr(contract(mma.getTileType(), c, **a, **b, product.acc.get()));
}

LogicalResult Machine::mma(tilegpu::MmaOp op) {
  auto operand = [&](Value value) -> Product::Operand {
    if (isa<tilegpu::SmemType>(value.getType()))
      return std::get<SharedView>(environment.lookup(value));
    return tilePtr(value);
  };
  auto product = std::make_shared<Product>();
  product->op = op;
  product->a = operand(op.getA());
  product->b = operand(op.getB());
  if (isa<tilegpu::PendingType>(op.getAcc().getType()))
    product->previous = std::get<std::shared_ptr<Product>>(environment.lookup(op.getAcc()));
  else
    product->acc = tilePtr(op.getAcc());
  if (op.getFirst()) {
    const Tile &first = tile(op.getFirst());
    if (first.isPoison(0))
      return op.emitError("starts depending on an absent position");
    if (first.integers[0]) {
      product->acc = nullptr;
      product->previous = nullptr;
    }
  }
  FailureOr<TilePtr> result = compute(op, *product);
  if (failed(result))
    return failure();
  if (!op.isStart()) {
    set(op.getResult(), *result);
    return success();
  }
  product->number = started++;
  underWay.push_back(product);
  set(op.getResult(), product);
  return success();
}

// Reads the operands of products as they are now. Products end in the order of their starts.
LogicalResult Machine::settle(Operation *op, int64_t number) {
  for (; !underWay.empty() && underWay.front()->number < number; underWay.pop_front()) {
    Product &product = *underWay.front();
    if (product.previous)
      product.acc = std::move(product.previous->result);
    FailureOr<TilePtr> result = compute(op, product);
    if (failed(result))
      return failure();
    product.result = *result;
    product.previous = nullptr;
  }
  return success();
}

LogicalResult Machine::mmaWait(tilegpu::MmaWaitOp op) {
  auto product = std::get<std::shared_ptr<Product>>(environment.lookup(op.getPending()));
  if (int64_t since = started - 1 - product->number; static_cast<int64_t>(op.getAfter()) > since)
    return op.emitError() << "does not wait for its product, after which " << since << " were started";
  if (failed(settle(op, product->number + 1)))
    return failure();
  set(op.getResult(), product->result);
  for (auto [from, to] : llvm::zip(op.getThrough(), op.getPassed()))
    set(to, tilePtr(from));
  return success();
}
