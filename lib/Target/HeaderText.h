// Pieces of the generated header, internal to the target library.
#ifndef TILEC_LIB_TARGET_HEADERTEXT_H
#define TILEC_LIB_TARGET_HEADERTEXT_H

#include "tilec/Target/LaunchInfo.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace tilec {

/// `text` as a C identifier.
std::string toIdentifier(llvm::StringRef text);
/// `text` as a C string literal; every byte survives and none ends a comment or forms a trigraph.
std::string toStringLiteral(llvm::StringRef text);

/// The C names of a kernel's arguments. Names that C, C++ or the header itself uses get an underscore.
class ArgumentNames {
public:
  explicit ArgumentNames(const KernelInfo &kernel);
  /// `name` is an argument, a dynamic stride such as `A.stride0`, or a workspace.
  llvm::StringRef get(llvm::StringRef name) const;

private:
  void add(llvm::StringRef name, llvm::StringRef wanted);

  llvm::StringMap<std::string> names;
  llvm::StringSet<> taken;
};

/// Host expressions as C. Arithmetic goes through the helper functions of the header, which neither overflow nor divide
/// by zero.
class ExprPrinter {
public:
  ExprPrinter(const KernelInfo &kernel, const ArgumentNames &names, llvm::StringRef prefix)
      : kernel(kernel), names(names), prefix(prefix) {}
  std::string print(const HostExpr &expr) const;
  /// The expressions in braces, for an initialiser.
  std::string printList(llvm::ArrayRef<HostExpr> exprs) const;

private:
  std::string printOperation(const HostExpr &expr) const;
  std::string printName(llvm::StringRef name) const;

  const KernelInfo &kernel;
  const ArgumentNames &names;
  llvm::StringRef prefix;
};

/// Whether an expression refers to the name.
bool mentions(const HostExpr &expr, llvm::StringRef name);

/// The name of the local variable that holds the bytes which a tensor spans.
std::string spanName(llvm::StringRef cName);

/// The functions and variables that every header has. `prefix` is that of the file, `entries` are all kernel functions.
std::string writeHeaderRuntime(llvm::StringRef prefix, llvm::StringRef arch, llvm::ArrayRef<std::string> entries);

/// The launcher of one kernel. `firstEntry` is the position of its first function among all entries.
std::string writeLauncher(const KernelInfo &kernel, llvm::StringRef prefix, unsigned firstEntry);

} // namespace tilec

#endif // TILEC_LIB_TARGET_HEADERTEXT_H
