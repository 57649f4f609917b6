// Vector clocks: what happens before what (PTX ISA, "Memory Consistency Model", causality order).
//
// Actors are numbered over a cluster: warps, and the queues of asynchronous operations, whose accesses no instruction
// of the issuing warp is ordered with until it waits for them.
#ifndef TILEC_SIMULATOR_CLOCK_H
#define TILEC_SIMULATOR_CLOCK_H

#include "tilec/Simulator/Report.h"
#include <algorithm>
#include <map>
#include <vector>

namespace tilec::simulator {

using Actor = uint16_t;
using Time = uint32_t;

class VectorClock {
public:
  Time operator[](Actor actor) const { return actor < times.size() ? times[actor] : 0; }
  void raise(Actor actor, Time time) {
    if (actor >= times.size())
      times.resize(actor + 1, 0);
    times[actor] = std::max(times[actor], time);
  }
  void join(const VectorClock &other) {
    if (other.times.size() > times.size())
      times.resize(other.times.size(), 0);
    for (size_t i = 0; i < other.times.size(); ++i)
      times[i] = std::max(times[i], other.times[i]);
  }
  /// What both know.
  void meet(const VectorClock &other) {
    times.resize(std::min(times.size(), other.times.size()));
    for (size_t i = 0; i < times.size(); ++i)
      times[i] = std::min(times[i], other.times[i]);
  }

private:
  std::vector<Time> times;
};

/// What a point in the program knows. `generic` happened before it; `async` is the part that the asynchronous proxy
/// sees too: everything the proxy did itself, and what a fence.proxy.async covered.
struct Knowledge {
  VectorClock generic, async;
  /// Of other clusters, through atomics in global memory.
  std::map<uint32_t, VectorClock> foreign;
  void join(const Knowledge &other) {
    generic.join(other.generic);
    async.join(other.async);
    joinForeign(other);
  }
  void joinForeign(const Knowledge &other) {
    for (const auto &[cluster, clock] : other.foreign)
      foreign[cluster].join(clock);
  }
  void fenceProxy() { async.join(generic); }
};

enum class Proxy : uint8_t { Generic, Async };

/// Of strong operations and fences (PTX ISA, "Scope"); .gpu and .sys are one here.
enum class Scope : uint8_t { Block, Cluster, Device };
constexpr unsigned scopeCount = 3;

/// Who touches memory, for the checks.
struct Access {
  Site site;
  Actor actor = 0;
  Time time = 0;
  /// Grows where the lanes of a warp meet: what lanes do in between is not ordered.
  uint32_t convergence = 0;
  Proxy proxy = Proxy::Generic;
  /// Strong operations do not race with each other if their scopes hold both threads (PTX ISA, "Morally strong
  /// operations").
  bool atomic = false;
  Scope scope = Scope::Device;
  /// An operation on an mbarrier object, which both proxies may touch.
  bool mbarrier = false;
  /// A strong store, which is no read-modify-write.
  bool strongStore = false;
  /// A plain read whose value a compare-and-swap at the same address checks: it may see an old value.
  bool guess = false;
  /// The operation may still run when the threads that started it have ended.
  bool mayOutlive = false;
  const Knowledge *knows = nullptr;
};

/// What those learn who wait for the end of an asynchronous operation.
inline Knowledge knowledgeAfter(const Access &access) {
  Knowledge after = *access.knows;
  after.generic.raise(access.actor, access.time);
  if (access.proxy == Proxy::Async)
    after.async.raise(access.actor, access.time);
  return after;
}

} // namespace tilec::simulator

#endif // TILEC_SIMULATOR_CLOCK_H
