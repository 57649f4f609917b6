// Splits a module into one module a kernel.
#include "KernelModules.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/SetVector.h"

using namespace llvm;

namespace tilec {

/// `kernel` and all symbols of the module that it refers to, directly or not, in the order of the module.
static SmallVector<mlir::Operation *> collectSymbols(mlir::ModuleOp module, mlir::SymbolTable &table,
                                                     mlir::Operation *kernel) {
  SetVector<mlir::Operation *> reached;
  reached.insert(kernel);
  for (unsigned i = 0; i < reached.size(); ++i) {
    auto uses = mlir::SymbolTable::getSymbolUses(reached[i]);
    if (!uses)
      continue;
    for (const mlir::SymbolTable::SymbolUse &use : *uses)
      if (mlir::Operation *target = table.lookup(use.getSymbolRef().getRootReference()))
        reached.insert(target);
  }
  SmallVector<mlir::Operation *> result;
  for (mlir::Operation &op : module.getOps())
    if (reached.contains(&op))
      result.push_back(&op);
  return result;
}

/// Declared functions keep their names: they refer to what the driver provides, such as vprintf.
static bool isPrivateToModule(mlir::Operation *symbol) {
  auto function = dyn_cast<mlir::LLVM::LLVMFuncOp>(symbol);
  return function ? !function.isExternal() : isa<mlir::LLVM::GlobalOp>(symbol);
}

static void makeNamesUnique(mlir::ModuleOp module, StringRef entry) {
  for (mlir::Operation &op : module.getOps()) {
    auto symbol = dyn_cast<mlir::SymbolOpInterface>(op);
    if (!symbol || symbol.getName() == entry || !isPrivateToModule(&op))
      continue;
    auto name = mlir::StringAttr::get(module.getContext(), symbol.getName() + "__" + entry);
    (void)mlir::SymbolTable::replaceAllSymbolUses(&op, name, module);
    symbol.setName(name);
  }
}

std::vector<KernelModule> splitKernels(mlir::ModuleOp module) {
  std::vector<KernelModule> result;
  mlir::SymbolTable table(module);
  for (auto kernel : module.getOps<mlir::LLVM::LLVMFuncOp>()) {
    if (!kernel->hasAttr("nvvm.kernel"))
      continue;
    auto part = mlir::ModuleOp::create(module.getLoc());
    for (mlir::Operation *symbol : collectSymbols(module, table, kernel))
      part.push_back(symbol->clone());
    makeNamesUnique(part, kernel.getName());
    result.push_back({kernel.getName().str(), part});
  }
  return result;
}

} // namespace tilec
