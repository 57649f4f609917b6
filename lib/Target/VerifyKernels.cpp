// Checks kernel functions against their launch interface.
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "tilec/Target/Codegen.h"

using namespace llvm;
using mlir::LLVM::LLVMFuncOp;

namespace tilec {
namespace {

Error fault(LLVMFuncOp function, const Twine &message) {
  return createStringError(inconvertibleErrorCode(), "kernel `" + function.getName() + "`: " + message);
}

/// A tensor map is 128 bytes by value (CUtensorMap in cuda.h).
Error verifyTensorMap(LLVMFuncOp function, unsigned index) {
  auto byval = function.getArgAttrOfType<mlir::TypeAttr>(index, "llvm.byval");
  auto align = function.getArgAttrOfType<mlir::IntegerAttr>(index, "llvm.align");
  auto array = byval ? dyn_cast<mlir::LLVM::LLVMArrayType>(byval.getValue()) : nullptr;
  if (!array || !array.getElementType().isInteger(8) || array.getNumElements() != 128)
    return fault(function, "tensor map parameter " + Twine(index) + " is not 128 bytes by value");
  if (!align || align.getInt() < 64)
    return fault(function, "tensor map parameter " + Twine(index) + " is not aligned to 64 bytes");
  if (!function.getArgAttr(index, "nvvm.grid_constant"))
    return fault(function, "tensor map parameter " + Twine(index) + " is not a grid constant");
  return Error::success();
}

Error verifyParameter(LLVMFuncOp function, unsigned index, const Parameter &parameter) {
  mlir::Type type = function.getArgumentTypes()[index];
  bool isPointer = isa<mlir::LLVM::LLVMPointerType>(type);
  if (parameter.kind == Parameter::Kind::TensorMap)
    return verifyTensorMap(function, index);
  if (function.getArgAttr(index, "llvm.byval"))
    return fault(function, "parameter " + Twine(index) + " is passed by value but is no tensor map");
  if (parameter.kind == Parameter::Kind::Pointer) {
    if (isPointer || type.isInteger(64))
      return Error::success();
    return fault(function, "parameter " + Twine(index) + " is not a 64-bit address");
  }
  const HostType *hostType = findHostType(parameter.type);
  if (!isPointer && type.isIntOrFloat() && hostType && type.getIntOrFloatBitWidth() == hostType->bits)
    return Error::success();
  return fault(function, "parameter " + Twine(index) + " does not have the width of " + parameter.type);
}

Error verifyLaunch(LLVMFuncOp function, const Launch &launch, const Machine &machine) {
  if (!function->hasAttr("nvvm.kernel"))
    return fault(function, "`nvvm.kernel` is missing");
  auto threads = function->getAttrOfType<mlir::DenseI32ArrayAttr>("nvvm.reqntid");
  if (!threads)
    return fault(function, "`nvvm.reqntid` is missing");
  int64_t product = 1;
  for (int32_t extent : threads.asArrayRef())
    product *= extent;
  if (product != launch.block || threads.size() < 1 || threads.asArrayRef()[0] != launch.block)
    return fault(function, "`nvvm.reqntid` differs from the block size of the launch");
  if (launch.shared < 0 || launch.shared > machine.sharedPerBlock)
    return fault(function, Twine(launch.shared) + " bytes of shared memory do not fit " + machine.name);
  if (launch.params.size() != function.getNumArguments())
    return fault(function, "has " + Twine(function.getNumArguments()) + " parameters, its launch passes " +
                               Twine(launch.params.size()));
  for (auto [index, parameter] : enumerate(launch.params))
    if (Error error = verifyParameter(function, index, parameter))
      return error;
  return Error::success();
}

} // namespace

Error verifyKernels(mlir::ModuleOp module, ArrayRef<KernelInfo> kernels, const Machine &machine) {
  for (const KernelInfo &kernel : kernels)
    for (const Variant &variant : kernel.variants)
      for (const Launch &launch : variant.launches) {
        auto function = module.lookupSymbol<LLVMFuncOp>(launch.entry);
        if (!function)
          return createStringError(inconvertibleErrorCode(), "no function `" + launch.entry + "`");
        if (Error error = verifyLaunch(function, launch, machine))
          return error;
      }
  return Error::success();
}

} // namespace tilec
