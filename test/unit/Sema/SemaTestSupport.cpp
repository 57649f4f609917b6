// Runs parser and semantic analysis on a text and keeps what they say.
#include "SemaTestSupport.h"

using namespace tilec;
using namespace tilec::test;

Analysis::Analysis(llvm::StringRef text, std::vector<std::pair<std::string, std::string>> defines,
                   llvm::StringMap<std::string> imports, llvm::StringRef name) {
  engine.setErrorLimit(0);
  FileID main = sources.addText(text, name);
  llvm::StringMap<FileID> loaded;
  loaded[name] = main;
  auto load = [&](llvm::StringRef path, FileID, SourceLoc importLoc, std::string &error) -> FileID {
    if (auto it = loaded.find(path); it != loaded.end())
      return it->second;
    auto it = imports.find(path);
    if (it == imports.end()) {
      error = "no such file";
      return FileID();
    }
    return loaded[path] = sources.addText(it->second, path, importLoc);
  };
  ast::Program parsed = parseProgram(main, context, engine, load);
  sema::Options options;
  for (const auto &[defineName, value] : defines) {
    FileID file = sources.addText(value, "<command line>");
    options.defines.push_back({defineName, parseConstValue(file, context, engine)});
  }
  if (!engine.hasErrors())
    program = analyze(parsed, engine, options);
  engine.finish(*this);
}

void Analysis::render(const Diagnostic &diagnostic) {
  Message message;
  message.kind = diagnostic.kind;
  message.severity = diagnostic.severity;
  if (diagnostic.range.isValid()) {
    message.line = sources.getLineColumn(diagnostic.range.begin).line;
    message.file = sources.getName(sources.getFile(diagnostic.range.begin)).str();
  }
  message.text = diagnostic.message() + " " + diagnostic.hint();
  for (const Diagnostic &note : diagnostic.notes)
    message.text += " | " + note.message();
  for (const FixIt &fixIt : diagnostic.fixIts)
    message.fixed += "{" + sources.getText(fixIt.range).str() + "=>" + fixIt.text + "}";
  messages.push_back(std::move(message));
}

const Analysis::Message *Analysis::find(diag::Kind kind) const {
  for (const Message &message : messages)
    if (message.kind == kind)
      return &message;
  return nullptr;
}

std::string Analysis::all() const {
  std::string text;
  for (const Message &message : messages)
    text += std::to_string(message.line) + ": " + getKindInfo(message.kind).code.str() + " " + message.text + " " +
            message.fixed + "\n";
  return text;
}

const sema::Kernel *Analysis::kernel(llvm::StringRef variant) const {
  if (program)
    for (const sema::Kernel &kernel : program->kernels)
      if (kernel.variant == variant)
        return &kernel;
  return nullptr;
}

std::string Analysis::dump(llvm::StringRef variant) const {
  const sema::Kernel *found = kernel(variant);
  return found ? toString(*found) : std::string();
}
