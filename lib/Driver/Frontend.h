// From the input file to a module: the front end for `.tile`, the parser for `.mlir`.
#ifndef TILEC_LIB_DRIVER_FRONTEND_H
#define TILEC_LIB_DRIVER_FRONTEND_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "tilec/Diagnostics/DiagnosticEngine.h"
#include "tilec/Driver/CompileOptions.h"

namespace tilec {

/// Reads the input into `sources`. Reports an error and returns an invalid id if it cannot be read.
FileID loadInput(const CompileOptions &options, SourceManager &sources, DiagnosticEngine &diagnostics);

/// Parses a file in MLIR's text form, of any dialect that tilec uses. Null after an error, which the context's
/// diagnostic handler received.
mlir::OwningOpRef<mlir::ModuleOp> parseIR(FileID file, const SourceManager &sources, mlir::MLIRContext &context);

} // namespace tilec

#endif // TILEC_LIB_DRIVER_FRONTEND_H
