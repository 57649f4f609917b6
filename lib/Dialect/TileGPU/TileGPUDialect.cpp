// Registration of the tilegpu dialect; its types and attributes.
#include "tilec/Dialect/TileGPU/TileGPUDialect.h"

#include "mlir/IR/DialectImplementation.h"
#include "tilec/Dialect/TileGPU/Scratch.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilec::tilegpu;

#include "tilec/Dialect/TileGPU/TileGPUDialect.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "tilec/Dialect/TileGPU/TileGPUAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "tilec/Dialect/TileGPU/TileGPUTypes.cpp.inc"

void TileGPUDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "tilec/Dialect/TileGPU/TileGPUAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "tilec/Dialect/TileGPU/TileGPUTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "tilec/Dialect/TileGPU/TileGPUOps.cpp.inc"
      >();
}

LayoutAttr tilec::tilegpu::layoutOf(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return dyn_cast_or_null<LayoutAttr>(tensor.getEncoding());
  return {};
}

ArrayRef<int64_t> tilec::tilegpu::tileShape(Type type) {
  auto smem = dyn_cast<SmemType>(type);
  return smem ? smem.getShape() : cast<RankedTensorType>(type).getShape();
}

Type tilec::tilegpu::tileElementType(Type type) {
  auto smem = dyn_cast<SmemType>(type);
  return smem ? smem.getElementType() : cast<RankedTensorType>(type).getElementType();
}

RankedTensorType tilec::tilegpu::productType(Type type) {
  auto pending = dyn_cast<PendingType>(type);
  return pending ? pending.getTile() : cast<RankedTensorType>(type);
}

int64_t tilec::tilegpu::elementBytes(Type elementType) {
  if (elementType.isIndex())
    return 8;
  if (elementType.isTF32())
    return 4;
  return llvm::divideCeil(elementType.getIntOrFloatBitWidth(), 8);
}

// The layout is printed as a string in the text form of tilec::Layout.
Attribute LayoutAttr::parse(AsmParser &parser, Type) {
  std::string text, error;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseString(&text) || parser.parseGreater())
    return {};
  std::optional<Layout> layout = Layout::parse(text, &error);
  if (!layout) {
    parser.emitError(loc) << "invalid layout: " << error;
    return {};
  }
  return LayoutAttr::get(parser.getContext(), *layout);
}

void LayoutAttr::print(AsmPrinter &printer) const {
  std::string text;
  llvm::raw_string_ostream os(text);
  getLayout().print(os);
  printer << "<\"" << text << "\">";
}

int64_t SmemType::allocBytes() const {
  ArrayRef<int64_t> shape = getAllocShape();
  int64_t rows = 1;
  for (int64_t size : shape.drop_back())
    rows *= size;
  int64_t rowBytes = shape.back() * elementBytes(getElementType());
  if (int64_t span = getShared().getSpan())
    return rows * llvm::alignTo(rowBytes, span);
  return rows * (rowBytes + getShared().getPad());
}

int64_t ChanType::payloadOffset(unsigned index) const {
  int64_t offset = 0;
  for (Type type : getPayload().take_front(index))
    offset += llvm::alignTo(cast<SmemType>(type).allocBytes(), bufferAlignment);
  return offset;
}

int64_t ChanType::slotBytes() const { return payloadOffset(getPayload().size()); }
