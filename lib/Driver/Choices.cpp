// The table of which variant the launcher takes for which sizes, for kernels whose sizes the compiler chose.
#include "Compilation.h"
#include "tilec/Runner/HostExpression.h"
#include "tilec/Target/Reflection.h"
#include "llvm/Support/Format.h"

using namespace llvm;

namespace tilec {

namespace {

/// One line of the table: values of dimensions and integer scalars.
using Shape = std::vector<std::pair<std::string, int64_t>>;

struct Row {
  StringRef variant;
  int64_t picoseconds;
};

} // namespace

/// The variants that accept the sizes of aligned tensors, in the order of the launcher's preference. Conditions on
/// other arguments, such as float scalars, are taken to hold. Nothing where the sizes do not determine the costs.
static std::vector<Row> rank(const KernelInfo &kernel, const Shape &shape, const Machine &machine) {
  runner::HostValues values;
  values.aligned = [](StringRef, int64_t) { return true; };
  values.names["sm_count"] = machine.multiprocessors;
  for (const auto &[name, value] : shape)
    values.names[name] = value;
  auto evaluate = [&](const HostExpr &expr) { return runner::evaluate(toJSON(expr), values); };
  std::vector<Row> rows;
  for (const Variant &variant : kernel.variants) {
    bool holds = true;
    for (const HostExpr &condition : variant.when) {
      Expected<int64_t> value = evaluate(condition);
      if (value)
        holds &= *value != 0;
      else
        consumeError(value.takeError());
    }
    if (!holds || !variant.cost)
      continue;
    Expected<int64_t> cost = evaluate(*variant.cost);
    if (!cost) {
      consumeError(cost.takeError());
      return {};
    }
    rows.push_back({variant.name, *cost});
  }
  stable_sort(rows, [](const Row &a, const Row &b) { return a.picoseconds < b.picoseconds; });
  return rows;
}

/// Cubes, and the first dimension small beside large ones.
static std::vector<Shape> typicalShapes(ArrayRef<std::string> names) {
  std::vector<Shape> shapes;
  auto add = [&](int64_t first, int64_t others) {
    Shape shape;
    for (const std::string &name : names)
      shape.emplace_back(name, shape.empty() ? first : others);
    shapes.push_back(shape);
  };
  for (int64_t size : {512, 1024, 2048, 4096, 8192})
    add(size, size);
  for (int64_t first : {1, 16, 64, 128, 512})
    add(first, 8192);
  return shapes;
}

void Compilation::printChoices() {
  for (const KernelInfo &kernel : kernels) {
    bool chooses = any_of(kernel.variants, [](const Variant &variant) { return variant.cost.has_value(); });
    std::vector<std::string> names;
    for (const Argument &argument : kernel.arguments)
      if (argument.kind == Argument::Kind::Dim)
        names.push_back(argument.name);
    if (!chooses)
      continue;
    std::vector<Shape> shapes;
    if (!options.shape.empty())
      shapes = {options.shape};
    else if (names.size() == 3)
      shapes = typicalShapes(names);
    log << "choice of `" << kernel.name << "` on " << options.machine->card << " for aligned tensors, predicted us\n";
    for (const Shape &shape : shapes) {
      std::string text;
      for (const auto &[name, value] : shape)
        text += (text.empty() ? "" : " ") + name + "=" + std::to_string(value);
      std::vector<Row> rows = rank(kernel, shape, *options.machine);
      log << format("  %-32s", text.c_str());
      if (rows.empty())
        log << "needs the sizes of " << join(names, ", ");
      for (const Row &row : ArrayRef(rows).take_front(3))
        log << format(" %s %.1f", row.variant.str().c_str(), static_cast<double>(row.picoseconds) / 1e6);
      log << '\n';
    }
    if (shapes.empty())
      log << "  --shape=NAME=SIZE,... for " << join(names, ", ") << " shows it\n";
  }
}

} // namespace tilec
