// Reads .tile files for tile-run.
#include "SourceProgram.h"

#include "tilec/Syntax/ImportFiles.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace tilec;
using namespace tilec::runner;

Error SourceProgram::read() {
  auto buffer = MemoryBuffer::getFile(source.file, /*IsText=*/true);
  if (!buffer)
    return createStringError("cannot read `" + source.file + "`: " + buffer.getError().message());
  FileID file = sources.addBuffer(std::move(*buffer), source.file);
  program = ImportFiles(sources, source.importFolders).parse(file, context, engine);
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
