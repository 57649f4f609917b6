// Front end of tile-interpret: text to the tile dialect, without passes.
#include "LoadModule.h"

#include "mlir/Parser/Parser.h"
#include "tilec/Diagnostics/Renderer.h"
#include "tilec/IRGen/IRGen.h"
#include "tilec/Syntax/ASTContext.h"
#include "tilec/Syntax/Parser.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <map>

using namespace llvm;
using namespace tilec;

namespace {

/// Loads files by path, each once.
class Loader {
public:
  explicit Loader(SourceManager &sources) : sources(sources) {}

  FileID load(StringRef path, SourceLoc importLoc, std::string &error) {
    FileID &file = loaded[path.str()];
    if (file.isValid())
      return file;
    auto buffer = MemoryBuffer::getFile(path, /*IsText=*/true);
    if (!buffer) {
      error = buffer.getError().message();
      return {};
    }
    return file = sources.addBuffer(std::move(*buffer), path, importLoc);
  }

  FileID import(StringRef path, FileID importer, SourceLoc importLoc, std::string &error) {
    SmallString<128> full = sys::path::parent_path(sources.getName(importer));
    sys::path::append(full, path);
    sys::path::remove_dots(full, /*remove_dot_dot=*/true);
    return load(full, importLoc, error);
  }

private:
  SourceManager &sources;
  std::map<std::string, FileID> loaded;
};

} // namespace

mlir::OwningOpRef<mlir::ModuleOp> tilec::loadModule(const std::string &path,
                                                    const std::vector<std::pair<std::string, std::string>> &defines,
                                                    mlir::MLIRContext &context) {
  if (sys::path::extension(path) == ".mlir")
    return mlir::parseSourceFile<mlir::ModuleOp>(path, &context);
  SourceManager sources;
  DiagnosticEngine engine(sources);
  TextRenderer renderer(errs(), sources, /*colour=*/false);
  Loader loader(sources);
  ast::ASTContext tree;
  auto finish = [&](mlir::OwningOpRef<mlir::ModuleOp> module) {
    engine.finish(renderer);
    return module;
  };
  std::string error;
  FileID file = loader.load(path, {}, error);
  if (!file.isValid()) {
    engine.report({}, diag::err_cannot_read_file) << path << error;
    return finish(nullptr);
  }
  ast::Program program =
      parseProgram(file, tree, engine, [&](StringRef name, FileID importer, SourceLoc importLoc, std::string &reason) {
        return loader.import(name, importer, importLoc, reason);
      });
  sema::Options options;
  for (auto &[name, value] : defines)
    options.defines.push_back({name, parseConstValue(sources.addText(value, "-D " + name), tree, engine)});
  if (engine.hasErrors())
    return finish(nullptr);
  std::unique_ptr<sema::TypedProgram> typed = analyze(program, engine, options);
  return finish(typed ? generateTile(*typed, context, engine) : nullptr);
}
