// Registration of the tile dialect, its types and attributes.
#include "tilec/Dialect/Tile/TileDialect.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilec::tile;

#include "tilec/Dialect/Tile/TileDialect.cpp.inc"
#include "tilec/Dialect/Tile/TileEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "tilec/Dialect/Tile/TileAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "tilec/Dialect/Tile/TileTypes.cpp.inc"

void TileDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "tilec/Dialect/Tile/TileAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "tilec/Dialect/Tile/TileTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "tilec/Dialect/Tile/TileOps.cpp.inc"
      >();
}

LogicalResult AxisType::verify(function_ref<InFlightDiagnostic()> emitError, int64_t extent) {
  if (extent < 1)
    return emitError() << "an axis has at least one position";
  return success();
}

LogicalResult ViewType::verify(function_ref<InFlightDiagnostic()> emitError, int64_t rank, Type elementType) {
  if (rank < 0)
    return emitError() << "a view has at least 0 dimensions";
  if (!isa<IntegerType, FloatType>(elementType))
    return emitError() << "the elements of a view are integers or floats, not " << elementType;
  return success();
}

Operation *TileDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}
