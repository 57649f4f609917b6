// Statements: stages, loops, branches, axes and variables.
#include "Generator.h"

#include "tilec/Dialect/Tile/AttributeNames.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::sema;

void Generator::emit(const sema::Block &block) {
  for (const Stmt *stmt : block.statements)
    emit(stmt);
}

void Generator::emit(const Stmt *stmt) {
  Location outer = loc;
  loc = location(stmt->range);
  switch (stmt->kind) {
  case StmtKind::Parallel:
    emitStage(*llvm::cast<ParallelStmt>(stmt));
    break;
  case StmtKind::For:
    emitFor(*llvm::cast<ForStmt>(stmt));
    break;
  case StmtKind::While:
    emitWhile(*llvm::cast<WhileStmt>(stmt));
    break;
  case StmtKind::If:
    emitIf(*llvm::cast<IfStmt>(stmt));
    break;
  case StmtKind::Axis: {
    const Axis &axis = *llvm::cast<AxisStmt>(stmt)->axis;
    declareAxis(axis, emit(axis.lower), emit(axis.upper), index(0));
    break;
  }
  case StmtKind::Let:
    assign(llvm::cast<LetStmt>(stmt)->variable, llvm::cast<LetStmt>(stmt)->variable->initial);
    break;
  case StmtKind::Var:
    assign(llvm::cast<VarStmt>(stmt)->variable, llvm::cast<VarStmt>(stmt)->variable->initial);
    break;
  case StmtKind::Assign:
    assign(llvm::cast<AssignStmt>(stmt)->variable, llvm::cast<AssignStmt>(stmt)->value);
    break;
  case StmtKind::Store:
    emitStore(*llvm::cast<StoreStmt>(stmt));
    break;
  case StmtKind::Atomic:
    emitAtomic(*llvm::cast<AtomicStmt>(stmt));
    break;
  }
  loc = outer;
}

void Generator::assign(const Variable *variable, const sema::Expr *value) {
  variables[variable] = emitAligned(value, variable->type.axes);
}

SmallVector<Value> Generator::currentValues(ArrayRef<Variable *> carried) {
  SmallVector<Value> values;
  for (Variable *variable : carried)
    values.push_back(variables.lookup(variable));
  return values;
}

void Generator::setCurrent(ArrayRef<Variable *> carried, ValueRange values) {
  for (auto [variable, value] : llvm::zip_equal(carried, values))
    variables[variable] = value;
}

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

void Generator::declareAxis(const Axis &axis, Value start, Value end, Value number) {
  AxisValues values;
  values.start = start;
  values.end = end;
  values.number = number;
  int64_t extent = extentOf(axis);
  auto type = tile::AxisType::get(builder.getContext(), extent);
  values.axis = tile::AxisOp::create(builder, loc, type, axis.name, start, end);
  if (kernel.freeAxes.contains(&axis))
    values.axis.getDefiningOp()->setAttr(tile::freeName, builder.getUnitAttr());
  auto positions = RankedTensorType::get({extent}, builder.getIndexType());
  values.positions = tile::PosOp::create(builder, loc, positions, values.axis);
  axes[&axis] = values;
}

void Generator::declareTile(const Axis &axis, Value number, Value lower, Value upper) {
  Value size = index(axis.extent);
  Value offset = builder.createOrFold<arith::MulIOp>(loc, number, size);
  Value start = builder.createOrFold<arith::AddIOp>(loc, lower, offset);
  Value last = builder.createOrFold<arith::AddIOp>(loc, start, size);
  declareAxis(axis, start, builder.createOrFold<arith::MinSIOp>(loc, last, upper), number);
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

// Statements between two parallel nests form a stage of one block.
void Generator::emitStages() {
  ArrayRef<Stmt *> rest = kernel.body->statements;
  while (!rest.empty()) {
    size_t serial = llvm::find_if(rest, [](Stmt *stmt) { return stmt->kind == StmtKind::Parallel; }) - rest.begin();
    if (serial > 0)
      emitSingleBlockStage(rest.take_front(serial));
    rest = rest.drop_front(serial);
    if (!rest.empty()) {
      emit(rest.front());
      rest = rest.drop_front();
    }
  }
}

void Generator::emitSingleBlockStage(ArrayRef<Stmt *> statements) {
  OpBuilder::InsertionGuard guard(builder);
  loc = location(statements.front()->range);
  auto op = tile::ParallelOp::create(builder, loc, ValueRange(), ValueRange(), ArrayRef<int64_t>(),
                                     builder.getDictionaryAttr({}));
  builder.createBlock(&op.getBody());
  for (const Stmt *stmt : statements)
    emit(stmt);
}

void Generator::emitStage(const ParallelStmt &stmt) {
  if (stmt.dependent) {
    unsupported(stmt.range, "a `parallel` range that depends on another of the same nest", builder.getI1Type());
    return;
  }
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Value> lower, upper, first, limit;
  SmallVector<int64_t> tiles;
  for (const Binding &binding : stmt.bindings) {
    lower.push_back(emit(binding.lower()));
    upper.push_back(emit(binding.upper()));
    tiles.push_back(binding.tile());
    if (!binding.axis) {
      first.push_back(lower.back());
      limit.push_back(upper.back());
      continue;
    }
    Value length = builder.createOrFold<arith::SubIOp>(loc, upper.back(), lower.back());
    first.push_back(index(0));
    limit.push_back(builder.createOrFold<arith::CeilDivSIOp>(loc, length, index(binding.tile())));
  }
  auto op = tile::ParallelOp::create(builder, loc, first, limit, tiles, annotationsOf(stmt.annotations));
  if (!specialization.cluster.empty())
    op->setAttr(tile::clusterName, builder.getDenseI64ArrayAttr(specialization.cluster));
  mlir::Block *body =
      builder.createBlock(&op.getBody(), {}, SmallVector<mlir::Type>(first.size(), builder.getIndexType()),
                          SmallVector<Location>(first.size(), loc));
  for (auto [i, binding] : llvm::enumerate(stmt.bindings)) {
    if (binding.axis)
      declareTile(*binding.axis, body->getArgument(i), lower[i], upper[i]);
    else
      variables[binding.index] = body->getArgument(i);
  }
  emit(*stmt.body);
}

//===----------------------------------------------------------------------===//
// Loops and branches
//===----------------------------------------------------------------------===//

void Generator::emitFor(const ForStmt &stmt) {
  const Binding &binding = stmt.binding;
  Value lower = emit(binding.lower()), upper = emit(binding.upper());
  Value first = lower, limit = upper, count;
  if (binding.axis) {
    Value length = builder.createOrFold<arith::SubIOp>(loc, upper, lower);
    count = builder.createOrFold<arith::CeilDivSIOp>(loc, length, index(binding.tile()));
    first = index(0);
    limit = count;
  }
  auto loop = scf::ForOp::create(builder, loc, first, limit, index(1), currentValues(stmt.carried));
  annotateLoop(loop, stmt.annotations);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    setCurrent(stmt.carried, loop.getRegionIterArgs());
    Value number = loop.getInductionVar();
    if (binding.axis && binding.reverse) {
      Value last = builder.createOrFold<arith::SubIOp>(loc, count, index(1));
      number = builder.createOrFold<arith::SubIOp>(loc, last, number);
    }
    if (binding.axis)
      declareTile(*binding.axis, number, lower, upper);
    else
      variables[binding.index] = number;
    emit(*stmt.body);
    // A loop without carried values got its terminator from the builder.
    if (!stmt.carried.empty())
      scf::YieldOp::create(builder, loc, currentValues(stmt.carried));
  }
  setCurrent(stmt.carried, loop.getResults());
}

void Generator::emitWhile(const WhileStmt &stmt) {
  SmallVector<Value> inits = currentValues(stmt.carried);
  SmallVector<mlir::Type> types = llvm::to_vector(ValueRange(inits).getTypes());
  SmallVector<Location> locations(types.size(), loc);
  auto loop = scf::WhileOp::create(builder, loc, types, inits);
  {
    OpBuilder::InsertionGuard guard(builder);
    mlir::Block *before = builder.createBlock(&loop.getBefore(), {}, types, locations);
    setCurrent(stmt.carried, before->getArguments());
    scf::ConditionOp::create(builder, loc, emit(stmt.condition), before->getArguments());
    mlir::Block *after = builder.createBlock(&loop.getAfter(), {}, types, locations);
    setCurrent(stmt.carried, after->getArguments());
    emit(*stmt.body);
    scf::YieldOp::create(builder, loc, currentValues(stmt.carried));
  }
  setCurrent(stmt.carried, loop.getResults());
}

void Generator::emitIf(const IfStmt &stmt) {
  SmallVector<Value> before = currentValues(stmt.carried);
  SmallVector<mlir::Type> types = llvm::to_vector(ValueRange(before).getTypes());
  bool needsElse = stmt.elseBlock || !types.empty();
  auto op = scf::IfOp::create(builder, loc, types, emit(stmt.condition), /*addThenBlock=*/true, needsElse);
  auto arm = [&](mlir::Block *target, const sema::Block *source) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(target);
    setCurrent(stmt.carried, before);
    if (source)
      emit(*source);
    scf::YieldOp::create(builder, loc, currentValues(stmt.carried));
  };
  arm(op.thenBlock(), stmt.thenBlock);
  if (needsElse)
    arm(op.elseBlock(), stmt.elseBlock);
  setCurrent(stmt.carried, op.getResults());
}

//===----------------------------------------------------------------------===//
// Annotations
//===----------------------------------------------------------------------===//

// `@warps(8)` is warps = 8, `@cluster(2, 1)` cluster = [2, 1], `@specialize(consumers = 2)` specialize = {consumers =
// 2}.
static Attribute annotationValue(const AppliedAnnotation &annotation, Builder &builder) {
  if (!annotation.word.empty())
    return builder.getStringAttr(annotation.word);
  if (!annotation.named.empty()) {
    SmallVector<NamedAttribute> fields;
    for (auto &[name, value] : annotation.named)
      fields.push_back(builder.getNamedAttr(name, builder.getI64IntegerAttr(value)));
    return builder.getDictionaryAttr(fields);
  }
  if (annotation.values.empty())
    return builder.getUnitAttr();
  if (annotation.values.size() == 1)
    return builder.getI64IntegerAttr(annotation.values.front());
  return builder.getI64ArrayAttr(annotation.values);
}

DictionaryAttr Generator::annotationsOf(ArrayRef<AppliedAnnotation> annotations) {
  SmallVector<NamedAttribute> fields;
  for (const AppliedAnnotation &annotation : annotations)
    fields.push_back(builder.getNamedAttr(annotation.name, annotationValue(annotation, builder)));
  return builder.getDictionaryAttr(fields);
}

void Generator::annotateLoop(Operation *loop, ArrayRef<AppliedAnnotation> annotations) {
  for (const AppliedAnnotation &annotation : annotations)
    loop->setAttr("tilec." + annotation.name, annotationValue(annotation, builder));
}
