// Buffers in shared memory: addresses of their elements, loads, stores, barriers.
#include "Lowering.h"
#include "SharedScratch.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "tilec/Dialect/TileGPU/Scratch.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilec;

// Leading dimensions are flattened into rows; columns of swizzled buffers lie in panels.
Value Lowering::sharedElement(const LoweredShared &tile, ArrayRef<Value> coordinates) {
  SharedTile shape = sharedTileOf(tile.type);
  ArrayRef<int64_t> alloc = tile.type.getAllocShape();
  Value row = constant32(0), column;
  for (unsigned d = 0; d < coordinates.size(); ++d) {
    Value coordinate = coordinates[d];
    if (tile.offsets[d])
      coordinate = add(coordinate, toI32(tile.offsets[d]));
    if (d + 1 == coordinates.size())
      column = coordinate;
    else
      row = add(mulConstant(row, alloc[d]), coordinate);
  }
  int64_t bytes = shape.elementBits / 8;
  Value address;
  if (!shape.layout.isSwizzled()) {
    address = add(mulConstant(row, shape.pitch()), mulConstant(column, bytes));
    return add(tile.address, address);
  }
  Value inPanel = column;
  address = mulConstant(row, shape.pitch());
  if (shape.panels() > 1) {
    Value width = constant32(shape.panelColumns());
    Value panel = builder.createOrFold<arith::DivUIOp>(location, column, width);
    inPanel = builder.createOrFold<arith::RemUIOp>(location, column, width);
    address = add(address, mulConstant(panel, shape.panelBytes()));
  }
  address = add(address, mulConstant(inPanel, bytes));
  Value bits = arith::ShRUIOp::create(builder, location, address, constant32(7));
  bits = arith::AndIOp::create(builder, location, bits, constant32(shape.layout.swizzleMask()));
  bits = arith::ShLIOp::create(builder, location, bits, constant32(4));
  return add(tile.address, arith::XOrIOp::create(builder, location, address, bits));
}

namespace {

// Moves a distributed tile to or from a buffer in vectors along the buffer's contiguous dimension.
class SharedAccess {
public:
  SharedAccess(Lowering &lowering, Value tile, const LoweredShared &buffer, ArrayRef<int64_t> order)
      : lowering(lowering), tile(tile), buffer(buffer), layout(Lowering::layoutOf(tile)),
        type(Lowering::registerType(cast<RankedTensorType>(tile.getType()).getElementType())) {
    // `order[i]` is the buffer dimension of tile dimension i.
    tileDimOf.resize(order.size());
    for (auto [tileDim, bufferDim] : llvm::enumerate(order))
      tileDimOf[bufferDim] = tileDim;
    unsigned contiguous = tileDimOf.back();
    int64_t bytes = lowering.sharedTileOf(buffer.type).elementBits / 8;
    unsigned limit =
        lowering.sharedTileOf(buffer.type).layout.isSwizzled() || buffer.type.getShared().getPad() % 16 == 0
            ? 16 / bytes
            : 1;
    if (buffer.type.getAllocShape().back() * bytes % 16 != 0)
      limit = 1;
    width = layout.vectorWidth(contiguous, std::max(limit, 1u));
    run = layout.contiguousRegisters(contiguous);
    run.resize(width);
    for (unsigned d = 0; d < layout.rank(); ++d)
      thread.push_back(lowering.threadCoordinate(layout, d));
  }

  void forEach(function_ref<void(ArrayRef<uint32_t>, Value address, Value condition)> body) {
    SmallVector<bool> done(layout.numRegisters(), false);
    for (uint32_t reg = 0; reg < layout.numRegisters(); ++reg) {
      if (done[reg])
        continue;
      SmallVector<uint32_t, 8> registers;
      for (uint32_t offset : run) {
        registers.push_back(reg + offset);
        done[reg + offset] = true;
      }
      Coordinates offset = layout.registerOffset(reg);
      SmallVector<Value> coordinates;
      for (unsigned d : tileDimOf)
        coordinates.push_back(lowering.addConstant(thread[d], offset[d]));
      body(registers, lowering.sharedElement(buffer, coordinates), insideTile(offset));
    }
  }

private:
  // Padding of the layout lies outside the buffer.
  Value insideTile(const Coordinates &offset) {
    Value condition;
    auto tileType = cast<RankedTensorType>(tile.getType());
    for (unsigned d = 0; d < layout.rank(); ++d) {
      if (layout.covered(d) <= tileType.getDimSize(d))
        continue;
      Value inside = arith::CmpIOp::create(lowering.builder, lowering.loc(), arith::CmpIPredicate::slt,
                                           lowering.addConstant(thread[d], offset[d]),
                                           lowering.constant32(tileType.getDimSize(d)));
      condition =
          condition ? Value(arith::AndIOp::create(lowering.builder, lowering.loc(), condition, inside)) : inside;
    }
    return condition;
  }

  Lowering &lowering;
  Value tile;
  const LoweredShared &buffer;
  const Layout &layout;
  Type type;
  unsigned width;
  SmallVector<unsigned, 4> tileDimOf;
  SmallVector<uint32_t, 8> run;
  SmallVector<Value, 4> thread;
};

void localStore(Lowering &lowering, tilegpu::LocalStoreOp op) {
  const LoweredShared &buffer = lowering.shared(op.getTarget());
  Type type = Lowering::registerType(cast<RankedTensorType>(op.getValue().getType()).getElementType());
  SharedScratch scratch(lowering, lowering.constant32(0), type);
  ArrayRef<Value> values = lowering.lowered(op.getValue());
  // Buffer dimension i is tile dimension order[i]; the access takes the inverse.
  SmallVector<int64_t> order(op.getOrder().size());
  for (auto [bufferDim, tileDim] : llvm::enumerate(op.getOrder()))
    order[tileDim] = bufferDim;
  SharedAccess access(lowering, op.getValue(), buffer, order);
  access.forEach([&](ArrayRef<uint32_t> registers, Value address, Value condition) {
    SmallVector<Value, 8> vector;
    for (uint32_t reg : registers)
      vector.push_back(values[reg]);
    auto store = [&] { scratch.storeAt(vector, address); };
    if (condition)
      lowering.emitIf(condition, store);
    else
      store();
  });
}

void localLoad(Lowering &lowering, tilegpu::LocalLoadOp op) {
  const LoweredShared &buffer = lowering.shared(op.getSource());
  Type type = Lowering::registerType(cast<RankedTensorType>(op.getType()).getElementType());
  SharedScratch scratch(lowering, lowering.constant32(0), type);
  Registers results(Lowering::layoutOf(op.getResult()).numRegisters());
  SharedAccess access(lowering, op.getResult(), buffer, op.getOrder());
  access.forEach([&](ArrayRef<uint32_t> registers, Value address, Value condition) {
    // Padding reads the buffer's first elements instead of what lies outside.
    if (condition)
      address = arith::SelectOp::create(lowering.builder, lowering.loc(), condition, address, buffer.address);
    for (auto [reg, value] : llvm::zip(registers, scratch.loadAt(registers.size(), address)))
      results[reg] = value;
  });
  lowering.set(op.getResult(), std::move(results));
}

// Every thread of the group writes zeros to elements of the absent positions, in turn. Groups that share the slot write
// the same zeros at the same time: the stores are strong, so that they do not race with each other (PTX ISA, "Morally
// strong operations").
void zeroTail(Lowering &lowering, tilegpu::ZeroTailOp op) {
  OpBuilder &builder = lowering.builder;
  Location loc = lowering.loc();
  const LoweredShared &buffer = lowering.shared(op.getTarget());
  SmallVector<int64_t> shape(op.getTarget().getType().getShape());
  int64_t dim = op.getDim(), extent = shape[dim], others = 1;
  // Whole words of 8 bytes, the widest strong store, where they lie in one position: swizzles and pads move 16 bytes.
  constexpr int64_t widestStore = 8;
  int64_t bytes = tilegpu::elementBytes(op.getTarget().getType().getElementType()), perStore = widestStore / bytes;
  int64_t lastDim = shape.size() - 1;
  if (bytes >= widestStore || dim == lastDim || shape.back() % perStore != 0)
    perStore = 1;
  shape.back() /= perStore;
  for (auto [d, size] : llvm::enumerate(shape))
    if (static_cast<int64_t>(d) != dim)
      others *= size;
  Value first = arith::MaxSIOp::create(builder, loc, lowering.scalar(op.getFirst()), lowering.constantIndex(0));
  Value ragged = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, first, lowering.constantIndex(extent));
  lowering.emitIf(ragged, [&] {
    Value begin = lowering.toI32(first);
    Value absent = arith::SubIOp::create(builder, loc, lowering.constant32(extent), begin);
    Value total = lowering.mulConstant(absent, others);
    auto loop =
        scf::ForOp::create(builder, loc, lowering.threadInGroup, total, lowering.constant32(lowering.groupThreads));
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(loop.getBody());
      Value number = loop.getInductionVar();
      Value position = lowering.add(begin, arith::DivUIOp::create(builder, loc, number, lowering.constant32(others)));
      Value rest = arith::RemUIOp::create(builder, loc, number, lowering.constant32(others));
      SmallVector<Value> coordinates(shape.size());
      for (unsigned d = shape.size(); d-- > 0;) {
        if (static_cast<int64_t>(d) == dim) {
          coordinates[d] = position;
          continue;
        }
        coordinates[d] = arith::RemUIOp::create(builder, loc, rest, lowering.constant32(shape[d]));
        rest = arith::DivUIOp::create(builder, loc, rest, lowering.constant32(shape[d]));
      }
      coordinates.back() = lowering.mulConstant(coordinates.back(), perStore);
      Type type = builder.getIntegerType(8 * bytes * perStore);
      Value zero = arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, 0));
      Value address = Ptx(builder, loc).sharedPointer(lowering.sharedElement(buffer, coordinates));
      LLVM::StoreOp::create(builder, loc, zero, address, /*alignment=*/type.getIntOrFloatBitWidth() / 8,
                            /*isVolatile=*/false, /*isNonTemporal=*/false, /*isInvariantGroup=*/false,
                            LLVM::AtomicOrdering::monotonic, "block");
    }
    if (op.getAsyncProxy())
      Ptx(builder, loc).fenceProxyAsync();
    lowering.groupBarrier();
  });
}

} // namespace

void Lowering::addressBuffers() {
  for (auto alloc : kernel.getOps<tilegpu::AllocOp>()) {
    Value address = sharedAddress(alloc.getOffset().value_or(0));
    if (inProcess)
      address =
          add(address, mulConstant(groupNumber, llvm::alignTo(alloc.getType().allocBytes(), tilegpu::bufferAlignment)));
    setShared(alloc.getResult(), {alloc.getType(), address, SmallVector<Value, 4>(alloc.getType().getShape().size())});
  }
}

LogicalResult Lowering::lowerSharedOp(Operation *op) {
  llvm::TypeSwitch<Operation *>(op)
      .Case<tilegpu::AllocOp>([&](tilegpu::AllocOp) { addressBuffers(); })
      .Case<tilegpu::SubviewOp>([&](tilegpu::SubviewOp subview) {
        LoweredShared part = shared(subview.getSource());
        part.type = subview.getType();
        for (auto [d, offset] : llvm::enumerate(subview.getOffsets()))
          part.offsets[d] = add(part.offsets[d], scalar(offset));
        setShared(subview.getResult(), part);
      })
      .Case<tilegpu::LocalLoadOp>([&](tilegpu::LocalLoadOp load) {
        if (!lowerMatrixLoad(load))
          localLoad(*this, load);
      })
      .Case<tilegpu::LocalStoreOp>([&](tilegpu::LocalStoreOp store) { localStore(*this, store); })
      .Case<tilegpu::ZeroTailOp>([&](tilegpu::ZeroTailOp zero) { zeroTail(*this, zero); })
      .Case<tilegpu::BarrierOp>([&](tilegpu::BarrierOp barrier) {
        if (barrier.getAsyncProxy())
          Ptx(builder, location).fenceProxyAsync();
        groupBarrier();
      });
  return success();
}
