// Reads a reference expression: the kernel's declaration with the expression as its body goes through the front end.
#include "tilec/Runner/Reference.h"

#include "ReferenceRun.h"
#include "tilec/Diagnostics/Renderer.h"
#include "tilec/Sema/Reference.h"
#include "tilec/Syntax/Parser.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <map>

using namespace llvm;
using namespace tilec;
using namespace tilec::runner;

Reference::~Reference() = default;

namespace {

/// Owns source text, tree and typed tree of one reference.
class ParsedReference : public Reference {
public:
  explicit ParsedReference(ReferenceSource source) : source(std::move(source)), engine(sources) {}

  Error read(StringRef text, StringRef name, raw_ostream &os);
  std::vector<std::string> outputs() const override { return storedTensors(*kernel); }
  Expected<std::vector<ReferenceTensor>> evaluate(const Arguments &arguments, const ReferenceBudget &budget) override {
    return evaluateReference(*kernel, arguments, budget);
  }

private:
  Expected<ast::Program> readProgram();
  FileID loadImport(StringRef path, FileID importer, SourceLoc place, std::string &error);
  bool replaceBody(ast::Program &program);
  void dropOthers(ast::Program &program, const ast::KernelDecl *original, ast::KernelDecl *replacement);
  sema::Options options(const ast::KernelDecl &decl);
  Error emit(raw_ostream &os);

  ReferenceSource source;
  SourceManager sources;
  DiagnosticEngine engine;
  ast::ASTContext context;
  std::map<std::string, FileID> loaded;
  FileID statementsFile;
  ast::Block *statements = nullptr;
  const ast::KernelDecl *declaration = nullptr;
  std::unique_ptr<sema::TypedProgram> program;
  const sema::Kernel *kernel = nullptr;
};

} // namespace

// Nothing is left to say where diagnostics were printed.
static Error said() { return createStringError(""); }

Error ParsedReference::emit(raw_ostream &os) {
  // Warnings about the file were given when it was compiled.
  std::vector<std::shared_ptr<Diagnostic>> all = engine.take();
  for (std::shared_ptr<Diagnostic> &diagnostic : all)
    if (diagnostic->severity == Severity::Error ||
        (diagnostic->range.isValid() && sources.getFile(diagnostic->range.begin) == statementsFile))
      engine.add(std::move(diagnostic));
  TextRenderer renderer(os, sources, shouldUseColour(ColourMode::Auto, os));
  engine.finish(renderer);
  return said();
}

FileID ParsedReference::loadImport(StringRef path, FileID importer, SourceLoc place, std::string &error) {
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

Expected<ast::Program> ParsedReference::readProgram() {
  auto buffer = MemoryBuffer::getFile(source.file, /*IsText=*/true);
  if (!buffer)
    return createStringError("cannot read `" + source.file + "`: " + buffer.getError().message());
  FileID file = sources.addBuffer(std::move(*buffer), source.file);
  return parseProgram(file, context, engine, [&](StringRef path, FileID importer, SourceLoc place, std::string &error) {
    return loadImport(path, importer, place, error);
  });
}

// The outputs of the reference are exact where the kernel's are rounded.
static void widenOutputs(ast::ASTContext &context, ast::KernelDecl &decl, ArrayRef<std::string> floatResults) {
  std::vector<ast::Param> params(decl.params.begin(), decl.params.end());
  for (ast::Param &param : params)
    if (is_contained(floatResults, param.name.name.str()))
      param.element.kind = ScalarKind::F64;
  decl.params = context.copy(ArrayRef(params));
}

// Of the file's kernels only this one stays, and of instances only the one that is launched.
void ParsedReference::dropOthers(ast::Program &program, const ast::KernelDecl *original, ast::KernelDecl *replacement) {
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

bool ParsedReference::replaceBody(ast::Program &program) {
  StringRef declared = source.kernel;
  for (const ast::SourceFile &file : program.files)
    for (const ast::Decl *decl : file.decls)
      if (const auto *instance = dyn_cast<ast::InstantiateDecl>(decl);
          instance && instance->alias.name == source.kernel)
        declared = instance->kernel.name;
  for (const ast::SourceFile &file : program.files)
    for (const ast::Decl *decl : file.decls)
      if (const auto *candidate = dyn_cast<ast::KernelDecl>(decl); candidate && candidate->name.name == declared)
        declaration = candidate;
  if (!declaration)
    return false;
  auto *reference = context.create<ast::KernelDecl>(*declaration);
  reference->annotations = {};
  // Repairs such as a missing contract belong to the kernel.
  statements->range = declaration->body->range;
  reference->body = statements;
  // `D in {64, 128}` would make a kernel of each value.
  std::vector<ast::Contract> contracts(declaration->contracts.begin(), declaration->contracts.end());
  erase_if(contracts, [](const ast::Contract &contract) { return !contract.condition; });
  reference->contracts = context.copy(ArrayRef(contracts));
  widenOutputs(context, *reference, source.floatResults);
  dropOthers(program, declaration, reference);
  return true;
}

sema::Options ParsedReference::options(const ast::KernelDecl &decl) {
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

Error ParsedReference::read(StringRef text, StringRef name, raw_ostream &os) {
  statementsFile = sources.addText(text, name);
  statements = parseStatements(statementsFile, context, engine);
  if (!statements)
    return emit(os);
  if (statements->statements.empty())
    return createStringError("the reference holds no statement; write OUT[i, j] = ...");
  Expected<ast::Program> parsed = readProgram();
  if (!parsed)
    return parsed.takeError();
  if (engine.hasErrors())
    return emit(os);
  if (!replaceBody(*parsed))
    return createStringError("`" + source.file + "` has no kernel `" + source.kernel + "`");
  sema::Options semaOptions = options(*declaration);
  if (!engine.hasErrors())
    program = analyzeReference(*parsed, engine, semaOptions);
  Error printed = emit(os);
  if (!program)
    return printed;
  consumeError(std::move(printed));
  for (const sema::Kernel &candidate : program->kernels)
    if (candidate.name == source.kernel)
      kernel = &candidate;
  if (!kernel)
    return createStringError("`" + source.file + "` has no kernel `" + source.kernel + "`");
  return checkStatements(*kernel);
}

Expected<std::unique_ptr<Reference>> Reference::parse(StringRef text, StringRef name, const ReferenceSource &source,
                                                      raw_ostream &os) {
  auto reference = std::make_unique<ParsedReference>(source);
  if (Error error = reference->read(text, name, os))
    return std::move(error);
  return std::move(reference);
}
