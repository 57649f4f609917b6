// Counts the operations of a kernel by walking its statements with the sizes of a launch.
#include "tilec/Runner/Work.h"

#include "Evaluator.h"
#include "SourceProgram.h"
#include "TypedWalk.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace tilec;
using namespace tilec::runner;
using namespace tilec::sema;

double tilec::runner::bytesMoved(const Arguments &arguments) {
  double bytes = 0;
  for (const TensorBinding &tensor : arguments.tensors) {
    double size = tensor.type->bytes;
    for (int64_t extent : tensor.shape)
      size *= static_cast<double>(extent);
    bytes += tensor.access == TensorBinding::InOut ? 2 * size : size;
  }
  return bytes;
}

namespace {

class WorkCounter {
public:
  WorkCounter(const Kernel &kernel, Evaluator &evaluator) : kernel(kernel), evaluator(evaluator) {}

  Work run() {
    block(*kernel.body, 1);
    Work work;
    work.others = others;
    for (const auto &[type, count] : products)
      if (count > work.products) {
        work.products = count;
        work.productType = type;
      }
    return work;
  }

private:
  void block(const Block &statements, double times);
  void statement(const Stmt *stmt, double times);
  void loop(ArrayRef<Binding> bindings, const Block &body, double times);
  void expression(const Expr *expr, double times);
  double positions(ArrayRef<const Axis *> axes) { return countPositions(evaluator, axes); }

  const Kernel &kernel;
  Evaluator &evaluator;
  std::map<std::string, double> products;
  double others = 0;
};

} // namespace

// The tiles of one binding; of many only some, which count for all.
void WorkCounter::loop(ArrayRef<Binding> bindings, const Block &body, double times) {
  if (bindings.empty())
    return block(body, times);
  constexpr int64_t mostTurns = 64;
  const Binding &binding = bindings.front();
  int64_t lower = evaluator.evaluateIndex(binding.lower()), upper = evaluator.evaluateIndex(binding.upper());
  int64_t step = binding.axis ? binding.tile() : 1;
  int64_t turns = upper > lower ? (upper - lower + step - 1) / step : 0;
  int64_t stride = std::max<int64_t>(1, turns / mostTurns);
  for (int64_t turn = 0; turn < turns; turn += stride) {
    int64_t first = lower + turn * step;
    // Whole groups of turns, but for the last.
    double weight = static_cast<double>(std::min(stride, turns - turn));
    if (binding.axis)
      evaluator.bindTile(binding.axis, {first, std::min(first + step, upper)});
    else
      evaluator.bind(binding.index, {0, first, 0});
    loop(bindings.drop_front(), body, times * weight);
  }
}

void WorkCounter::block(const Block &statements, double times) {
  for (const Stmt *stmt : statements.statements)
    statement(stmt, times);
}

void WorkCounter::statement(const Stmt *stmt, double times) {
  switch (stmt->kind) {
  case StmtKind::Parallel:
    return loop(cast<ParallelStmt>(stmt)->bindings, *cast<ParallelStmt>(stmt)->body, times);
  case StmtKind::For:
    return loop(cast<ForStmt>(stmt)->binding, *cast<ForStmt>(stmt)->body, times);
  case StmtKind::While:
    // Nobody knows how often.
    return block(*cast<WhileStmt>(stmt)->body, times);
  case StmtKind::If:
    // The condition may depend on what is computed; the first arm is the rule.
    return block(*cast<IfStmt>(stmt)->thenBlock, times);
  case StmtKind::Axis:
    return;
  case StmtKind::Let:
    return expression(cast<LetStmt>(stmt)->variable->initial, times);
  case StmtKind::Var:
    return expression(cast<VarStmt>(stmt)->variable->initial, times);
  case StmtKind::Assign:
    return expression(cast<AssignStmt>(stmt)->value, times);
  case StmtKind::Store:
    return expression(cast<StoreStmt>(stmt)->value, times);
  case StmtKind::Atomic:
    return expression(cast<AtomicStmt>(stmt)->value, times);
  }
}

void WorkCounter::expression(const Expr *root, double times) {
  visitExpressions(root, /*intoLets=*/false, [&](const Expr *expr) {
    if (const auto *inlined = dyn_cast<BlockValue>(expr))
      block(*inlined->block, times);
    if (const auto *dot = dyn_cast<Dot>(expr)) {
      std::string type = getSpelling(dot->lhs->type.element).str();
      products[type] += 2 * times * positions(dot->axes) * positions(dot->type.axes);
      return;
    }
    // The sum with a product is part of the product.
    const auto *binary = dyn_cast<Binary>(expr);
    bool accumulates = binary && binary->op == BinaryOp::Add && (isa<Dot>(binary->lhs) || isa<Dot>(binary->rhs));
    bool isArithmetic = isa<Unary, Binary, Call>(expr) && isFloat(expr->type.element);
    if (isArithmetic && !accumulates)
      others += times * positions(expr->type.axes);
    else if (const auto *reduce = dyn_cast<Reduce>(expr); reduce && isFloat(expr->type.element))
      others += times * positions(reduce->axes) * positions(expr->type.axes);
  });
}

// The variant of the kernel whose conditions hold, such as `D in {64, 128}`.
static const Kernel *chooseKernel(const TypedProgram &program, StringRef name, const HostValues &values) {
  for (const Kernel &kernel : program.kernels) {
    bool holds = kernel.name == name;
    for (const HostExpr &condition : kernel.when) {
      Expected<int64_t> value = holds ? evaluate(condition, values) : Expected<int64_t>(0);
      holds = value && *value;
      if (!value)
        consumeError(value.takeError());
    }
    if (holds)
      return &kernel;
  }
  return nullptr;
}

Expected<Work> tilec::runner::countWork(const KernelSource &source, const Arguments &arguments) {
  SourceProgram file(source);
  if (Error error = file.read())
    return std::move(error);
  const ast::KernelDecl *declaration = file.findKernel();
  if (!declaration || file.engine.hasErrors())
    return createStringError("the file has changed");
  auto *copy = file.context.create<ast::KernelDecl>(*declaration);
  file.keepOnly(declaration, copy);
  std::unique_ptr<TypedProgram> program = analyze(file.program, file.engine, file.options(*copy));
  if (!program)
    return createStringError("the file has changed");
  HostValues values;
  values.names = arguments.numbers;
  const Kernel *any = program->kernels.empty() ? nullptr : &program->kernels.front();
  if (!any)
    return createStringError("the file has changed");
  for (const Parameter &parameter : any->parameters)
    if (const TensorBinding *tensor = parameter.tensor ? findBinding(arguments, parameter.tensor->name) : nullptr)
      for (auto [expression, extent] : zip(parameter.tensor->shape, tensor->shape))
        if (const auto *dimension = dyn_cast<VariableRef>(expression))
          values.names.try_emplace(dimension->variable->name, extent);
  const Kernel *kernel = chooseKernel(*program, source.kernel, values);
  if (!kernel)
    return createStringError("no variant of the kernel fits");
  Evaluator evaluator(*kernel, {});
  if (Error error = bindParameters(evaluator, *kernel, arguments))
    return std::move(error);
  return WorkCounter(*kernel, evaluator).run();
}
