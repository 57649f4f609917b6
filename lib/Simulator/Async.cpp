// Choosing when asynchronous operations complete.
#include "tilec/Simulator/Async.h"

#include "tilec/Simulator/Block.h"
#include "llvm/ADT/bit.h"

using namespace tilec::simulator;

AsyncEngine::Queue &AsyncEngine::queueOf(Warp &warp, AsyncQueue queue) {
  auto [entry, isNew] = queues.try_emplace({&warp, queue});
  if (isNew) {
    entry->second.actor = cluster.newActor();
    entry->second.reader = cluster.newActor();
  }
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
  // What the block waits for by itself when it ends is left out: cp.async goes through the threads' own loads.
  entry->access.mayOutlive = request.queue != AsyncQueue::CopyAsync;
  entry->readAccess = entry->access;
  if (request.queue == AsyncQueue::BulkGroup)
    entry->readAccess.actor = queue.reader;
  entry->operation = std::move(operation);
  operations.push_back(std::move(entry));
  warp.advance();
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

void AsyncEngine::readSources(Entry &entry) {
  if (!entry.sourcesRead)
    entry.operation->readSources(entry.readAccess);
  entry.sourcesRead = true;
}

void AsyncEngine::complete(size_t index) {
  std::unique_ptr<Entry> entry = std::move(operations[index]);
  operations.erase(operations.begin() + index);
  readSources(*entry);
  entry->operation->complete(entry->access);
  cluster.noteProgress();
}

bool AsyncEngine::isDue(const Entry &entry, const Queue &queue, LaneMask lanes, int pending) {
  for (LaneMask rest = entry.lanes & lanes; rest; rest &= rest - 1) {
    unsigned lane = llvm::countr_zero(rest);
    if (pending < 0 || int64_t(entry.group[lane]) < int64_t(queue.closed[lane]) - pending)
      return true;
  }
  return false;
}

// What is still in flight bounds what the warp may know, also of operations that completed before this wait.
void AsyncEngine::wait(Warp &warp, AsyncQueue queue, LaneMask lanes, int pending) {
  Queue &state = queueOf(warp, queue);
  Time last = state.actor < times.size() ? times[state.actor] : 0, lastRead = last;
  for (size_t i = 0; i < operations.size();) {
    const Entry &entry = *operations[i];
    bool own = entry.warp == &warp && entry.queue == queue && entry.access.actor == state.actor;
    if (own && isDue(entry, state, lanes, pending)) {
      complete(i);
      continue;
    }
    if (own) {
      last = std::min(last, entry.access.time - 1);
      if (!entry.sourcesRead)
        lastRead = std::min(lastRead, entry.access.time - 1);
    }
    ++i;
  }
  warp.knows.generic.raise(state.actor, last);
  warp.knows.generic.raise(state.reader, lastRead);
  // cp.async writes through the generic proxy.
  if (queue != AsyncQueue::CopyAsync)
    warp.knows.async.raise(state.actor, last);
}

void AsyncEngine::waitForReads(Warp &warp, AsyncQueue queue, LaneMask lanes, int pending) {
  Queue &state = queueOf(warp, queue);
  Time last = state.actor < times.size() ? times[state.actor] : 0;
  for (const std::unique_ptr<Entry> &entry : operations) {
    if (entry->warp != &warp || entry->queue != queue)
      continue;
    if (isDue(*entry, state, lanes, pending))
      readSources(*entry);
    if (!entry->sourcesRead)
      last = std::min(last, entry->access.time - 1);
  }
  warp.knows.generic.raise(state.reader, last);
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
