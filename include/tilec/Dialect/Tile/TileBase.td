//===- TileBase.td - The tile dialect: definition, types, enums ------------===//
//
// Values are builtin ranked tensors of static shape. Names of axes have been resolved to dimension numbers; they
// survive as attributes for dumps and diagnostics. Element-wise work is done by `arith` and `math`, control by `scf`.
//
//===----------------------------------------------------------------------===//
#ifndef TILEC_DIALECT_TILE_TILEBASE_TD
#define TILEC_DIALECT_TILE_TILEBASE_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferIntRangeInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let cppNamespace = "::tilec::tile";
  let summary = "Target-independent tile programs with value semantics";
  let description = [{
    A `tile.kernel` holds stages (`tile.parallel` nests). A tile value is a builtin tensor of static shape; its
    dimensions belong to axes (`!tile.axis<E>`: E positions at most, of which `start <= p < end` are present).
    Elements at absent positions are poison: loads and arithmetic do not look at axes, observers (reduce, dot,
    store, atomic) name the axis and skip absent positions. Global tensors are `!tile.view` values.

    Integers are signless; the operation says whether it is signed. `index` is the 64-bit type of positions.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect"];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

class Tile_Type<string name, string typeMnemonic> : TypeDef<Tile_Dialect, name> { let mnemonic = typeMnemonic; }

def Tile_AxisType : Tile_Type<"Axis", "axis"> {
  let summary = "an axis: at most `extent` consecutive positions";
  let parameters = (ins "int64_t":$extent);
  let assemblyFormat = "`<` $extent `>`";
  let genVerifyDecl = 1;
}

def Tile_ViewType : Tile_Type<"View", "view"> {
  let summary = "a global tensor: base address, sizes and strides of `rank` dimensions (elements: no `index`)";
  let parameters = (ins "int64_t":$rank, "::mlir::Type":$elementType);
  let assemblyFormat = "`<` $rank `,` $elementType `>`";
  let genVerifyDecl = 1;
}

def Tile_PtrType : Tile_Type<"Ptr", "ptr"> {
  let summary = "the device address of a tensor parameter";
}

def Tile_Scalar : AnyTypeOf<[AnySignlessInteger, Index, AnyFloat], "a scalar">;
def Tile_Tensor : TensorOf<[AnySignlessInteger, Index, AnyFloat]>;
def Tile_Value : AnyTypeOf<[Tile_Scalar, Tile_Tensor], "a scalar or a tile">;
def Tile_Subscript : AnyTypeOf<[Index, TensorOf<[Index]>], "an index or a tile of indices">;

//===----------------------------------------------------------------------===//
// Enums
//===----------------------------------------------------------------------===//

class Tile_Enum<string name, string summary, list<I32EnumAttrCase> cases> : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::tilec::tile";
  let genSpecializedAttr = 0;
}

def Tile_CombineKind : Tile_Enum<"CombineKind", "an associative, commutative combination", [
  I32EnumAttrCase<"add", 0>, I32EnumAttrCase<"mul", 1>,
  I32EnumAttrCase<"maxs", 2>, I32EnumAttrCase<"maxu", 3>, I32EnumAttrCase<"maxf", 4>,
  I32EnumAttrCase<"mins", 5>, I32EnumAttrCase<"minu", 6>, I32EnumAttrCase<"minf", 7>,
  I32EnumAttrCase<"andi", 8>, I32EnumAttrCase<"ori", 9>, I32EnumAttrCase<"xori", 10>]>;
def Tile_CombineKindAttr : EnumAttr<Tile_Dialect, Tile_CombineKind, "kind">;

def Tile_Access : Tile_Enum<"Access", "how a kernel uses a tensor parameter", [
  I32EnumAttrCase<"in", 0>, I32EnumAttrCase<"out", 1>, I32EnumAttrCase<"inout", 2>]>;
def Tile_AccessAttr : EnumAttr<Tile_Dialect, Tile_Access, "access">;

#endif // TILEC_DIALECT_TILE_TILEBASE_TD
