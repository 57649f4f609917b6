// Reads .tile files for tile-run.
#include "SourceProgram.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace tilec;
using namespace tilec::runner;

FileID SourceProgram::loadImport(StringRef path, FileID importer, SourceLoc place, std::string &error) {
  std::vector<std::string> folders = {sys::path::parent_path(sources.getName(importer)).str()};
  folders.insert(folders.end(), source.importFolders.begin(), source.importFolders.end());
  for (const std::string &folder : folders) {
    SmallString<128> candidate(folder), real;
    sys::path::append(candidate, path);
    if (!sys::fs::is_regular_file(candidate) || sys::fs::real_path(candidate, real))
      continue;
    FileID &file = loaded[real.str().str()];
    if (file.isValid())
      return file;
    auto buffer = MemoryBuffer::getFile(candidate, /*IsText=*/true);
    if (buffer)
      return file = sources.addBuffer(std::move(*buffer), candidate, place);
    error = buffer.getError().message();
    return {};
  }
  error = "no such file";
  return {};
}

Error SourceProgram::read() {
  auto buffer = MemoryBuffer::getFile(source.file, /*IsText=*/true);
  if (!buffer)
    return createStringError("cannot read `" + source.file + "`: " + buffer.getError().message());
  FileID file = sources.addBuffer(std::move(*buffer), source.file);
  program =
      parseProgram(file, context, engine, [&](StringRef path, FileID importer, SourceLoc place, std::string &error) {
        return loadImport(path, importer, place, error);
      });
  return Error::success();
}

const ast::KernelDecl *SourceProgram::findKernel() const {
  StringRef declared = source.kernel;
  for (const ast::SourceFile &file : program.files)
    for (const ast::Decl *decl : file.decls)
      if (const auto *instance = dyn_cast<ast::InstantiateDecl>(decl);
          instance && instance->alias.name == source.kernel)
        declared = instance->kernel.name;
  for (const ast::SourceFile &file : program.files)
    for (const ast::Decl *decl : file.decls)
      if (const auto *candidate = dyn_cast<ast::KernelDecl>(decl); candidate && candidate->name.name == declared)
        return candidate;
  return nullptr;
}

void SourceProgram::keepOnly(const ast::KernelDecl *original, ast::KernelDecl *replacement) {
  for (ast::SourceFile &file : program.files) {
    erase_if(file.decls, [&](ast::Decl *decl) {
      if (const auto *instance = dyn_cast<ast::InstantiateDecl>(decl))
        return instance->alias.name != source.kernel;
      return isa<ast::KernelDecl>(decl) && decl != original;
    });
    for (ast::Decl *&decl : file.decls)
      if (decl == original)
        decl = replacement;
  }
}

sema::Options SourceProgram::options(const ast::KernelDecl &decl) {
  sema::Options result;
  for (StringRef define : source.defines) {
    StringRef name = define.split('=').first.trim();
    if (none_of(decl.constParams, [&](const ast::ConstParam &param) { return param.name.name == name; }))
      continue;
    FileID file = sources.addText(define.split('=').second, "-D");
    result.defines.push_back({name.str(), parseConstValue(file, context, engine)});
  }
  return result;
}
