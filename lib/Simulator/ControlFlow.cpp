// Weak topological order of a kernel's basic blocks.
#include "ControlFlow.h"

#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace tilec::simulator;

namespace {
struct BasicBlock {
  uint32_t begin = 0, end = 0;
  llvm::SmallVector<uint32_t, 2> successors;
};

bool isBranch(const Op &op) { return op.source->name == "bra"; }
bool isExit(const Op &op) { return op.source->name == "ret" || op.source->name == "exit" || op.source->name == "trap"; }

std::vector<BasicBlock> findBlocks(const Program &program) {
  uint32_t count = program.ops.size();
  std::vector<bool> leads(count + 1, false);
  leads[0] = true;
  for (uint32_t i = 0; i < count; ++i) {
    if (isBranch(program.ops[i]))
      leads[program.ops[i].target] = true;
    if (isBranch(program.ops[i]) || isExit(program.ops[i]))
      leads[i + 1] = true;
  }
  std::vector<BasicBlock> blocks;
  std::vector<uint32_t> blockOf(count + 1, 0);
  for (uint32_t i = 0; i < count; ++i) {
    if (leads[i])
      blocks.push_back({i, i, {}});
    blocks.back().end = i + 1;
    blockOf[i] = blocks.size() - 1;
  }
  for (BasicBlock &block : blocks) {
    const Op &last = program.ops[block.end - 1];
    if (isBranch(last) && last.target < count)
      block.successors.push_back(blockOf[last.target]);
    bool fallsThrough = last.guard >= 0 || (!isBranch(last) && !isExit(last));
    if (fallsThrough && block.end < count)
      block.successors.push_back(blockOf[block.end]);
  }
  return blocks;
}

/// One frame of the depth-first search for components; explicit, since kernels have thousands of blocks.
class WeakTopologicalOrder {
public:
  explicit WeakTopologicalOrder(const std::vector<BasicBlock> &blocks) : blocks(blocks), number(blocks.size(), 0) {}

  /// Blocks in reverse order.
  std::vector<uint32_t> reversed;

  void visitRoot(uint32_t root) {
    enter(root);
    while (!frames.empty())
      advance();
  }

private:
  struct Frame {
    uint32_t block;
    size_t next = 0;
    uint32_t low = 0;
    bool loop = false;
    /// Set while the frame visits its component again, without its head.
    bool inside = false;
    size_t mark = 0;
  };
  static constexpr uint32_t done = ~0u;

  void enter(uint32_t block) {
    stack.push_back(block);
    number[block] = ++count;
    Frame frame;
    frame.block = block;
    frame.low = count;
    frames.push_back(frame);
  }

  void noteLow(Frame &frame, uint32_t low) {
    if (low <= frame.low) {
      frame.low = low;
      frame.loop = true;
    }
  }

  void advance() {
    Frame &frame = frames.back();
    const BasicBlock &block = blocks[frame.block];
    while (frame.next < block.successors.size()) {
      uint32_t successor = block.successors[frame.next++];
      if (number[successor] == 0)
        return enter(successor);
      if (!frame.inside && number[successor] != done)
        noteLow(frame, number[successor]);
    }
    if (frame.inside || !closeComponent(frame))
      finish();
  }

  // True if the frame is the head of a loop, whose blocks are now visited again.
  bool closeComponent(Frame &frame) {
    if (frame.low != number[frame.block])
      return false;
    number[frame.block] = done;
    uint32_t element = stack.back();
    stack.pop_back();
    if (!frame.loop)
      return false;
    while (element != frame.block) {
      number[element] = 0;
      element = stack.back();
      stack.pop_back();
    }
    frame.inside = true;
    frame.next = 0;
    return true;
  }

  void finish() {
    Frame frame = frames.back();
    frames.pop_back();
    if (number[frame.block] == done)
      reversed.push_back(frame.block);
    if (!frames.empty() && !frames.back().inside && number[frame.block] != done)
      noteLow(frames.back(), frame.low);
  }

  const std::vector<BasicBlock> &blocks;
  std::vector<uint32_t> number, stack;
  std::vector<Frame> frames;
  uint32_t count = 0;
};
} // namespace

std::vector<uint32_t> tilec::simulator::computeOrder(const Program &program) {
  std::vector<uint32_t> order(program.ops.size(), ~0u);
  if (program.ops.empty())
    return order;
  std::vector<BasicBlock> blocks = findBlocks(program);
  WeakTopologicalOrder search(blocks);
  search.visitRoot(0);
  uint32_t next = 0;
  for (uint32_t block : llvm::reverse(search.reversed))
    for (uint32_t i = blocks[block].begin; i < blocks[block].end; ++i)
      order[i] = next++;
  return order;
}
