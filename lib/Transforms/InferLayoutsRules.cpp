// Demands of operations on the layouts of their operands.
#include "InferLayoutsRules.h"

#include "tilec/Layout/FragmentLayouts.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilec;

Layout tilec::projectLayout(const Layout &layout, ArrayRef<int64_t> dims) {
  Layout result = layout;
  for (unsigned dim = layout.rank(); dim-- > 0;)
    if (!llvm::is_contained(dims, static_cast<int64_t>(dim)))
      result = result.sliceDim(dim);
  SmallVector<int64_t, 4> kept(dims);
  llvm::sort(kept);
  SmallVector<unsigned, 4> order;
  for (int64_t dim : dims)
    order.push_back(llvm::lower_bound(kept, dim) - kept.begin());
  return result.permuteDims(order);
}

RankedTensorType tilec::withLayout(Type type, tilegpu::LayoutAttr layout) {
  auto tensor = cast<RankedTensorType>(type);
  return RankedTensorType::get(tensor.getShape(), tensor.getElementType(), layout);
}

unsigned tilec::registerBits(Type type) {
  Type element = getElementTypeOrSelf(type);
  if (element.isIndex())
    return 64;
  return element.isTF32() ? 32 : element.getIntOrFloatBitWidth();
}

bool tilec::isElementwise(Operation *op) {
  return OpTrait::hasElementwiseMappableTraits(op) && llvm::any_of(op->getResults(), isTile);
}

SmallVector<int64_t, 4> tilec::subscriptDims(ArrayAttr dims, unsigned subscript) {
  SmallVector<int64_t, 4> result;
  for (auto dim : cast<ArrayAttr>(dims[subscript]).getAsRange<IntegerAttr>())
    result.push_back(dim.getInt());
  return result;
}

std::optional<GlobalOperation> GlobalOperation::match(Operation *op) {
  std::optional<GlobalOperation> result;
  if (auto load = dyn_cast<tile::LoadOp>(op))
    result = GlobalOperation{load.getView().getDefiningOp<tile::ViewOp>(),
                             load.getSubscripts(),
                             load.getDims(),
                             load.getResult(),
                             {},
                             load.getInbounds().value_or(ArrayRef<bool>()),
                             {}};
  if (auto store = dyn_cast<tile::StoreOp>(op))
    result = GlobalOperation{store.getView().getDefiningOp<tile::ViewOp>(),
                             store.getSubscripts(),
                             store.getDims(),
                             store.getValue(),
                             store.getAxes(),
                             store.getInbounds().value_or(ArrayRef<bool>()),
                             store.getFull().value_or(ArrayRef<bool>())};
  if (auto atomic = dyn_cast<tile::AtomicOp>(op))
    result = GlobalOperation{atomic.getView().getDefiningOp<tile::ViewOp>(),
                             atomic.getSubscripts(),
                             atomic.getDims(),
                             atomic.getValue(),
                             atomic.getAxes(),
                             atomic.getInbounds().value_or(ArrayRef<bool>()),
                             atomic.getFull().value_or(ArrayRef<bool>())};
  if (result && !isTile(result->value))
    return std::nullopt;
  return result;
}

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

static bool isPowerOf2(int64_t value) { return value > 0 && llvm::isPowerOf2_64(value); }

static MmaLayouts wgmmaLayouts(tilegpu::MmaOp op, int64_t m, int64_t n, int64_t k) {
  WgmmaTile tile;
  tile.m = m;
  tile.n = n;
  tile.k = k;
  tile.instructionN = op.getMma().getN();
  tile.elementBits = registerBits(tilegpu::tileElementType(op.getA().getType()));
  MmaLayouts layouts{tile.accumulator(), {}, {}};
  if (isTile(op.getA()))
    layouts.a = tile.operandA();
  return layouts;
}

static MmaLayouts mmaSyncLayouts(tilegpu::MmaOp op, int64_t m, int64_t n, int64_t k) {
  tilegpu::MmaAttr mma = op.getMma();
  unsigned bits = registerBits(tilegpu::tileElementType(op.getA().getType()));
  // An instruction of k = 16 or 8 works on the f16 values of 8-bit floats, in the registers of 16-bit elements.
  if (bits == 8 && isa<FloatType>(tilegpu::tileElementType(op.getA().getType())) && mma.getK() < 32)
    bits = 16;
  MmaTile tile;
  tile.instruction = {mma.getM(), mma.getN(), mma.getK(), bits};
  tile.m = m;
  tile.n = n;
  tile.k = k;
  tile.warpsM = mma.getWarpsM();
  tile.warpsN = mma.getWarpsN();
  MmaLayouts layouts{tile.accumulator(), {}, {}};
  if (isTile(op.getA()))
    layouts.a = op.getTransA() ? tile.operandA().permuteDims({1, 0}) : tile.operandA();
  // The tile's second operand is [k, n], the operation's [n, k].
  if (isTile(op.getB()))
    layouts.b = op.getTransB() ? tile.operandB() : tile.operandB().permuteDims({1, 0});
  return layouts;
}

// Each thread computes a rectangle: rows and columns are shared among lanes and warps so that threads do least, then
// read least. Registers of a dimension are neighbours where shared memory is read along it.
static Layout fmaLayout(int64_t m, int64_t n, int64_t warps, bool neighboursM, bool neighboursN) {
  struct Split {
    int64_t lanesM = 1, warpsM = 1, vectorM = 1, vectorN = 1, registersM = 1, registersN = 1;
  } best;
  std::tuple<int64_t, int64_t, int64_t, int64_t> least(INT64_MAX, 0, 0, 0);
  for (int64_t lanesM = 1; lanesM <= 32; lanesM *= 2)
    for (int64_t warpsM = 1; warpsM <= warps; warpsM *= 2)
      for (int64_t vectorM : {1, 2, 4})
        for (int64_t vectorN : {1, 2, 4}) {
          if ((vectorM > 1 && !neighboursM) || (vectorN > 1 && !neighboursN))
            continue;
          Split split{lanesM, warpsM, vectorM, vectorN, 1, 1};
          split.registersM = static_cast<int64_t>(llvm::divideCeil(m, vectorM * lanesM * warpsM));
          split.registersN = static_cast<int64_t>(llvm::divideCeil(n, vectorN * (32 / lanesM) * (warps / warpsM)));
          int64_t rows = split.registersM * vectorM, columns = split.registersN * vectorN;
          // Eight lanes along the columns fill 32-byte sectors of the result.
          std::tuple key(rows * columns, rows + columns, -vectorM * vectorN, std::abs(32 / lanesM - 8));
          if (key < least) {
            least = key;
            best = split;
          }
        }
  auto digit = [](Owner owner, uint32_t position, int64_t radix) {
    return DigitSpec{owner, position, static_cast<uint32_t>(radix)};
  };
  LayoutSpec spec;
  spec.dims = {{digit(Owner::Register, 1, best.vectorM), digit(Owner::Lane, 1, best.lanesM),
                digit(Owner::Warp, 1, best.warpsM), digit(Owner::Register, 3, best.registersM)},
               {digit(Owner::Register, 0, best.vectorN), digit(Owner::Lane, 0, 32 / best.lanesM),
                digit(Owner::Warp, 0, warps / best.warpsM), digit(Owner::Register, 2, best.registersN)}};
  return *Layout::get(spec);
}

FailureOr<MmaLayouts> tilec::mmaLayouts(tilegpu::MmaOp op, int64_t warps) {
  ArrayRef<int64_t> shape = op.getTileType().getShape();
  int64_t m = shape[0], n = shape[1], k = tilegpu::tileShape(op.getA().getType())[op.getTransA() ? 0 : 1];
  tilegpu::MmaAttr mma = op.getMma();
  if (mma.getKind() == "fma")
    return MmaLayouts{fmaLayout(m, n, warps, op.getTransA(), op.getTransB()), {}, {}};
  bool wgmma = mma.getKind() == "wgmma";
  bool fits = mma.getWarpsM() * mma.getWarpsN() == warps && mma.getN() > 0 && mma.getN() % 8 == 0;
  if (wgmma)
    fits &= warps == 4 && mma.getM() == 64;
  else
    fits &= mma.getKind() == "mma" && isPowerOf2(mma.getM()) && mma.getM() >= 8 && mma.getN() == 8 &&
            isPowerOf2(mma.getK()) && mma.getK() >= 4 && isPowerOf2(mma.getWarpsM()) && isPowerOf2(mma.getWarpsN());
  if (!fits)
    return op.emitError("E0420: ") << warps << " warps cannot compute this product with " << mma.getKind() << " of "
                                   << mma.getM() << "x" << mma.getN() << "x" << mma.getK();
  return wgmma ? wgmmaLayouts(op, m, n, k) : mmaSyncLayouts(op, m, n, k);
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

static std::optional<Layout> globalOperandLayout(Operation *op, unsigned index, const Layout &own) {
  std::optional<GlobalOperation> global = GlobalOperation::match(op);
  if (!global)
    return std::nullopt;
  unsigned first = global->subscripts.getBeginOperandIndex();
  if (index >= first && index < first + global->subscripts.size())
    return projectLayout(own, subscriptDims(global->dims, index - first));
  return own;
}

std::optional<Layout> tilec::operandLayout(Operation *op, unsigned index, const Layout &own) {
  if (!isTile(op->getOperand(index)))
    return std::nullopt;
  if (auto broadcast = dyn_cast<tile::BroadcastOp>(op))
    return projectLayout(own, broadcast.getDims());
  if (auto permute = dyn_cast<tile::PermuteOp>(op)) {
    SmallVector<int64_t, 4> inverse(permute.getOrder().size());
    for (auto [i, dim] : llvm::enumerate(permute.getOrder()))
      inverse[dim] = i;
    return projectLayout(own, inverse);
  }
  if (isa<tile::ReduceOp, tilegpu::LocalStoreOp>(op) || isElementwise(op))
    return own;
  return globalOperandLayout(op, index, own);
}

void tilec::forEachForwardedTile(Operation *op, function_ref<void(OpOperand &, Value)> visit) {
  auto forward = [&](MutableArrayRef<OpOperand> operands, ValueRange targets) {
    for (auto [operand, target] : llvm::zip(operands, targets))
      if (isTile(target))
        visit(operand, target);
  };
  if (auto loop = dyn_cast<scf::ForOp>(op))
    forward(loop.getInitArgsMutable(), loop.getRegionIterArgs());
  else if (auto loop = dyn_cast<scf::WhileOp>(op))
    forward(loop->getOpOperands(), loop.getBeforeArguments());
  else if (auto condition = dyn_cast<scf::ConditionOp>(op))
    forward(condition.getArgsMutable(), cast<scf::WhileOp>(op->getParentOp()).getAfterArguments());
  else if (isa<scf::YieldOp>(op)) {
    Operation *parent = op->getParentOp();
    if (auto loop = dyn_cast<scf::WhileOp>(parent))
      forward(op->getOpOperands(), loop.getBeforeArguments());
    else
      forward(op->getOpOperands(), parent->getResults());
  }
}
