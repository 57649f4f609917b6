// Lowering of tilegpu.mma, and of loads from shared memory that ldmatrix can do.
#include "Lowering.h"
#include "MmaEmitter.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Matchers.h"
#include "tilec/Layout/MatrixAccess.h"

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

//===----------------------------------------------------------------------===//
// ldmatrix
//===----------------------------------------------------------------------===//

namespace {
// A local_load as ldmatrix instructions.
class MatrixLoad {
public:
  MatrixLoad(Lowering &lowering, tilegpu::LocalLoadOp op)
      : lowering(lowering), op(op), builder(lowering.builder), loc(op.getLoc()),
        layout(Lowering::layoutOf(op.getResult())) {}

  bool plan();
  Registers emit();

private:
  Value coordinate(unsigned dim);
  void unpack(Value packed, ArrayRef<uint32_t> numbers, Registers &registers);

  Lowering &lowering;
  tilegpu::LocalLoadOp op;
  OpBuilder &builder;
  Location loc;
  const Layout &layout;
  unsigned rowDim = 0, columnDim = 1;
  MatrixAccess access;
};
} // namespace

bool MatrixLoad::plan() {
  tilegpu::SmemType source = op.getSource().getType();
  auto result = cast<RankedTensorType>(op.getType());
  if (result.getRank() != 2 || source.getShape().size() != 2 || layout.isPartial())
    return false;
  for (unsigned d : {0, 1}) {
    if (layout.covered(d) > result.getDimSize(d))
      return false;
    (op.getOrder()[d] == 0 ? rowDim : columnDim) = d;
  }
  unsigned bits = Lowering::registerType(source.getElementType()).getIntOrFloatBitWidth();
  if (bits < 8 || bits > 32 || lowering.sharedTileOf(source).pitch() % 16 != 0)
    return false;
  std::optional<MatrixAccess> planned = planMatrixAccess(layout, rowDim, columnDim, bits);
  if (!planned)
    return false;
  access = *planned;
  return true;
}

// The coordinate of the row whose address this lane gives, without the registers' part.
Value MatrixLoad::coordinate(unsigned dim) {
  SmallVector<Term, 4> terms(access.laneTerms[dim]);
  for (const Term &term : layout.terms(dim))
    if (term.owner != Owner::Lane)
      terms.push_back(term);
  Value sum;
  for (const Term &term : terms) {
    Value digit = term.owner == Owner::Lane ? lowering.lane : lowering.warp;
    digit = builder.createOrFold<arith::DivUIOp>(loc, digit, lowering.constant32(term.divisor));
    digit = builder.createOrFold<arith::RemUIOp>(loc, digit, lowering.constant32(term.radix));
    digit = lowering.mulConstant(digit, term.stride);
    sum = sum ? lowering.add(sum, digit) : digit;
  }
  return sum;
}

void MatrixLoad::unpack(Value packed, ArrayRef<uint32_t> numbers, Registers &registers) {
  Type type = Lowering::registerType(cast<RankedTensorType>(op.getType()).getElementType());
  if (numbers.size() == 1) {
    registers[numbers[0]] = type.isInteger(32) ? packed : LLVM::BitcastOp::create(builder, loc, type, packed);
    return;
  }
  Value vector = LLVM::BitcastOp::create(builder, loc, VectorType::get(numbers.size(), type), packed);
  for (auto [i, number] : llvm::enumerate(numbers))
    registers[number] = LLVM::ExtractElementOp::create(builder, loc, vector, lowering.constant32(i));
}

Registers MatrixLoad::emit() {
  SharedPart part = sharedPartOf(lowering, op.getSource());
  SharedAccess addresses(builder, loc, part, coordinate(rowDim), coordinate(columnDim));
  Ptx ptx(builder, loc);
  Registers registers(layout.numRegisters());
  for (const auto &operands : access.instructions) {
    Coordinates offset = layout.registerOffset(operands[0][0]);
    Ptx::Values values =
        ptx.ldmatrix(addresses.at(offset[rowDim], offset[columnDim]), operands.size(), access.transposed);
    for (auto [value, numbers] : llvm::zip(values, operands))
      unpack(value, numbers, registers);
  }
  return registers;
}

bool Lowering::lowerMatrixLoad(tilegpu::LocalLoadOp op) {
  MatrixLoad load(*this, op);
  if (!load.plan())
    return false;
  set(op.getResult(), load.emit());
  return true;
}
