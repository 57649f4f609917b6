// tile-opt: runs passes on tile and tilegpu modules and prints the result; the tester of the dialects and passes.
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "tilec/Conversion/Passes.h"
#include "tilec/Dialect/TileGPU/TileGPUDialect.h"
#include "tilec/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<mlir::arith::ArithDialect, mlir::math::MathDialect, mlir::scf::SCFDialect, mlir::func::FuncDialect,
                  tilec::tile::TileDialect, tilec::tilegpu::TileGPUDialect>();
  mlir::registerTransformsPasses();
  tilec::registerTilecPasses();
  tilec::registerConversionPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "tilec pass tester\n", registry));
}
