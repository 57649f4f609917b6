// Constants and element-wise operations: one scalar operation for each register.
#include "Lowering.h"
#include "ScalarOps.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace tilec;

// A constant of a register's type; f8 values are their codes.
static Value scalarConstant(OpBuilder &builder, Location loc, Type elementType, Attribute value) {
  if (auto number = dyn_cast<FloatAttr>(value)) {
    APFloat exact = number.getValue();
    if (isa<Float8E4M3FNType, Float8E5M2Type>(elementType))
      return arith::ConstantIntOp::create(builder, loc, exact.bitcastToAPInt().getZExtValue(), 8);
    bool inexact;
    if (elementType.isTF32())
      exact.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &inexact);
    Type type = Lowering::registerType(elementType);
    return arith::ConstantOp::create(builder, loc, FloatAttr::get(type, exact));
  }
  return arith::ConstantOp::create(builder, loc, cast<TypedAttr>(value));
}

LogicalResult Lowering::lowerConstant(Operation *op) {
  auto constant = cast<arith::ConstantOp>(op);
  if (!isTile(constant.getResult())) {
    setScalar(constant.getResult(), scalarConstant(builder, location, constant.getType(), constant.getValue()));
    return success();
  }
  auto splat = dyn_cast<SplatElementsAttr>(constant.getValue());
  if (!splat)
    return op->emitError("E0430: a tile constant with different elements cannot be lowered");
  Attribute value = splat.getElementType().isIntOrIndex()
                        ? Attribute(IntegerAttr::get(splat.getElementType(), splat.getSplatValue<APInt>()))
                        : Attribute(FloatAttr::get(splat.getElementType(), splat.getSplatValue<APFloat>()));
  Value one = scalarConstant(builder, location, splat.getElementType(), value);
  set(constant.getResult(), Registers(layoutOf(constant.getResult()).numRegisters(), one));
  return success();
}

// Pairs of f32 narrow in one instruction (cvt.rn.bf16x2.f32); the backend sees it as a vector truncation.
static void truncatePairs(OpBuilder &builder, Location loc, ArrayRef<Value> inputs, Type element, Registers &results) {
  auto wide = VectorType::get(2, builder.getF32Type()), narrow = VectorType::get(2, element);
  auto index = [&](int64_t i) { return LLVM::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(i)); };
  for (size_t i = 0; i + 1 < inputs.size(); i += 2) {
    Value pair = LLVM::PoisonOp::create(builder, loc, wide);
    pair = LLVM::InsertElementOp::create(builder, loc, pair, inputs[i], index(0));
    pair = LLVM::InsertElementOp::create(builder, loc, pair, inputs[i + 1], index(1));
    Value rounded = arith::TruncFOp::create(builder, loc, narrow, pair);
    for (int64_t half : {0, 1})
      results.push_back(LLVM::ExtractElementOp::create(builder, loc, rounded, index(half)));
  }
  if (inputs.size() % 2)
    results.push_back(arith::TruncFOp::create(builder, loc, element, inputs.back()));
}

LogicalResult Lowering::lowerElementwise(Operation *op) {
  if (lowerAffineCompare(op))
    return success();
  if (op->getNumResults() != 1 || op->getNumRegions() != 0)
    return op->emitError("E0431: `") << op->getName() << "` cannot be lowered";
  Value result = op->getResult(0);
  Type element = getElementTypeOrSelf(result.getType());
  size_t count = isTile(result) ? layoutOf(result).numRegisters() : 1;
  SmallVector<ArrayRef<Value>> operands;
  for (Value operand : op->getOperands()) {
    operands.push_back(lowered(operand));
    if (operands.back().size() != count && operands.back().size() != 1)
      return op->emitError("E0431: operands with different layouts reach the lowering");
  }
  Registers results;
  if (isa<arith::TruncFOp>(op) && count > 1 && (element.isBF16() || element.isF16()) &&
      operands[0][0].getType().isF32()) {
    truncatePairs(builder, location, operands[0], element, results);
    set(result, std::move(results));
    return success();
  }
  ScalarOps scalars(builder, location, machine);
  bool isCast = isa<tile::CastOp, arith::TruncFOp, arith::ExtFOp>(op);
  for (size_t i = 0; i < count; ++i) {
    if (isCast && i + 1 < count) {
      Type from = getElementTypeOrSelf(op->getOperand(0).getType());
      if (auto pair = scalars.castPair(operands[0][i], operands[0][i + 1], from, element)) {
        results.append({pair->first, pair->second});
        ++i;
        continue;
      }
    }
    SmallVector<Value, 3> inputs;
    for (ArrayRef<Value> operand : operands)
      inputs.push_back(operand.size() == 1 ? operand[0] : operand[i]);
    FailureOr<Value> value = scalars.emit(op, inputs, element);
    if (failed(value))
      return failure();
    results.push_back(*value);
  }
  set(result, std::move(results));
  return success();
}
