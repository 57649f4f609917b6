// The analysis of one kernel variant from its header to its body.
#include "Analyzer.h"

using namespace tilec;
using namespace tilec::sema;

void Analyzer::analyzeKernel(const ast::KernelDecl *decl, llvm::ArrayRef<ConstBinding> constants,
                             llvm::ArrayRef<std::pair<const ast::Contract *, int64_t>> chosen, Kernel &result) {
  kernelDecl = decl;
  kernel = &result;
  choices.assign(chosen.begin(), chosen.end());
  result.range = decl->name.range;
  result.body = context.create<Block>();
  out = result.body;

  Scope header(nullptr);
  scope = &header;
  for (const ConstBinding &binding : constants) {
    // A copy, because each variant declares it anew and reports what it clashes with.
    for (const ast::ConstParam &param : decl->constParams) {
      if (param.name.name != binding.name)
        continue;
      Symbol *symbol = declare(param.name, binding.symbol->kind);
      symbol->constant = binding.symbol->constant;
      symbol->scalar = binding.symbol->scalar;
    }
  }
  applyAnnotations(decl->annotations, result.annotations);
  declareParameters(decl);
  declareDimensions(decl);
  checkContracts(decl);
  {
    Scope body(scope);
    llvm::SaveAndRestore<Scope *> savedScope(scope, &body);
    bodyScope = &body;
    checkBlock(decl->body);
  }
  scope = nullptr;
  // What is not built is said only of programs that are otherwise right.
  if (foundError)
    return;
  for (const auto &[key, range] : refusals)
    if (!globals.isReference || !isBuiltInReferences(key))
      globals.report(range, diag::err_not_built) << getNotBuilt(key);
}
