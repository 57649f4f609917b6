// Helpers of the parser's tests.
#include "SyntaxTestSupport.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>

using namespace tilec;
using namespace tilec::test;
using namespace tilec::ast;

namespace {
/// Records codes and places and applies the first repair.
class Recorder : public DiagnosticRenderer {
public:
  Recorder(const SourceManager &sources, FileID file) : sources(sources), file(file) {}

  void render(const Diagnostic &diagnostic) override {
    if (codes.empty())
      repaired = repair(diagnostic);
    codes.push_back(diagnostic.info().code.str());
    LineColumn place = sources.getLineColumn(diagnostic.range.begin);
    places += (places.empty() ? "" : ", ") + std::to_string(place.line) + ":" + std::to_string(place.column) + " " +
              codes.back();
  }
  void finish(unsigned) override {}

  std::vector<std::string> codes;
  std::string places;
  std::string repaired;

private:
  std::string repair(const Diagnostic &diagnostic) {
    std::string text = sources.getText(file).str();
    std::vector<FixIt> fixIts = diagnostic.fixIts;
    std::reverse(fixIts.begin(), fixIts.end());
    for (const FixIt &fixIt : fixIts)
      text.replace(sources.getOffset(fixIt.range.begin), sources.getText(fixIt.range).size(), fixIt.text);
    return text;
  }

  const SourceManager &sources;
  FileID file;
};

/// Renders to both.
class Tee : public DiagnosticRenderer {
public:
  Tee(DiagnosticRenderer &a, DiagnosticRenderer &b) : a(a), b(b) {}
  void render(const Diagnostic &diagnostic) override {
    a.render(diagnostic);
    b.render(diagnostic);
  }
  void finish(unsigned omitted) override {
    a.finish(omitted);
    b.finish(omitted);
  }

private:
  DiagnosticRenderer &a, &b;
};
} // namespace

Parsed::Parsed(llvm::StringRef text) {
  FileID id = sources.addText(text, "test.tile");
  tree = parseFile(id, context, engine);
  engine.setErrorLimit(0);
  Recorder recorder(sources, id);
  llvm::raw_string_ostream os(rendered);
  TextRenderer renderer(os, sources, /*colour=*/false);
  Tee both(recorder, renderer);
  engine.finish(both);
  reported = recorder.codes;
  places = recorder.places;
  firstRepair = recorder.repaired;
}

std::string Parsed::dump() const {
  std::string result;
  llvm::raw_string_ostream os(result);
  print(tree, os);
  return result;
}

static std::string inKernel(llvm::StringRef statements) {
  return ("kernel k(out C: f32[M]) {" + statements + "\n}\n").str();
}

/// The body of the only kernel.
static const Block &bodyOf(const Parsed &parsed) { return *llvm::cast<KernelDecl>(parsed.file().decls.front())->body; }

std::string test::dumpBody(llvm::StringRef statements) {
  Parsed parsed(inKernel(statements));
  if (!parsed.codes().empty())
    return parsed.text();
  std::string result;
  llvm::raw_string_ostream os(result);
  for (const Stmt *stmt : bodyOf(parsed).statements)
    print(stmt, os);
  return result;
}

std::string test::errorsOfBody(llvm::StringRef statements) { return Parsed(inKernel(statements)).summary(); }

static std::string group(const Expr *expr) {
  if (auto *binary = llvm::dyn_cast<BinaryExpr>(expr))
    return "(" + group(binary->lhs) + " " + getSpelling(binary->op).str() + " " + group(binary->rhs) + ")";
  if (auto *unary = llvm::dyn_cast<UnaryExpr>(expr))
    return getSpelling(unary->op).str() + group(unary->operand);
  return toSource(expr);
}

std::string test::grouped(llvm::StringRef expr) {
  Parsed parsed(inKernel(("C[i] = " + expr).str()));
  if (!parsed.codes().empty())
    return parsed.text();
  return group(llvm::cast<AssignStmt>(bodyOf(parsed).statements.front())->value);
}

std::string test::dumpExpr(llvm::StringRef expr) {
  Parsed parsed(inKernel(("C[i] = " + expr).str()));
  if (!parsed.codes().empty())
    return parsed.text();
  std::string result;
  llvm::raw_string_ostream os(result);
  print(llvm::cast<AssignStmt>(bodyOf(parsed).statements.front())->value, os);
  return result;
}
