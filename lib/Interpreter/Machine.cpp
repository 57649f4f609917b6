// Control flow of the interpreter: a stack of blocks, so that a machine can stop before any operation.
#include "Machine.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::interpreter;

Machine::Machine(Context &context, Block &block, Environment environment, int number, int64_t group)
    : context(context), environment(std::move(environment)), number(number), group(group) {
  push(block);
}

FailureOr<Step> Machine::run() {
  while (true) {
    Step result = step();
    if (result == Step::Finished || result == Step::Processes)
      return result;
    if (result == Step::Failed)
      return failure();
    if (result == Step::Blocked)
      return current()->emitError("waits for ever");
  }
}

Step Machine::step() {
  if (frames.empty())
    return Step::Finished;
  if (frames.back().next == frames.back().block->end())
    return endOfBlock();
  Operation *op = current();
  if (isa<tilegpu::ProcessOp>(op))
    return Step::Processes;
  if (waits(op))
    return Step::Blocked;
  return execute(op);
}

// Only blocks without a terminator end here: kernels, processes and iterations of a stage.
Step Machine::endOfBlock() {
  if (!isa<tile::ParallelOp>(frames.back().block->getParentOp())) {
    frames.pop_back();
    return frames.empty() ? Step::Finished : Step::Done;
  }
  if (!nextIteration(frames.back())) {
    frames.pop_back();
    ++context.stage;
    context.iteration = 0;
  }
  return Step::Done;
}

Step Machine::execute(Operation *op) {
  ++frames.back().next;
  LogicalResult result = failure();
  if (auto loop = dyn_cast<scf::ForOp>(op))
    result = enterFor(loop);
  else if (auto branch = dyn_cast<scf::IfOp>(op))
    result = enterIf(branch);
  else if (auto stage = dyn_cast<tile::ParallelOp>(op))
    result = enterParallel(stage);
  else if (auto terminator = dyn_cast<scf::YieldOp>(op))
    result = yield(terminator);
  else if (auto terminator = dyn_cast<scf::ConditionOp>(op))
    result = condition(terminator);
  else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    assign(loop.getBeforeArguments(), lookup(loop.getInits()));
    push(*loop.getBeforeBody());
    result = success();
  } else if (isa<tilegpu::TileGPUDialect>(op->getDialect()))
    result = executeTileGPU(op);
  else
    result = executeTile(op);
  return succeeded(result) ? Step::Done : Step::Failed;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

void Machine::push(Block &block) {
  Frame frame;
  frame.block = &block;
  frame.next = block.begin();
  frames.push_back(std::move(frame));
}

SmallVector<Datum> Machine::lookup(ValueRange values) const {
  SmallVector<Datum> result;
  for (Value value : values)
    result.push_back(environment.lookup(value));
  return result;
}

void Machine::assign(ValueRange to, ArrayRef<Datum> values) {
  for (auto [value, datum] : llvm::zip_equal(to, values))
    set(value, datum);
}

FailureOr<int64_t> Machine::integer(Operation *op, Value value) const {
  const Tile &scalar = tile(value);
  if (scalar.isPoison(0))
    return op->emitError("uses a number that depends on an absent position");
  return scalar.integers[0];
}

LogicalResult Machine::integers(Operation *op, ValueRange values, SmallVectorImpl<int64_t> &result) const {
  for (Value value : values) {
    FailureOr<int64_t> number = integer(op, value);
    if (failed(number))
      return failure();
    result.push_back(*number);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Loops and branches
//===----------------------------------------------------------------------===//

LogicalResult Machine::enterFor(scf::ForOp op) {
  SmallVector<int64_t, 3> bounds;
  if (failed(integers(op, {op.getLowerBound(), op.getUpperBound(), op.getStep()}, bounds)))
    return failure();
  if (bounds[2] <= 0)
    return op.emitError("has a step that is not positive");
  SmallVector<Datum> inits = lookup(op.getInitArgs());
  if (bounds[0] >= bounds[1]) {
    assign(op.getResults(), inits);
    return success();
  }
  assign(op.getRegionIterArgs(), inits);
  push(*op.getBody());
  Frame &frame = frames.back();
  frame.counter = bounds[0];
  frame.limit = bounds[1];
  frame.increment = bounds[2];
  set(op.getInductionVar(), makeIndex(op.getContext(), frame.counter));
  return success();
}

LogicalResult Machine::enterIf(scf::IfOp op) {
  const Tile &scalar = tile(op.getCondition());
  if (scalar.isPoison(0))
    return op.emitError("branches on an absent position");
  Region &region = scalar.integers[0] ? op.getThenRegion() : op.getElseRegion();
  if (!region.empty())
    push(region.front());
  return success();
}

LogicalResult Machine::yield(scf::YieldOp op) {
  SmallVector<Datum> values = lookup(op.getOperands());
  Operation *parent = op->getParentOp();
  Frame &frame = frames.back();
  if (auto loop = dyn_cast<scf::ForOp>(parent)) {
    frame.counter += frame.increment;
    if (frame.counter < frame.limit) {
      assign(loop.getRegionIterArgs(), values);
      set(loop.getInductionVar(), makeIndex(op.getContext(), frame.counter));
      frame.next = frame.block->begin();
      return success();
    }
  } else if (auto loop = dyn_cast<scf::WhileOp>(parent)) {
    frames.pop_back();
    assign(loop.getBeforeArguments(), values);
    push(*loop.getBeforeBody());
    return success();
  }
  frames.pop_back();
  assign(parent->getResults(), values);
  return success();
}

LogicalResult Machine::condition(scf::ConditionOp op) {
  const Tile &scalar = tile(op.getCondition());
  if (scalar.isPoison(0))
    return op.emitError("loops on an absent position");
  auto loop = cast<scf::WhileOp>(op->getParentOp());
  SmallVector<Datum> values = lookup(op.getArgs());
  frames.pop_back();
  if (!scalar.integers[0]) {
    assign(loop.getResults(), values);
    return success();
  }
  assign(loop.getAfterArguments(), values);
  push(*loop.getAfterBody());
  return success();
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

LogicalResult Machine::enterParallel(tile::ParallelOp op) {
  SmallVector<int64_t, 4> lower, upper;
  if (failed(integers(op, op.getLower(), lower)) || failed(integers(op, op.getUpper(), upper)))
    return failure();
  push(op.getBody().front());
  Frame &frame = frames.back();
  SmallVector<int64_t, 4> point = lower;
  bool empty =
      llvm::any_of(llvm::zip(lower, upper), [](auto range) { return std::get<0>(range) >= std::get<1>(range); });
  while (!empty) {
    frame.iterations.push_back(point);
    size_t d = point.size();
    while (d > 0 && ++point[d - 1] == upper[d - 1]) {
      point[d - 1] = lower[d - 1];
      --d;
    }
    empty = d == 0;
  }
  std::shuffle(frame.iterations.begin(), frame.iterations.end(), context.random);
  ++context.stage;
  frame.next = frame.block->end();
  return success();
}

// Starts the next iteration of the stage on top of the stack, if there is one.
bool Machine::nextIteration(Frame &frame) {
  if (frame.iterations.empty())
    return false;
  for (auto [argument, value] : llvm::zip_equal(frame.block->getArguments(), frame.iterations.back()))
    set(argument, makeIndex(argument.getContext(), value));
  frame.iterations.pop_back();
  frame.next = frame.block->begin();
  ++context.iteration;
  return true;
}
