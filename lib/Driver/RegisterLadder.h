// The limits of registers that plans chose so that several blocks share a multiprocessor, and what follows from spills.
#ifndef TILEC_LIB_DRIVER_REGISTERLADDER_H
#define TILEC_LIB_DRIVER_REGISTERLADDER_H

#include "mlir/IR/BuiltinOps.h"
#include "tilec/Machine/Machine.h"
#include "tilec/Target/Assembler.h"
#include <string>

namespace tilec {

/// Raises the limit of every kernel that spills under one which its plan chose (attribute `tilec.blocks` of its
/// function) to that of fewer blocks, in the function and in the PTX text. False if there is none.
bool raiseRegisterLimits(mlir::ModuleOp module, const Machine &machine, const AssemblerReport &report,
                         std::string &ptx);

} // namespace tilec

#endif // TILEC_LIB_DRIVER_REGISTERLADDER_H
