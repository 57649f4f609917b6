// Parsing of a main file with everything it imports.
#include "tilec/Syntax/Parser.h"

using namespace tilec;

namespace {
/// Visits the graph of imports depth first.
class ProgramParser {
public:
  ProgramParser(ast::ASTContext &context, DiagnosticEngine &engine, ImportLoader loader)
      : context(context), engine(engine), loader(loader) {}

  void parse(FileID file);
  ast::Program takeProgram() { return std::move(program); }

private:
  void followImport(ast::SourceFile &tree, const ast::ImportDecl &import);
  void reportCycle(const ast::ImportDecl &import, FileID target);

  ast::ASTContext &context;
  DiagnosticEngine &engine;
  ImportLoader loader;
  ast::Program program;
  /// The files being parsed, from the main file on, and the import of each that led to the next.
  std::vector<std::pair<FileID, const ast::ImportDecl *>> path;
  std::vector<bool> isDone;
};
} // namespace

void ProgramParser::parse(FileID file) {
  path.emplace_back(file, nullptr);
  ast::SourceFile tree = parseFile(file, context, engine);
  for (ast::Decl *decl : tree.decls)
    if (auto *import = llvm::dyn_cast<ast::ImportDecl>(decl))
      followImport(tree, *import);
  path.pop_back();
  if (isDone.size() <= file.index)
    isDone.resize(file.index + 1);
  isDone[file.index] = true;
  program.files.push_back(std::move(tree));
}

void ProgramParser::followImport(ast::SourceFile &tree, const ast::ImportDecl &import) {
  FileID file = tree.file;
  path.back().second = &import;
  std::string error;
  FileID target = loader(import.path, file, import.pathRange.begin, error);
  if (!target.isValid()) {
    engine.report(import.pathRange, diag::err_import_failed) << import.path << error;
    return;
  }
  tree.imports.push_back(target);
  if (target.index < isDone.size() && isDone[target.index])
    return;
  for (const auto &[ancestor, unused] : path)
    if (ancestor == target)
      return reportCycle(import, target);
  if (path.size() > maxNestingDepth) {
    engine.report(import.pathRange, diag::err_nesting_too_deep) << maxNestingDepth;
    return;
  }
  parse(target);
}

void ProgramParser::reportCycle(const ast::ImportDecl &import, FileID target) {
  const SourceManager &sources = engine.getSources();
  size_t start = 0;
  while (path[start].first != target)
    ++start;
  std::string cycle;
  for (size_t i = start; i < path.size(); ++i)
    cycle += ("`" + sources.getName(path[i].first) + "` imports ").str();
  cycle += ("`" + sources.getName(target) + "`").str();
  auto diagnostic = engine.report(import.pathRange, diag::err_import_cycle) << cycle;
  for (size_t i = start; i + 1 < path.size(); ++i)
    diagnostic.note(path[i].second->pathRange, diag::note_imported_here) << sources.getName(path[i + 1].first);
}

ast::Program tilec::parseProgram(FileID mainFile, ast::ASTContext &context, DiagnosticEngine &engine,
                                 ImportLoader loader) {
  ProgramParser parser(context, engine, loader);
  parser.parse(mainFile);
  return parser.takeProgram();
}
