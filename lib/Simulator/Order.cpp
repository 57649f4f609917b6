// Ordering through memory.
#include "Order.h"

using namespace tilec::simulator;

void tilec::simulator::fence(Warp &warp) {
  warp.knows.join(warp.observed);
  warp.observed = Knowledge();
  warp.fenced = warp.knows;
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

void tilec::simulator::strongAccess(Warp &warp, uint64_t key, bool reads, bool writes, bool acquire, bool release) {
  LaunchState &state = warp.block_.state;
  uint32_t cluster = warp.block_.cluster.index;
  auto &publishers = state.published[key];
  if (reads)
    for (const auto &[other, published] : publishers)
      observe(acquire ? warp.knows : warp.observed, cluster, other, published);
  if (!writes)
    return;
  // A write that is no read-modify-write ends the release sequences of others.
  if (!reads)
    publishers.clear();
  publishers[cluster].join(release ? warp.knows : warp.fenced);
  if (release)
    warp.advance();
  warp.block_.cluster.noteProgress();
}
