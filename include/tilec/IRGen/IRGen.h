// From typed trees to the tile dialect.
#ifndef TILEC_IRGEN_IRGEN_H
#define TILEC_IRGEN_IRGEN_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "tilec/Diagnostics/DiagnosticEngine.h"
#include "tilec/Sema/Sema.h"

namespace tilec {

/// A module with one tile.kernel for each kernel variant and degree of specialisation (fast ones before general ones;
/// see Specialization.h), and the attribute `tilec.kernels` (docs/abi.md). Loads the dialects that it needs into the
/// context. Null after errors, which are reported to the engine.
mlir::OwningOpRef<mlir::ModuleOp> generateTile(const sema::TypedProgram &program, mlir::MLIRContext &context,
                                               DiagnosticEngine &diagnostics);

} // namespace tilec

#endif // TILEC_IRGEN_IRGEN_H
