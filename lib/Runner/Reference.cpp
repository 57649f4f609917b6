// Reads a reference expression: the kernel's declaration with the expression as its body goes through the front end.
#include "tilec/Runner/Reference.h"

#include "ReferenceRun.h"
#include "SourceProgram.h"
#include "tilec/Diagnostics/Renderer.h"
#include "tilec/Sema/Reference.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace tilec;
using namespace tilec::runner;

Reference::~Reference() = default;

namespace {

/// Owns source text, tree and typed tree of one reference.
class ParsedReference : public Reference {
public:
  explicit ParsedReference(const ReferenceSource &source)
      : file(source), floatResults(source.floatResults), engine(file.engine) {}

  Error read(StringRef text, StringRef name, raw_ostream &os);
  std::vector<std::string> outputs() const override { return storedTensors(*kernel); }
  Expected<std::vector<ReferenceTensor>> evaluate(const Arguments &arguments, const ReferenceBudget &budget) override {
    return evaluateReference(*kernel, arguments, budget);
  }

private:
  const ast::KernelDecl *replaceBody();
  Error noKernel() const;
  Error emit(raw_ostream &os);

  SourceProgram file;
  std::vector<std::string> floatResults;
  DiagnosticEngine &engine;
  FileID statementsFile;
  ast::Block *statements = nullptr;
  std::unique_ptr<sema::TypedProgram> program;
  const sema::Kernel *kernel = nullptr;
};

} // namespace

// Nothing is left to say where diagnostics were printed.
static Error said() { return createStringError(""); }

Error ParsedReference::noKernel() const {
  return createStringError("`" + file.source.file + "` has no kernel `" + file.source.kernel + "`");
}

Error ParsedReference::emit(raw_ostream &os) {
  // Warnings about the file were given when it was compiled.
  std::vector<std::shared_ptr<Diagnostic>> all = engine.take();
  for (std::shared_ptr<Diagnostic> &diagnostic : all)
    if (diagnostic->severity == Severity::Error ||
        (diagnostic->range.isValid() && file.sources.getFile(diagnostic->range.begin) == statementsFile))
      engine.add(std::move(diagnostic));
  TextRenderer renderer(os, file.sources, shouldUseColour(ColourMode::Auto, os));
  engine.finish(renderer);
  return said();
}

// The outputs of the reference are exact where the kernel's are rounded.
static void widenOutputs(ast::ASTContext &context, ast::KernelDecl &decl, ArrayRef<std::string> floatResults) {
  std::vector<ast::Param> params(decl.params.begin(), decl.params.end());
  for (ast::Param &param : params)
    if (is_contained(floatResults, param.name.name.str()))
      param.element.kind = ScalarKind::F64;
  decl.params = context.copy(ArrayRef(params));
}

// Null where the file lacks the kernel.
const ast::KernelDecl *ParsedReference::replaceBody() {
  const ast::KernelDecl *declaration = file.findKernel();
  if (!declaration)
    return nullptr;
  auto *reference = file.context.create<ast::KernelDecl>(*declaration);
  reference->annotations = {};
  // Repairs such as a missing contract belong to the kernel.
  statements->range = declaration->body->range;
  reference->body = statements;
  // `D in {64, 128}` would make a kernel of each value.
  std::vector<ast::Contract> contracts(declaration->contracts.begin(), declaration->contracts.end());
  erase_if(contracts, [](const ast::Contract &contract) { return !contract.condition; });
  reference->contracts = file.context.copy(ArrayRef(contracts));
  widenOutputs(file.context, *reference, floatResults);
  file.keepOnly(declaration, reference);
  return reference;
}

Error ParsedReference::read(StringRef text, StringRef name, raw_ostream &os) {
  statementsFile = file.sources.addText(text, name);
  statements = parseStatements(statementsFile, file.context, engine);
  if (!statements)
    return emit(os);
  if (statements->statements.empty())
    return createStringError("the reference holds no statement; write OUT[i, j] = ...");
  if (Error error = file.read())
    return error;
  if (engine.hasErrors())
    return emit(os);
  const ast::KernelDecl *declaration = replaceBody();
  if (!declaration)
    return noKernel();
  sema::Options options = file.options(*declaration);
  if (!engine.hasErrors())
    program = analyzeReference(file.program, engine, options);
  Error printed = emit(os);
  if (!program)
    return printed;
  consumeError(std::move(printed));
  for (const sema::Kernel &candidate : program->kernels)
    if (candidate.name == file.source.kernel)
      kernel = &candidate;
  return kernel ? checkStatements(*kernel) : noKernel();
}

Expected<std::unique_ptr<Reference>> Reference::parse(StringRef text, StringRef name, const ReferenceSource &source,
                                                      raw_ostream &os) {
  auto reference = std::make_unique<ParsedReference>(source);
  if (Error error = reference->read(text, name, os))
    return std::move(error);
  return std::move(reference);
}
