// Imported files: where they are looked for, and how they are read.
#include "tilec/Syntax/ImportFiles.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace tilec;

StringRef tilec::whyNotText(const MemoryBuffer &buffer) {
  return buffer.getBuffer().contains('\0') ? "it is not a text file" : "";
}

/// The path without links, or as it is if it does not exist.
static std::string getRealPath(StringRef path) {
  SmallString<128> result;
  if (sys::fs::real_path(path, result))
    return path.str();
  return std::string(result);
}

FileID ImportFiles::load(StringRef path, FileID importer, SourceLoc place, std::string &error) {
  std::vector<std::string> places = {sys::path::parent_path(sources.getName(importer)).str()};
  places.insert(places.end(), folders.begin(), folders.end());
  for (const std::string &folder : places) {
    SmallString<128> candidate(folder);
    sys::path::append(candidate, path);
    if (!sys::fs::is_regular_file(candidate))
      continue;
    FileID &file = loaded[getRealPath(candidate)];
    if (file.isValid())
      return file;
    auto buffer = MemoryBuffer::getFile(candidate, /*IsText=*/true);
    error = buffer ? whyNotText(**buffer).str() : buffer.getError().message();
    if (!error.empty())
      return {};
    file = sources.addBuffer(std::move(*buffer), candidate, place);
    if (!file.isValid())
      error = "the file is too large";
    return file;
  }
  error = folders.empty() ? "no such file beside the importing file; -I adds folders"
                          : "no such file beside the importing file or in the folders of -I";
  return {};
}

ast::Program ImportFiles::parse(FileID mainFile, ast::ASTContext &context, DiagnosticEngine &engine) {
  loaded[getRealPath(sources.getName(mainFile))] = mainFile;
  return parseProgram(mainFile, context, engine,
                      [&](StringRef path, FileID importer, SourceLoc place, std::string &error) {
                        return load(path, importer, place, error);
                      });
}
