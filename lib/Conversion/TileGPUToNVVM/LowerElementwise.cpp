// Constants and element-wise operations: one scalar operation for each register. A run of them is computed some
// registers at a time, so that what lies between its operands and its results is never alive as a whole tile.
#include "LateVector.h"
#include "LoadEmitter.h"
#include "ReductionEmitter.h"
#include "Rematerialize.h"
#include "ScalarOps.h"
#include "StagedStores.h"
#include "UsualWork.h"
#include "WindowedLoad.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "tilec/Dialect/Tile/AttributeNames.h"
#include "tilec/Dialect/TileGPU/Scratch.h"
#include "llvm/ADT/MapVector.h"

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

// The same elements in words that the optimiser takes for new ones, as many to a word as fit (`widenedAgain`).
static Registers repack(Lowering &lowering, ArrayRef<Value> elements, int64_t number) {
  OpBuilder &builder = lowering.builder;
  Location loc = lowering.loc();
  Type element = elements.front().getType(), i32 = builder.getI32Type();
  auto index = [&](int64_t i) { return LLVM::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(i)); };
  size_t perWord = 32 / element.getIntOrFloatBitWidth(), whole = elements.size() / perWord * perWord;
  Type packed = VectorType::get(perWord, element);
  Registers results;
  for (size_t begin = 0; begin < whole; begin += perWord) {
    Value vector = LLVM::PoisonOp::create(builder, loc, packed);
    for (size_t i = 0; i < perWord; ++i)
      vector = LLVM::InsertElementOp::create(builder, loc, vector, elements[begin + i], index(i));
    Value word = lowering.opaque(LLVM::BitcastOp::create(builder, loc, i32, vector), number);
    vector = LLVM::BitcastOp::create(builder, loc, packed, word);
    for (size_t i = 0; i < perWord; ++i)
      results.push_back(LLVM::ExtractElementOp::create(builder, loc, vector, index(i)));
  }
  results.append(elements.begin() + whole, elements.end());
  return results;
}

namespace {

// Elements of a thread in kernels without products; accumulators have more.
constexpr size_t maxRowElements = 64;
// Registers of each operation of a run that are computed before the next ones: a vector store of 16-bit elements.
constexpr size_t registersAtOnce = 8;

// Operations that follow one another, all results with the same number of registers.
class ElementwiseRun {
public:
  explicit ElementwiseRun(Lowering &lowering) : lowering(lowering) {}

  LogicalResult add(Operation *op);
  void addLoad(tile::LoadOp op);
  /// Ends the run with a reduction of one of its results, which takes registers as they come.
  void addReduction(tile::ReduceOp op, const ReductionPlan &plan);
  bool holds(Value value) const { return numberOf.contains(value); }
  size_t count() const;
  bool endsInReduction() const { return reduction != nullptr; }
  /// The value whose writes to staging rings are all that uses the run's results; null if there are other uses.
  Value writtenAlone() const;
  /// Registers of vectors that are computed and stored in basic blocks of their own; 0: none. Nothing but these stores
  /// uses the run's results then.
  size_t registersApart(ArrayRef<tile::StoreOp> stores) const;
  /// Computes the registers before `end` of all results, as far as that has not been done.
  LogicalResult advance(size_t end);
  LogicalResult finish();

private:
  struct Member {
    Operation *op;
    std::optional<AffineCompare> compare;
    /// A load between operations of the run: its vectors come just before those take them.
    std::unique_ptr<LoadEmitter> load;
    Registers results;
    ArrayRef<Value> values() const { return load ? load->results() : ArrayRef<Value>(results); }
  };
  ArrayRef<Value> valuesOf(Value operand) const;
  LogicalResult lower(Member &member, size_t begin, size_t end);

  Lowering &lowering;
  SmallVector<Member, 0> members;
  llvm::DenseMap<Value, size_t> numberOf;
  llvm::MapVector<Value, std::unique_ptr<LateVector>> vectors;
  tile::ReduceOp reduce;
  std::unique_ptr<ReductionEmitter> reduction;
  size_t done = 0;
};

} // namespace

ArrayRef<Value> ElementwiseRun::valuesOf(Value operand) const {
  if (auto late = vectors.find(operand); late != vectors.end())
    return late->second->results();
  auto it = numberOf.find(operand);
  return it == numberOf.end() ? lowering.lowered(operand) : members[it->second].values();
}

size_t ElementwiseRun::count() const {
  Value result = members.front().op->getResult(0);
  return Lowering::isTile(result) ? Lowering::layoutOf(result).numRegisters() : 1;
}

LogicalResult ElementwiseRun::add(Operation *op) {
  if (op->getNumResults() != 1 || op->getNumRegions() != 0)
    return op->emitError("E0431: `") << op->getName() << "` cannot be lowered";
  members.push_back({op, lowering.planAffineCompare(op), nullptr, {}});
  numberOf[op->getResult(0)] = members.size() - 1;
  if (members.back().compare)
    return success();
  for (Value operand : op->getOperands())
    if (auto broadcast = operand.getDefiningOp<tile::BroadcastOp>(); broadcast && matchLateVector(broadcast))
      vectors.try_emplace(operand, std::make_unique<LateVector>(lowering, broadcast));
    else if (size_t values = lowering.isTile(operand) && !holds(operand) ? lowering.lowered(operand).size() : 1;
             values != 1 && values != count())
      return op->emitError("E0431: operands with different layouts reach the lowering");
  return success();
}

void ElementwiseRun::addLoad(tile::LoadOp op) {
  // Where the results of a row are stored as they come, loads for the next ones would take their registers.
  bool inOrder = Lowering::layoutOf(op.getResult()).numRegisters() <= maxRowElements;
  members.push_back({op, std::nullopt, std::make_unique<LoadEmitter>(lowering, op, inOrder), {}});
  numberOf[op.getResult()] = members.size() - 1;
}

void ElementwiseRun::addReduction(tile::ReduceOp op, const ReductionPlan &plan) {
  reduce = op;
  reduction = std::make_unique<ReductionEmitter>(lowering, op, plan);
}

// Registers `begin` to `end` of one operation.
LogicalResult ElementwiseRun::lower(Member &member, size_t begin, size_t end) {
  OpBuilder &builder = lowering.builder;
  Operation *op = member.op;
  Location loc = op->getLoc();
  if (member.load) {
    member.load->emit(begin, end);
    return success();
  }
  if (member.compare) {
    for (size_t i = begin; i < end; ++i)
      member.results.push_back(lowering.emitAffineCompare(*member.compare, i));
    return success();
  }
  Type element = getElementTypeOrSelf(op->getResult(0).getType());
  SmallVector<ArrayRef<Value>, 3> operands;
  for (Value operand : op->getOperands())
    operands.push_back(valuesOf(operand));
  auto of = [&](size_t operand, size_t i) {
    return operands[operand].size() == 1 ? operands[operand][0] : operands[operand][i];
  };
  if (isa<arith::TruncFOp>(op) && operands[0].size() > 1 && (element.isBF16() || element.isF16()) &&
      operands[0][begin].getType().isF32()) {
    truncatePairs(builder, loc, operands[0].slice(begin, end - begin), element, member.results);
    return success();
  }
  Registers packed;
  auto number = op->getAttrOfType<IntegerAttr>(widenedAgain);
  bool widensPairsAgain = number && getElementTypeOrSelf(op->getOperand(0).getType()).isBF16() && element.isF32();
  if (number && operands[0].size() > 1 && !widensPairsAgain) {
    packed = repack(lowering, operands[0].slice(begin, end - begin), number.getInt());
    packed.insert(packed.begin(), operands[0].begin(), operands[0].begin() + begin);
    operands[0] = packed;
  }
  ScalarOps scalars(builder, loc, lowering.machine);
  bool isCast = isa<tile::CastOp, arith::TruncFOp, arith::ExtFOp>(op);
  for (size_t i = begin; i < end; ++i) {
    if (widensPairsAgain && i + 1 < end) {
      auto [low, high] = scalars.widenPairAgain(of(0, i), of(0, i + 1), number.getInt());
      member.results.append({low, high});
      ++i;
      continue;
    }
    if (isCast && i + 1 < end) {
      Type from = getElementTypeOrSelf(op->getOperand(0).getType());
      if (auto pair = scalars.castPair(of(0, i), of(0, i + 1), from, element)) {
        member.results.append({pair->first, pair->second});
        ++i;
        continue;
      }
    }
    SmallVector<Value, 3> inputs;
    for (size_t operand = 0; operand < operands.size(); ++operand)
      inputs.push_back(of(operand, i));
    FailureOr<Value> value = scalars.emit(op, inputs, element);
    if (failed(value))
      return failure();
    member.results.push_back(*value);
  }
  return success();
}

Value ElementwiseRun::writtenAlone() const {
  Value written;
  for (const Member &member : members)
    for (OpOperand &use : member.op->getResult(0).getUses()) {
      Operation *user = use.getOwner();
      if (user->getNumResults() == 1 && holds(user->getResult(0)))
        continue;
      if (!isa<tilegpu::WriteOp>(user) || (written && written != use.get()))
        return nullptr;
      written = use.get();
    }
  return written;
}

// Vectors loaded in words: ptxas would load the words of all of them at once, and run out of registers. Ends of rows:
// one warp has them; but divisions share the divisor's reciprocal within a block.
size_t ElementwiseRun::registersApart(ArrayRef<tile::StoreOp> stores) const {
  auto isWithin = [&](Operation *user) {
    return llvm::is_contained(stores, user) || (user->getNumResults() == 1 && holds(user->getResult(0)));
  };
  bool inWords = false, divides = false;
  for (const Member &member : members) {
    divides |= isa<arith::DivFOp>(member.op);
    auto load = dyn_cast<tile::LoadOp>(member.op);
    auto view = load ? load.getView().getDefiningOp<tile::ViewOp>() : tile::ViewOp();
    inWords |= view && isWindowed(view);
    if (!llvm::all_of(member.op->getResult(0).getUsers(), isWithin))
      return 0;
  }
  tile::StoreOp first = stores.front();
  auto part = first->getAttrOfType<DenseI64ArrayAttr>(tile::rowPartName);
  return inWords ? registersAtOnce : part && part[1] == 1 && count() == 1 && !divides ? 1 : 0;
}

LogicalResult ElementwiseRun::advance(size_t end) {
  for (end = std::min(end, count()); done < end; done = std::min(done + registersAtOnce, count())) {
    size_t until = std::min(done + registersAtOnce, count());
    for (auto &vector : vectors)
      if (failed(vector.second->advance(until)))
        return failure();
    for (Member &member : members)
      if (failed(lower(member, done, until)))
        return failure();
    if (reduction)
      reduction->add(valuesOf(reduce.getInput()), done, until);
  }
  for (Member &member : members)
    lowering.set(member.op->getResult(0), Registers(member.values()));
  return success();
}

LogicalResult ElementwiseRun::finish() {
  if (failed(advance(count())))
    return failure();
  if (reduction)
    reduction->finish();
  return success();
}

LogicalResult Lowering::lowerElementwise(Operation *op) {
  if (isUsuallyNothing(op))
    return lowerUsuallyNothing(*this, op);
  if (std::optional<JoinedReductions> joined = matchJoinedReductions(op)) {
    setScalar(op->getResult(0), scalar(joined->second.getResult()));
    return success();
  }
  ElementwiseRun run(*this);
  return failure(failed(run.add(op)) || failed(run.finish()));
}

bool Lowering::isElementwiseTile(Operation &op) {
  return OpTrait::hasElementwiseMappableTraits(&op) && op.getNumResults() == 1 && isTile(op.getResult(0)) &&
         !isUsuallyNothing(&op) && !isPartOfLateVector(&op);
}

// What costs no instruction, or is one of a scalar: it may come before the run that it does not need.
static bool mayPrecedeRun(Operation &op) {
  if (isa<arith::ConstantOp, tile::PosOp, tile::BroadcastOp, tile::PermuteOp>(op) || isPartOfLateVector(&op))
    return true;
  return op.getNumRegions() == 0 && isMemoryEffectFree(&op) && op.getDialect() &&
         isa<arith::ArithDialect>(op.getDialect()) && llvm::none_of(op.getResults(), Lowering::isTile);
}

// A load of a tensor that nothing writes, whose positions are known before the run.
static bool mayJoinRun(Operation &op, const ElementwiseRun &run, size_t registers) {
  return isa<tile::LoadOp>(op) && Lowering::isTile(op.getResult(0)) && isMemoryEffectFree(&op) &&
         Lowering::layoutOf(op.getResult(0)).numRegisters() == registers &&
         llvm::none_of(op.getOperands(), [&](Value operand) { return run.holds(operand); });
}

// Whether the units of a tile are written in the order of its registers, whole vectors of them at a time, so that each
// computes its own and needs none of another.
static bool unitsFollowRegisters(Lowering &lowering, Value tile) {
  constexpr size_t widestVector = 16;
  SmallVector<tilegpu::WriteOp> writes;
  for (Operation *user : tile.getUsers())
    writes.push_back(cast<tilegpu::WriteOp>(user));
  llvm::sort(writes, [](tilegpu::WriteOp a, tilegpu::WriteOp b) { return a->isBeforeInBlock(b); });
  size_t done = 0;
  for (tilegpu::WriteOp write : writes) {
    auto [first, end] = registersOfUnit(lowering, write);
    if (write->getBlock() != tile.getParentBlock() || first != done || end % widestVector != 0)
      return false;
    done = end;
  }
  return true;
}

// The store behind one, if it stores the same for another row of the iteration.
static tile::StoreOp nextOfPair(tile::StoreOp store) {
  auto other = dyn_cast_or_null<tile::StoreOp>(store->getNextNode());
  Attribute row = store->getAttr(tile::iterationName),
            ofOther = other ? other->getAttr(tile::iterationName) : Attribute();
  bool isPair = row && ofOther && row != ofOther && store.getValue().getType() == other.getValue().getType();
  return isPair ? other : tile::StoreOp();
}

// Stores of the run's results that come next, to memory or in units to staging rings, and what stands between them:
// each takes its registers when they are computed. ptxas has the work of one unit to interleave; of a whole tile it
// makes as many values alive as hide all latencies, and spills.
static LogicalResult storeResults(Lowering &lowering, ElementwiseRun &run, Block &block, Block::iterator &next) {
  auto holdsOperand = [&](ValueRange operands) {
    return llvm::any_of(operands, [&](Value operand) { return run.holds(operand); });
  };
  // The reduction has its result after all registers.
  if (run.endsInReduction())
    return success();
  Value written = run.writtenAlone();
  bool apart = written && unitsFollowRegisters(lowering, written);
  for (; next != block.end(); ++next) {
    auto write = dyn_cast<tilegpu::WriteOp>(*next);
    if (write && run.holds(write.getValue())) {
      auto compute = [&] { return run.advance(registersOfUnit(lowering, write).second); };
      if (failed(emitWrite(lowering, write, apart, compute)))
        return failure();
    } else if (auto store = dyn_cast<tile::StoreOp>(*next);
               store && run.holds(store.getValue()) && !holdsOperand(store.getSubscripts())) {
      SmallVector<tile::StoreOp, 2> stores = {store};
      for (auto other = nextOfPair(store); other && run.holds(other.getValue()); other = nextOfPair(other), ++next)
        stores.push_back(other);
      auto compute = [&](size_t end) { return run.advance(end); };
      if (failed(lowering.lowerStores(stores, compute, run.registersApart(stores))))
        return failure();
    } else if (isa<tilegpu::FlushOp>(*next) || (mayPrecedeRun(*next) && !holdsOperand(next->getOperands()))) {
      if (failed(lowering.lowerOp(&*next)))
        return failure();
    } else {
      break;
    }
  }
  return success();
}

// A load as large as an accumulator, which would take as many registers before the run begins.
static bool isLargeLoad(Operation &op) {
  return isa<tile::LoadOp>(op) && Lowering::isTile(op.getResult(0)) && isMemoryEffectFree(&op) &&
         Lowering::layoutOf(op.getResult(0)).numRegisters() > maxRowElements;
}

bool Lowering::startsRun(Operation &op) { return isElementwiseTile(op) || isLargeLoad(op); }

FailureOr<Block::iterator> Lowering::lowerElementwiseRun(Block::iterator first) {
  ElementwiseRun run(*this);
  size_t registers = layoutOf(first->getResult(0)).numRegisters();
  auto next = first;
  for (; next != first->getBlock()->end(); ++next) {
    location = next->getLoc();
    if (isElementwiseTile(*next) && layoutOf(next->getResult(0)).numRegisters() == registers) {
      if (failed(run.add(&*next)))
        return failure();
    } else if (mayJoinRun(*next, run, registers)) {
      run.addLoad(cast<tile::LoadOp>(*next));
    } else if (mayPrecedeRun(*next) &&
               llvm::none_of(next->getOperands(), [&](Value operand) { return run.holds(operand); })) {
      if (failed(lowerOp(&*next)))
        return failure();
    } else {
      break;
    }
  }
  // A reduction of what the run computes takes it before the whole tile is alive.
  if (next != first->getBlock()->end())
    if (auto reduce = dyn_cast<tile::ReduceOp>(*next); reduce && run.holds(reduce.getInput())) {
      std::optional<ReductionPlan> plan = tilegpu::planOf(reduce);
      std::optional<JoinedReductions> joined = joinedReductionsOf(reduce);
      bool isLeft = joined && joined->first == reduce;
      if (plan && !isLeft && ReductionEmitter::takesRegistersInOrder(reduce, *plan)) {
        location = reduce.getLoc();
        run.addReduction(reduce, *plan);
        ++next;
      }
    }
  if (failed(storeResults(*this, run, *first->getBlock(), next)) || failed(run.finish()))
    return failure();
  return next;
}
