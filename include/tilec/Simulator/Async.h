// Work that completes later than the instruction that starts it.
//
// An instruction submits an operation to a queue of its warp. The engine chooses the moment of completion: as late as
// the rules allow (Schedule::Late), at once (Early), or at any moment between (Random). "As late" means when a thread
// waits for the operation's group, or, for operations that complete through an mbarrier, when every warp is blocked.
#ifndef TILEC_SIMULATOR_ASYNC_H
#define TILEC_SIMULATOR_ASYNC_H

#include "tilec/Simulator/Clock.h"
#include <array>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <random>

namespace tilec::simulator {

class Cluster;
class Warp;
struct Op;
using LaneMask = uint32_t;

class AsyncOperation {
public:
  virtual ~AsyncOperation() = default;
  /// Takes what it reads, at a moment of its own; cp.async.bulk.wait_group.read waits for that alone. Called once.
  virtual void readSources(const Access &) {}
  /// Does the rest of the work: reads what it has not read and writes what it writes, now. `access` is the operation's
  /// own actor and what it knew when it was submitted.
  virtual void complete(const Access &access) = 0;
};

/// Each warp has its own of each.
enum class AsyncQueue : uint8_t {
  CopyAsync,  // cp.async: groups of each thread
  BulkGroup,  // bulk copies out of shared memory: groups of each thread
  Transaction // bulk copies that complete on an mbarrier: no groups
};

enum class Schedule : uint8_t { Late, Early, Random };

class AsyncEngine {
public:
  AsyncEngine(Cluster &cluster, Schedule schedule, uint64_t seed)
      : cluster(cluster), schedule(schedule), random(seed) {}

  /// Who acts, and how.
  struct Request {
    AsyncQueue queue = AsyncQueue::CopyAsync;
    LaneMask lanes = 0;
    Proxy proxy = Proxy::Generic;
    /// Only after all operations of these lanes that are in the queue already (cp.async.mbarrier.arrive).
    bool ordered = false;
    /// Mbarrier::channel of the mbarrier that it completes on; without one the queue is the actor.
    std::optional<Actor> channel;
  };
  void submit(Warp &warp, const Op &op, const Request &request, std::unique_ptr<AsyncOperation> operation);
  /// Closes the group of each lane.
  void commit(Warp &warp, AsyncQueue queue, LaneMask lanes);
  /// Completes all but the newest `pending` groups of each lane, and makes the warp know of them. `pending` -1 stands
  /// for cp.async.wait_all: uncommitted operations too.
  void wait(Warp &warp, AsyncQueue queue, LaneMask lanes, int pending);
  /// Waits only until they have read their sources.
  void waitForReads(Warp &warp, AsyncQueue queue, LaneMask lanes, int pending);

  /// Completes one operation if there is any that may complete by itself.
  bool completeOne();
  /// Under Schedule::Random: sometimes completes one.
  void tick();
  bool empty() const { return operations.empty(); }

private:
  struct Entry {
    Warp *warp;
    AsyncQueue queue;
    LaneMask lanes;
    bool ordered;
    /// Of each lane, from 0.
    std::array<uint32_t, 32> group;
    /// Of the writes, and of the reads of sources, which have an actor of their own.
    Access access, readAccess;
    bool sourcesRead = false;
    Knowledge knows;
    std::unique_ptr<AsyncOperation> operation;
  };
  /// A queue of a warp: groups closed by each lane, its actor.
  struct Queue {
    std::array<uint32_t, 32> closed{};
    Actor actor = 0, reader = 0;
  };
  Queue &queueOf(Warp &warp, AsyncQueue queue);
  Time nextTime(Actor actor);
  bool mayComplete(size_t index) const;
  void complete(size_t index);
  static void readSources(Entry &entry);
  /// Whether a wait of these lanes that leaves `pending` groups stands for the entry.
  static bool isDue(const Entry &entry, const Queue &queue, LaneMask lanes, int pending);

  Cluster &cluster;
  Schedule schedule;
  std::mt19937_64 random;
  std::deque<std::unique_ptr<Entry>> operations;
  std::map<std::pair<Warp *, AsyncQueue>, Queue> queues;
  std::vector<Time> times;
};

} // namespace tilec::simulator

#endif // TILEC_SIMULATOR_ASYNC_H
