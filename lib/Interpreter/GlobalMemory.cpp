// Loads, stores and atomics on views.
#include "Combine.h"
#include "Machine.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::interpreter;

namespace {

// Where the elements of an access lie. Walks the positions of `shape` in row-major order.
class Addresses {
public:
  enum class Place { Inside, Outside, Poison };

  // `inbounds`: of which subscripts it was proved that they are inside.
  Addresses(const View &view, ArrayRef<const Tile *> subscripts, ArrayAttr dims, ArrayRef<int64_t> shape,
            std::optional<ArrayRef<bool>> inbounds)
      : view(view), subscripts(subscripts.begin(), subscripts.end()), shape(shape.begin(), shape.end()),
        point(shape.size(), 0), current(subscripts.size(), 0), inbounds(subscripts.size(), false) {
    if (inbounds)
      llvm::copy(*inbounds, this->inbounds.begin());
    for (auto [subscript, list] : llvm::zip(subscripts, dims.getAsRange<ArrayAttr>())) {
      SmallVector<int64_t, 4> own = rowMajorStrides(subscript->shape), spread(shape.size(), 0);
      for (auto [dim, stride] : llvm::zip(list.getAsRange<IntegerAttr>(), own))
        spread[dim.getInt()] += stride;
      strides.push_back(spread);
    }
  }

  // The place and the element number of the current position.
  Place locate(int64_t &element) const {
    bool inside = true, poison = false;
    element = view.offset;
    for (size_t s = 0; s < subscripts.size(); ++s) {
      int64_t i = current[s], value = subscripts[s]->integers[i];
      poison |= subscripts[s]->isPoison(i);
      inside &= value >= 0 && value < view.sizes[s];
      if (inside)
        element += value * view.strides[s];
    }
    return poison ? Place::Poison : inside ? Place::Inside : Place::Outside;
  }

  // The first subscript that is outside at the current position, in spite of a proof.
  std::optional<size_t> disproved() const {
    for (size_t s = 0; s < subscripts.size(); ++s) {
      int64_t i = current[s], value = subscripts[s]->integers[i];
      if (inbounds[s] && !subscripts[s]->isPoison(i) && (value < 0 || value >= view.sizes[s]))
        return s;
    }
    return std::nullopt;
  }

  ArrayRef<int64_t> position() const { return point; }

  void advance() {
    for (size_t d = shape.size(); d-- > 0;) {
      move(d, 1);
      if (++point[d] < shape[d])
        return;
      move(d, -point[d]);
      point[d] = 0;
    }
  }

private:
  void move(size_t dim, int64_t steps) {
    for (size_t s = 0; s < current.size(); ++s)
      current[s] += steps * strides[s][dim];
  }

  const View &view;
  SmallVector<const Tile *, 4> subscripts;
  SmallVector<int64_t, 4> shape, point, current;
  SmallVector<bool, 4> inbounds;
  SmallVector<SmallVector<int64_t, 4>, 4> strides;
};

} // namespace

static InFlightDiagnostic unmapped(Operation *op, const View &view, int64_t element) {
  return op->emitError() << "accesses element " << element << " of '" << view.buffer->name
                         << "', which the array does not have";
}

static InFlightDiagnostic outside(Operation *op, const View &view, size_t subscript) {
  return op->emitError() << "is outside '" << view.buffer->name << "' in subscript " << subscript
                         << ", which was proved inside";
}

LogicalResult Machine::load(tile::LoadOp op) {
  View view = std::get<View>(environment.lookup(op.getView()));
  SmallVector<const Tile *, 4> subscripts;
  for (Value subscript : op.getSubscripts())
    subscripts.push_back(&tile(subscript));
  const Tile *otherwise = op.getOtherwise() ? &tile(op.getOtherwise()) : nullptr;
  auto result = std::make_shared<Tile>(op.getType());
  Addresses addresses(view, subscripts, op.getDims(), result->shape, op.getInbounds());
  for (int64_t i = 0, n = result->size(); i < n; ++i, addresses.advance()) {
    if (std::optional<size_t> subscript = addresses.disproved())
      return outside(op, view, *subscript);
    int64_t element;
    switch (addresses.locate(element)) {
    case Addresses::Place::Poison:
      result->setPoison(i);
      break;
    case Addresses::Place::Outside:
      if (otherwise)
        result->copyElement(i, *otherwise, otherwise->shape.empty() ? 0 : i);
      break;
    case Addresses::Place::Inside:
      if (!view.isMapped(element))
        return unmapped(op, view, element);
      view.read(element, *result, i);
      break;
    }
  }
  if (result->shape.empty() && result->isPoison(0))
    return op.emitError("reads at an absent position");
  set(op.getResult(), result);
  return success();
}

template <typename Op, typename F> LogicalResult Machine::forEachWritten(Op op, F write) {
  View view = std::get<View>(environment.lookup(op.getView()));
  SmallVector<const Tile *, 4> subscripts;
  SmallVector<AxisValue, 4> axes;
  for (Value subscript : op.getSubscripts())
    subscripts.push_back(&tile(subscript));
  for (Value a : op.getAxes())
    axes.push_back(axis(a));
  const Tile &value = tile(op.getValue());
  Addresses addresses(view, subscripts, op.getDims(), value.shape, op.getInbounds());
  for (auto [axis, full] : llvm::zip(axes, op.getFull().value_or(ArrayRef<bool>())))
    if (full && axis.end - axis.start < axis.extent)
      return op.emitError("has absent positions of an axis that was proved full");
  for (int64_t i = 0, n = value.size(); i < n; ++i, addresses.advance()) {
    bool present = true;
    for (auto [axis, p] : llvm::zip(axes, addresses.position()))
      present &= axis.start + p < axis.end;
    if (!present)
      continue;
    if (std::optional<size_t> subscript = addresses.disproved())
      return outside(op, view, *subscript);
    int64_t element;
    Addresses::Place place = addresses.locate(element);
    if (place == Addresses::Place::Outside)
      continue;
    if (place == Addresses::Place::Poison || value.isPoison(i))
      return op.emitError() << "stores an element of an absent position to '" << view.buffer->name << "'";
    if (!view.isMapped(element))
      return unmapped(op, view, element);
    if (failed(write(element, i)))
      return failure();
  }
  return success();
}

LogicalResult Machine::store(tile::StoreOp op) {
  View view = std::get<View>(environment.lookup(op.getView()));
  const Tile &value = tile(op.getValue());
  int64_t execution = context.executions++;
  return forEachWritten(op, [&](int64_t element, int64_t i) -> LogicalResult {
    StoreRecord &record = view.buffer->stores[element];
    bool again =
        record.execution == execution || (record.stage == context.stage && record.iteration != context.iteration);
    if (again && !op.getUnique())
      return op.emitError() << "stores element " << element << " of '" << view.buffer->name << "' twice in one stage";
    record = {context.stage, context.iteration, execution};
    view.write(element, value, i);
    return success();
  });
}

LogicalResult Machine::atomic(tile::AtomicOp op) {
  View view = std::get<View>(environment.lookup(op.getView()));
  const Tile &value = tile(op.getValue());
  Tile cell(view.element, {});
  return forEachWritten(op, [&](int64_t element, int64_t i) {
    view.read(element, cell, 0);
    Accumulator sum(op.getKind(), view.element);
    sum.add(cell, 0);
    sum.add(value, i);
    sum.store(cell, 0);
    view.write(element, cell, 0);
    return success();
  });
}
