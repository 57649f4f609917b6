// Instructions ldmatrix, stmatrix and mma.sync: decoding, and the way from registers and memory to Mma.h and
// MatrixMemory.h.
#include "Counters.h"
#include "tilec/Simulator/Block.h"
#include "tilec/Simulator/Decoder.h"
#include "tilec/Simulator/MatrixMemory.h"
#include "tilec/Simulator/Mma.h"
#include <cstring>

using namespace tilec::simulator;

static constexpr LaneMask allLanes = ~LaneMask(0);
static constexpr unsigned rowBytes = sizeof(MatrixRow), rowCount = 8;

//===----------------------------------------------------------------------===//
// ldmatrix, stmatrix
//===----------------------------------------------------------------------===//

// Op::data[0]: the number of matrices; data[1]: whether they are transposed.
static bool decodeMatrixAccess(Decoder &decoder) {
  llvm::StringRef count = decoder.oneOf({"x1", "x2", "x4"});
  if (count.empty() || !decoder.instruction->has("m8n8") || decoder.instruction->lastModifier() != "b16")
    return decoder.fail("only .m8n8 with .x1, .x2 or .x4 and .b16 is known");
  decoder.op->data[0] = count.back() - '0';
  decoder.op->data[1] = decoder.instruction->has("trans");
  decoder.op->space = decoder.space();
  return true;
}

// Each matrix is one access of eight lanes.
static void countRows(Warp &warp, const Op &op, unsigned matrices) {
  uint64_t addresses[laneCount];
  for (unsigned lane = 0; lane < laneCount; ++lane)
    addresses[lane] = warp.address(op, 0, lane);
  LaneMask lanes = static_cast<LaneMask>((uint64_t(1) << (rowCount * matrices)) - 1);
  countAccess(warp, op, lanes, Space::Shared, addresses, rowBytes);
}

static Flow executeLdmatrix(Warp &warp, const Op &op, LaneMask lanes) {
  if (!warp.converged(op, lanes, allLanes))
    return Flow::Block;
  unsigned count = static_cast<unsigned>(op.data[0]);
  MatrixRow rows[32];
  for (unsigned lane = 0; lane < rowCount * count; ++lane) {
    rows[lane].fill(0);
    warp.block_.read(warp.access(op, static_cast<int>(lane)), op.space, warp.address(op, 0, lane), rows[lane].data(),
                     rowBytes, rowBytes);
  }
  llvm::SmallVector<uint64_t *, 4> registers;
  for (Slot slot : op.defs)
    registers.push_back(warp.lanes(slot));
  loadMatrices(llvm::ArrayRef(rows, rowCount * count), op.data[1], registers);
  countRows(warp, op, count);
  return Flow::Next;
}

static bool decodeLdmatrix(Decoder &decoder) {
  if (!decodeMatrixAccess(decoder))
    return false;
  decoder.define(decoder.operand(0));
  decoder.address(decoder.operand(1));
  if (decoder.failed())
    return false;
  if (decoder.op->defs.size() != decoder.op->data[0])
    return decoder.fail("the number of registers is not that of the matrices");
  decoder.op->execute = executeLdmatrix;
  return true;
}

static Flow executeStmatrix(Warp &warp, const Op &op, LaneMask lanes) {
  if (!warp.converged(op, lanes, allLanes))
    return Flow::Block;
  unsigned count = static_cast<unsigned>(op.data[0]);
  MatrixRow rows[32];
  llvm::SmallVector<const uint64_t *, 4> registers;
  for (Slot slot : llvm::ArrayRef(op.uses).drop_front())
    registers.push_back(warp.lanes(slot));
  storeMatrices(registers, op.data[1], llvm::MutableArrayRef(rows, rowCount * count));
  for (unsigned lane = 0; lane < rowCount * count; ++lane)
    warp.block_.write(warp.access(op, static_cast<int>(lane)), op.space, warp.address(op, 0, lane), rows[lane].data(),
                      rowBytes, rowBytes);
  countRows(warp, op, count);
  return Flow::Next;
}

static bool decodeStmatrix(Decoder &decoder) {
  if (!decodeMatrixAccess(decoder))
    return false;
  decoder.address(decoder.operand(0));
  decoder.use(decoder.operand(1));
  if (decoder.failed())
    return false;
  if (decoder.op->uses.size() != decoder.op->data[0] + 1)
    return decoder.fail("the number of registers is not that of the matrices");
  decoder.op->execute = executeStmatrix;
  return true;
}

//===----------------------------------------------------------------------===//
// movmatrix
//===----------------------------------------------------------------------===//

// Lane 4 i + j holds elements 2 j and 2 j + 1 of row i.
static Flow executeMovmatrix(Warp &warp, const Op &op, LaneMask lanes) {
  if (!warp.converged(op, lanes, allLanes))
    return Flow::Block;
  constexpr unsigned width = 16;
  const uint64_t *a = warp.lanes(op.uses[0]);
  uint64_t results[laneCount];
  for (unsigned lane = 0; lane < laneCount; ++lane) {
    results[lane] = 0;
    for (unsigned i = 0; i < 2; ++i) {
      unsigned row = 2 * (lane % 4) + i, column = lane / 4;
      uint64_t element = a[4 * row + column / 2] >> (width * (column % 2)) & 0xffff;
      results[lane] |= element << (width * i);
    }
  }
  std::memcpy(warp.lanes(op.defs[0]), results, sizeof(results));
  return Flow::Next;
}

static bool decodeMovmatrix(Decoder &decoder) {
  if (!decoder.instruction->has("m8n8") || !decoder.instruction->has("trans"))
    return decoder.fail("only .m8n8.trans.b16 is known");
  decoder.define(decoder.operand(0));
  decoder.use(decoder.operand(1), {PtxType::Bits, 32, false});
  decoder.op->execute = executeMovmatrix;
  return !decoder.failed();
}

//===----------------------------------------------------------------------===//
// mma.sync
//===----------------------------------------------------------------------===//

namespace {
struct MmaPayload : Payload {
  MmaInstruction info;
};
} // namespace

static Flow executeMmaSync(Warp &warp, const Op &op, LaneMask lanes) {
  if (!warp.converged(op, lanes, allLanes))
    return Flow::Block;
  const MmaInstruction &info = op.as<MmaPayload>().info;
  llvm::SmallVector<WarpRegister, 16> operands;
  for (Slot slot : op.uses)
    operands.push_back(warp.lanes(slot));
  // Results may lie in registers of the accumulators in another order.
  uint64_t results[8][laneCount];
  llvm::SmallVector<WritableWarpRegister, 8> written;
  for (size_t i = 0; i < op.defs.size(); ++i)
    written.push_back(results[i]);
  llvm::ArrayRef<WarpRegister> all = operands;
  unsigned firstC = info.registersA() + info.registersB();
  executeMma(info, all.take_front(info.registersA()), all.slice(info.registersA(), info.registersB()),
             all.drop_front(firstC), written);
  for (size_t i = 0; i < op.defs.size(); ++i)
    std::memcpy(warp.lanes(op.defs[i]), results[i], sizeof(results[i]));
  countProduct(warp, op, info);
  return Flow::Next;
}

// "m16n8k16"
static bool parseShape(llvm::StringRef text, MmaInstruction &info) {
  return text.consume_front("m") && !text.consumeInteger(10, info.m) && text.consume_front("n") &&
         !text.consumeInteger(10, info.n) && text.consume_front("k") && !text.consumeInteger(10, info.k) &&
         text.empty();
}

static bool decodeMma(Decoder &decoder) {
  // mma.sync.aligned.SHAPE.row.col{.satfinite}.D.A.B.C
  llvm::ArrayRef<std::string> modifiers = decoder.instruction->modifiers;
  auto payload = std::make_shared<MmaPayload>();
  MmaInstruction &info = payload->info;
  if (modifiers.size() < 9 || !parseShape(modifiers[2], info) || modifiers[3] != "row" || modifiers[4] != "col")
    return decoder.fail("only .sync.aligned.mMnNkK.row.col is known");
  info.saturate = decoder.instruction->has("satfinite");
  llvm::ArrayRef<std::string> types = modifiers.take_back(4);
  std::optional<AccumulatorType> d = parseAccumulatorType(types[0]), c = parseAccumulatorType(types[3]);
  std::optional<MmaType> a = parseMmaType(types[1]), b = parseMmaType(types[2]);
  if (!a || !b || !c || c != d)
    return decoder.fail("these types are not known");
  info.a = *a, info.b = *b, info.accumulator = *c;
  if (const char *reason = info.check())
    return decoder.fail(reason);
  decoder.define(decoder.operand(0));
  for (unsigned i = 1; i <= 3; ++i)
    decoder.use(decoder.operand(i));
  if (decoder.failed())
    return false;
  if (decoder.op->defs.size() != info.registersC() ||
      decoder.op->uses.size() != info.registersA() + info.registersB() + info.registersC())
    return decoder.fail("the number of registers does not fit the shape");
  decoder.op->payload = std::move(payload);
  decoder.op->execute = executeMmaSync;
  return true;
}

void tilec::simulator::addMatrixInstructions(InstructionTable &table) {
  table["ldmatrix"] = decodeLdmatrix;
  table["movmatrix"] = decodeMovmatrix;
  table["stmatrix"] = decodeStmatrix;
  table["mma"] = decodeMma;
}
