// `@unroll(n)`: loops marked with `tilec.unroll` are unrolled by that factor, and LLVM leaves them as they are then.
#include "UnrollLoops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/IR/Matchers.h"
#include "tilec/Dialect/Tile/AttributeNames.h"

using namespace mlir;
using namespace tilec;

/// Where the conversion of loops to branches keeps what LLVM is to know of a loop.
static constexpr StringLiteral annotationName = "llvm.loop_annotation";

namespace {

struct UnrollLoopsPass : PassWrapper<UnrollLoopsPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(UnrollLoopsPass)

  StringRef getArgument() const override { return "unroll-loops"; }
  StringRef getDescription() const override { return "unroll the loops of @unroll"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<LLVM::LLVMDialect, arith::ArithDialect>();
  }

  void runOnOperation() override {
    // Inner loops first: the copies of an outer body then hold them unrolled.
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) {
      if (loop->hasAttr(tile::unrollName))
        loops.push_back(loop);
    });
    for (scf::ForOp loop : loops)
      unroll(loop);
  }

  static void unroll(scf::ForOp loop) {
    int64_t factor = cast<IntegerAttr>(loop->removeAttr(tile::unrollName)).getInt();
    if (std::optional<APInt> count = loop.getStaticTripCount()) {
      if (count->sle(factor) && factor > 1) {
        (void)loopUnrollFull(loop);
        return;
      }
    } else {
      clampUpperBound(loop);
    }
    // The remainder gets the attribute as well, since it is a copy of the loop.
    loop->setAttr(annotationName, leaveAlone(loop.getContext()));
    if (factor > 1)
      (void)loopUnrollByFactor(loop, factor);
  }

  // The unrolled loop counts unsigned: an empty range must not be a negative one.
  static void clampUpperBound(scf::ForOp loop) {
    OpBuilder builder(loop);
    loop.getUpperBoundMutable().assign(
        arith::MaxSIOp::create(builder, loop.getLoc(), loop.getLowerBound(), loop.getUpperBound()));
  }

  static LLVM::LoopAnnotationAttr leaveAlone(MLIRContext *context) {
    auto disable = LLVM::LoopUnrollAttr::get(context, /*disable=*/BoolAttr::get(context, true), {}, {}, {}, {}, {}, {});
    return LLVM::LoopAnnotationAttr::get(context, {}, {}, {}, disable, {}, {}, {}, {}, {}, {}, {}, {}, {}, {},
                                         ArrayRef<LLVM::AccessGroupAttr>());
  }
};

struct KeepLoopAnnotationsPass : PassWrapper<KeepLoopAnnotationsPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(KeepLoopAnnotationsPass)

  StringRef getArgument() const override { return "keep-loop-annotations"; }
  StringRef getDescription() const override { return "tell LLVM what the branches of loops carry"; }

  void runOnOperation() override {
    getOperation().walk([](LLVM::BrOp branch) {
      if (auto annotation = branch->getAttrOfType<LLVM::LoopAnnotationAttr>(annotationName)) {
        branch->removeAttr(annotationName);
        branch.setLoopAnnotationAttr(annotation);
      }
    });
  }
};

} // namespace

std::unique_ptr<Pass> tilec::createUnrollLoopsPass() { return std::make_unique<UnrollLoopsPass>(); }

std::unique_ptr<Pass> tilec::createKeepLoopAnnotationsPass() { return std::make_unique<KeepLoopAnnotationsPass>(); }
