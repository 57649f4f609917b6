// The clusters of a launch: which of them run at once, and when they hang.
#ifndef TILEC_SIMULATOR_GRID_H
#define TILEC_SIMULATOR_GRID_H

#include "tilec/Simulator/Block.h"

namespace tilec::simulator {

/// Runs all clusters of a launch. One runs after the other, as long as each comes to its end alone; while those that
/// run only poll memory, more begin beside them, up to Options::residentBlocks blocks. Under Schedule::Random some run
/// beside each other from the start.
class Grid {
public:
  explicit Grid(LaunchState &state);
  /// Until all have ended, a fault ends the launch, or nothing can go on, which is reported.
  void run();

private:
  void admit();
  /// False if the launch is over.
  bool advance(size_t which);
  /// Those that run have not changed anything for a while: lets more of them run, or gives up.
  bool widen();
  /// Whether one of those that run reads the same again and again.
  bool polls() const;
  void reportHang();
  std::string blocksOutside() const;
  bool failed() const;
  uint64_t blocksOfLaunch() const;

  LaunchState &state;
  std::array<uint32_t, 3> extents;
  /// Numbers of clusters in the order in which they begin; `next` is the first that has not.
  std::vector<uint32_t> order;
  size_t next = 0, wanted = 1, most = 1;
  uint64_t blocksDone = 0;
  std::vector<std::unique_ptr<Cluster>> running;
};

} // namespace tilec::simulator

#endif // TILEC_SIMULATOR_GRID_H
