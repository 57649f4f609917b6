// The walk over a kernel: its function, parameters, threads, and the dispatch to the emitters of operations.
#include "Lowering.h"
#include "Intervals.h"
#include "LateVector.h"
#include "TileQueue.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tilec/Dialect/Tile/AttributeNames.h"
#include "tilec/Dialect/TileGPU/Queue.h"
#include "tilec/Dialect/TileGPU/Scratch.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilec;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

ArrayRef<Value> Lowering::registers(Value value) const {
  auto it = tiles.find(value);
  if (it != tiles.end())
    return it->second;
  auto found = scalars.find(value);
  return found == scalars.end() ? ArrayRef<Value>() : ArrayRef<Value>(found->second);
}

void Lowering::set(Value value, Registers registers) {
  if (isTile(value) || isa<tilegpu::PendingType>(value.getType()))
    tiles[value] = std::move(registers);
  else
    scalars[value] = registers.front();
}

void Lowering::setScalar(Value value, Value lowered) { scalars[value] = lowered; }

const Layout &Lowering::layoutOf(Value tile) {
  return cast<tilegpu::LayoutAttr>(cast<RankedTensorType>(tile.getType()).getEncoding()).getLayout();
}

Type Lowering::registerType(Type elementType) {
  if (isa<Float8E4M3FNType, Float8E5M2Type>(elementType))
    return IntegerType::get(elementType.getContext(), 8);
  if (elementType.isTF32())
    return Float32Type::get(elementType.getContext());
  return elementType;
}

//===----------------------------------------------------------------------===//
// Emission helpers
//===----------------------------------------------------------------------===//

Value Lowering::constantIndex(int64_t value) { return arith::ConstantIndexOp::create(builder, location, value); }

Value Lowering::constant32(int64_t value) { return arith::ConstantIntOp::create(builder, location, value, 32); }

Value Lowering::toI32(Value index) {
  return builder.createOrFold<arith::IndexCastOp>(location, builder.getI32Type(), index);
}

Value Lowering::toIndex(Value i32) {
  return builder.createOrFold<arith::IndexCastOp>(location, builder.getIndexType(), i32);
}

Value Lowering::add(Value a, Value b) {
  if (!a || !b)
    return a ? a : b;
  return builder.createOrFold<arith::AddIOp>(location, a, b);
}

Value Lowering::addConstant(Value a, int64_t b) {
  if (b == 0)
    return a;
  return add(a, a.getType().isIndex() ? constantIndex(b) : constant32(b));
}

Value Lowering::mulConstant(Value a, int64_t b) {
  if (b == 1)
    return a;
  return builder.createOrFold<arith::MulIOp>(location, a, a.getType().isIndex() ? constantIndex(b) : constant32(b));
}

Value Lowering::opaque(Value i32, int64_t number) {
  Ptx::AssemblyOptions pure;
  pure.sideEffects = pure.memory = false;
  std::string text = "mov.b32 $0, $1;";
  if (number)
    text += " // " + std::to_string(number);
  return Ptx(builder, location).assembly(text, {i32.getType()}, {i32}, pure)[0];
}

int64_t Lowering::newThresholdNumber(size_t comparisons) {
  // P0 to P6, one of them for anything else.
  constexpr size_t predicateRegisters = 6;
  return comparisons > predicateRegisters ? ++lastThresholdNumber : 0;
}

void Lowering::emitIf(Value condition, function_ref<void()> body) {
  auto branch = scf::IfOp::create(builder, location, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  body();
}

//===----------------------------------------------------------------------===//
// Threads and addresses
//===----------------------------------------------------------------------===//

Value Lowering::threadCoordinate(const Layout &layout, unsigned dim) {
  Value sum;
  for (const Term &term : layout.terms(dim)) {
    Value number = term.owner == Owner::Lane ? lane : warp;
    if (term.divisor > 1)
      number = builder.createOrFold<arith::DivUIOp>(location, number, constant32(term.divisor));
    bool outermost = term.divisor * term.radix == layout.numberOf(term.owner);
    if (!outermost)
      number = builder.createOrFold<arith::RemUIOp>(location, number, constant32(term.radix));
    sum = add(sum, mulConstant(number, term.stride));
  }
  return sum ? sum : constant32(0);
}

Value Lowering::digitOf(const Digit &digit) {
  Value number = digit.owner == Owner::Lane ? lane : warp;
  number = builder.createOrFold<arith::DivUIOp>(location, number, constant32(digit.weight));
  return builder.createOrFold<arith::RemUIOp>(location, number, constant32(digit.radix));
}

Value Lowering::isFirstOf(ArrayRef<Digit> digits) {
  Value first;
  for (const Digit &digit : digits) {
    Value zero = builder.createOrFold<arith::CmpIOp>(location, arith::CmpIPredicate::eq, digitOf(digit), constant32(0));
    first = first ? builder.createOrFold<arith::AndIOp>(location, first, zero) : zero;
  }
  return first;
}

Value Lowering::emitCounter() {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&function->getBody().front());
  Value cell = LLVM::AllocaOp::create(builder, location, LLVM::LLVMPointerType::get(builder.getContext()),
                                      builder.getI32Type(), constant32(1));
  LLVM::StoreOp::create(builder, location, constant32(0), cell);
  return cell;
}

Value Lowering::sharedAddress(int64_t offset) { return addConstant(sharedBase, offset); }

Value Lowering::scratchAddress(Operation *op) {
  int64_t offset = 0, stride = 0;
  if (auto attr = op->getAttrOfType<IntegerAttr>(tilegpu::scratchName))
    offset = attr.getInt();
  if (auto attr = kernel->getAttrOfType<IntegerAttr>(tilegpu::scratchStrideName))
    stride = attr.getInt();
  Value address = sharedAddress(offset);
  return inProcess ? add(address, mulConstant(groupNumber, stride)) : address;
}

SharedTile Lowering::sharedTileOf(tilegpu::SmemType type) const {
  ArrayRef<int64_t> shape = type.getAllocShape();
  int64_t rows = 1;
  for (int64_t size : shape.drop_back())
    rows *= size;
  SharedTile tile;
  if (int64_t span = type.getShared().getSpan())
    tile.layout = SharedLayout::swizzled(span);
  else
    tile.layout = SharedLayout::padded(type.getShared().getPad());
  tile.rows = rows;
  tile.columns = shape.back();
  tile.elementBits = tilegpu::elementBytes(type.getElementType()) * 8;
  return tile;
}

void Lowering::emitThreadNumbers() {
  Type i32 = builder.getI32Type();
  Value thread = NVVM::ThreadIdXOp::create(builder, location, i32);
  if (clusterBlocks > 1) {
    Value block = NVVM::BlockInClusterIdXOp::create(builder, location, i32);
    thread = add(thread, mulConstant(block, 32 * kernel.getWarps() / clusterBlocks));
  }
  threadInGroup = thread;
  lane = builder.createOrFold<arith::RemUIOp>(location, thread, constant32(32));
  warp = builder.createOrFold<arith::DivUIOp>(location, thread, constant32(32));
  groupNumber = constant32(0);
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

static Type parameterType(OpBuilder &builder, tile::ArgOp arg) {
  if (isa<tile::PtrType>(arg.getType()))
    return LLVM::LLVMPointerType::get(builder.getContext(), 1);
  if (arg.getType().isIndex())
    return builder.getI64Type();
  if (arg.getType().isInteger(1))
    return builder.getI8Type();
  return Lowering::registerType(arg.getType());
}

// The reflection's name of a scalar type; the argument list has it.
static DictionaryAttr parameterEntry(OpBuilder &builder, tilegpu::KernelOp kernel, tile::ArgOp arg) {
  NamedAttrList entry;
  StringAttr name = builder.getStringAttr(arg.getName());
  if (isa<tile::PtrType>(arg.getType())) {
    entry.set("kind", builder.getStringAttr("pointer"));
    entry.set("tensor", name);
  } else if (arg.getType().isIndex()) {
    entry.set("kind", builder.getStringAttr("int"));
    entry.set("value", name);
    entry.set("type", builder.getStringAttr("i64"));
  } else {
    entry.set("kind", builder.getStringAttr("scalar"));
    entry.set("name", name);
    for (Attribute attr : kernel.getArguments())
      if (auto argument = dyn_cast<DictionaryAttr>(attr); argument && argument.get("name") == name)
        if (Attribute type = argument.get("type"))
          entry.set("type", type);
  }
  return entry.getDictionary(builder.getContext());
}

LogicalResult Lowering::createFunction() {
  MLIRContext *context = kernel.getContext();
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(kernel);
  SmallVector<tile::ArgOp> arguments;
  kernel.walk([&](tile::ArgOp arg) {
    if (llvm::none_of(arguments, [&](tile::ArgOp known) { return known.getName() == arg.getName(); }))
      arguments.push_back(arg);
  });
  SmallVector<Type> types(tensorMapParams.size(), LLVM::LLVMPointerType::get(context));
  for (tile::ArgOp arg : arguments)
    types.push_back(parameterType(builder, arg));
  bool queued = hasQueue(kernel);
  if (queued)
    types.append({LLVM::LLVMPointerType::get(context, 1), builder.getI32Type()});
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), types);
  auto created = LLVM::LLVMFuncOp::create(builder, kernel.getLoc(), kernel.getSymName(), type);
  function = new LLVM::LLVMFuncOp(created);
  Block *entry = created.addEntryBlock(builder);
  builder.setInsertionPointToStart(entry);
  auto mapType = LLVM::LLVMArrayType::get(builder.getI8Type(), 128);
  for (unsigned i = 0; i < tensorMapParams.size(); ++i) {
    created.setArgAttr(i, "llvm.byval", TypeAttr::get(mapType));
    created.setArgAttr(i, "llvm.align", builder.getI64IntegerAttr(64));
    created.setArgAttr(i, "nvvm.grid_constant", builder.getUnitAttr());
    tensorMapValues.push_back(entry->getArgument(i));
  }
  SmallVector<Attribute> params(tensorMapParams.begin(), tensorMapParams.end());
  for (auto [i, arg] : llvm::enumerate(arguments)) {
    params.push_back(parameterEntry(builder, kernel, arg));
    Value value = entry->getArgument(tensorMapParams.size() + i);
    kernel.walk([&, name = arg.getName()](tile::ArgOp other) {
      if (other.getName() == name)
        argumentValues[other.getResult()] = value;
    });
  }
  if (queued) {
    queueCounter = entry->getArguments().take_back(2)[0];
    queueFlag = entry->getArguments().back();
    llvm::append_range(params, queueParameters(kernel));
    addQueueWorkspace(kernel);
  }
  created->setAttr("nvvm.kernel", builder.getUnitAttr());
  created->setAttr("tilec.launch", launchAttribute());
  NamedAttrList launch(cast<DictionaryAttr>(created->getAttr("tilec.launch")));
  launch.set("params", builder.getArrayAttr(params));
  created->setAttr("tilec.launch", launch.getDictionary(context));
  int64_t block = cast<IntegerAttr>(launch.get("block")).getInt();
  created->setAttr("nvvm.reqntid", builder.getDenseI32ArrayAttr({static_cast<int32_t>(block)}));
  if (std::optional<uint64_t> registers = kernel.getMaxRegisters())
    created->setAttr("nvvm.maxnreg", builder.getI32IntegerAttr(*registers));
  else
    created->setAttr("nvvm.minctasm", builder.getI32IntegerAttr(1));
  if (int64_t blocks = blocksOfCluster(); blocks > 1)
    created->setAttr("nvvm.cluster_dim", builder.getDenseI32ArrayAttr({static_cast<int32_t>(blocks), 1, 1}));
  if (auto blocks = kernel.getPlan().getAs<IntegerAttr>("blocks"))
    created->setAttr(tile::blocksName, blocks);
  return success();
}

DictionaryAttr Lowering::launchAttribute() {
  int64_t threads = 0;
  for (auto process : kernel.getOps<tilegpu::ProcessOp>())
    threads += 32 * process.getWarps() * process.getReplicas();
  if (threads == 0)
    threads = 32 * kernel.getWarps() / clusterBlocks;
  SmallVector<Attribute> grid(kernel.getGrid().begin(), kernel.getGrid().end());
  if (int64_t blocks = blocksOfCluster(); blocks > 1)
    grid[0] = builder.getArrayAttr({builder.getStringAttr("mul"), grid[0], builder.getI64IntegerAttr(blocks)});
  NamedAttrList launch;
  launch.set("kernel", kernel.getKernelAttr());
  auto variant = kernel->getAttrOfType<StringAttr>(tile::variantName);
  launch.set("variant", variant ? variant : builder.getStringAttr(kernel.getSymName()));
  launch.set("when", kernel.getWhen());
  if (Attribute cost = kernel->getAttr(tile::costName))
    launch.set("cost", cost);
  launch.set("stage", builder.getI64IntegerAttr(kernel.getStage()));
  launch.set("grid", builder.getArrayAttr(grid));
  launch.set("block", builder.getI64IntegerAttr(threads));
  launch.set("cluster", builder.getI64ArrayAttr({blocksOfCluster(), 1, 1}));
  launch.set("shared", builder.getI64IntegerAttr(kernel.getSharedBytes().value_or(0)));
  return launch.getDictionary(kernel.getContext());
}

LogicalResult Lowering::run() {
  if (auto cluster = kernel.getPlan().getAs<IntegerAttr>("cluster"))
    clusterBlocks = cluster.getInt();
  if (failed(collectTensorMaps()) || failed(createFunction()))
    return failure();
  LLVM::LLVMFuncOp created = *function;
  delete function;
  function = &created;
  builder.setInsertionPointToEnd(&created.getBody().front());
  location = kernel.getLoc();
  emitThreadNumbers();
  auto pointer = LLVM::LLVMPointerType::get(kernel.getContext(), 3);
  Value base = LLVM::AddressOfOp::create(builder, location, pointer, "tilec_shared");
  sharedBase = LLVM::PtrToIntOp::create(builder, location, builder.getI32Type(), base);
  groupThreads = 32 * kernel.getWarps();
  if (clusterBlocks > 1)
    startCluster();
  if (failed(emitPrologue()) || failed(lowerBlock(kernel.getBody().front())))
    return failure();
  builder.setInsertionPointToEnd(&created.getBody().back());
  // A block that has ended has no barriers that others could arrive at.
  if (transfers.any())
    meetInCluster();
  LLVM::ReturnOp::create(builder, location, ValueRange());
  function = nullptr;
  return success();
}

//===----------------------------------------------------------------------===//
// Dispatch
//===----------------------------------------------------------------------===//

LogicalResult Lowering::lowerBlock(Block &block) {
  for (auto it = block.begin(); it != block.end() && !it->hasTrait<OpTrait::IsTerminator>();) {
    if (isa<tilegpu::ProcessOp>(*it))
      return lowerProcesses();
    if (given.contains(&*it)) {
      ++it;
      continue;
    }
    if (&*it == resume && failed(whenResumed()))
      return failure();
    Location saved = location;
    FailureOr<Block::iterator> next = lowerFrom(it);
    location = saved;
    if (failed(next))
      return failure();
    it = *next;
  }
  return success();
}

FailureOr<Block::iterator> Lowering::lowerFrom(Block::iterator op) {
  if (startsRun(*op))
    return lowerElementwiseRun(op);
  location = op->getLoc();
  if (failed(lowerOp(&*op)))
    return failure();
  return std::next(op);
}

LogicalResult Lowering::lowerArg(tile::ArgOp op) {
  Value value = argumentValues.lookup(op.getResult());
  if (op.getType().isIndex())
    value = toIndex(value);
  if (isNarrowArgument(op)) {
    value = arith::IndexCastUIOp::create(builder, location, builder.getIndexType(), toI32(value));
    narrowArguments.insert(value);
  }
  if (op.getType().isInteger(1))
    value = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::ne, value,
                                  arith::ConstantIntOp::create(builder, location, 0, 8));
  scalars[op.getResult()] = value;
  return success();
}

LogicalResult Lowering::lowerView(tile::ViewOp op) {
  LoweredView view{op, scalar(op.getBase()), {}, {}};
  for (Value size : op.getSizes())
    view.sizes.push_back(scalar(size));
  for (Value stride : op.getStrides())
    view.strides.push_back(scalar(stride));
  views.insert({op.getResult(), std::move(view)});
  return success();
}

LogicalResult Lowering::lowerAdvance(tile::AdvanceOp op) {
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext(), 1);
  Type element = builder.getIntegerType(8 * op.getBytes());
  Value offset = builder.createOrFold<arith::IndexCastOp>(location, builder.getI64Type(), scalar(op.getOffset()));
  scalars[op.getResult()] =
      LLVM::GEPOp::create(builder, location, pointer, element, scalar(op.getBase()), ArrayRef<LLVM::GEPArg>{offset});
  return success();
}

LogicalResult Lowering::lowerMisalignment(tile::MisalignmentOp op) {
  Type i32 = builder.getI32Type();
  Value address = LLVM::PtrToIntOp::create(builder, location, i32, scalar(op.getBase()));
  address = add(address, mulConstant(toI32(scalar(op.getOffset())), op.getBytes()));
  Value rest = arith::AndIOp::create(builder, location, address, constant32(op.getTo() - 1));
  rest = arith::ShRUIOp::create(builder, location, rest, constant32(llvm::Log2_64(op.getBytes())));
  scalars[op.getResult()] = arith::IndexCastUIOp::create(builder, location, builder.getIndexType(), rest);
  return success();
}

LogicalResult Lowering::lowerOp(Operation *op) {
  if (isPartOfLateVector(op))
    return success();
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<tile::ArgOp>([&](auto arg) { return lowerArg(arg); })
      .Case<tile::ViewOp>([&](auto view) { return lowerView(view); })
      .Case<tile::AdvanceOp>([&](auto advance) { return lowerAdvance(advance); })
      .Case<tile::MisalignmentOp>([&](auto misalignment) { return lowerMisalignment(misalignment); })
      .Case<tile::AxisOp>([&](tile::AxisOp axis) {
        axes[axis.getResult()] = {scalar(axis.getStart()), scalar(axis.getEnd())};
        return success();
      })
      .Case<tile::PosOp>([&](auto pos) { return lowerPos(pos); })
      .Case<tile::BroadcastOp>([&](auto broadcast) { return lowerBroadcast(broadcast); })
      .Case<tile::PermuteOp>([&](auto permute) { return lowerPermute(permute); })
      .Case<tile::LoadOp>([&](auto load) { return lowerLoad(load); })
      .Case<tile::StoreOp>([&](auto store) { return lowerStores(store); })
      .Case<tile::AtomicOp>([&](auto atomic) { return lowerAtomic(atomic); })
      .Case<tile::ReduceOp>([&](auto reduce) { return lowerReduce(reduce); })
      .Case<tilegpu::ConvertOp>([&](auto convert) { return lowerConvert(convert); })
      .Case<tilegpu::MmaOp>([&](auto mma) { return lowerMma(mma); })
      .Case<tilegpu::MmaWaitOp>([&](auto wait) { return lowerMmaWait(wait); })
      .Case<tilegpu::MmaSettleOp>([&](auto settle) {
        Ptx(builder, location).wgmmaWait(settle.getAfter(), {});
        return success();
      })
      .Case<tilegpu::TurnTakeOp, tilegpu::TurnPassOp>([&](Operation *turn) { return lowerTurn(turn); })
      .Case<tilegpu::BlockIdOp>([&](tilegpu::BlockIdOp id) {
        Type i32 = builder.getI32Type();
        Value number = blocksOfCluster() > 1 ? Value(NVVM::ClusterIdXOp::create(builder, location, i32))
                                             : NVVM::BlockIdXOp::create(builder, location, i32);
        scalars[id.getResult()] = toIndex(number);
        return success();
      })
      .Case<tilegpu::GridSizeOp>([&](tilegpu::GridSizeOp size) {
        Type i32 = builder.getI32Type();
        Value number = blocksOfCluster() > 1 ? Value(NVVM::ClusterDimXOp::create(builder, location, i32))
                                             : NVVM::GridDimXOp::create(builder, location, i32);
        scalars[size.getResult()] = toIndex(number);
        return success();
      })
      .Case<tilegpu::ClusterRankOp>([&](tilegpu::ClusterRankOp rank) {
        scalars[rank.getResult()] = toIndex(transfers.place(*this, rank.getDim()));
        return success();
      })
      .Case<tilegpu::GroupOp>([&](tilegpu::GroupOp group) {
        scalars[group.getResult()] = toIndex(groupNumber);
        return success();
      })
      .Case<tilegpu::ChanOp, tilegpu::AcquireOp, tilegpu::FillOp, tilegpu::CommitOp, tilegpu::ReceiveOp,
            tilegpu::ReleaseOp, tilegpu::SkipOp, tilegpu::SlotViewOp>(
          [&](Operation *chan) { return lowerChannelOp(chan); })
      .Case<tilegpu::StagingOp, tilegpu::WriteOp, tilegpu::FlushOp, tilegpu::DrainOp>(
          [&](Operation *staged) { return lowerStagedStore(staged); })
      .Case<tilegpu::AllocOp, tilegpu::SubviewOp, tilegpu::LocalLoadOp, tilegpu::LocalStoreOp, tilegpu::BarrierOp,
            tilegpu::ZeroTailOp>([&](Operation *shared) { return lowerSharedOp(shared); })
      .Case<scf::ForOp>([&](auto loop) { return lowerFor(loop); })
      .Case<scf::IfOp>([&](auto branch) { return lowerIf(branch); })
      .Case<scf::WhileOp>([&](auto loop) { return lowerWhile(loop); })
      .Case<arith::ConstantOp>([&](auto constant) { return lowerConstant(constant); })
      .Default([&](Operation *other) { return lowerElementwise(other); });
}
