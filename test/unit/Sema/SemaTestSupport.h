// Runs parser and semantic analysis on a text and keeps what they say.
#ifndef TILEC_TEST_SEMATESTSUPPORT_H
#define TILEC_TEST_SEMATESTSUPPORT_H

#include "tilec/Diagnostics/Renderer.h"
#include "tilec/Sema/Sema.h"
#include "tilec/Syntax/Parser.h"
#include "llvm/ADT/StringMap.h"

namespace tilec::test {

/// The result of one analysis; owns everything that the typed program refers to.
class Analysis : public DiagnosticRenderer {
public:
  struct Message {
    diag::Kind kind;
    Severity severity;
    /// 0 without a place.
    unsigned line = 0;
    std::string file;
    /// The message with its hint and its notes.
    std::string text;
    std::string fixed;
  };

  Analysis(llvm::StringRef text, std::vector<std::pair<std::string, std::string>> defines = {},
           llvm::StringMap<std::string> imports = {}, llvm::StringRef name = "kernel.tile");

  void render(const Diagnostic &diagnostic) override;
  void finish(unsigned) override {}

  /// The first message of a kind, or null.
  const Message *find(diag::Kind kind) const;
  /// All messages, one a line, for failures of tests.
  std::string all() const;
  /// The dump of a kernel by its variant's name; empty if there is none.
  std::string dump(llvm::StringRef variant) const;
  const sema::Kernel *kernel(llvm::StringRef variant) const;

  SourceManager sources;
  ast::ASTContext context;
  DiagnosticEngine engine{sources};
  std::vector<Message> messages;
  std::unique_ptr<sema::TypedProgram> program;
};

} // namespace tilec::test

#endif // TILEC_TEST_SEMATESTSUPPORT_H
