// Line tables of kernels.
#include "tilec/Target/LineInfo.h"
#include "mlir/Dialect/LLVMIR/LLVMAttrs.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/STLExtras.h"

namespace mlir::LLVM {
#define GEN_PASS_DECL_DISCOPEFORLLVMFUNCOPPASS
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h.inc"
} // namespace mlir::LLVM

using namespace llvm;

namespace tilec {

std::string mapPrefix(StringRef path, const PrefixMap &map) {
  for (const auto &[from, to] : reverse(map))
    if (path.starts_with(from))
      return to + path.drop_front(from.size()).str();
  return path.str();
}

static void mapLocations(mlir::ModuleOp module, const PrefixMap &map) {
  mlir::AttrTypeReplacer replacer;
  replacer.addReplacement([&](mlir::FileLineColRange range) -> mlir::Attribute {
    return mlir::FileLineColLoc::get(range.getContext(), mapPrefix(range.getFilename().getValue(), map),
                                     range.getStartLine(), range.getStartColumn());
  });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/false, /*replaceLocs=*/true);
}

LogicalResult addLineInfo(mlir::ModuleOp module, const PrefixMap &map) {
  if (!map.empty())
    mapLocations(module, map);
  mlir::PassManager passes(module.getContext());
  // PTX takes line directives alone; sections of DWARF are for debuggers.
  mlir::LLVM::DIScopeForLLVMFuncOpPassOptions options;
  options.emissionKind = mlir::LLVM::DIEmissionKind::DebugDirectivesOnly;
  passes.addPass(mlir::LLVM::createDIScopeForLLVMFuncOpPass(options));
  return passes.run(module);
}

/// Splits PTX behind the directives .version, .target and .address_size.
static std::pair<StringRef, StringRef> splitHeader(StringRef ptx) {
  size_t line = ptx.find(".address_size");
  size_t end = line == StringRef::npos ? StringRef::npos : ptx.find('\n', line);
  return end == StringRef::npos ? std::pair(StringRef(), ptx) : std::pair(ptx.take_front(end + 1), ptx.substr(end + 1));
}

namespace {

/// One numbering of the files of several modules.
class FileNumbers {
public:
  /// Appends the body of a module with its files renumbered, without the directives that name them.
  void append(StringRef body, std::string &text);
  std::string getDirectives() const;

private:
  std::vector<std::string> names;
};

} // namespace

static constexpr StringLiteral fileDirective = "\t.file\t", locDirective = "\t.loc\t";
/// LLVM writes this section without content beside line directives.
static constexpr StringLiteral emptySection = "\t.section\t.debug_macinfo";

void FileNumbers::append(StringRef body, std::string &text) {
  SmallVector<StringRef> lines;
  body.split(lines, '\n');
  std::vector<size_t> numbers;
  auto split = [](StringRef line) { return line.drop_while([](char c) { return c == '\t' || c == ' '; }).split(' '); };
  for (StringRef line : lines) {
    if (!line.consume_front(fileDirective))
      continue;
    auto [number, name] = split(line);
    size_t index = 0;
    if (number.getAsInteger(10, index))
      continue;
    size_t position = find(names, name) - names.begin();
    if (position == names.size())
      names.push_back(name.str());
    numbers.resize(std::max(numbers.size(), index + 1));
    numbers[index] = position + 1;
  }
  for (auto [i, line] : enumerate(lines)) {
    if (line.starts_with(fileDirective) || line.starts_with(emptySection))
      continue;
    StringRef rest = line;
    size_t index = 0;
    if (rest.consume_front(locDirective) && !rest.consumeInteger(10, index) && index < numbers.size())
      text += (locDirective + std::to_string(numbers[index]) + rest).str();
    else
      text += line;
    if (i + 1 < lines.size())
      text += '\n';
  }
}

std::string FileNumbers::getDirectives() const {
  std::string text;
  for (auto [i, name] : enumerate(names))
    text += (fileDirective + std::to_string(i + 1) + " " + name + "\n").str();
  return text;
}

std::string joinPTX(ArrayRef<std::string> parts) {
  FileNumbers files;
  std::string body;
  for (const std::string &part : parts)
    files.append(splitHeader(part).second, body);
  return splitHeader(parts.front()).first.str() + files.getDirectives() + body;
}

} // namespace tilec
