//===- SlotPool.h - slots that are taken and given back ---------*- C++ -*-===//
#ifndef BRAID_LIB_PIPELINE_SLOTPOOL_H
#define BRAID_LIB_PIPELINE_SLOTPOOL_H

#include <functional>
#include <queue>
#include <vector>

namespace braid::pipeline {

/// Pool that hands out the lowest free slot; `count` is the peak number of slots in use.
class SlotPool {
public:
  unsigned acquire() {
    if (free.empty())
      return count++;
    unsigned slot = free.top();
    free.pop();
    return slot;
  }
  void release(unsigned slot) { free.push(slot); }
  unsigned count = 0;

private:
  std::priority_queue<unsigned, std::vector<unsigned>, std::greater<>> free;
};

} // namespace braid::pipeline

#endif // BRAID_LIB_PIPELINE_SLOTPOOL_H
