// What a variant of a kernel may assume beyond its contracts, and the conditions by which the launcher picks it.
#ifndef TILEC_LIB_IRGEN_SPECIALIZATION_H
#define TILEC_LIB_IRGEN_SPECIALIZATION_H

#include "mlir/IR/Builders.h"
#include "tilec/Sema/TypedStmt.h"
#include "llvm/ADT/StringMap.h"

#include <string>

namespace tilec {

/// Facts about one integer launch argument.
struct ArgumentFacts {
  int64_t divisible = 1;
  std::optional<int64_t> min;
  std::optional<int64_t> max;

  /// The value, where the facts leave only one.
  std::optional<int64_t> constant() const { return min && max && *min == *max ? min : std::nullopt; }
};

struct Specialization {
  /// "fast", "pairs", "inputs", "packed" or "general".
  llvm::StringRef kind;
  /// Appended to the variant's name: the kind, with a bound of the length "fast_512", for one length "fast_of_512".
  std::string suffix;
  /// By name: dimensions, integer scalars and strides ("A.stride0").
  llvm::StringMap<ArgumentFacts> arguments;
  /// Alignment of tensors' addresses in bytes, by name; others have that of their elements.
  llvm::StringMap<int64_t> alignments;
  /// Conditions of the launcher, those of the kernel first.
  llvm::SmallVector<mlir::Attribute> when;
  /// Blocks of a cluster along the last ranges of the stage; empty without clusters. And their cost, or null for that
  /// of the sizes.
  llvm::SmallVector<int64_t> cluster;
  sema::HostExpr clusterCost = nullptr;
  /// Tensors that are copied to a workspace first, each by a stage of its own.
  llvm::SmallVector<const sema::Tensor *, 2> packed;
};

/// Only what contracts say.
Specialization makeGeneral(const sema::Kernel &kernel, mlir::Builder &builder);

/// Tensors start at multiples of 16 bytes; last dimensions of contiguous tensors and dynamic strides are multiples of
/// 16 bytes, a dynamic last stride is 1; dimensions are below 2^31.
Specialization makeFast(const sema::Kernel &kernel, mlir::Builder &builder);

/// The same for multiples of 4 bytes, where elements are smaller: rows of an even number of bf16 move in pairs. None if
/// there are no such elements.
std::optional<Specialization> makePairs(const sema::Kernel &kernel, mlir::Builder &builder);

/// As makeFast for input tensors alone: their loads stay fast where an output's rows are not whole vectors.
Specialization makeInputs(const sema::Kernel &kernel, mlir::Builder &builder);

/// The cost of a variant (docs/abi.md); null where the kernel has no variants to compare.
mlir::Attribute costOf(const sema::Kernel &kernel, const Specialization &specialization, mlir::Builder &builder);

/// The dimension n of `axis j = 0..n`, or null.
const sema::Variable *lengthOf(const sema::Axis &axis);

/// The dimension that bounds the rows a kernel holds as one tile, and smaller bounds of it, ascending, that deserve
/// variants; empty where no axis or more than one dimension decides about the size of tiles.
struct RowLengths {
  const sema::Variable *dimension = nullptr;
  /// The size of the tiles of rows of any length that loops read tile by tile, else 0: rows of a few can be held.
  int64_t tile = 0;
  llvm::SmallVector<int64_t> bounds;
};
RowLengths rowLengths(const sema::Kernel &kernel);
/// Whether rows up to this bound are for variants that move words: a warp has no use for all lanes of a second vector.
bool favoursWords(int64_t bound);

/// A specialisation for lengths up to `bound`.
Specialization withBound(Specialization specialization, const sema::Variable &dimension, int64_t bound,
                         mlir::Builder &builder);

/// A specialisation for one length alone: no position is absent, and divisions by the length are by a constant.
Specialization withLength(Specialization specialization, const sema::Variable &dimension, int64_t length,
                          mlir::Builder &builder);

/// A specialisation for lengths of `count` tiles, of which the last may be in part beyond the end.
Specialization withTiles(Specialization specialization, const sema::Variable &dimension, int64_t tile, int64_t count,
                         mlir::Builder &builder);

/// As makeFast for the tensors that `counts` names alone, without a claim for others.
Specialization makeAligned(const sema::Kernel &kernel, mlir::Builder &builder, llvm::StringRef kind,
                           llvm::function_ref<bool(const sema::Tensor &)> counts);

/// Whether the number of rows of a matrix is the length of another input's rows, and its own length is that of none.
bool hasContractedRows(const sema::Tensor &tensor, const sema::Kernel &kernel);

/// The tensors that operands of the one product of a kernel, generated as `generated`, are loaded from, and that a
/// variant can copy first; empty for other kernels.
llvm::SmallVector<const sema::Tensor *> operandsToPack(const sema::Kernel &kernel, mlir::Operation &generated);

/// A specialisation that copies `packed` first, for tensors some of which are not aligned. `othersAligned`: for aligned
/// other inputs. None where they are always aligned.
std::optional<Specialization> makePacked(const sema::Kernel &kernel, llvm::ArrayRef<const sema::Tensor *> packed,
                                         bool othersAligned, mlir::Builder &builder);

/// Bytes of the copy of a tensor, a host expression.
mlir::Attribute packedBytes(const sema::Tensor &tensor, mlir::Builder &builder);
/// Adds what a specialisation needs to the bytes of workspaces by their names, and the reflection's entries of these.
void addWorkspaces(const Specialization &specialization, llvm::StringMap<mlir::Attribute> &bytes,
                   mlir::Builder &builder);
mlir::ArrayAttr workspaceEntries(const llvm::StringMap<mlir::Attribute> &bytes, mlir::Builder &builder);

/// The clusters that the source wants, or else that were chosen.
std::vector<sema::ClusterChoice> clustersOf(const sema::Kernel &kernel);

/// A specialisation whose blocks form clusters: for numbers of tiles that these divide. None if they never do.
std::optional<Specialization> withCluster(Specialization specialization, const sema::Kernel &kernel,
                                          const sema::ClusterChoice &choice, mlir::Builder &builder);

/// The IR form of a host expression.
mlir::Attribute toAttribute(const llvm::json::Value &value, mlir::Builder &builder);

/// `[op, x, y]`.
mlir::ArrayAttr hostCondition(mlir::Builder &builder, llvm::StringRef op, mlir::Attribute x, mlir::Attribute y);

/// "A.stride0".
std::string strideName(const sema::Tensor &tensor, size_t dimension);

/// The entries of the reflection for a kernel: arguments, and contracts with their text.
struct LaunchInterface {
  mlir::ArrayAttr arguments;
  mlir::ArrayAttr contracts;
};

/// Of all variants of one kernel together.
LaunchInterface readLaunchInterface(llvm::ArrayRef<sema::Kernel> variants, mlir::Builder &builder);

} // namespace tilec

#endif // TILEC_LIB_IRGEN_SPECIALIZATION_H
