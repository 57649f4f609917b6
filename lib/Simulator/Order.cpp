// Ordering through memory.
#include "Order.h"

using namespace tilec::simulator;

Scope tilec::simulator::scopeOf(const Instruction &instruction) {
  return instruction.has("cta") ? Scope::Block : instruction.has("cluster") ? Scope::Cluster : Scope::Device;
}

// A fence of a scope is one of all narrower scopes too.
void tilec::simulator::fence(Warp &warp, Scope scope) {
  unsigned widest = static_cast<unsigned>(scope);
  for (unsigned i = 0; i <= widest; ++i) {
    warp.knows.join(warp.observed[i]);
    warp.observed[i] = Knowledge();
  }
  for (unsigned i = 0; i <= widest; ++i)
    warp.fenced[i] = warp.knows;
  warp.advance();
}

// What another cluster published is filed under its number, since actors are numbered in a cluster.
static void observe(Knowledge &target, uint32_t ownCluster, uint32_t cluster, const Knowledge &published) {
  if (cluster == ownCluster)
    target.join(published);
  else {
    target.foreign[cluster].join(published.generic);
    target.joinForeign(published);
  }
}

void tilec::simulator::strongRead(Warp &warp, const StrongOperation &operation) {
  LaunchState &state = warp.block_.state;
  auto found = state.published.find(operation.key);
  if (found == state.published.end())
    return;
  Warp::Lesson &last = warp.lastLesson;
  if (last.key == operation.key && last.version == found->second.version && last.scope >= operation.scope &&
      last.acquire >= operation.acquire)
    return;
  last = {operation.key, found->second.version, operation.scope, operation.acquire};
  uint32_t cluster = warp.block_.cluster.index;
  // Where what is published goes: at once, or at the next fence whose scope holds both threads.
  auto learn = [&](Scope needed, uint32_t other, const Knowledge &published) {
    if (operation.scope >= needed)
      observe(operation.acquire ? warp.knows : warp.observed[static_cast<unsigned>(needed)], cluster, other, published);
  };
  if (operation.acquire)
    warp.meet();
  for (const auto &[other, published] : found->second.clusters) {
    if (other != cluster) {
      learn(Scope::Device, other, published.device);
      continue;
    }
    auto toBlock = published.blocks.find(warp.block_.linear);
    if (toBlock != published.blocks.end())
      learn(Scope::Block, other, toBlock->second);
    learn(Scope::Cluster, other, published.cluster);
  }
}

void tilec::simulator::strongWrite(Warp &warp, const StrongOperation &operation, bool readModifyWrite) {
  LaunchState::Publications &publications = warp.block_.state.published[operation.key];
  ++publications.version;
  if (!readModifyWrite)
    publications.clusters.clear();
  LaunchState::Publication &own = publications.clusters[warp.block_.cluster.index];
  auto tell = [&](Scope scope, Knowledge &target) {
    if (operation.scope >= scope)
      target.join(operation.release ? warp.knows : warp.fenced[static_cast<unsigned>(scope)]);
  };
  tell(Scope::Block, own.blocks[warp.block_.linear]);
  tell(Scope::Cluster, own.cluster);
  tell(Scope::Device, own.device);
  if (operation.release)
    warp.advance();
}
