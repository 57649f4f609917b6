// LayoutGraph: the tiles of a kernel in components that share one layout, what the layouts cost, and the choice.
#ifndef TILEC_TRANSFORMS_INFERLAYOUTSGRAPH_H
#define TILEC_TRANSFORMS_INFERLAYOUTSGRAPH_H

#include "InferLayoutsCost.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

namespace tilec {

class LayoutGraph {
public:
  LayoutGraph(tilegpu::KernelOp kernel, int64_t scratchLimit)
      : kernel(kernel), warps(kernel.getWarps()), costs(scratchLimit) {}

  /// Collects components, demands and costs. Fails with an error at operations that have no layouts.
  mlir::LogicalResult build();

  /// Picks a layout for every component.
  void choose();

  /// Values that are computed again in each layout needed: constants, positions and arithmetic on these.
  bool isCheap(mlir::Value value) const { return cheap.contains(value); }

  /// The chosen layout of the component of a tile that is not cheap.
  tilegpu::LayoutAttr layoutOf(mlir::Value value) const;

  /// The own layout of a reduction, load, store, atomic, or access to shared memory; see operandLayout.
  tilegpu::LayoutAttr ownLayout(mlir::Operation *op) const;

  /// The layouts of a product.
  const MmaLayouts &mmaLayoutsOf(tilegpu::MmaOp op) const { return products.find(op)->second; }

private:
  // A component, with the work that its layout decides.
  struct Component {
    mlir::RankedTensorType type;
    // Executions of element-wise operations, and the highest frequency of any member.
    int64_t work = 0;
    int64_t frequency = 0;
    llvm::SmallVector<unsigned> accesses;
    llvm::SmallVector<std::pair<unsigned, int64_t>> reductions;
    llvm::SmallVector<tilegpu::LayoutAttr> candidates;
    unsigned chosen = 0;
  };

  // An operation with a layout of its own: accesses of memory prefer one, instructions demand one.
  struct Access {
    mlir::Operation *op;
    mlir::RankedTensorType type;
    // -1: the value is cheap.
    int component;
    int64_t frequency;
    tilegpu::LayoutAttr preferred;
    bool isDemand = false;
    // Whether the operation reads the tile; otherwise it produces it.
    bool isUse = false;
    std::optional<GlobalPattern> global;
    std::optional<unsigned> sharedColumn;
  };

  // A component whose tiles are projections of those of another: project(parent, dims) becomes the child's layout
  // (reductions), or the child becomes that (broadcasts, subscripts), at a point that runs `frequency` times.
  struct Edge {
    unsigned parent, child;
    llvm::SmallVector<int64_t, 4> dims;
    mlir::RankedTensorType childType;
    int64_t frequency;
    bool fromChild;
  };

  struct Choice {
    int64_t cost;
    bool usePreferred;
  };

  // Collection.
  mlir::LogicalResult check(mlir::Operation *op);
  void collectValues();
  bool isCheapOperation(mlir::Operation *op) const;
  void joinComponents();
  void joinOperation(mlir::Operation *op, llvm::function_ref<void(mlir::Value, mlir::Value)> join);
  mlir::LogicalResult visit(mlir::Operation *op);
  void visitReduce(tile::ReduceOp reduce);
  mlir::LogicalResult visitMma(tilegpu::MmaOp mma);
  void visitGlobal(mlir::Operation *op, const GlobalOperation &global);
  void visitShared(mlir::Operation *op, mlir::Value value, unsigned columnDim);
  void addAccess(Access access);
  void addEdge(mlir::Value parent, mlir::Value child, llvm::ArrayRef<int64_t> dims, int64_t frequency, bool fromChild);
  int componentOf(mlir::Value value) const;
  tilegpu::LayoutAttr attr(const Layout &layout) { return tilegpu::LayoutAttr::get(kernel.getContext(), layout); }

  // Choice.
  void proposeLayouts();
  bool propose(unsigned component, tilegpu::LayoutAttr layout);
  void proposeForReductions(const Access &access);
  bool spreadProposals();
  Choice accessChoice(const Access &access, tilegpu::LayoutAttr layout);
  int64_t componentCost(unsigned component, tilegpu::LayoutAttr layout);
  int64_t addedEdgeCost(unsigned component, tilegpu::LayoutAttr layout, llvm::ArrayRef<uint8_t> chosen);
  int64_t edgeCost(const Edge &edge, tilegpu::LayoutAttr parent, tilegpu::LayoutAttr child);

  tilegpu::KernelOp kernel;
  int64_t warps;
  LayoutCosts costs;
  llvm::DenseSet<mlir::Value> cheap;
  // Tiles that are not cheap, then reductions of cheap tiles, numbered.
  llvm::MapVector<mlir::Value, unsigned> numbers;
  llvm::MapVector<mlir::Operation *, unsigned> cheapReductions;
  llvm::SmallVector<unsigned> componentNumbers;
  llvm::SmallVector<Component> components;
  llvm::SmallVector<Access> accesses;
  llvm::SmallVector<Edge> edges;
  llvm::DenseMap<mlir::Operation *, unsigned> accessNumbers;
  llvm::DenseMap<mlir::Operation *, MmaLayouts> products;
  llvm::SmallDenseSet<tilegpu::LayoutAttr> accumulators;
};

} // namespace tilec

#endif // TILEC_TRANSFORMS_INFERLAYOUTSGRAPH_H
