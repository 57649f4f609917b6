// From the input file to a module.
#include "Frontend.h"
#include "mlir/Parser/Parser.h"
#include "tilec/Syntax/ASTPrinter.h"
#include "tilec/Tiling/ChooseSizes.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"

using namespace llvm;

namespace tilec {

/// Programs are text: a file with a zero byte is something else, and every line of it would be an error.
static bool isText(const MemoryBuffer &buffer) { return !buffer.getBuffer().contains('\0'); }
static constexpr StringLiteral notText = "it is not a text file";

FileID loadInput(const CompileOptions &options, SourceManager &sources, DiagnosticEngine &diagnostics) {
  auto buffer = MemoryBuffer::getFileOrSTDIN(options.input, /*IsText=*/true);
  if (!buffer) {
    diagnostics.report({}, diag::err_cannot_read_file) << options.input << buffer.getError().message();
    return {};
  }
  if (!isText(**buffer)) {
    diagnostics.report({}, diag::err_cannot_read_file) << options.input << notText;
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

/// The path without links, or as it is if it does not exist.
static std::string getRealPath(StringRef path) {
  SmallString<128> result;
  if (sys::fs::real_path(path, result))
    return path.str();
  return std::string(result);
}

bool Frontend::parse(FileID mainFile) {
  loaded[getRealPath(sources.getName(mainFile))] = mainFile;
  program = parseProgram(mainFile, context, diagnostics,
                         [&](StringRef path, FileID importer, SourceLoc importLoc, std::string &error) {
                           return loadImport(path, importer, importLoc, error);
                         });
  return !diagnostics.hasErrors();
}

FileID Frontend::loadImport(StringRef path, FileID importer, SourceLoc importLoc, std::string &error) {
  std::vector<std::string> folders = {sys::path::parent_path(sources.getName(importer)).str()};
  folders.insert(folders.end(), options.importFolders.begin(), options.importFolders.end());
  for (const std::string &folder : folders) {
    SmallString<128> candidate(folder);
    sys::path::append(candidate, path);
    if (!sys::fs::is_regular_file(candidate))
      continue;
    FileID &file = loaded[getRealPath(candidate)];
    if (file.isValid())
      return file;
    auto buffer = MemoryBuffer::getFile(candidate, /*IsText=*/true);
    if (!buffer || !isText(**buffer)) {
      error = buffer ? notText.str() : buffer.getError().message();
      return {};
    }
    file = sources.addBuffer(std::move(*buffer), candidate, importLoc);
    if (!file.isValid())
      error = "the file is too large";
    return file;
  }
  error = folders.size() > 1 ? "no such file beside the importing file or in the folders of -I"
                             : "no such file beside the importing file; -I adds folders";
  return {};
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
