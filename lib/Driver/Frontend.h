// From the input file to a module: the front end for `.tile`, the parser for `.mlir`.
#ifndef TILEC_LIB_DRIVER_FRONTEND_H
#define TILEC_LIB_DRIVER_FRONTEND_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "tilec/Diagnostics/DiagnosticEngine.h"
#include "tilec/Driver/CompileOptions.h"
#include "tilec/Sema/Sema.h"
#include "tilec/Syntax/ASTContext.h"
#include "tilec/Syntax/Parser.h"

namespace tilec {

/// Where diagnostics about the values of -D are.
constexpr llvm::StringLiteral commandLineName = "<command line>";

/// Reads the input into `sources`. Reports an error and returns an invalid id if it cannot be read.
FileID loadInput(const CompileOptions &options, SourceManager &sources, DiagnosticEngine &diagnostics);

/// Whether the input is IR in MLIR's text form rather than a program in the language.
bool isIRInput(const CompileOptions &options);

/// Parses a file in MLIR's text form, of any dialect that tilec uses. Null after an error, which the context's
/// diagnostic handler received.
mlir::OwningOpRef<mlir::ModuleOp> parseIR(FileID file, const SourceManager &sources, mlir::MLIRContext &context);

/// The stages between the text of a program and its module.
class Frontend {
public:
  Frontend(const CompileOptions &options, SourceManager &sources, DiagnosticEngine &diagnostics)
      : options(options), sources(sources), diagnostics(diagnostics) {}

  /// Parses the main file and its imports. False after errors.
  bool parse(FileID mainFile);
  std::string printAST() const;
  /// Checks the parsed program. Null after errors.
  std::unique_ptr<sema::TypedProgram> analyse();

private:
  const CompileOptions &options;
  SourceManager &sources;
  DiagnosticEngine &diagnostics;
  ast::ASTContext context;
  ast::Program program;
};

} // namespace tilec

#endif // TILEC_LIB_DRIVER_FRONTEND_H
