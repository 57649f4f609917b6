// Fragments from shared memory by ldmatrix or vector loads.
#include "FragmentLoad.h"

#include "Ptx.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace tilec;

// Widest vector access, bytes.
constexpr int64_t maxVectorBytes = 16;

FragmentLoad::FragmentLoad(OpBuilder &builder, Location loc, const SharedPart &part, Layout tileLayout, unsigned rowDim,
                           Type elementType, Value lane, Value warp, unsigned apartDim, int64_t apart)
    : builder(builder), loc(loc), layout(std::move(tileLayout)), rowDim(rowDim), columnDim(1 - rowDim),
      elementType(elementType), lane(lane), warp(warp) {
  unsigned bits = part.tile.elementBits;
  if (bits >= 8 && bits <= 32 && part.tile.pitch() % 16 == 0)
    access = planMatrixAccess(layout, rowDim, columnDim, bits, apartDim, apart);
  unitOf.resize(layout.numRegisters());
  if (access) {
    for (auto [number, operands] : llvm::enumerate(access->instructions))
      for (const MatrixAccess::Operand &operand : operands)
        for (uint32_t reg : operand)
          unitOf[reg] = number;
  } else {
    planVectors(part);
  }
  addresses.emplace(builder, loc, part, coordinate(rowDim), coordinate(columnDim), bound(columnDim));
  values.resize(layout.numRegisters());
}

void FragmentLoad::planVectors(const SharedPart &part) {
  int64_t bytes = part.tile.elementBits / 8;
  uint32_t width = part.columnOffset ? 1 : layout.vectorWidth(columnDim, maxVectorBytes / bytes);
  while (width > 1 && part.tile.pitch() % (width * bytes))
    width /= 2;
  run = layout.contiguousRegisters(columnDim);
  run.resize(width);
  SmallVector<bool> done(layout.numRegisters(), false);
  for (uint32_t reg = 0; reg < layout.numRegisters(); ++reg) {
    if (done[reg])
      continue;
    for (uint32_t step : run) {
      unitOf[reg + step] = reg;
      done[reg + step] = true;
    }
  }
}

// The thread's part of a coordinate: that of its elements, or for ldmatrix of the row whose address it gives.
SmallVector<Term, 4> FragmentLoad::terms(unsigned dim) const {
  SmallVector<Term, 4> terms;
  if (access)
    terms.assign(access->laneTerms[dim].begin(), access->laneTerms[dim].end());
  for (const Term &term : layout.terms(dim))
    if (!access || term.owner != Owner::Lane)
      terms.push_back(term);
  return terms;
}

int64_t FragmentLoad::bound(unsigned dim) const {
  int64_t bound = 1;
  for (const Term &term : terms(dim))
    bound += (term.radix - 1) * term.stride;
  return bound;
}

void FragmentLoad::unpack(Value packed, ArrayRef<uint32_t> numbers) {
  Type type = storageType(elementType);
  if (numbers.size() == 1) {
    values[numbers[0]] = type.isInteger(32) ? packed : LLVM::BitcastOp::create(builder, loc, type, packed);
    return;
  }
  Value vector = LLVM::BitcastOp::create(builder, loc, VectorType::get(numbers.size(), type), packed);
  for (auto [i, number] : llvm::enumerate(numbers)) {
    Value index = arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(i));
    values[number] = LLVM::ExtractElementOp::create(builder, loc, vector, index);
  }
}

void FragmentLoad::loadMatrices(unsigned instruction) {
  ArrayRef<MatrixAccess::Operand> operands = access->instructions[instruction];
  Coordinates offset = layout.registerOffset(operands[0][0]);
  Ptx::Values loaded =
      Ptx(builder, loc).ldmatrix(addresses->at(offset[rowDim], offset[columnDim]), operands.size(), access->transposed);
  for (auto [value, numbers] : llvm::zip(loaded, operands))
    unpack(value, numbers);
}

void FragmentLoad::load(uint32_t reg) {
  if (access)
    return loadMatrices(unitOf[reg]);
  uint32_t first = unitOf[reg];
  Coordinates offset = layout.registerOffset(first);
  Value address = addresses->at(offset[rowDim], offset[columnDim]);
  for (auto [step, value] : llvm::zip(run, loadShared(builder, loc, address, elementType, run.size())))
    values[first + step] = value;
}

ArrayRef<Value> FragmentLoad::registers(RegisterRange range) {
  for (uint32_t reg = range.first; reg < range.first + range.count; ++reg)
    if (!values[reg])
      load(reg);
  return ArrayRef(values).slice(range.first, range.count);
}
