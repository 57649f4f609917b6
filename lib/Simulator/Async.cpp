// Choosing when asynchronous operations complete.
#include "tilec/Simulator/Async.h"

#include "tilec/Simulator/Block.h"

using namespace tilec::simulator;

AsyncEngine::Queue &AsyncEngine::queueOf(Warp &warp, AsyncQueue queue) {
  auto [entry, isNew] = queues.try_emplace({&warp, queue});
  if (isNew)
    entry->second.actor = cluster.newActor();
  return entry->second;
}

Time AsyncEngine::nextTime(Actor actor) {
  if (actor >= times.size())
    times.resize(actor + 1, 0);
  return ++times[actor];
}

void AsyncEngine::submit(Warp &warp, const Op &op, const Request &request, std::unique_ptr<AsyncOperation> operation) {
  Queue &queue = queueOf(warp, request.queue);
  auto entry = std::make_unique<Entry>();
  entry->warp = &warp;
  entry->queue = request.queue;
  entry->lanes = request.lanes;
  entry->ordered = request.ordered;
  entry->group = queue.closed;
  entry->knows = warp.knows;
  entry->access = warp.access(op, -1);
  entry->access.proxy = request.proxy;
  entry->access.actor = request.channel.value_or(queue.actor);
  entry->access.time = nextTime(entry->access.actor);
  entry->access.knows = &entry->knows;
  entry->operation = std::move(operation);
  operations.push_back(std::move(entry));
  if (schedule == Schedule::Early)
    while (completeOne()) {
    }
}

void AsyncEngine::commit(Warp &warp, AsyncQueue queue, LaneMask lanes) {
  Queue &state = queueOf(warp, queue);
  for (unsigned lane = 0; lane < laneCount; ++lane)
    state.closed[lane] += lanes >> lane & 1;
}

// An ordered operation comes after all earlier ones of its lanes.
bool AsyncEngine::mayComplete(size_t index) const {
  const Entry &entry = *operations[index];
  for (size_t i = 0; entry.ordered && i < index; ++i) {
    const Entry &before = *operations[i];
    if (before.warp == entry.warp && before.queue == entry.queue && (before.lanes & entry.lanes))
      return false;
  }
  return true;
}

void AsyncEngine::complete(size_t index) {
  std::unique_ptr<Entry> entry = std::move(operations[index]);
  operations.erase(operations.begin() + index);
  entry->operation->complete(entry->access);
  cluster.noteProgress();
}

void AsyncEngine::wait(Warp &warp, AsyncQueue queue, LaneMask lanes, int pending) {
  Queue &state = queueOf(warp, queue);
  Time last = 0;
  auto due = [&](const Entry &entry) {
    if (entry.warp != &warp || entry.queue != queue || !(entry.lanes & lanes))
      return false;
    for (unsigned lane = 0; lane < laneCount; ++lane)
      if ((entry.lanes & lanes) >> lane & 1 &&
          (pending < 0 || int64_t(entry.group[lane]) < int64_t(state.closed[lane]) - pending))
        return true;
    return false;
  };
  // What is still in flight bounds what the warp may know, also of operations that completed before this wait.
  std::optional<Time> inFlight;
  for (size_t i = 0; i < operations.size();) {
    const Entry &entry = *operations[i];
    if (due(entry)) {
      last = std::max(last, entry.access.time);
      complete(i);
      continue;
    }
    if (entry.warp == &warp && entry.queue == queue && entry.access.actor == state.actor && !inFlight)
      inFlight = entry.access.time;
    ++i;
  }
  if (state.actor < times.size())
    last = std::max(last, inFlight ? *inFlight - 1 : times[state.actor]);
  warp.knows.generic.raise(state.actor, last);
  // cp.async writes through the generic proxy.
  if (queue != AsyncQueue::CopyAsync)
    warp.knows.async.raise(state.actor, last);
}

bool AsyncEngine::completeOne() {
  if (operations.empty())
    return false;
  size_t first = schedule == Schedule::Random ? random() % operations.size() : 0;
  for (size_t i = 0; i < operations.size(); ++i) {
    size_t index = (first + i) % operations.size();
    if (!mayComplete(index))
      continue;
    complete(index);
    return true;
  }
  return false;
}

void AsyncEngine::tick() {
  if (schedule == Schedule::Random && !operations.empty() && random() % 4 == 0)
    completeOne();
}
