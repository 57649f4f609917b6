// Writes, compares and shows results.
#include "Results.h"

#include "tilec/Runner/Progress.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <cmath>

using namespace tilec;
using namespace tilec::runner;
using namespace llvm;

//===----------------------------------------------------------------------===//
// Before the run
//===----------------------------------------------------------------------===//

int Results::readCheck(const CheckOption &option, const std::string &kernel, const Arguments &arguments) {
  Check check;
  check.name = option.name;
  check.origin = option.text;
  if (option.kind == CheckOption::Array) {
    Expected<interpreter::NpyArray> array = interpreter::readNpy(option.text);
    if (!array)
      return console.fail(array.takeError());
    check.array = std::move(*array);
    checks.push_back(std::move(check));
    return success;
  }
  if (options.input.empty())
    return console.fail("--check with an expression needs the .tile file, whose names it uses", wrongCommandLine);
  std::string text = option.text, name = "--check";
  if (option.kind == CheckOption::ExpressionFile) {
    auto file = MemoryBuffer::getFile(option.text, /*IsText=*/true);
    if (!file)
      return console.fail("cannot read `" + option.text + "`: " + file.getError().message());
    name = option.text;
    text = (*file)->getBuffer().str();
  }
  check.origin = option.kind == CheckOption::ExpressionFile ? option.text : "the expression";
  ReferenceSource source{{options.input, kernel, options.defines, options.importFolders}, {}};
  for (const TensorBinding &tensor : arguments.tensors)
    if (tensor.access != TensorBinding::In && tensor.type->kind == ElementType::Float)
      source.floatResults.push_back(tensor.name);
  Expected<std::unique_ptr<Reference>> expression = Reference::parse(text, name, source, errs());
  if (!expression) {
    std::string message = toString(expression.takeError());
    return console.fail(message.empty() ? "--check is no reference, which is of the form 'C[m, n] = ...'" : message);
  }
  check.expression = std::move(*expression);
  checks.push_back(std::move(check));
  return success;
}

int Results::checkNames(const Arguments &arguments) {
  for (const TensorBinding &tensor : arguments.tensors)
    if (tensor.access != TensorBinding::In)
      names.push_back(tensor.name);
  auto known = [&](StringRef name) { return name.empty() ? names.size() == 1 : is_contained(names, name.str()); };
  auto complain = [&](StringRef name) {
    std::string list = join(names, ", ");
    return name.empty() ? console.fail("there are several results, " + list + "; write NAME=FILE.npy", wrongCommandLine)
                        : console.fail("there is no result `" + name + "`; the results are " + list, wrongCommandLine);
  };
  for (const auto &[name, path] : options.outputs) {
    if (!known(name))
      return complain(name);
    // Before a run that may take long.
    StringRef folder = sys::path::parent_path(path);
    if (!folder.empty() && !sys::fs::is_directory(folder))
      return console.fail("`" + path + "` cannot be written: there is no folder `" + folder + "`");
  }
  for (const Check &check : checks)
    if (check.array && !known(check.name))
      return complain(check.name);
  return success;
}

int Results::prepare(const std::string &kernel, const Arguments &arguments) {
  for (const CheckOption &option : options.checks)
    if (int status = readCheck(option, kernel, arguments))
      return status;
  return checkNames(arguments);
}

//===----------------------------------------------------------------------===//
// Files and elements
//===----------------------------------------------------------------------===//

// "[256, 512]"
static std::string shapeText(ArrayRef<int64_t> shape) {
  std::string text = "[";
  raw_string_ostream os(text);
  interleaveComma(shape, os);
  return text + "]";
}

// "bf16[256, 512]"
static std::string shapeText(const HostTensor &tensor) { return tensor.type->name + shapeText(tensor.shape); }

int Results::write(StringRef name, StringRef path, const HostTensor &result) {
  if (Error error = interpreter::writeNpy(path, toArray(result, options.decode)))
    return console.fail(std::move(error));
  console.note() << name << ": " << shapeText(result) << " written to " << path << "\n";
  return success;
}

// The first elements of the last dimension.
void Results::show(StringRef name, const HostTensor &tensor) {
  constexpr int64_t most = 6;
  int64_t count = std::min(tensor.size(), most);
  if (!tensor.shape.empty())
    count = std::min(count, tensor.shape.back());
  raw_ostream &os = console.note();
  os << name << ": " << shapeText(tensor);
  for (int64_t i = 0; i < count; ++i) {
    double value = tensor.value(i);
    os << (i ? ", " : " = ") << format("%g", std::isnan(value) ? std::abs(value) : value);
  }
  os << (count < tensor.size() ? ", ...\n" : "\n");
}

//===----------------------------------------------------------------------===//
// Comparisons
//===----------------------------------------------------------------------===//

static std::string position(ArrayRef<int64_t> shape, int64_t at) {
  std::string text;
  for (int64_t extent : reverse(shape)) {
    text.insert(0, std::to_string(at % extent) + (text.empty() ? "" : ", "));
    at /= extent;
  }
  return "[" + text + "]";
}

static std::string numberText(double value) {
  std::string text;
  raw_string_ostream(text) << format("%.9g", std::isnan(value) ? std::abs(value) : value);
  return text;
}

Tolerance Results::overridden(Tolerance tolerance) const {
  return {options.relative.value_or(tolerance.relative), options.absolute.value_or(tolerance.absolute)};
}

int Results::tell(StringRef name, StringRef against, const HostTensor &result, const Tolerance &tolerance,
                  const Comparison &comparison, bool bounded) {
  raw_ostream &os = console.note();
  os << name << ": " << comparison.total << " elements against " << against << ", worst error "
     << format("%.3g", comparison.worstError);
  if (comparison.worstShare > 0)
    os << " at " << position(result.shape, comparison.worstAt) << " (" << numberText(comparison.worstGot)
       << ", expected " << numberText(comparison.worstWant) << ")";
  if (result.type->kind == ElementType::Float) {
    bool isFar = comparison.worstShare > 10;
    os << format(isFar ? ", %.3g times what is allowed" : ", %.0f %% of what is allowed",
                 (isFar ? 1 : 100) * comparison.worstShare)
       << format(" (rtol %.3g, atol %.3g of the root mean square", tolerance.relative, tolerance.absolute);
    os << (bounded ? ", and the bound of the sums' errors)" : ")");
  }
  os << "\n";
  if (comparison.wrong == 0)
    return success;
  return console.fail(Twine(comparison.wrong) + " of " + Twine(comparison.total) + " elements of `" + name +
                      "` are wrong; the first at " + position(result.shape, comparison.at) + " is " +
                      numberText(comparison.got) + ", expected " + numberText(comparison.want));
}

int Results::compareArray(const Check &check, StringRef name, const HostTensor &result) {
  if (check.array->shape != result.shape)
    return console.fail("`" + check.origin + "` has the shape " + shapeText(check.array->shape) + ", `" + name +
                        "` has " + shapeText(result.shape));
  // A reference of higher precision stays one.
  bool precise = result.type->kind == ElementType::Float && check.array->type == "f8";
  Expected<HostTensor> reference =
      convertArray(precise ? *cantFail(findElementType("f64")) : *result.type, *check.array);
  if (!reference)
    return console.fail("`" + check.origin + "`: " + toString(reference.takeError()));
  Tolerance tolerance = overridden(defaultTolerance(*result.type));
  return tell(name, check.origin, result, tolerance, compareTensors(result, *reference, tolerance), /*bounded=*/false);
}

int Results::evaluate(Check &check, const Arguments &arguments) {
  if (check.expected)
    return success;
  Progress progress("elements of the reference", console.isQuiet());
  auto progressed = [&](uint64_t done, uint64_t all) { progress.update(done, all); };
  ReferenceBudget budget;
  budget.seed = options.seed;
  budget.progress = progressed;
  if (options.checkElements) {
    budget.work = *options.checkElements == 0 ? ~uint64_t(0) >> 1 : 0;
    budget.leastElements = *options.checkElements;
  }
  Expected<std::vector<ReferenceTensor>> expected = check.expression->evaluate(arguments, budget);
  if (!expected)
    return console.fail(expected.takeError());
  check.expected = std::move(*expected);
  return success;
}

int Results::compareExpression(const Check &check, const ReferenceTensor &expected, const HostTensor &result) {
  Tolerance tolerance = overridden(referenceTolerance(*result.type));
  Comparison comparison = compareElements(result, expected.elements, tolerance);
  std::string against = check.origin;
  if (expected.sampled)
    against += " (a sample of " + std::to_string(result.size()) + "; --check-elements=all takes all)";
  else if (comparison.total < result.size())
    against += " (the others of " + std::to_string(result.size()) + " are not in it)";
  return tell(expected.name, against, result, tolerance, comparison, /*bounded=*/true);
}

//===----------------------------------------------------------------------===//
// After a run
//===----------------------------------------------------------------------===//

int Results::use(Session &session, const Arguments &arguments) {
  Expected<std::vector<HostTensor>> results = session.results();
  if (!results)
    return console.fail(results.takeError());
  auto find = [&](StringRef name) -> const HostTensor & {
    auto found = name.empty() ? names.begin() : llvm::find(names, name);
    return (*results)[static_cast<size_t>(found - names.begin())];
  };
  int status = success;
  for (const auto &[name, path] : options.outputs)
    status = std::max(status, write(name.empty() ? names[0] : name, path, find(name)));
  for (Check &check : checks) {
    if (check.array) {
      status = std::max(status, compareArray(check, check.name.empty() ? names[0] : check.name, find(check.name)));
      continue;
    }
    if (int failed = evaluate(check, arguments))
      return failed;
    for (const ReferenceTensor &expected : *check.expected)
      status = std::max(status, compareExpression(check, expected, find(expected.name)));
  }
  if (options.outputs.empty() && checks.empty())
    for (auto [name, tensor] : zip(names, *results))
      show(name, tensor);
  return status;
}
