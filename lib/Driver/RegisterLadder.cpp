// A kernel that spills gets the registers of fewer blocks a multiprocessor.
#include "RegisterLadder.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "tilec/Dialect/Tile/AttributeNames.h"
#include "tilec/Machine/Occupancy.h"

using namespace llvm;

static constexpr StringLiteral limitName = "nvvm.maxnreg", threadsName = "nvvm.reqntid";
static constexpr StringLiteral directive = ".maxnreg ";

// Replaces the number of `.maxnreg` in the head of an entry.
static bool replaceLimit(std::string &ptx, StringRef entry, int64_t registers) {
  size_t head = ptx.find((".entry " + entry + "(").str());
  size_t begin = head == std::string::npos ? head : ptx.find(directive.str(), head);
  if (begin == std::string::npos || ptx.find('{', head) < begin)
    return false;
  begin += directive.size();
  ptx.replace(begin, ptx.find('\n', begin) - begin, std::to_string(registers));
  return true;
}

static bool raiseLimit(mlir::LLVM::LLVMFuncOp function, const tilec::Machine &machine,
                       const tilec::KernelResources &used, std::string &ptx) {
  auto blocks = function->getAttrOfType<mlir::IntegerAttr>(tilec::tile::blocksName);
  auto limit = function->getAttrOfType<mlir::IntegerAttr>(limitName);
  auto threads = function->getAttrOfType<mlir::DenseI32ArrayAttr>(threadsName);
  if (!blocks || !limit || !threads || !used.spills())
    return false;
  // Half of what lies in local memory is a safe guess of what is missing.
  constexpr int64_t bytesPerRegister = 4;
  int64_t needed = limit.getInt() + std::max<int64_t>(used.spillStores / bytesPerRegister / 2, 1);
  int64_t fewer = blocks.getInt() - 1;
  while (fewer > 1 && tilec::registersOfBlocks(machine, threads[0], fewer) < needed)
    --fewer;
  if (fewer < 1)
    return false;
  int64_t registers = tilec::registersOfBlocks(machine, threads[0], fewer);
  if (registers <= limit.getInt() || !replaceLimit(ptx, function.getName(), registers))
    return false;
  mlir::Builder builder(function.getContext());
  function->setAttr(tilec::tile::blocksName, builder.getI64IntegerAttr(fewer));
  function->setAttr(limitName, builder.getI32IntegerAttr(registers));
  mlir::emitRemark(function.getLoc()) << function.getName() << ": spills with " << limit.getInt()
                                      << " registers a thread; " << fewer << " blocks a multiprocessor, up to "
                                      << registers;
  return true;
}

bool tilec::raiseRegisterLimits(mlir::ModuleOp module, const Machine &machine, const AssemblerReport &report,
                                std::string &ptx) {
  bool raised = false;
  for (const KernelResources &used : report.kernels)
    if (auto function = module.lookupSymbol<mlir::LLVM::LLVMFuncOp>(used.entry))
      raised |= raiseLimit(function, machine, used, ptx);
  return raised;
}
