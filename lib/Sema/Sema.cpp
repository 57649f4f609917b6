// Entry of semantic analysis: constants and functions of the files, then every kernel that is to be emitted.
#include "tilec/Sema/Sema.h"
#include "Analyzer.h"
#include "ConstantBinder.h"
#include "GenericKernels.h"
#include "tilec/Sema/Reference.h"

using namespace tilec;
using namespace tilec::sema;

namespace {

class ProgramAnalyzer {
public:
  ProgramAnalyzer(const ast::Program &program, DiagnosticEngine &engine, const Options &options, bool isReference,
                  TypedProgram &result)
      : program(program), options(options), result(result), globals(result.context, engine, options) {
    globals.isReference = isReference;
  }

  void run();

private:
  void checkDefines();
  using Choices = std::vector<std::pair<const ast::Contract *, int64_t>>;

  void emitKernel(const Instantiation &instantiation);
  /// The kernel with sizes that the chooser likes, or with the trial sizes of `probe`.
  void emitSizes(const Instantiation &instantiation, const Choices &variant, llvm::ArrayRef<std::string> autos,
                 Kernel probe);
  /// Nothing where these sizes are not possible.
  std::optional<Kernel> analyseWith(const SizeChoice &choice, const Instantiation &instantiation,
                                    const Choices &variant);
  bool hasAllConstants(const ast::KernelDecl *decl) const;
  void instantiate(const ast::InstantiateDecl *decl);
  void checkGenericDeclarations();

  const ast::Program &program;
  const Options &options;
  TypedProgram &result;
  Globals globals;
  llvm::StringMap<SourceRange> emitted;
  /// Kernels that were analysed with values of the program.
  llvm::DenseSet<const ast::KernelDecl *> analysed;
};

} // namespace

/// Reports -D of names that no kernel of the main file has, with those that there are.
void ProgramAnalyzer::checkDefines() {
  std::vector<llvm::StringRef> known;
  for (const ast::Decl *decl : program.mainFile().decls)
    if (const auto *kernel = llvm::dyn_cast<ast::KernelDecl>(decl))
      for (const ast::ConstParam &param : kernel->constParams)
        if (!llvm::is_contained(known, param.name.name))
          known.push_back(param.name.name);
  std::string list;
  for (llvm::StringRef name : known)
    list += ((list.empty() ? "`" : ", `") + name + "`").str();
  for (const Define &define : options.defines)
    if (!llvm::is_contained(known, define.name))
      globals.report({}, diag::err_define_matches_nothing)
          << define.name << (list.empty() ? std::string("none") : list);
}

bool ProgramAnalyzer::hasAllConstants(const ast::KernelDecl *decl) const {
  return llvm::all_of(decl->constParams, [&](const ast::ConstParam &param) {
    return param.defaultValue || findDefine(options, param.name.name);
  });
}

static std::string variantName(llvm::StringRef name, llvm::ArrayRef<std::pair<std::string, int64_t>> values) {
  std::string result = name.str();
  for (auto [i, value] : llvm::enumerate(values))
    result += (i == 0 ? "__" : "_") + value.first + std::to_string(value.second);
  llvm::replace(result, '-', 'm');
  return result;
}

void ProgramAnalyzer::emitKernel(const Instantiation &instantiation) {
  analysed.insert(instantiation.decl);
  auto [it, inserted] = emitted.try_emplace(instantiation.name, instantiation.place);
  if (!inserted) {
    DiagnosticBuilder builder = globals.report(instantiation.place, diag::err_redeclared) << instantiation.name;
    builder.note(it->second, diag::note_declared_here) << instantiation.name;
    return;
  }
  Analyzer constants(globals);
  ConstantBinder binder(globals);
  if (!binder.bind(instantiation, constants))
    return;
  for (const Choices &variant : constants.enumerateVariants(instantiation.decl)) {
    Kernel kernel;
    std::vector<std::pair<std::string, int64_t>> values;
    for (const auto &[contract, value] : variant)
      values.emplace_back(contract->name.name.str(), value);
    kernel.name = instantiation.name.str();
    kernel.variant = variantName(kernel.name, values);
    unsigned errorsBefore = globals.engine.getNumErrors();
    Analyzer analyzer(globals);
    analyzer.analyzeKernel(instantiation.decl, binder.bindings, variant, kernel);
    if (globals.engine.getNumErrors() == errorsBefore)
      emitSizes(instantiation, variant, binder.autos, std::move(kernel));
  }
}

std::optional<Kernel> ProgramAnalyzer::analyseWith(const SizeChoice &choice, const Instantiation &instantiation,
                                                   const Choices &variant) {
  // The probe has reported what is wrong or doubtful in the source.
  DiagnosticEngine silent(globals.engine.getSources());
  Globals own(result.context, silent, options);
  own.isReference = globals.isReference;
  own.declareAll(program);
  for (const auto &[name, size] : choice.sizes)
    own.sizes[name] = size;
  Analyzer constants(own), analyzer(own);
  ConstantBinder binder(own);
  Kernel kernel;
  kernel.name = instantiation.name.str();
  if (!binder.bind(instantiation, constants))
    return std::nullopt;
  analyzer.analyzeKernel(instantiation.decl, binder.bindings, variant, kernel);
  if (silent.hasErrors())
    return std::nullopt;
  return kernel;
}

/// Whether a launcher that has not chosen yet can treat the two alike.
static bool haveSameInterface(const Kernel &a, const Kernel &b) {
  auto sameExpressions = [](llvm::ArrayRef<Expr *> x, llvm::ArrayRef<Expr *> y) {
    return x.size() == y.size() && llvm::all_of(llvm::zip(x, y), [](auto pair) {
             return toHostExpr(std::get<0>(pair)) == toHostExpr(std::get<1>(pair));
           });
  };
  auto sameTensor = [&](auto pair) {
    const Tensor *x = std::get<0>(pair).tensor, *y = std::get<1>(pair).tensor;
    return !x || (y && sameExpressions(x->shape, y->shape) && sameExpressions(x->strides, y->strides));
  };
  auto sameContract = [](auto pair) { return std::get<0>(pair).condition == std::get<1>(pair).condition; };
  return a.parameters.size() == b.parameters.size() && a.contracts.size() == b.contracts.size() &&
         llvm::all_of(llvm::zip(a.parameters, b.parameters), sameTensor) &&
         llvm::all_of(llvm::zip(a.contracts, b.contracts), sameContract);
}

void ProgramAnalyzer::emitSizes(const Instantiation &instantiation, const Choices &variant,
                                llvm::ArrayRef<std::string> autos, Kernel probe) {
  const std::string name = probe.variant;
  std::vector<AutoSize> sizes = findAutoSizes(instantiation.decl, autos, probe);
  std::vector<Kernel> kernels;
  if (!sizes.empty() && options.chooseSizes) {
    for (SizeChoice &choice : options.chooseSizes(probe, sizes)) {
      std::optional<Kernel> kernel = analyseWith(choice, instantiation, variant);
      if (!kernel || (!kernels.empty() && !haveSameInterface(kernels.front(), *kernel)))
        continue;
      kernel->choice = kernels.size();
      kernel->variant = variantName(name, choice.sizes);
      kernel->chosen = std::move(choice);
      kernels.push_back(std::move(*kernel));
    }
  }
  if (kernels.empty()) {
    // Bulk copies are what needs aligned rows.
    constexpr unsigned leastArch = 90;
    probe.chosen.packed = options.arch >= leastArch;
    kernels.push_back(std::move(probe));
  }
  if (llvm::none_of(kernels, [](const Kernel &kernel) { return kernel.chosen.general; }))
    kernels.front().chosen.general = true;
  if (kernels.size() == 1)
    kernels.front().variant = name;
  for (Kernel &kernel : kernels)
    for (const AutoSize &size : findAutoSizes(instantiation.decl, autos, kernel))
      kernel.freeAxes.insert(size.axes.begin(), size.axes.end());
  for (Kernel &kernel : kernels)
    result.kernels.push_back(std::move(kernel));
}

void ProgramAnalyzer::instantiate(const ast::InstantiateDecl *decl) {
  const ast::KernelDecl *kernel = globals.findKernel(decl->kernel.name);
  if (!kernel) {
    globals.report(decl->kernel.range, diag::err_unknown_kernel) << decl->kernel.name;
    return;
  }
  bool good = true;
  for (const ast::ConstArgument &argument : decl->arguments) {
    bool known = llvm::any_of(kernel->constParams,
                              [&](const ast::ConstParam &param) { return param.name.name == argument.name.name; });
    if (known)
      continue;
    DiagnosticBuilder builder = globals.report(argument.name.range, diag::err_unknown_constant)
                                << argument.name.name << kernel->name.name;
    builder.note(kernel->name.range, diag::note_declared_here) << kernel->name.name;
    good = false;
  }
  if (!good)
    return;
  bool isMain = llvm::is_contained(program.mainFile().decls, kernel);
  emitKernel({kernel, decl->alias.name, decl->arguments, isMain, decl->alias.range});
}

void ProgramAnalyzer::run() {
  globals.declareAll(program);
  checkDefines();
  for (const ast::SourceFile &file : program.files) {
    for (ast::Decl *decl : file.decls) {
      if (const auto *constant = llvm::dyn_cast<ast::ConstDecl>(decl)) {
        Symbol *symbol = globals.find(constant->name.name);
        if (symbol && symbol->kind == SymbolKind::Constant)
          globals.getConstant(symbol);
      } else if (const auto *function = llvm::dyn_cast<ast::FunctionDecl>(decl)) {
        Analyzer(globals).checkFunction(function);
      }
    }
  }
  for (ast::Decl *decl : program.mainFile().decls) {
    const auto *kernel = llvm::dyn_cast<ast::KernelDecl>(decl);
    if (kernel && hasAllConstants(kernel))
      emitKernel({kernel, kernel->name.name, {}, /*isMain=*/true, kernel->name.range});
  }
  for (const ast::SourceFile &file : program.files)
    for (ast::Decl *decl : file.decls)
      if (const auto *instance = llvm::dyn_cast<ast::InstantiateDecl>(decl))
        instantiate(instance);
  checkGenericDeclarations();
}

/// Errors in what nothing instantiates show all the same.
void ProgramAnalyzer::checkGenericDeclarations() {
  std::optional<GenericChecker> checker;
  auto check = [&](const auto *decl) {
    if (!checker)
      checker.emplace(program, globals.engine, options);
    checker->check(decl);
  };
  for (const ast::SourceFile &file : program.files) {
    for (ast::Decl *decl : file.decls) {
      const auto *kernel = llvm::dyn_cast<ast::KernelDecl>(decl);
      const auto *function = llvm::dyn_cast<ast::FunctionDecl>(decl);
      if (kernel && !analysed.contains(kernel))
        check(kernel);
      else if (function && llvm::any_of(function->constParams, [](const auto &param) { return param.isType; }))
        check(function);
    }
  }
}

static std::unique_ptr<TypedProgram> analyzeProgram(const ast::Program &program, DiagnosticEngine &engine,
                                                    const Options &options, bool isReference) {
  unsigned errorsBefore = engine.getNumErrors();
  auto result = std::make_unique<TypedProgram>();
  ProgramAnalyzer(program, engine, options, isReference, *result).run();
  return engine.getNumErrors() == errorsBefore ? std::move(result) : nullptr;
}

std::unique_ptr<TypedProgram> tilec::analyze(const ast::Program &program, DiagnosticEngine &engine,
                                             const Options &options) {
  return analyzeProgram(program, engine, options, /*isReference=*/false);
}

std::unique_ptr<TypedProgram> tilec::analyzeReference(const ast::Program &program, DiagnosticEngine &engine,
                                                      const Options &options) {
  return analyzeProgram(program, engine, options, /*isReference=*/true);
}
