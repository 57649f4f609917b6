// Modules and kernels: one tile.kernel for each variant and specialisation, with its launch arguments.
#include "Generator.h"

#include "tilec/Dialect/Tile/AttributeNames.h"
#include "tilec/IRGen/IRGen.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::sema;

static bool hasProduct(Operation &kernel) {
  return kernel.walk([](tile::DotOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

// Of the operands' tensors the second alone, where its rows have a length of their own, and all.
static void generatePacked(const Kernel &kernel, ArrayRef<const Tensor *> operands,
                           function_ref<void(const Specialization &)> generate, Builder &builder) {
  if (operands.empty())
    return;
  std::optional<Specialization> all = makePacked(kernel, operands, /*othersAligned=*/false, builder);
  if (operands.size() > 1)
    for (const Tensor *tensor : operands)
      if (hasContractedRows(*tensor, kernel))
        if (std::optional<Specialization> one = makePacked(kernel, tensor, /*othersAligned=*/true, builder))
          generate(*one);
  if (all)
    generate(*all);
}

OwningOpRef<ModuleOp> tilec::generateTile(const TypedProgram &program, MLIRContext &context,
                                          DiagnosticEngine &diagnostics) {
  context.loadDialect<tile::TileDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect>();
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
  OpBuilder builder(module->getBodyRegion());
  bool failed = false;
  SmallVector<Attribute> kernels;
  for (ArrayRef<Kernel> rest = program.kernels; !rest.empty();) {
    ArrayRef<Kernel> variants = rest.take_while([&](const Kernel &kernel) { return kernel.name == rest.front().name; });
    rest = rest.drop_front(variants.size());
    // Variants that differ in their sizes alone have one interface.
    std::vector<Kernel> distinct;
    llvm::copy_if(variants, std::back_inserter(distinct), [](const Kernel &kernel) { return kernel.choice == 0; });
    LaunchInterface interface = readLaunchInterface(distinct, builder);
    llvm::StringMap<Attribute> workspaces;
    for (const Kernel &kernel : variants) {
      Specialization fast = makeFast(kernel, builder), general = makeGeneral(kernel, builder);
      auto generate = [&](const Specialization &specialization) {
        addWorkspaces(specialization, workspaces, builder);
        failed |= !Generator(kernel, specialization, interface, diagnostics, builder).generate();
      };
      // The launcher takes the first variant whose conditions hold: rows of just a bound, short rows, then aligned
      // ones.
      RowLengths rows = rowLengths(kernel);
      bool isFaster = fast.when.size() > general.when.size();
      std::optional<Specialization> pairs = makePairs(kernel, builder);
      // Products take other ways for rows that are not whole vectors. After another variant of the kernel.
      auto generatePairs = [&](function_ref<Specialization(const Specialization &)> narrow) {
        if (pairs && isFaster && !failed && !hasProduct(module->getBody()->back()))
          generate(narrow(*pairs));
      };
      int64_t tiles = 1;
      for (int64_t bound : rows.bounds) {
        bool words = !rows.tile && favoursWords(bound);
        if (isFaster && (rows.tile || llvm::isPowerOf2_64(bound)))
          generate(withLength(fast, *rows.dimension, bound, builder));
        // Of a row that is held tile by tile the number of tiles is known, so that only the last one needs masks.
        for (; isFaster && rows.tile && tiles * rows.tile <= bound; ++tiles)
          generate(tiles == 1 ? withBound(fast, *rows.dimension, bound, builder)
                              : withTiles(fast, *rows.dimension, rows.tile, tiles, builder));
        if (rows.tile)
          continue;
        if (isFaster && !(words && pairs))
          generate(withBound(fast, *rows.dimension, bound, builder));
        if (isFaster)
          generatePairs([&](const Specialization &all) { return withBound(all, *rows.dimension, bound, builder); });
        if (!words)
          generate(withBound(general, *rows.dimension, bound, builder));
      }
      if (isFaster && rows.dimension && !rows.tile)
        generate(withLength(fast, *rows.dimension, *rows.dimension->max, builder));
      auto generateWithClusters = [&](const Specialization &specialization) {
        for (const ClusterChoice &choice : clustersOf(kernel))
          if (std::optional<Specialization> clusters = withCluster(specialization, kernel, choice, builder))
            generate(*clusters);
        generate(specialization);
      };
      if (isFaster) {
        generateWithClusters(fast);
        generatePairs([](const Specialization &all) { return all; });
      }
      // Products gain much from fast loads alone, other kernels little.
      Specialization inputs = makeInputs(kernel, builder);
      bool between = inputs.when.size() > general.when.size() && inputs.when.size() < fast.when.size();
      if (between && kernel.chosen.inputs && !failed && hasProduct(module->getBody()->back()))
        generateWithClusters(inputs);
      if (isFaster && kernel.chosen.packed && !failed)
        generatePacked(kernel, operandsToPack(kernel, module->getBody()->back()), generate, builder);
      if (kernel.chosen.general)
        generate(general);
    }
    NamedAttrList entry;
    entry.set("name", builder.getStringAttr(variants.front().name));
    entry.set("arguments", interface.arguments);
    entry.set("contracts", interface.contracts);
    if (!workspaces.empty())
      entry.set("workspaces", workspaceEntries(workspaces, builder));
    kernels.push_back(entry.getDictionary(&context));
  }
  (*module)->setAttr("tilec.kernels", builder.getArrayAttr(kernels));
  if (failed)
    return nullptr;
  return module;
}

tile::KernelOp Generator::createKernel(StringRef suffix, int64_t stage) {
  std::string variant = kernel.variant + "__" + specialization.suffix;
  auto op = tile::KernelOp::create(builder, loc, variant + suffix.str(), kernel.name, interface.arguments,
                                   interface.contracts, builder.getArrayAttr(specialization.when),
                                   annotationsOf(kernel.annotations));
  op->setAttr(tile::specializationName, builder.getStringAttr(specialization.kind));
  if (Attribute cost = costOf(kernel, specialization, builder))
    op->setAttr(tile::costName, cost);
  if (!specialization.packed.empty()) {
    op->setAttr(tile::stageName, builder.getI64IntegerAttr(stage));
    op->setAttr(tile::variantName, builder.getStringAttr(variant));
  }
  return op;
}

bool Generator::generate() {
  for (auto [stage, tensor] : llvm::enumerate(specialization.packed))
    if (!Generator(kernel, specialization, interface, diagnostics, builder).generateCopy(*tensor, stage))
      return false;
  OpBuilder::InsertionGuard guard(builder);
  loc = location(kernel.range);
  tile::KernelOp op = createKernel("", specialization.packed.size());
  builder.createBlock(&op.getBody());
  declareArguments();
  emitStages();
  return !failed;
}

void Generator::declareVariables() {
  for (const Parameter &parameter : kernel.parameters)
    if (parameter.variable)
      declareVariable(*parameter.variable);
}

void Generator::declareArguments() {
  declareVariables();
  for (const Parameter &parameter : kernel.parameters)
    if (parameter.tensor && llvm::is_contained(specialization.packed, parameter.tensor))
      tensors[parameter.tensor] = packedView(*parameter.tensor, tile::Access::in);
    else if (parameter.tensor)
      declareTensor(*parameter.tensor);
  for (const Tensor *temp : kernel.temps)
    unsupported(temp->range, "`temp`", builder.getI1Type());
}

Value Generator::integerArgument(StringRef name, mlir::Type type) {
  auto found = specialization.arguments.find(name);
  ArgumentFacts facts = found == specialization.arguments.end() ? ArgumentFacts() : found->second;
  if (std::optional<int64_t> constant = facts.constant())
    return integerLike(type, *constant);
  auto attribute = [&](std::optional<int64_t> value) {
    return value ? builder.getI64IntegerAttr(*value) : IntegerAttr();
  };
  return tile::ArgOp::create(builder, loc, type, builder.getStringAttr(name),
                             facts.divisible > 1 ? builder.getI64IntegerAttr(facts.divisible) : IntegerAttr(),
                             /*align=*/IntegerAttr(), attribute(facts.min), attribute(facts.max));
}

void Generator::declareVariable(const Variable &variable) {
  loc = location(variable.range);
  mlir::Type type = elementType(variable.type);
  if (isInteger(variable.type.element)) {
    variables[&variable] = integerArgument(variable.name, type);
    return;
  }
  variables[&variable] = tile::ArgOp::create(builder, loc, type, builder.getStringAttr(variable.name), IntegerAttr(),
                                             IntegerAttr(), IntegerAttr(), IntegerAttr());
}

void Generator::declareTensor(const Tensor &tensor) {
  loc = location(tensor.range);
  int64_t natural = std::max(getBitWidth(tensor.element) / 8, 1u);
  IntegerAttr align = builder.getI64IntegerAttr(std::max(specialization.alignments.lookup(tensor.name), natural));
  Value base =
      tile::ArgOp::create(builder, loc, tile::PtrType::get(builder.getContext()), builder.getStringAttr(tensor.name),
                          IntegerAttr(), align, IntegerAttr(), IntegerAttr());
  SmallVector<Value> sizes, strides;
  for (const sema::Expr *size : tensor.shape)
    sizes.push_back(emit(size));
  for (const sema::Expr *stride : tensor.strides)
    strides.push_back(emit(stride));
  for (size_t d = strides.size(); d < sizes.size(); ++d)
    strides.push_back(integerArgument(strideName(tensor, d), builder.getIndexType()));
  loc = location(tensor.range);
  mlir::Type element = tensor.element == ScalarKind::Index ? builder.getI64Type() : elementType(tensor.element);
  tile::Access access = tensor.access == TensorAccess::In    ? tile::Access::in
                        : tensor.access == TensorAccess::Out ? tile::Access::out
                                                             : tile::Access::inout;
  auto type = tile::ViewType::get(builder.getContext(), sizes.size(), element);
  tensors[&tensor] = tile::ViewOp::create(builder, loc, type, tensor.name, access, base, sizes, strides, align);
}
