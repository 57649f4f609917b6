// Kernels and functions that nothing instantiates: they are analysed with several values for what has none, and an
// error that all of them give is an error of the text.
#include "GenericKernels.h"
#include "Analyzer.h"
#include "llvm/ADT/DenseSet.h"

using namespace tilec;
using namespace tilec::sema;

// Each probe takes another value of each list, so that an error that depends on a type or a size vanishes in some.
static constexpr ScalarKind probeTypes[] = {ScalarKind::F32, ScalarKind::BF16, ScalarKind::I32, ScalarKind::F64};
static constexpr int64_t probeIntegers[] = {16, 64, 128, 1, 2, 32};
constexpr unsigned numProbes = 12;

std::vector<ConstBinding> GenericChecker::bind(const ast::KernelDecl *decl, Analyzer &analyzer, unsigned probe) {
  std::vector<ConstBinding> bindings;
  for (const ast::ConstParam &param : decl->constParams) {
    Symbol *symbol = globals.create(param.isType ? SymbolKind::TypeConstant : SymbolKind::Constant, param.name.name,
                                    param.name.range);
    std::optional<ScalarKind> type = param.type.kind;
    if (param.isType) {
      symbol->scalar = probeTypes[probe % std::size(probeTypes)];
    } else if (!type) {
      symbol->kind = SymbolKind::Poison;
    } else {
      int64_t integer = probeIntegers[probe % std::size(probeIntegers)];
      Number number = Number::integer(*type == ScalarKind::Bool ? probe / 2 % 2 : integer);
      symbol->constant = analyzer.convertConstant(Value::exact(number, param.name.range), *type);
      if (symbol->constant.isError)
        symbol->kind = SymbolKind::Poison;
    }
    bindings.push_back({symbol->name, symbol});
  }
  return bindings;
}

void GenericChecker::analyze(const ast::KernelDecl *decl, unsigned probe) {
  Analyzer constants(globals);
  std::vector<ConstBinding> bindings = bind(decl, constants, probe);
  constants.bindConstants(bindings);
  for (const auto &variant : constants.enumerateVariants(decl)) {
    Kernel kernel;
    Analyzer(globals).analyzeKernel(decl, bindings, variant, kernel);
  }
}

void GenericChecker::analyze(const ast::FunctionDecl *decl, unsigned probe) {
  Analyzer analyzer(globals);
  analyzer.probeType = probeTypes[probe % std::size(probeTypes)];
  analyzer.checkFunction(decl);
}

static std::string keyOf(const Diagnostic &diagnostic) {
  return std::to_string(diagnostic.kind) + "@" + std::to_string(diagnostic.range.begin.getRaw());
}

template <typename Decl> void GenericChecker::checkWithProbes(const Decl *decl) {
  std::vector<std::shared_ptr<Diagnostic>> common;
  for (unsigned probe = 0; probe < numProbes; ++probe) {
    globals.wrongFunctions = wrongFunctions;
    engine.take();
    analyze(decl, probe);
    std::vector<std::shared_ptr<Diagnostic>> found = engine.take();
    llvm::erase_if(found, [](const auto &diagnostic) {
      return diagnostic->severity != Severity::Error || diagnostic->kind == diag::err_not_built;
    });
    if (probe == 0) {
      common = std::move(found);
    } else {
      llvm::StringSet<> keys;
      for (const auto &diagnostic : found)
        keys.insert(keyOf(*diagnostic));
      llvm::erase_if(common, [&](const auto &diagnostic) { return !keys.contains(keyOf(*diagnostic)); });
    }
    if (common.empty())
      return;
  }
  for (const auto &diagnostic : common)
    reports.add(diagnostic);
}

GenericChecker::GenericChecker(const ast::Program &program, DiagnosticEngine &reports, const Options &options)
    : engine(reports.getSources()), globals(context, engine, options), reports(reports) {
  globals.declareAll(program);
  // What is wrong by itself is reported elsewhere.
  for (const ast::SourceFile &file : program.files)
    for (ast::Decl *decl : file.decls)
      if (const auto *function = llvm::dyn_cast<ast::FunctionDecl>(decl))
        Analyzer(globals).checkFunction(function);
  for (const auto &entry : globals.wrongFunctions)
    wrongFunctions[entry.getKey()] = true;
}

void GenericChecker::check(const ast::KernelDecl *decl) { checkWithProbes(decl); }

void GenericChecker::check(const ast::FunctionDecl *decl) { checkWithProbes(decl); }
