// Constants of kernels: values from instantiations, the command line, defaults, or left to the compiler.
#include "ConstantBinder.h"

#include "Analyzer.h"

using namespace tilec;
using namespace tilec::sema;

const ast::Expr *sema::findDefine(const Options &options, llvm::StringRef name) {
  for (const Define &define : llvm::reverse(options.defines))
    if (define.name == name)
      return define.value;
  return nullptr;
}

/// Gives a const parameter its value; false after an error.
bool ConstantBinder::bind(const ast::ConstParam &param, const ast::Expr *value, Analyzer &analyzer) {
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
    autos.push_back(symbol->name);
    // The element width of the kernel is not known before its types are bound; tiles of 16-bit elements are the rule.
    int64_t chosen = globals.sizeOf(param.name.name, 16);
    symbol->constant = analyzer.convertConstant(Value::exact(Number::integer(chosen), value->range), *type);
    return !symbol->constant.isError;
  }
  symbol->constant = analyzer.convertConstant(analyzer.checkConstant(value), *type);
  return !symbol->constant.isError;
}

bool ConstantBinder::bind(const Instantiation &instantiation, Analyzer &analyzer) {
  bool good = true;
  for (const ast::ConstParam &param : instantiation.decl->constParams) {
    const ast::Expr *value = nullptr;
    for (const ast::ConstArgument &argument : instantiation.arguments)
      if (argument.name.name == param.name.name)
        value = argument.value;
    if (!value && instantiation.isMain)
      value = findDefine(globals.options, param.name.name);
    if (!value)
      value = param.defaultValue;
    if (!value) {
      DiagnosticBuilder builder = globals.report(instantiation.place, diag::err_constant_without_value)
                                  << param.name.name << instantiation.name;
      builder.note(param.name.range, diag::note_declared_here) << param.name.name;
      good = false;
      continue;
    }
    good &= bind(param, value, analyzer);
  }
  if (good)
    analyzer.bindConstants(bindings);
  return good;
}

//===----------------------------------------------------------------------===//
// Axes of sizes that are left to the compiler
//===----------------------------------------------------------------------===//

namespace {

/// By the place where an axis is introduced: the name of its size, if that is left to the compiler.
class SizeNames {
public:
  explicit SizeNames(llvm::ArrayRef<std::string> constants) : constants(constants) {}

  void collect(const ast::Block *block) {
    for (const ast::Stmt *stmt : block->statements) {
      if (const auto *parallel = llvm::dyn_cast<ast::ParallelStmt>(stmt)) {
        collect(parallel->bindings);
        collect(parallel->body);
      } else if (const auto *loop = llvm::dyn_cast<ast::ForStmt>(stmt)) {
        collect(loop->bindings);
        collect(loop->body);
      } else if (const auto *loop = llvm::dyn_cast<ast::WhileStmt>(stmt)) {
        collect(loop->body);
      } else if (const auto *conditional = llvm::dyn_cast<ast::IfStmt>(stmt)) {
        collect(conditional->thenBlock);
        if (conditional->elseBlock)
          collect(conditional->elseBlock);
      }
    }
  }

  /// Empty for an axis whose size is written.
  llvm::StringRef of(const Axis &axis) const {
    auto it = names.find(axis.range.begin.getRaw());
    return it == names.end() ? llvm::StringRef() : it->second;
  }

private:
  void collect(llvm::ArrayRef<ast::Binding> bindings) {
    for (const ast::Binding &binding : bindings) {
      if (!binding.isTiles)
        continue;
      const auto *name = llvm::dyn_cast<ast::NameExpr>(binding.size);
      if (llvm::isa<ast::AutoExpr>(binding.size))
        names[binding.name.range.begin.getRaw()] = binding.name.name;
      else if (name && llvm::is_contained(constants, name->name.name.str()))
        names[binding.name.range.begin.getRaw()] = name->name.name;
    }
  }

  llvm::ArrayRef<std::string> constants;
  llvm::DenseMap<uint32_t, llvm::StringRef> names;
};

} // namespace

static void collectAxes(const Block *block, llvm::function_ref<void(const Axis &)> visit) {
  for (const Stmt *stmt : block->statements) {
    if (const auto *parallel = llvm::dyn_cast<ParallelStmt>(stmt)) {
      for (const Binding &binding : parallel->bindings)
        if (binding.axis)
          visit(*binding.axis);
      collectAxes(parallel->body, visit);
    } else if (const auto *loop = llvm::dyn_cast<ForStmt>(stmt)) {
      if (loop->binding.axis)
        visit(*loop->binding.axis);
      collectAxes(loop->body, visit);
    } else if (const auto *loop = llvm::dyn_cast<WhileStmt>(stmt)) {
      collectAxes(loop->body, visit);
    } else if (const auto *conditional = llvm::dyn_cast<IfStmt>(stmt)) {
      collectAxes(conditional->thenBlock, visit);
      if (conditional->elseBlock)
        collectAxes(conditional->elseBlock, visit);
    }
  }
}

std::vector<AutoSize> sema::findAutoSizes(const ast::KernelDecl *decl, llvm::ArrayRef<std::string> constants,
                                          const Kernel &kernel) {
  SizeNames names(constants);
  names.collect(decl->body);
  std::vector<AutoSize> result;
  for (const std::string &constant : constants)
    result.push_back({constant, {}});
  collectAxes(kernel.body, [&](const Axis &axis) {
    llvm::StringRef name = names.of(axis);
    if (name.empty())
      return;
    auto it = llvm::find_if(result, [&](const AutoSize &size) { return size.name == name; });
    if (it == result.end())
      it = result.insert(result.end(), {name.str(), {}});
    it->axes.push_back(&axis);
  });
  return result;
}
