// From the input file to a module.
#include "Frontend.h"
#include "mlir/Parser/Parser.h"
#include "tilec/Syntax/ASTPrinter.h"
#include "tilec/Syntax/ImportFiles.h"
#include "tilec/Tiling/ChooseSizes.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"

using namespace llvm;

namespace tilec {

FileID loadInput(const CompileOptions &options, SourceManager &sources, DiagnosticEngine &diagnostics) {
  auto buffer = MemoryBuffer::getFileOrSTDIN(options.input, /*IsText=*/true);
  if (!buffer) {
    diagnostics.report({}, diag::err_cannot_read_file) << options.input << buffer.getError().message();
    return {};
  }
  if (StringRef reason = whyNotText(**buffer); !reason.empty()) {
    diagnostics.report({}, diag::err_cannot_read_file) << options.input << reason;
    return {};
  }
  StringRef name = options.input == "-" ? StringRef("<stdin>") : StringRef(options.input);
  FileID file = sources.addBuffer(std::move(*buffer), name);
  if (!file.isValid())
    diagnostics.report({}, diag::err_cannot_read_file) << options.input << "the file is too large";
  return file;
}

bool isIRInput(const CompileOptions &options) { return sys::path::extension(options.input) == ".mlir"; }

mlir::OwningOpRef<mlir::ModuleOp> parseIR(FileID file, const SourceManager &sources, mlir::MLIRContext &context) {
  llvm::SourceMgr buffers;
  buffers.AddNewSourceBuffer(MemoryBuffer::getMemBufferCopy(sources.getText(file), sources.getName(file)), SMLoc());
  mlir::ParserConfig config(&context);
  return mlir::parseSourceFile<mlir::ModuleOp>(buffers, config);
}

bool Frontend::parse(FileID mainFile) {
  program = ImportFiles(sources, options.importFolders).parse(mainFile, context, diagnostics);
  return !diagnostics.hasErrors();
}

std::unique_ptr<sema::TypedProgram> Frontend::analyse() {
  sema::Options semaOptions;
  semaOptions.arch = options.machine->arch;
  semaOptions.chooseSizes = [&](const sema::Kernel &probe, ArrayRef<sema::AutoSize> sizes) {
    return chooseSizes(probe, sizes, *options.machine);
  };
  for (const auto &[name, value] : options.defines) {
    FileID file = sources.addText(value, commandLineName);
    semaOptions.defines.push_back({name, parseConstValue(file, context, diagnostics)});
  }
  if (diagnostics.hasErrors())
    return nullptr;
  return analyze(program, diagnostics, semaOptions);
}

std::string Frontend::printAST() const {
  std::string text;
  raw_string_ostream os(text);
  for (const ast::SourceFile &file : program.files)
    ast::print(file, os);
  return text;
}

} // namespace tilec
