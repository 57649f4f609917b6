// Lowering of tilegpu.mma, and of loads from shared memory that ldmatrix can do.
#include "FragmentLoad.h"
#include "Lowering.h"
#include "MmaEmitter.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilec;

// An element offset as i32, null where it is known to be 0.
static Value offsetOf(Lowering &lowering, Value index) {
  if (!index || matchPattern(index, m_Zero()))
    return nullptr;
  return lowering.toI32(index);
}

static SharedPart sharedPartOf(Lowering &lowering, Value value) {
  const LoweredShared &shared = lowering.shared(value);
  SharedPart part;
  part.tile = lowering.sharedTileOf(shared.type);
  part.address = shared.address;
  ArrayRef<int64_t> shape = shared.type.getAllocShape();
  if (shared.offsets.empty())
    return part;
  part.columnOffset = offsetOf(lowering, shared.offsets.back());
  int64_t rows = 1;
  for (size_t d = shape.size() - 1; d-- > 0; rows *= shape[d])
    if (Value offset = offsetOf(lowering, shared.offsets[d])) {
      Value scaled = lowering.mulConstant(offset, rows);
      part.rowOffset = part.rowOffset ? lowering.add(part.rowOffset, scaled) : scaled;
    }
  return part;
}

static MmaOperand operandOf(Lowering &lowering, Value value) {
  MmaOperand operand;
  if (isa<tilegpu::SmemType>(value.getType()))
    operand.shared = sharedPartOf(lowering, value);
  else
    llvm::append_range(operand.registers, lowering.registers(value));
  return operand;
}

LogicalResult Lowering::lowerMma(tilegpu::MmaOp op) {
  StringRef kind = op.getMma().getKind();
  MmaInputs inputs;
  inputs.op = op;
  inputs.a = operandOf(*this, op.getA());
  inputs.b = operandOf(*this, op.getB());
  llvm::append_range(inputs.accumulators, registers(op.getAcc()));
  if (op.getFirst())
    inputs.first = scalar(op.getFirst());
  inputs.lane = lane;
  inputs.warp = warp;
  if (kind == "wgmma" && !machine.hasWgmma)
    return op.emitOpError("needs wgmma, which ") << machine.name << " does not have";
  if (kind == "wgmma" && groupThreads != 128)
    return op.emitOpError("needs a group of four warps");
  if (kind == "wgmma")
    inputs.a.registers = packRegisters(builder, op.getLoc(), inputs.a.registers);
  FailureOr<Ptx::Values> results = kind == "wgmma" ? emitWgmma(builder, inputs)
                                   : kind == "mma" ? emitMmaSync(builder, inputs)
                                   : kind == "fma" ? emitFma(builder, inputs)
                                                   : op.emitOpError("has an unknown kind");
  if (failed(results))
    return failure();
  set(op.getResult(), Registers(results->begin(), results->end()));
  return success();
}

// One instruction takes the accumulators and all tiles of `through` and returns them, so that neither LLVM nor ptxas
// moves a use of them to its other side.
LogicalResult Lowering::lowerMmaWait(tilegpu::MmaWaitOp op) {
  Registers values(registers(op.getPending()));
  for (Value tile : op.getThrough())
    llvm::append_range(values, registers(tile));
  Ptx::Values results = Ptx(builder, location).wgmmaWait(op.getAfter(), values);
  ArrayRef<Value> rest = results;
  auto take = [&](Value source) {
    size_t count = registers(source).size();
    Registers taken(rest.take_front(count));
    rest = rest.drop_front(count);
    return taken;
  };
  set(op.getResult(), take(op.getPending()));
  for (auto [source, result] : llvm::zip(op.getThrough(), op.getPassed()))
    set(result, take(source));
  return success();
}

//===----------------------------------------------------------------------===//
// ldmatrix
//===----------------------------------------------------------------------===//

bool Lowering::lowerMatrixLoad(tilegpu::LocalLoadOp op) {
  tilegpu::SmemType source = op.getSource().getType();
  auto result = cast<RankedTensorType>(op.getType());
  const Layout &layout = layoutOf(op.getResult());
  if (result.getRank() != 2 || source.getShape().size() != 2 || layout.isPartial())
    return false;
  unsigned rowDim = op.getOrder()[0] == 0 ? 0 : 1;
  for (unsigned d : {0, 1})
    if (layout.covered(d) > result.getDimSize(d))
      return false;
  FragmentLoad load(builder, op.getLoc(), sharedPartOf(*this, op.getSource()), layout, rowDim,
                    registerType(source.getElementType()), lane, warp);
  if (!load.isMatrixLoad())
    return false;
  ArrayRef<Value> loaded = load.registers({0, layout.numRegisters()});
  set(op.getResult(), Registers(loaded.begin(), loaded.end()));
  return true;
}
