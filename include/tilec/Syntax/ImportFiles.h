// Finds and loads the files that a program imports.
#ifndef TILEC_SYNTAX_IMPORTFILES_H
#define TILEC_SYNTAX_IMPORTFILES_H

#include "tilec/Syntax/Parser.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"
#include <vector>

namespace tilec {

/// Programs are text: a file with a zero byte is something else, and every line of it would be an error. Empty, or why
/// the buffer is no program.
llvm::StringRef whyNotText(const llvm::MemoryBuffer &buffer);

/// Looks beside the importing file, then in folders. A file that is imported twice is loaded once, by whatever path.
class ImportFiles {
public:
  ImportFiles(SourceManager &sources, std::vector<std::string> folders)
      : sources(sources), folders(std::move(folders)) {}

  /// parseProgram with this loader.
  ast::Program parse(FileID mainFile, ast::ASTContext &context, DiagnosticEngine &engine);

private:
  FileID load(llvm::StringRef path, FileID importer, SourceLoc place, std::string &error);

  SourceManager &sources;
  std::vector<std::string> folders;
  /// By the path without links.
  llvm::StringMap<FileID> loaded;
};

} // namespace tilec

#endif // TILEC_SYNTAX_IMPORTFILES_H
