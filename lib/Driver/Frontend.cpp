// From the input file to a module.
#include "Frontend.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace llvm;

namespace tilec {

FileID loadInput(const CompileOptions &options, SourceManager &sources, DiagnosticEngine &diagnostics) {
  auto buffer = MemoryBuffer::getFileOrSTDIN(options.input, /*IsText=*/true);
  if (!buffer) {
    diagnostics.report({}, diag::err_cannot_read_file) << options.input << buffer.getError().message();
    return {};
  }
  StringRef name = options.input == "-" ? StringRef("<stdin>") : StringRef(options.input);
  FileID file = sources.addBuffer(std::move(*buffer), name);
  if (!file.isValid())
    diagnostics.report({}, diag::err_cannot_read_file) << options.input << "the file is too large";
  return file;
}

mlir::OwningOpRef<mlir::ModuleOp> parseIR(FileID file, const SourceManager &sources, mlir::MLIRContext &context) {
  llvm::SourceMgr buffers;
  buffers.AddNewSourceBuffer(MemoryBuffer::getMemBufferCopy(sources.getText(file), sources.getName(file)), SMLoc());
  mlir::ParserConfig config(&context);
  return mlir::parseSourceFile<mlir::ModuleOp>(buffers, config);
}

} // namespace tilec
