// cp.async.bulk, cp.async.bulk.tensor, cp.reduce.async.bulk and prefetches: copies by the asynchronous proxy (PTX ISA,
// "Bulk copy", "Tensor copy").
#include "CopyInstructions.h"
#include "Counters.h"
#include "tilec/Simulator/BulkCopy.h"
#include "llvm/ADT/StringSwitch.h"
#include <cstring>

using namespace tilec::simulator;

namespace {

/// What one lane's instruction moves.
struct BulkRequest {
  int lane = 0;
  /// The target of a load or of a copy between blocks, the source of a store; shared::cluster.
  uint32_t shared = 0;
  uint64_t global = 0;
  /// Without a tensor map.
  unsigned bytes = 0;
  /// Copies from one block's shared memory into another's.
  uint32_t sharedSource = 0;
  uint32_t mbarrier = 0;
  /// Blocks of the cluster that receive a load.
  uint16_t multicast = 0;
  llvm::SmallVector<int32_t, 5> coordinates;
  std::optional<TensorMap> map;
};

enum class Direction : uint8_t { Load, Store, Between, Prefetch };

/// The form of an instruction.
struct BulkForm : Payload {
  Direction direction = Direction::Load;
  bool tensor = false, multicast = false;
  std::optional<BulkReduction> reduction;
  /// Of a reduction without a tensor map.
  ReductionType type = ReductionType::F32;
};

constexpr uint32_t blockOffsetMask = sharedBlockStride - 1;

//===----------------------------------------------------------------------===//
// Moving bytes
//===----------------------------------------------------------------------===//

class BulkOperation : public AsyncOperation {
public:
  BulkOperation(Block &block, const BulkForm &form, BulkRequest request)
      : block(block), form(form), request(std::move(request)) {}

  void readSources(const Access &access) override;
  void complete(const Access &access) override;

private:
  /// Bytes on their way to global memory.
  struct Piece {
    uint64_t global;
    unsigned bytes, alignment;
    ReductionType type;
    std::array<uint8_t, 16> data;
  };

  /// Targets in shared memory, one for each receiving block.
  llvm::SmallVector<uint32_t, 4> targets(uint32_t address) const;
  void load(const Access &access);
  void loadTensor(const Access &access);
  void take(const Access &access, uint32_t shared, Piece piece);
  void store(const Access &access, Piece piece);
  void between(const Access &access);
  void signal(const Access &access, int64_t bytes);

  Block &block;
  const BulkForm &form;
  BulkRequest request;
  std::vector<Piece> pieces;
};

constexpr unsigned chunk = 16;

} // namespace

llvm::SmallVector<uint32_t, 4> BulkOperation::targets(uint32_t address) const {
  if (!form.multicast)
    return {address};
  llvm::SmallVector<uint32_t, 4> result;
  for (uint32_t rank = 0; rank < 16; ++rank)
    if (request.multicast >> rank & 1)
      result.push_back(rank * sharedBlockStride + (address & blockOffsetMask));
  return result;
}

void BulkOperation::signal(const Access &access, int64_t bytes) {
  for (uint32_t address : targets(request.mbarrier))
    signalMbarrier(block.cluster, address, access, 0, bytes);
}

void BulkOperation::load(const Access &access) {
  for (unsigned offset = 0; offset < request.bytes; offset += chunk) {
    uint8_t data[chunk] = {};
    if (!block.read(access, Space::Global, request.global + offset, data, chunk, chunk))
      return;
    for (uint32_t target : targets(request.shared))
      block.write(access, Space::Shared, target + offset, data, chunk, chunk);
  }
}

void BulkOperation::loadTensor(const Access &access) {
  const TensorMap &map = *request.map;
  forEachPiece(map, request.coordinates, request.shared, [&](const TransferPiece &piece) {
    uint8_t data[chunk] = {};
    if (piece.inside)
      block.read(access, Space::Global, piece.global, data, piece.bytes, map.elementBytes());
    else
      fillOutside(map, data, piece.bytes);
    convertLoaded(map, data, piece.bytes);
    for (uint32_t target : targets(piece.shared))
      block.write(access, Space::Shared, target, data, piece.bytes, 1);
  });
}

void BulkOperation::take(const Access &access, uint32_t shared, Piece piece) {
  if (block.read(access, Space::Shared, shared, piece.data.data(), piece.bytes, 1))
    pieces.push_back(piece);
}

void BulkOperation::readSources(const Access &access) {
  if (form.direction != Direction::Store)
    return;
  Access own = access;
  own.site.lane = request.lane;
  if (!form.tensor) {
    for (unsigned offset = 0; offset < request.bytes; offset += chunk)
      take(own, request.shared + offset, {request.global + offset, chunk, chunk, form.type, {}});
    return;
  }
  const TensorMap &map = *request.map;
  forEachPiece(map, request.coordinates, request.shared, [&](const TransferPiece &piece) {
    if (piece.inside)
      take(own, piece.shared, {piece.global, piece.bytes, map.elementBytes(), reductionType(map.type), {}});
  });
}

void BulkOperation::store(const Access &access, Piece piece) {
  Access strong = access;
  if (form.reduction) {
    std::array<uint8_t, 16> old = {};
    strong.atomic = true;
    if (!block.read(strong, Space::Global, piece.global, old.data(), piece.bytes, piece.alignment))
      return;
    for (unsigned i = 0; i + bytesOf(piece.type) <= piece.bytes; i += bytesOf(piece.type))
      reduceElement(*form.reduction, piece.type, &old[i], &piece.data[i]);
    piece.data = old;
  }
  block.write(strong, Space::Global, piece.global, piece.data.data(), piece.bytes, piece.alignment);
}

void BulkOperation::between(const Access &access) {
  Access target = access;
  target.atomic = form.reduction.has_value();
  for (unsigned offset = 0; offset < request.bytes; offset += chunk) {
    uint8_t data[chunk] = {}, old[chunk] = {};
    if (!block.read(access, Space::Shared, request.sharedSource + offset, data, chunk, chunk))
      return;
    if (form.reduction) {
      block.read(target, Space::Shared, request.shared + offset, old, chunk, chunk);
      for (unsigned i = 0; i < chunk; i += bytesOf(form.type))
        reduceElement(*form.reduction, form.type, old + i, data + i);
    }
    block.write(target, Space::Shared, request.shared + offset, form.reduction ? old : data, chunk, chunk);
  }
}

void BulkOperation::complete(const Access &access) {
  Access own = access;
  own.site.lane = request.lane;
  int64_t bytes = request.map ? static_cast<int64_t>(request.map->boxBytes()) : request.bytes;
  switch (form.direction) {
  case Direction::Load:
    form.tensor ? loadTensor(own) : load(own);
    return signal(own, bytes);
  case Direction::Between:
    between(own);
    return signal(own, bytes);
  case Direction::Store:
    for (const Piece &piece : pieces)
      store(own, piece);
    return;
  case Direction::Prefetch:
    return;
  }
}

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

namespace {
/// Takes operands in the order in which the decoder has asked for them.
class OperandReader {
public:
  OperandReader(Warp &warp, const Op &op, unsigned lane) : warp(warp), op(op), lane(lane) {}

  uint64_t next() { return warp.lanes(op.uses[index++])[lane]; }

private:
  Warp &warp;
  const Op &op;
  unsigned lane;
  unsigned index = 0;
};

struct BulkPayload : BulkForm {
  /// Offsets of the addresses in the order of use: shared, global or map, mbarrier.
  int64_t sharedOffset = 0, globalOffset = 0, mbarrierOffset = 0;
  unsigned numCoordinates = 0;
};
} // namespace

// Fills in the request of a lane; false after a fault.
static bool makeRequest(Warp &warp, const Op &op, unsigned lane, BulkRequest &request) {
  const auto &form = op.as<BulkPayload>();
  auto fault = [&](FaultKind kind, std::string message) {
    warp.fault(kind, op, static_cast<int>(lane), std::move(message));
    return false;
  };
  OperandReader operands(warp, op, lane);
  request.lane = static_cast<int>(lane);
  if (form.direction != Direction::Prefetch)
    request.shared = static_cast<uint32_t>(operands.next() + static_cast<uint64_t>(form.sharedOffset));
  uint64_t other = operands.next() + static_cast<uint64_t>(form.globalOffset);
  if (form.direction == Direction::Between)
    request.sharedSource = static_cast<uint32_t>(other);
  request.global = other;
  if (form.tensor) {
    for (unsigned i = 0; i < form.numCoordinates; ++i)
      request.coordinates.push_back(static_cast<int32_t>(operands.next()));
    const uint8_t *bytes = warp.block_.tensorMapBytes(other);
    request.map = bytes ? decodeTensorMap(bytes) : std::nullopt;
    if (!request.map)
      return fault(FaultKind::OutOfBounds, "there is no tensor map at this address");
    if (form.direction != Direction::Prefetch)
      if (const char *reason = checkTransfer(*request.map, request.coordinates, request.shared))
        return fault(FaultKind::Misaligned, reason);
    if (form.direction == Direction::Store && !isStorePlace(request.coordinates))
      return fault(FaultKind::OutOfBounds, "a store of a box begins at a negative coordinate");
  } else {
    request.bytes = static_cast<uint32_t>(operands.next());
    if (request.bytes % chunk || (form.direction != Direction::Prefetch && request.shared % chunk) || other % chunk)
      return fault(FaultKind::Misaligned, "addresses and size of a bulk copy are multiples of 16");
  }
  if (form.direction == Direction::Load || form.direction == Direction::Between)
    request.mbarrier = static_cast<uint32_t>(operands.next() + static_cast<uint64_t>(form.mbarrierOffset));
  if (form.multicast)
    request.multicast = static_cast<uint16_t>(operands.next());
  return true;
}

// The actor of the operations that complete on a mbarrier; nothing, after a fault, if there is no mbarrier.
static std::optional<Actor> channelOf(Warp &warp, const Op &op, const BulkRequest &request) {
  Block *owner = warp.block_.cluster.owner(request.mbarrier);
  if (Mbarrier *barrier = owner ? owner->mbarriers.find(request.mbarrier) : nullptr)
    return barrier->channel;
  warp.fault(FaultKind::BarrierMisuse, op, request.lane, "there is no mbarrier at the address that the copy names");
  return std::nullopt;
}

static Flow executeBulk(Warp &warp, const Op &op, LaneMask lanes) {
  const auto &form = op.as<BulkPayload>();
  bool store = form.direction == Direction::Store;
  for (unsigned lane = 0; lane < laneCount; ++lane) {
    BulkRequest request;
    if (!(lanes >> lane & 1) || !makeRequest(warp, op, lane, request) || form.direction == Direction::Prefetch)
      continue;
    uint64_t clipped = request.map ? clippedBytes(*request.map, request.coordinates) : 0;
    countBulk(warp, op, request.map ? request.map->boxBytes() : request.bytes, clipped,
              form.multicast ? llvm::popcount(request.multicast) : 1);
    AsyncEngine::Request how = {store ? AsyncQueue::BulkGroup : AsyncQueue::Transaction,
                                LaneMask(1) << lane,
                                Proxy::Async,
                                /*ordered=*/false,
                                {}};
    if (!store)
      how.channel = channelOf(warp, op, request);
    if (!store && !how.channel)
      continue;
    warp.block_.cluster.async.submit(warp, op, how,
                                     std::make_unique<BulkOperation>(warp.block_, form, std::move(request)));
  }
  return Flow::Next;
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

std::optional<BulkReduction> tilec::simulator::reductionNamed(llvm::StringRef modifier) {
  return llvm::StringSwitch<std::optional<BulkReduction>>(modifier)
      .Case("add", BulkReduction::Add)
      .Case("min", BulkReduction::Minimum)
      .Case("max", BulkReduction::Maximum)
      .Case("inc", BulkReduction::Increment)
      .Case("dec", BulkReduction::Decrement)
      .Case("and", BulkReduction::And)
      .Case("or", BulkReduction::Or)
      .Case("xor", BulkReduction::Xor)
      .Default(std::nullopt);
}

static std::optional<BulkReduction> parseReduction(const Instruction &instruction) {
  for (const std::string &modifier : instruction.modifiers)
    if (std::optional<BulkReduction> found = reductionNamed(modifier))
      return found;
  return std::nullopt;
}

static std::optional<ReductionType> parseReductionType(llvm::StringRef name) {
  return llvm::StringSwitch<std::optional<ReductionType>>(name)
      .Case("u32", ReductionType::U32)
      .Case("s32", ReductionType::S32)
      .Case("u64", ReductionType::U64)
      .Case("s64", ReductionType::S64)
      .Case("f16", ReductionType::F16)
      .Case("bf16", ReductionType::BF16)
      .Case("f32", ReductionType::F32)
      .Case("f64", ReductionType::F64)
      .Case("b32", ReductionType::B32)
      .Case("b64", ReductionType::B64)
      .Default(std::nullopt);
}

// The first of the spaces after the name is the target's.
static std::optional<Direction> parseDirection(const Instruction &instruction) {
  bool toShared = false, first = true;
  if (instruction.has("prefetch"))
    return Direction::Prefetch;
  for (llvm::StringRef modifier : instruction.modifiers) {
    bool shared = modifier.starts_with("shared"), global = modifier == "global";
    if (!shared && !global)
      continue;
    if (!first)
      return toShared ? shared ? Direction::Between : Direction::Load : Direction::Store;
    toShared = shared;
    first = false;
  }
  return std::nullopt;
}

// An address of the form [map, {x, y}]: the map and its coordinates.
static void decodeMap(Decoder &decoder, const Operand &operand, BulkPayload &form) {
  if (!operand.is(Operand::Kind::Address) || operand.elements.size() != 2) {
    decoder.fail("a tensor copy needs [map, {coordinates}]");
    return;
  }
  Operand map = operand;
  map.elements.resize(1);
  decoder.address(map);
  form.globalOffset = decoder.op->offset;
  const Operand &coordinates = operand.elements[1];
  form.numCoordinates = coordinates.is(Operand::Kind::Vector) ? static_cast<unsigned>(coordinates.elements.size()) : 1;
  decoder.use(coordinates, {PtxType::Signed, 32, false});
}

static void decodeAddress(Decoder &decoder, unsigned index, int64_t &offset) {
  decoder.address(decoder.operand(index));
  offset = decoder.op->offset;
}

// The operands are asked for in one order whatever the direction: shared memory, global memory, size, mbarrier, mask.
static void decodeOperands(Decoder &decoder, BulkPayload &form) {
  bool store = form.direction == Direction::Store, prefetch = form.direction == Direction::Prefetch;
  unsigned global = store || prefetch ? 0 : 1, next = prefetch ? 1 : 2;
  if (!prefetch)
    decodeAddress(decoder, store ? 1 : 0, form.sharedOffset);
  if (form.tensor)
    decodeMap(decoder, decoder.operand(global), form);
  else
    decodeAddress(decoder, global, form.globalOffset);
  if (!form.tensor)
    decoder.use(decoder.operand(next++), {PtxType::Unsigned, 32, false});
  if (!store && !prefetch)
    decodeAddress(decoder, next++, form.mbarrierOffset);
  if (form.multicast)
    decoder.use(decoder.operand(next++), {PtxType::Unsigned, 16, false});
}

static bool decodeBulk(Decoder &decoder) {
  const Instruction &instruction = *decoder.instruction;
  auto form = std::make_shared<BulkPayload>();
  std::optional<Direction> direction = parseDirection(instruction);
  if (!direction)
    return decoder.fail("the direction of this copy is not known");
  if (instruction.has("im2col") || instruction.has("im2col_no_offs") || instruction.has("im2col::w") ||
      instruction.has("tile::gather4") || instruction.has("tile::scatter4") || instruction.has("cp_mask"))
    return decoder.fail("only whole tiles are known: no .im2col, .tile::gather4, .tile::scatter4, .cp_mask");
  form->direction = *direction;
  form->tensor = instruction.has("tensor");
  form->multicast = instruction.has("multicast::cluster");
  if (instruction.has("reduce")) {
    form->reduction = parseReduction(instruction);
    std::optional<ReductionType> type = parseReductionType(instruction.lastModifier());
    if (!form->reduction || (!form->tensor && !type))
      return decoder.fail("this reduction is not known");
    form->type = type.value_or(ReductionType::F32);
  }
  decodeOperands(decoder, *form);
  decoder.op->payload = std::move(form);
  decoder.op->execute = executeBulk;
  return !decoder.failed();
}

//===----------------------------------------------------------------------===//
// Groups and prefetches
//===----------------------------------------------------------------------===//

static Flow executeCommit(Warp &warp, const Op &op, LaneMask lanes) {
  warp.block_.cluster.async.commit(warp, AsyncQueue::BulkGroup, lanes);
  return Flow::Next;
}

static bool decodeCommit(Decoder &decoder) {
  decoder.op->execute = executeCommit;
  return true;
}

// data[0]: groups that may be pending, data[1]: .read.
static Flow executeWait(Warp &warp, const Op &op, LaneMask lanes) {
  AsyncEngine &async = warp.block_.cluster.async;
  int pending = static_cast<int>(op.data[0]);
  if (op.data[1])
    async.waitForReads(warp, AsyncQueue::BulkGroup, lanes, pending);
  else
    async.wait(warp, AsyncQueue::BulkGroup, lanes, pending);
  return Flow::Next;
}

static bool decodeWait(Decoder &decoder) {
  decoder.op->data[0] = decoder.constant(decoder.operand(0));
  decoder.op->data[1] = decoder.instruction->has("read");
  decoder.op->execute = executeWait;
  return !decoder.failed();
}

static Flow executePrefetch(Warp &, const Op &, LaneMask) { return Flow::Next; }

static bool decodePrefetch(Decoder &decoder) {
  decoder.address(decoder.operand(0));
  decoder.op->execute = executePrefetch;
  return !decoder.failed();
}

// Cache policies have no effect.
static Flow executeCreatePolicy(Warp &warp, const Op &op, LaneMask lanes) {
  for (unsigned lane = 0; lane < laneCount; ++lane)
    if (lanes >> lane & 1)
      warp.lanes(op.defs[0])[lane] = 0;
  return Flow::Next;
}

static bool decodeCreatePolicy(Decoder &decoder) {
  decoder.define(decoder.operand(0));
  decoder.op->execute = executeCreatePolicy;
  return !decoder.failed();
}

void tilec::simulator::addBulkInstructions(InstructionTable &table) {
  table["cp.async.bulk"] = decodeBulk;
  table["cp.reduce.async.bulk"] = decodeBulk;
  table["cp.async.bulk.commit_group"] = decodeCommit;
  table["cp.async.bulk.wait_group"] = decodeWait;
  table["prefetch"] = decodePrefetch;
  table["prefetchu"] = decodePrefetch;
  table["createpolicy"] = decodeCreatePolicy;
}
