// The conformance cases: those that expect an error or a warning must get it at the right line with the right words;
// all others pass, or are refused only as not built yet.
#include "SemaTestSupport.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "gtest/gtest.h"

using namespace tilec;
using namespace tilec::test;

namespace {

struct Case {
  std::string name;
  llvm::json::Value description = nullptr;
  std::string kernel;
  llvm::StringMap<std::string> imports;
};

std::string readFile(const llvm::Twine &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  return buffer ? (*buffer)->getBuffer().str() : std::string();
}

std::vector<Case> loadCases() {
  std::vector<Case> cases;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator it(TILEC_CONFORMANCE_DIR, error), end; it != end && !error;
       it.increment(error)) {
    if (!llvm::sys::fs::exists(it->path() + "/case.json"))
      continue;
    Case one;
    one.name = llvm::sys::path::filename(it->path()).str();
    one.description = llvm::cantFail(llvm::json::parse(readFile(it->path() + "/case.json")));
    one.kernel = readFile(it->path() + "/kernel.tile");
    std::error_code inner;
    for (llvm::sys::fs::directory_iterator file(it->path(), inner), last; file != last && !inner; file.increment(inner))
      if (llvm::StringRef(file->path()).ends_with(".tile"))
        one.imports[llvm::sys::path::filename(file->path())] = readFile(file->path());
    cases.push_back(std::move(one));
  }
  llvm::sort(cases, [](const Case &a, const Case &b) { return a.name < b.name; });
  return cases;
}

std::vector<std::pair<std::string, std::string>> getDefines(const Case &one) {
  std::vector<std::pair<std::string, std::string>> defines;
  for (const auto &[name, value] : *one.description.getAsObject()->getObject("consts")) {
    std::string text;
    llvm::raw_string_ostream(text) << value;
    llvm::StringRef plain(text);
    plain.consume_front("\"");
    plain.consume_back("\"");
    defines.emplace_back(name.str(), plain.str());
  }
  return defines;
}

/// Whether the text has one alternative of each word, without regard to case.
bool conveys(llvm::StringRef text, const llvm::json::Array &words) {
  return llvm::all_of(words, [&](const llvm::json::Value &word) {
    llvm::SmallVector<llvm::StringRef, 4> alternatives;
    word.getAsString()->split(alternatives, '|');
    return llvm::any_of(alternatives,
                        [&](llvm::StringRef alternative) { return text.contains_insensitive(alternative); });
  });
}

} // namespace

TEST(SemaConformance, ExpectedDiagnostics) {
  unsigned numChecked = 0;
  for (const Case &one : loadCases()) {
    const llvm::json::Object &description = *one.description.getAsObject();
    llvm::StringRef expect = *description.getString("expect");
    // Shared memory is the back end's.
    if (expect == "result" || llvm::StringRef(one.name).starts_with("078"))
      continue;
    const llvm::json::Object &wanted = *description.getObject("diagnostic");
    Analysis analysis(one.kernel, getDefines(one), one.imports);
    Severity severity = expect == "error" ? Severity::Error : Severity::Warning;
    bool found = llvm::any_of(analysis.messages, [&](const Analysis::Message &message) {
      std::optional<int64_t> line = wanted.getInteger("line");
      return message.severity == severity && message.kind != diag::err_not_built &&
             (!line || message.line == static_cast<unsigned>(*line)) &&
             (!wanted.getString("file") || message.file == *wanted.getString("file")) &&
             conveys(message.text, *wanted.getArray("words"));
    });
    EXPECT_TRUE(found) << one.name << "\n" << analysis.all();
    EXPECT_EQ(analysis.program != nullptr, severity == Severity::Warning) << one.name << "\n" << analysis.all();
    ++numChecked;
  }
  EXPECT_GE(numChecked, 15u);
}

TEST(SemaConformance, ValidProgramsAreAcceptedOrNotBuilt) {
  for (const Case &one : loadCases()) {
    if (*one.description.getAsObject()->getString("expect") != "result")
      continue;
    Analysis analysis(one.kernel, getDefines(one), one.imports);
    for (const Analysis::Message &message : analysis.messages)
      EXPECT_EQ(message.kind, diag::err_not_built) << one.name << "\n" << analysis.all();
  }
}
