// The names of files and built-ins.
#include "Globals.h"

using namespace tilec;
using namespace tilec::sema;

static constexpr ElementwiseBuiltin elementwiseBuiltins[] = {
#define TILEC_ELEMENTWISE(name, builtin, least, most) {name, Builtin::builtin, least, most},
#include "Builtins.def"
};

static constexpr llvm::StringLiteral alongAxes[] = {
#define TILEC_ALONG_AXES(name) name,
#include "Builtins.def"
};

static constexpr llvm::StringLiteral otherWords[] = {
#define TILEC_WORD(name) name,
#include "Builtins.def"
};

const ElementwiseBuiltin *sema::findElementwise(llvm::StringRef name) {
  const auto *found = llvm::find_if(elementwiseBuiltins, [&](const ElementwiseBuiltin &b) { return b.name == name; });
  return found == std::end(elementwiseBuiltins) ? nullptr : found;
}

llvm::StringRef sema::getSpelling(Builtin builtin) {
  const auto *found =
      llvm::find_if(elementwiseBuiltins, [&](const ElementwiseBuiltin &b) { return b.builtin == builtin; });
  return found->name;
}

bool sema::isAlongAxes(llvm::StringRef name) { return llvm::is_contained(alongAxes, name); }

std::string sema::countArguments(unsigned least, unsigned most) {
  if (least == most)
    return std::to_string(least) + (least == 1 ? " argument" : " arguments");
  return std::to_string(least) + " or " + std::to_string(most) + " arguments";
}

/// Trial sizes fill a 16-bit Tensor Core shape; tiles of wider elements are smaller.
int64_t Globals::sizeOf(llvm::StringRef name, unsigned elementBits) const {
  auto it = sizes.find(name);
  if (it != sizes.end())
    return it->second;
  return elementBits <= 16 ? 128 : (elementBits == 32 ? 64 : 32);
}

llvm::StringRef sema::getNotBuilt(llvm::StringRef key) {
  static constexpr std::pair<llvm::StringLiteral, llvm::StringLiteral> rows[] = {
#define TILEC_NOT_BUILT(key, words) {key, words},
#define TILEC_NOT_COMPILED(key, words) {key, words},
#include "NotBuilt.def"
      // Ends the table, which may become empty.
      {"", ""}};
  for (const auto &[rowKey, words] : rows)
    if (key == rowKey)
      return words;
  return {};
}

bool sema::isBuiltInReferences(llvm::StringRef key) {
  static constexpr llvm::StringLiteral keys[] = {
#define TILEC_NOT_COMPILED(key, words) key,
#include "NotBuilt.def"
      ""};
  return llvm::is_contained(keys, key);
}

llvm::StringRef sema::findSimilar(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> candidates) {
  llvm::StringRef best;
  unsigned bestDistance = name.size() / 3 + 1;
  for (llvm::StringRef candidate : candidates) {
    // Names of one or two letters resemble each other too easily.
    if (name.size() < 3)
      break;
    unsigned distance = name.edit_distance(candidate, /*AllowReplacements=*/true, bestDistance);
    if (distance < bestDistance || (distance == bestDistance && !best.empty() && candidate < best)) {
      bestDistance = distance;
      best = candidate;
    }
  }
  return best;
}

Symbol *Globals::create(SymbolKind kind, llvm::StringRef name, SourceRange range) {
  symbols.push_back(std::make_unique<Symbol>());
  Symbol *symbol = symbols.back().get();
  symbol->kind = kind;
  symbol->name = name.str();
  symbol->range = range;
  return symbol;
}

void Globals::declare(const ast::Identifier &name, Symbol *symbol) {
  auto [it, inserted] = names.try_emplace(name.name, symbol);
  if (inserted)
    return;
  if (!it->second->range.isValid()) {
    report(name.range, diag::err_redeclares_builtin) << name.name;
    return;
  }
  DiagnosticBuilder builder = report(name.range, diag::err_redeclared) << name.name;
  builder.note(it->second->range, diag::note_declared_here) << name.name;
}

/// pi and log2(e) to 40 digits, more than any type holds.
static Number makeNamedConstant(llvm::StringRef name) {
  if (name == "inf")
    return Number::infinity(/*negative=*/false);
  if (name == "nan")
    return Number::nan();
  return *Number::parseReal(name == "pi" ? "3.141592653589793238462643383279502884197"
                                         : "1.442695040888963407359924681001892137427");
}

bool Globals::isVisible(const Symbol *symbol, SourceRange place) const {
  if (!place.isValid() || !symbol->range.isValid())
    return true;
  const SourceManager &sources = engine.getSources();
  auto it = visibleFiles.find(sources.getFile(place.begin).index);
  return it == visibleFiles.end() || it->second.contains(sources.getFile(symbol->range.begin).index);
}

void Globals::declareAll(const ast::Program &program) {
  // Imported files come before those that import them.
  for (const ast::SourceFile &file : program.files) {
    llvm::DenseSet<uint32_t> visible = {file.file.index};
    for (FileID import : file.imports) {
      const llvm::DenseSet<uint32_t> &imported = visibleFiles[import.index];
      visible.insert(imported.begin(), imported.end());
    }
    visibleFiles[file.file.index] = std::move(visible);
  }
  for (const ElementwiseBuiltin &builtin : elementwiseBuiltins)
    names[builtin.name] = create(SymbolKind::Builtin, builtin.name, {});
  for (llvm::StringRef name : alongAxes)
    names[name] = create(SymbolKind::Builtin, name, {});
  for (llvm::StringRef name : otherWords) {
    bool isFunction = name == "assert" || name == "print";
    Symbol *symbol = create(isFunction ? SymbolKind::Builtin : SymbolKind::Constant, name, {});
    if (!isFunction)
      symbol->constant = Value::exact(makeNamedConstant(name), {});
    names[name] = symbol;
  }
  for (const ast::SourceFile &file : program.files) {
    for (const ast::Decl *decl : file.decls) {
      if (const auto *constant = llvm::dyn_cast<ast::ConstDecl>(decl)) {
        Symbol *symbol = create(SymbolKind::Constant, constant->name.name, constant->name.range);
        symbol->declaration = constant;
        declare(constant->name, symbol);
      } else if (const auto *function = llvm::dyn_cast<ast::FunctionDecl>(decl)) {
        Symbol *symbol = create(SymbolKind::Function, function->name.name, function->name.range);
        symbol->function = function;
        declare(function->name, symbol);
      } else if (const auto *kernel = llvm::dyn_cast<ast::KernelDecl>(decl)) {
        auto [it, inserted] = kernels.try_emplace(kernel->name.name, kernel);
        if (!inserted) {
          DiagnosticBuilder builder = report(kernel->name.range, diag::err_redeclared) << kernel->name.name;
          builder.note(it->second->name.range, diag::note_declared_here) << kernel->name.name;
        }
      }
    }
  }
}
