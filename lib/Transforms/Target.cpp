// The target machine of a module, the specialisation of a kernel.
#include "tilec/Transforms/Passes.h"

#include "mlir/IR/BuiltinOps.h"
#include "tilec/Dialect/Tile/AttributeNames.h"

using namespace mlir;

const tilec::Machine &tilec::targetMachine(Operation *op) {
  auto module = dyn_cast<ModuleOp>(op);
  if (!module)
    module = op->getParentOfType<ModuleOp>();
  auto name = module ? module->getAttrOfType<StringAttr>("tilec.target") : StringAttr();
  const Machine *machine = findMachine(name ? name.getValue() : "sm_90a");
  return *(machine ? machine : findMachine("sm_90a"));
}

llvm::StringRef tilec::specializationOf(Operation *kernel) {
  auto attribute = kernel->getAttrOfType<StringAttr>(tile::specializationName);
  return attribute ? attribute.getValue() : llvm::StringRef();
}
