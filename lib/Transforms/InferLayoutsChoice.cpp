// The choice of layouts: candidates of each component, then a beam search for the least cost.
#include "InferLayoutsGraph.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace tilec;

static constexpr size_t maxCandidates = 8, beamWidth = 64;

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

bool LayoutGraph::propose(unsigned component, tilegpu::LayoutAttr layout) {
  SmallVector<tilegpu::LayoutAttr> &candidates = components[component].candidates;
  if (candidates.size() >= maxCandidates || llvm::is_contained(candidates, layout) ||
      !layout.getLayout().covers(components[component].type.getShape()))
    return false;
  candidates.push_back(layout);
  return true;
}

// Slices follow their parents; permutations work both ways.
bool LayoutGraph::spreadProposals() {
  bool changed = false;
  for (const Edge &edge : edges) {
    for (tilegpu::LayoutAttr layout : SmallVector<tilegpu::LayoutAttr>(components[edge.parent].candidates))
      changed |= propose(edge.child, attr(projectLayout(layout.getLayout(), edge.dims)));
    if (edge.dims.size() != static_cast<size_t>(components[edge.parent].type.getRank()))
      continue;
    SmallVector<int64_t, 4> inverse(edge.dims.size());
    for (auto [i, dim] : llvm::enumerate(edge.dims))
      inverse[dim] = i;
    for (tilegpu::LayoutAttr layout : SmallVector<tilegpu::LayoutAttr>(components[edge.child].candidates))
      changed |= propose(edge.parent, attr(projectLayout(layout.getLayout(), inverse)));
  }
  return changed;
}

// Rows that are summed column by column: every thread keeps its columns.
void LayoutGraph::proposeForReductions(const Access &access) {
  SmallVector<unsigned> reduced;
  for (auto [dim, frequency] : components[access.component].reductions)
    if (!llvm::is_contained(reduced, dim))
      reduced.push_back(dim);
  if (reduced.empty() || !access.global || !access.global->contiguous ||
      llvm::is_contained(reduced, *access.global->contiguous))
    return;
  propose(access.component,
          attr(reductionLayout(access.type, access.global->order, access.global->vector, warps, reduced)));
}

void LayoutGraph::proposeLayouts() {
  SmallVector<const Access *> ordered;
  for (const Access &access : accesses)
    if (access.component >= 0 && access.preferred)
      ordered.push_back(&access);
  // Demands, then what runs most often, then program order.
  llvm::sort(ordered, [](const Access *a, const Access *b) {
    return std::tuple(!a->isDemand, -a->frequency, a) < std::tuple(!b->isDemand, -b->frequency, b);
  });
  for (const Access *access : ordered)
    propose(access->component, access->preferred);
  for (const Access *access : ordered)
    proposeForReductions(*access);
  while (spreadProposals())
    ;
  // Components without any anchor: those of the highest rank first, for their slices.
  SmallVector<std::pair<int64_t, unsigned>> left;
  for (auto [i, component] : llvm::enumerate(components))
    left.push_back({-component.type.getRank(), static_cast<unsigned>(i)});
  llvm::sort(left);
  for (auto [rank, i] : left) {
    if (!components[i].candidates.empty())
      continue;
    propose(i, attr(defaultLayout(components[i].type, warps)));
    while (spreadProposals())
      ;
  }
}

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

// An access in the component's layout, or in its preferred one with a conversion.
LayoutGraph::Choice LayoutGraph::accessChoice(const Access &access, tilegpu::LayoutAttr layout) {
  if (!access.preferred)
    return {0, false};
  auto cost = [&](tilegpu::LayoutAttr candidate) -> int64_t {
    if (access.global)
      return costs.globalAccess(*access.global, candidate.getLayout(), access.type, access.isUse);
    return access.sharedColumn ? costs.sharedAccess(candidate.getLayout(), access.type, *access.sharedColumn) : 0;
  };
  int64_t conversion = access.isUse ? costs.conversion(layout, access.preferred, access.type)
                                    : costs.conversion(access.preferred, layout, access.type);
  int64_t converted = cost(access.preferred) + conversion;
  if (access.isDemand)
    return {converted, true};
  int64_t direct = cost(layout);
  // Accumulators are stored as they are: their pairs of columns fill sectors well enough, and an exchange of a whole
  // accumulator takes shared memory from the rings.
  if (access.isUse && accumulators.contains(layout))
    return {direct, false};
  return direct <= converted ? Choice{direct, false} : Choice{converted, true};
}

int64_t LayoutGraph::edgeCost(const Edge &edge, tilegpu::LayoutAttr parent, tilegpu::LayoutAttr child) {
  tilegpu::LayoutAttr projection = attr(projectLayout(parent.getLayout(), edge.dims));
  return edge.frequency * (edge.fromChild ? costs.conversion(child, projection, edge.childType)
                                          : costs.conversion(projection, child, edge.childType));
}

int64_t LayoutGraph::componentCost(unsigned number, tilegpu::LayoutAttr layout) {
  const Component &component = components[number];
  int64_t cost = component.work * LayoutCosts::elementwise(layout.getLayout());
  for (unsigned access : component.accesses)
    cost += accesses[access].frequency * accessChoice(accesses[access], layout).cost;
  for (auto [dim, frequency] : component.reductions)
    cost += frequency * costs.reduction(layout.getLayout(), dim);
  for (const Edge &edge : edges)
    if (edge.parent == number && edge.child == number)
      cost += edgeCost(edge, layout, layout);
  return cost;
}

//===----------------------------------------------------------------------===//
// Search
//===----------------------------------------------------------------------===//

namespace {
// A partial choice: a candidate of each component decided so far.
struct PartialChoice {
  static constexpr uint8_t undecided = 255;

  int64_t cost = 0;
  SmallVector<uint8_t> chosen;

  bool operator<(const PartialChoice &other) const {
    return std::tie(cost, chosen) < std::tie(other.cost, other.chosen);
  }
};
} // namespace

// What the edges between `number` and the components decided so far add.
int64_t LayoutGraph::addedEdgeCost(unsigned number, tilegpu::LayoutAttr layout, ArrayRef<uint8_t> chosen) {
  int64_t cost = 0;
  for (const Edge &edge : edges) {
    if ((edge.parent == number) == (edge.child == number))
      continue;
    unsigned other = edge.parent == number ? edge.child : edge.parent;
    if (chosen[other] == PartialChoice::undecided)
      continue;
    tilegpu::LayoutAttr otherLayout = components[other].candidates[chosen[other]];
    cost += edge.parent == number ? edgeCost(edge, layout, otherLayout) : edgeCost(edge, otherLayout, layout);
  }
  return cost;
}

// Components are decided in order of frequency and size; the best partial choices are kept.
void LayoutGraph::choose() {
  proposeLayouts();
  SmallVector<std::tuple<int64_t, int64_t, unsigned>> order;
  for (auto [i, component] : llvm::enumerate(components))
    order.push_back({-component.frequency, -component.type.getNumElements(), static_cast<unsigned>(i)});
  llvm::sort(order);
  SmallVector<PartialChoice> beam(1);
  beam.front().chosen.assign(components.size(), PartialChoice::undecided);
  for (auto [frequency, size, number] : order) {
    SmallVector<PartialChoice> next;
    for (auto [i, layout] : llvm::enumerate(components[number].candidates)) {
      int64_t own = componentCost(number, layout);
      for (const PartialChoice &partial : beam) {
        next.push_back(partial);
        next.back().cost += own + addedEdgeCost(number, layout, partial.chosen);
        next.back().chosen[number] = static_cast<uint8_t>(i);
      }
    }
    llvm::sort(next);
    next.truncate(std::min(next.size(), beamWidth));
    beam = std::move(next);
  }
  for (unsigned i = 0; i < components.size(); ++i)
    components[i].chosen = beam.front().chosen[i];
}

tilegpu::LayoutAttr LayoutGraph::layoutOf(Value value) const {
  const Component &component = components[componentOf(value)];
  return component.candidates[component.chosen];
}

tilegpu::LayoutAttr LayoutGraph::ownLayout(Operation *op) const {
  const Access &access = accesses[accessNumbers.find(op)->second];
  if (access.component < 0)
    return access.preferred;
  const Component &component = components[access.component];
  tilegpu::LayoutAttr layout = component.candidates[component.chosen];
  return const_cast<LayoutGraph *>(this)->accessChoice(access, layout).usePreferred ? access.preferred : layout;
}
