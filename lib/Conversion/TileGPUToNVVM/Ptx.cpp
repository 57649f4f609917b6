// Inline assembly, barriers, copies and fences.
#include "Ptx.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ErrorHandling.h"

using namespace mlir;
using namespace tilec;

//===----------------------------------------------------------------------===//
// Inline assembly
//===----------------------------------------------------------------------===//

// The register class of a value (LLVM language reference, "Supported Constraint Code List", NVPTX).
static char constraintOf(Type type) {
  if (type.isF32())
    return 'f';
  if (type.isF64())
    return 'd';
  if (isa<LLVM::LLVMPointerType>(type) || type.isInteger(64))
    return 'l';
  if (type.isInteger(16))
    return 'h';
  if (type.isInteger(32))
    return 'r';
  if (type.isInteger(1))
    return 'b';
  llvm_unreachable("operands of assembly are predicates, or 16, 32 or 64 bits wide");
}

Ptx::Values Ptx::assembly(const Twine &text, TypeRange results, ValueRange operands, const AssemblyOptions &options) {
  std::string constraints;
  auto append = [&](const Twine &constraint) {
    constraints += constraints.empty() ? "" : ",";
    constraints += constraint.str();
  };
  for (Type type : results)
    append(Twine(options.earlyClobber ? "=&" : "=") + Twine(constraintOf(type)));
  for (Value operand : operands)
    append(Twine(constraintOf(operand.getType())));
  for (unsigned i = 0; i < options.tied.size(); ++i)
    append(Twine(i));
  if (options.memory)
    append("~{memory}");

  SmallVector<Value> all(operands);
  llvm::append_range(all, options.tied);
  SmallVector<Type, 1> resultType;
  if (results.size() == 1)
    resultType.push_back(results[0]);
  else if (results.size() > 1)
    resultType.push_back(LLVM::LLVMStructType::getLiteral(builder.getContext(), llvm::to_vector(results)));
  auto dialect = LLVM::AsmDialectAttr::get(builder.getContext(), LLVM::AsmDialect::AD_ATT);
  auto op =
      LLVM::InlineAsmOp::create(builder, loc, TypeRange(resultType), all, text.str(), constraints, options.sideEffects,
                                /*is_align_stack=*/false, LLVM::tailcallkind::TailCallKind::None, dialect, ArrayAttr());
  Values values;
  if (results.size() == 1)
    values.push_back(op.getRes());
  for (unsigned i = 0; results.size() > 1 && i < results.size(); ++i)
    values.push_back(LLVM::ExtractValueOp::create(builder, loc, op.getRes(), ArrayRef<int64_t>(i)));
  return values;
}

Value Ptx::constant(int64_t value, unsigned bits) {
  return LLVM::ConstantOp::create(builder, loc, builder.getIntegerAttr(builder.getIntegerType(bits), value));
}

Value Ptx::sharedAddress(Value address) {
  if (!isa<LLVM::LLVMPointerType>(address.getType()))
    return address;
  return LLVM::PtrToIntOp::create(builder, loc, builder.getI32Type(), address);
}

Value Ptx::sharedPointer(Value address) {
  if (isa<LLVM::LLVMPointerType>(address.getType()))
    return address;
  return LLVM::IntToPtrOp::create(builder, loc, LLVM::LLVMPointerType::get(builder.getContext(), 3), address);
}

std::string Ptx::addressText(unsigned number, Value &address) {
  address = sharedAddress(address);
  APInt bytes;
  std::string offset;
  if (auto sum = address.getDefiningOp<arith::AddIOp>(); sum && matchPattern(sum.getRhs(), m_ConstantInt(&bytes))) {
    address = sum.getLhs();
    offset = " + " + std::to_string(bytes.getSExtValue());
  }
  return "[$" + std::to_string(number) + offset + "]";
}

Value Ptx::offset(Value address, int64_t bytes) {
  return bytes ? arith::AddIOp::create(builder, loc, address, constant(bytes)).getResult() : address;
}

Value Ptx::loadShared(Value address) {
  std::string place = addressText(1, address);
  return assembly("ld.shared.b32 $0, " + place + ";", {builder.getI32Type()}, {address})[0];
}

Value Ptx::fetchAndAdd(Value address, Value addend) {
  return assembly("atom.relaxed.gpu.global.add.u32 $0, [$1], $2;", {builder.getI32Type()}, {address, addend})[0];
}

//===----------------------------------------------------------------------===//
// mbarriers
//===----------------------------------------------------------------------===//

void Ptx::mbarrierInit(Value barrier, int64_t arrivals) {
  assembly("mbarrier.init.shared::cta.b64 [$0], " + Twine(arrivals) + ";", {}, sharedAddress(barrier));
}

void Ptx::mbarrierArrive(Value barrier, Value predicate) {
  Value address = sharedAddress(barrier);
  if (!predicate) {
    assembly("mbarrier.arrive.shared::cta.b64 _, [$0];", {}, address);
    return;
  }
  Value flag = arith::ExtUIOp::create(builder, loc, builder.getI32Type(), predicate);
  assembly("{ .reg .pred p; setp.ne.b32 p, $1, 0; @p mbarrier.arrive.shared::cta.b64 _, [$0]; }", {}, {address, flag});
}

// With `.release.cluster` this costs a third of a product's rate (H200: 506 instead of 729 TFLOP/s).
void Ptx::mbarrierArriveAt(Value barrier, Value rank, Value predicate) {
  Value address = inBlockOfCluster(sharedAddress(barrier), rank);
  Value flag = arith::ExtUIOp::create(builder, loc, builder.getI32Type(), predicate);
  assembly("{ .reg .pred p; setp.ne.b32 p, $1, 0; @p mbarrier.arrive.shared::cluster.b64 _, [$0]; }", {},
           {address, flag});
}

Value Ptx::inBlockOfCluster(Value address, Value rank) {
  AssemblyOptions pure;
  pure.sideEffects = pure.memory = false;
  return assembly("mapa.shared::cluster.u32 $0, $1, $2;", {builder.getI32Type()}, {address, rank}, pure)[0];
}

void Ptx::mbarrierArriveExpectTx(Value barrier, int64_t bytes) {
  assembly("mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;", {}, {sharedAddress(barrier), constant(bytes)});
}

void Ptx::mbarrierExpectTx(Value barrier, int64_t bytes) {
  assembly("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [$0], $1;", {}, {sharedAddress(barrier), constant(bytes)});
}

void Ptx::mbarrierWait(Value barrier, Value parity, bool suspends) {
  StringRef test = suspends ? "try_wait" : "test_wait";
  assembly("{ .reg .pred p; WAIT: mbarrier." + test + ".parity.shared::cta.b64 p, [$0], $1; @!p bra WAIT; }", {},
           {sharedAddress(barrier), parity});
}

void Ptx::mbarrierWaitForCluster(Value barrier, Value parity) {
  assembly(
      "{ .reg .pred p; WAIT: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [$0], $1; @!p bra WAIT; }", {},
      {sharedAddress(barrier), parity});
}

void Ptx::fenceMbarrierInit() { NVVM::FenceMbarrierInitOp::create(builder, loc); }

//===----------------------------------------------------------------------===//
// Tensor memory access
//===----------------------------------------------------------------------===//

void Ptx::loadTensor(Value target, Value map, ValueRange coordinates, Value barrier, Value cachePolicy,
                     Value multicast) {
  auto cluster = LLVM::LLVMPointerType::get(builder.getContext(), 7);
  Value pointer = LLVM::AddrSpaceCastOp::create(builder, loc, cluster, sharedPointer(target));
  NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
      builder, loc, pointer, map, coordinates, sharedPointer(barrier), /*im2colOffsets=*/ValueRange(), multicast,
      cachePolicy, NVVM::TMALoadMode::TILE, /*isCTAOnly=*/false, /*group=*/nullptr,
      /*predicate=*/Value());
}

void Ptx::storeTensor(Value map, Value source, ValueRange coordinates) {
  NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp::create(builder, loc, map, sharedPointer(source), coordinates,
                                                     /*l2CacheHint=*/Value(), NVVM::TMAStoreMode::TILE,
                                                     /*predicate=*/Value());
}

void Ptx::commitBulkGroup() { NVVM::CpAsyncBulkCommitGroupOp::create(builder, loc); }

void Ptx::waitBulkGroup(unsigned pending, bool read) {
  assembly("cp.async.bulk.wait_group" + Twine(read ? ".read " : " ") + Twine(pending) + ";", {}, {});
}

void Ptx::prefetchTensorMap(Value map) {
  NVVM::PrefetchOp::create(builder, loc, /*cacheLevel=*/nullptr, /*evictPriority=*/nullptr, map, /*predicate=*/Value(),
                           builder.getUnitAttr());
}

Value Ptx::createCachePolicy(StringRef priority) {
  AssemblyOptions pure;
  pure.sideEffects = pure.memory = false;
  return assembly("createpolicy.fractional.L2::" + priority + ".b64 $0, 1.0;", builder.getI64Type(), {}, pure)[0];
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

void Ptx::fenceProxyAsync() {
  auto kind = NVVM::ProxyKindAttr::get(builder.getContext(), NVVM::ProxyKind::async_shared);
  auto space = NVVM::SharedSpaceAttr::get(builder.getContext(), NVVM::SharedSpace::shared_cta);
  NVVM::FenceProxyOp::create(builder, loc, kind, space);
}

void Ptx::blockBarrier() { NVVM::Barrier0Op::create(builder, loc); }

void Ptx::namedBarrier(Value id, unsigned threads) {
  NVVM::BarrierOp::create(builder, loc, /*res=*/Type(), id, constant(threads), /*reductionOp=*/nullptr,
                          /*reductionPredicate=*/Value());
}

void Ptx::oneOfBarriers(ValueRange conditions, int64_t first, unsigned threads) {
  std::string text;
  for (int64_t i = 0; i < static_cast<int64_t>(conditions.size()); ++i)
    text += ("@$" + Twine(i) + " bar.sync " + Twine(first + i) + ", " + Twine(threads) + "; ").str();
  assembly(text, {}, conditions);
}

void Ptx::namedBarrierArrive(Value id, unsigned threads) {
  NVVM::BarrierArriveOp::create(builder, loc, id, constant(threads));
}

void Ptx::warpBarrier() { NVVM::SyncWarpOp::create(builder, loc, constant(-1)); }

void Ptx::setMaxRegisters(unsigned registers, bool increase) {
  auto action = increase ? NVVM::SetMaxRegisterAction::increase : NVVM::SetMaxRegisterAction::decrease;
  NVVM::SetMaxRegisterOp::create(builder, loc, registers, action);
}

Value Ptx::elect() { return NVVM::ElectSyncOp::create(builder, loc, builder.getI1Type(), Value()); }

Value Ptx::broadcastFirstLane(Value value) {
  return NVVM::ShflOp::create(builder, loc, value.getType(), constant(-1), value, constant(0), constant(31),
                              NVVM::ShflKind::idx, /*return_value_and_is_valid=*/nullptr);
}

//===----------------------------------------------------------------------===//
// Asynchronous copies of sm_80
//===----------------------------------------------------------------------===//

void Ptx::copyAsync(Value target, Value source, unsigned bytes, Value sourceBytes, Value cachePolicy) {
  // Only 16-byte copies may bypass L1.
  StringRef cache = bytes == 16 ? "cg" : "ca";
  StringRef hint = cachePolicy ? ".L2::cache_hint" : "";
  std::string place = addressText(0, target);
  std::string text = ("cp.async." + cache + ".shared.global" + hint + " " + place + ", [$1], " + Twine(bytes)).str();
  SmallVector<Value, 4> operands = {target, source};
  for (Value operand : {sourceBytes, cachePolicy})
    if (operand) {
      text += ", $" + std::to_string(operands.size());
      operands.push_back(operand);
    }
  assembly(text + ";", {}, operands);
}

void Ptx::commitCopyGroup() { assembly("cp.async.commit_group;", {}, {}); }

void Ptx::waitCopyGroup(unsigned pending) { assembly("cp.async.wait_group " + Twine(pending) + ";", {}, {}); }

void Ptx::arriveAfterCopies(Value barrier) {
  assembly("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [$0];", {}, sharedAddress(barrier));
}
