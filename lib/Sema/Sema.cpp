// Entry of semantic analysis: constants and functions of the files, then every kernel that is to be emitted.
#include "tilec/Sema/Sema.h"
#include "Analyzer.h"
#include "GenericKernels.h"
#include "tilec/Sema/Reference.h"

using namespace tilec;
using namespace tilec::sema;

namespace {

/// The default for `auto`: tiles that fill a 16-bit Tensor Core shape, smaller ones for wider elements.
int64_t chooseFixedTile(const AutoRequest &request) {
  return request.elementBits <= 16 ? 128 : (request.elementBits == 32 ? 64 : 32);
}

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
  void emitKernel(const ast::KernelDecl *decl, llvm::StringRef name, llvm::ArrayRef<ast::ConstArgument> arguments,
                  bool isMain, SourceRange place);
  bool bind(const ast::ConstParam &param, const ast::Expr *value, llvm::StringRef kernel, Analyzer &analyzer,
            std::vector<ConstBinding> &bindings);
  const ast::Expr *findDefine(llvm::StringRef name) const;
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

const ast::Expr *ProgramAnalyzer::findDefine(llvm::StringRef name) const {
  // The last one wins, as on other compilers' command lines.
  for (const Define &define : llvm::reverse(options.defines))
    if (define.name == name)
      return define.value;
  return nullptr;
}

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
  return llvm::all_of(decl->constParams,
                      [&](const ast::ConstParam &param) { return param.defaultValue || findDefine(param.name.name); });
}

/// Gives a const parameter its value; false after an error.
bool ProgramAnalyzer::bind(const ast::ConstParam &param, const ast::Expr *value, llvm::StringRef kernel,
                           Analyzer &analyzer, std::vector<ConstBinding> &bindings) {
  Symbol *symbol =
      globals.create(param.isType ? SymbolKind::TypeConstant : SymbolKind::Constant, param.name.name, param.name.range);
  bindings.push_back({symbol->name, symbol});
  analyzer.bindConstants(bindings);
  if (param.isType) {
    const auto *scalar = llvm::dyn_cast<ast::ScalarExpr>(value);
    if (!scalar) {
      globals.report(value->range, diag::err_type_expected) << param.name.name;
      return false;
    }
    symbol->scalar = scalar->scalar;
    return true;
  }
  if (llvm::isa<ast::ScalarExpr>(value)) {
    globals.report(value->range, diag::err_type_as_value) << globals.text(value->range);
    return false;
  }
  std::optional<ScalarKind> type = param.type.kind;
  if (!type) {
    globals.report(param.type.range, diag::err_not_a_type) << param.type.name.name << "no scalar type";
    return false;
  }
  if (llvm::isa<ast::AutoExpr>(value)) {
    if (!isInteger(*type)) {
      globals.report(value->range, diag::err_auto_type) << param.name.name << getSpelling(*type);
      return false;
    }
    // The element width of the kernel is not known before its types are bound; tiles of 16-bit elements are the rule.
    int64_t chosen = options.autoValue({param.name.name, kernel, 16});
    symbol->constant = analyzer.convertConstant(Value::exact(Number::integer(chosen), value->range), *type);
    return !symbol->constant.isError;
  }
  symbol->constant = analyzer.convertConstant(analyzer.checkConstant(value), *type);
  return !symbol->constant.isError;
}

void ProgramAnalyzer::emitKernel(const ast::KernelDecl *decl, llvm::StringRef name,
                                 llvm::ArrayRef<ast::ConstArgument> arguments, bool isMain, SourceRange place) {
  analysed.insert(decl);
  auto [it, inserted] = emitted.try_emplace(name, place);
  if (!inserted) {
    DiagnosticBuilder builder = globals.report(place, diag::err_redeclared) << name;
    builder.note(it->second, diag::note_declared_here) << name;
    return;
  }
  std::vector<ConstBinding> bindings;
  Analyzer constants(globals);
  bool good = true;
  for (const ast::ConstParam &param : decl->constParams) {
    const ast::Expr *value = nullptr;
    for (const ast::ConstArgument &argument : arguments)
      if (argument.name.name == param.name.name)
        value = argument.value;
    if (!value && isMain)
      value = findDefine(param.name.name);
    if (!value)
      value = param.defaultValue;
    if (!value) {
      DiagnosticBuilder builder = globals.report(place, diag::err_constant_without_value) << param.name.name << name;
      builder.note(param.name.range, diag::note_declared_here) << param.name.name;
      good = false;
      continue;
    }
    good &= bind(param, value, decl->name.name, constants, bindings);
  }
  if (!good)
    return;
  constants.bindConstants(bindings);
  for (const auto &variant : constants.enumerateVariants(decl)) {
    Kernel kernel;
    kernel.name = kernel.variant = name.str();
    for (auto [i, choice] : llvm::enumerate(variant))
      kernel.variant += (i == 0 ? "__" : "_") + choice.first->name.name.str() + std::to_string(choice.second);
    llvm::replace(kernel.variant, '-', 'm');
    Analyzer analyzer(globals);
    analyzer.analyzeKernel(decl, bindings, variant, kernel);
    result.kernels.push_back(std::move(kernel));
  }
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
  emitKernel(kernel, decl->alias.name, decl->arguments, isMain, decl->alias.range);
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
      emitKernel(kernel, kernel->name.name, {}, /*isMain=*/true, kernel->name.range);
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
  Options complete = options;
  if (!complete.autoValue)
    complete.autoValue = chooseFixedTile;
  unsigned errorsBefore = engine.getNumErrors();
  auto result = std::make_unique<TypedProgram>();
  ProgramAnalyzer(program, engine, complete, isReference, *result).run();
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
