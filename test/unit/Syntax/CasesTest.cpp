// The conformance cases and the examples of the source tree parse, and their dumps do not depend on how they are
// written in between.
#include "SyntaxTestSupport.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace tilec;
using namespace tilec::test;

/// All .tile files under a folder of the source tree, sorted.
static std::vector<std::string> findTileFiles(llvm::StringRef folder) {
  std::vector<std::string> files;
  std::error_code error;
  std::string root = (llvm::Twine(TILEC_SOURCE_FOLDER) + "/" + folder).str();
  for (llvm::sys::fs::recursive_directory_iterator it(root, error), end; it != end && !error; it.increment(error))
    if (llvm::sys::path::extension(it->path()) == ".tile")
      files.push_back(it->path());
  std::sort(files.begin(), files.end());
  return files;
}

static std::string readFile(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  EXPECT_TRUE(static_cast<bool>(buffer)) << path;
  return buffer ? (*buffer)->getBuffer().str() : "";
}

TEST(Cases, ConformanceCasesParse) {
  std::vector<std::string> files = findTileFiles("test/Conformance");
  EXPECT_GT(files.size(), 50u);
  for (const std::string &path : files) {
    Parsed parsed(readFile(path));
    bool isChain = path.find("082-chained-comparison") != std::string::npos;
    EXPECT_EQ(parsed.codes(), isChain ? std::vector<std::string>{"E0115"} : std::vector<std::string>{})
        << path << "\n"
        << parsed.text();
    EXPECT_FALSE(parsed.dump().empty());
  }
}

TEST(Cases, ExamplesParse) {
  for (const std::string &path : findTileFiles("examples")) {
    Parsed parsed(readFile(path));
    EXPECT_TRUE(parsed.codes().empty()) << path << "\n" << parsed.text();
  }
}

TEST(Cases, CarriageReturnsDoNotMatter) {
  for (const std::string &path : findTileFiles("test/Conformance")) {
    std::string text = readFile(path);
    std::string windows;
    for (char c : text)
      windows += c == '\n' ? std::string("\r\n") : std::string(1, c);
    EXPECT_EQ(Parsed(text).dump(), Parsed(windows).dump()) << path;
  }
}
