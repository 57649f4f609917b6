// channels: dots become mma operations; their operands come through rings, from registers or from staged buffers.
#include "ChannelBuilder.h"

#include "mlir/IR/Matchers.h"
#include "tilec/Dialect/Tile/AttributeNames.h"
#include "tilec/Transforms/AxisClasses.h"
#include "tilec/Transforms/Passes.h"
#include "tilec/Transforms/StagedStore.h"

namespace tilec {
#define GEN_PASS_DEF_CHANNELS
#include "tilec/Transforms/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

namespace {

// An operand of a dot: the tile, its contracted dimension and the axis there.
struct Operand {
  Value tile;
  int64_t contracted;
  Value axis;
  bool full;
};

class DotLowering {
public:
  DotLowering(ChannelBuilder &channels, tile::DotOp dot)
      : channels(channels), dot(dot), mma(dot->getAttrOfType<tilegpu::MmaAttr>("mma")), builder(dot),
        loc(dot.getLoc()) {}

  void run() {
    Operand lhs = operand(dot.getLhs(), dot.getLhsContract()), rhs = operand(dot.getRhs(), dot.getRhsContract());
    bool wgmma = mma.getKind() == "wgmma", warp = mma.getKind() == "mma";
    // mma.sync loads its fragments from a ring as its instructions need them.
    auto fromRing = [&](const Operand &operand) { return channels.transferOf(operand.tile) != nullptr; };
    bool lhsInRegisters = warp ? !fromRing(lhs) : wgmma && !isTransfer(lhs.tile);
    bool rhsInRegisters = warp && !fromRing(rhs);
    Value a = lhsInRegisters ? inRegisters(lhs) : inShared(lhs, wgmma);
    Value b = rhsInRegisters ? inRegisters(rhs) : inShared(rhs, wgmma);
    auto type = cast<RankedTensorType>(dot.getType());
    Value acc = dot.getAcc(), first;
    if (!acc) {
      acc = arith::ConstantOp::create(builder, loc, type, cast<TypedAttr>(builder.getZeroAttr(type)));
      first = arith::ConstantIntOp::create(builder, loc, 1, 1);
    }
    bool transA = !lhsInRegisters && lhs.contracted == 0, transB = !rhsInRegisters && rhs.contracted == 0;
    auto product = tilegpu::MmaOp::create(builder, loc, type, a, b, acc, first, mma, transA, transB,
                                          dot.getLhsUnsigned(), dot.getRhsUnsigned(), dot.getFast());
    dot.replaceAllUsesWith(product.getResult());
    dot.erase();
  }

private:
  Operand operand(Value tile, ArrayRef<int64_t> contract) {
    bool full = dot.getFull() && (*dot.getFull())[0];
    return {tile, contract[0], dot.getAxes()[0], full};
  }

  // The load behind a value, through a cast to tf32 that wgmma does by itself.
  static Value loaded(Value tile) {
    auto cast = tile.getDefiningOp<tile::CastOp>();
    return cast && getElementTypeOrSelf(tile).isTF32() ? cast.getInput() : tile;
  }

  bool isTransfer(Value tile) { return channels.transferOf(loaded(tile)) != nullptr; }

  // present(position) ? tile : 0, along the contracted dimension.
  Value masked(Value tile, const Operand &operand, int64_t dim) {
    if (operand.full)
      return tile;
    // Before a truncation: pairs then narrow in one instruction, and the mask works on whole registers.
    if (auto truncation = tile.getDefiningOp<arith::TruncFOp>(); truncation && truncation->hasOneUse()) {
      Value wide = masked(truncation.getIn(), operand, dim);
      return arith::TruncFOp::create(builder, loc, tile.getType(), wide);
    }
    auto type = cast<RankedTensorType>(tile.getType());
    auto axis = operand.axis.getDefiningOp<tile::AxisOp>();
    auto positions = RankedTensorType::get({type.getDimSize(dim)}, builder.getIndexType());
    Value pos = tile::PosOp::create(builder, loc, positions, operand.axis);
    Value end = tile::BroadcastOp::create(builder, loc, positions, axis.getEnd(), ArrayRef<int64_t>{});
    Value present = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, pos, end);
    Value mask = tile::BroadcastOp::create(builder, loc, type.clone(builder.getI1Type()), present, dim);
    Value zero = arith::ConstantOp::create(builder, loc, type, cast<TypedAttr>(builder.getZeroAttr(type)));
    return arith::SelectOp::create(builder, loc, mask, tile, zero);
  }

  static bool isZeroWhereAbsent(Value tile, int64_t dim) {
    std::optional<BoxLoad> box = matchBoxLoad(tile);
    return box && tilec::isZeroWhereAbsent(*box, dim);
  }

  // The operand as a tile [rows, k] in registers.
  Value inRegisters(Operand operand) {
    Value base = loaded(operand.tile), value = operand.tile;
    bool zero = operand.full || isZeroWhereAbsent(base, operand.contracted);
    if (const Transfer *transfer = channels.transferOf(base)) {
      auto type = cast<RankedTensorType>(base.getType());
      value =
          tilegpu::LocalLoadOp::create(builder, loc, type, channels.bufferFor(*transfer, dot), ArrayRef<int64_t>{0, 1});
      if (base != operand.tile)
        value = tile::CastOp::create(builder, loc, operand.tile.getType(), value, false, false);
    }
    if (operand.contracted == 0)
      value = transposed(value);
    return zero ? value : masked(value, operand, 1);
  }

  Value transposed(Value tile) {
    auto type = cast<RankedTensorType>(tile.getType());
    if (auto load = tile.getDefiningOp<tilegpu::LocalLoadOp>()) {
      auto result = RankedTensorType::get({type.getDimSize(1), type.getDimSize(0)}, type.getElementType());
      return tilegpu::LocalLoadOp::create(builder, loc, result, load.getSource(), ArrayRef<int64_t>{1, 0});
    }
    auto result = RankedTensorType::get({type.getDimSize(1), type.getDimSize(0)}, type.getElementType());
    return tile::PermuteOp::create(builder, loc, result, tile, ArrayRef<int64_t>{1, 0});
  }

  // The operand in shared memory, its dimensions in the order of the tile's.
  Value inShared(Operand operand, bool asyncProxy) {
    Value base = loaded(operand.tile);
    if (const Transfer *transfer = channels.transferOf(base)) {
      Value buffer = channels.bufferFor(*transfer, dot);
      if (!operand.full && !isZeroWhereAbsent(base, operand.contracted)) {
        auto axis = operand.axis.getDefiningOp<tile::AxisOp>();
        Value count = arith::SubIOp::create(builder, loc, axis.getEnd(), axis.getStart());
        tilegpu::ZeroTailOp::create(builder, loc, buffer, operand.contracted, count, asyncProxy);
      }
      return buffer;
    }
    Value value = operand.tile;
    if (!operand.full && !isZeroWhereAbsent(value, operand.contracted))
      value = masked(value, operand, operand.contracted);
    return channels.stage(builder, loc, value, asyncProxy);
  }

  ChannelBuilder &channels;
  tile::DotOp dot;
  tilegpu::MmaAttr mma;
  OpBuilder builder;
  Location loc;
};

struct ChannelsPass : tilec::impl::ChannelsBase<ChannelsPass> {
  void runOnOperation() override {
    tilegpu::KernelOp kernel = getOperation();
    SmallVector<tile::DotOp> dots;
    kernel.walk([&](tile::DotOp dot) { dots.push_back(dot); });
    if (dots.empty()) {
      if (failed(verifyStages(kernel)))
        signalPassFailure();
      return;
    }
    ChannelBuilder channels(kernel, targetMachine(kernel));
    for (tile::DotOp dot : dots)
      channels.planTransfers(dot);
    channels.emitTransfers();
    for (tile::DotOp dot : dots)
      DotLowering(channels, dot).run();
    stageStores(kernel, channels.roomForStaging());
    if (failed(channels.finish()) || failed(verifyStages(kernel)))
      signalPassFailure();
  }

  // `@stages` counts the items of rings that the loop's own body fills. The variant for unaligned tensors may have
  // none.
  static LogicalResult verifyStages(tilegpu::KernelOp kernel) {
    bool fallback = specializationOf(kernel) != "fast";
    WalkResult result = kernel.walk([&](scf::ForOp loop) {
      bool fills = llvm::any_of(*loop.getBody(), [](Operation &op) { return isa<tilegpu::FillOp>(op); });
      if (fills || !loop->hasAttr(tile::stagesName) || (fallback && containsDot(loop)))
        return WalkResult::advance();
      loop.emitError("E0709: `@stages` cannot be honoured: no operand of a `dot` directly in this loop is loaded from "
                     "a tensor");
      return WalkResult::interrupt();
    });
    return failure(result.wasInterrupted());
  }

  static bool containsDot(scf::ForOp loop) {
    return llvm::any_of(*loop.getBody(), [](Operation &op) { return isa<tilegpu::MmaOp>(op); });
  }
};

} // namespace
