// Memory of a syntax tree: nodes and lists live in one arena, are never destroyed one by one, and names refer to the
// text of the source files.
#ifndef TILEC_SYNTAX_ASTCONTEXT_H
#define TILEC_SYNTAX_ASTCONTEXT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Allocator.h"
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

namespace tilec::ast {

class ASTContext {
public:
  ASTContext() = default;
  ASTContext(const ASTContext &) = delete;
  ASTContext &operator=(const ASTContext &) = delete;

  /// A new node. Expressions and statements get ids 0, 1, 2, ... which can index side tables.
  template <typename Node, typename... Args> Node *create(Args &&...args) {
    static_assert(std::is_trivially_destructible_v<Node>, "nodes are not destroyed");
    Node *node = new (allocator.Allocate<Node>()) Node(std::forward<Args>(args)...);
    node->id = numNodes++;
    return node;
  }

  /// A copy of something that is part of a node.
  template <typename T> T *make(const T &value) {
    static_assert(std::is_trivially_destructible_v<T>, "parts of nodes are not destroyed");
    return new (allocator.Allocate<T>()) T(value);
  }

  /// A list in the arena, element by element.
  template <typename T> llvm::MutableArrayRef<T> copy(llvm::ArrayRef<T> elements) {
    static_assert(std::is_trivially_destructible_v<T>, "lists are not destroyed");
    if (elements.empty())
      return {};
    T *memory = allocator.Allocate<T>(elements.size());
    std::uninitialized_copy(elements.begin(), elements.end(), memory);
    return {memory, elements.size()};
  }

  /// Text that does not occur in a source file as it stands (an unescaped string).
  llvm::StringRef copy(llvm::StringRef text) { return text.copy(allocator); }

  uint32_t getNumNodes() const { return numNodes; }

private:
  llvm::BumpPtrAllocator allocator;
  uint32_t numNodes = 0;
};

} // namespace tilec::ast

#endif // TILEC_SYNTAX_ASTCONTEXT_H
