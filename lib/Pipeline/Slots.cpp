//===- Slots.cpp - where held microbatches lie ----------------------------===//

#include "lib/Pipeline/Slots.h"
#include <algorithm>
#include <queue>

using namespace braid::pipeline;

namespace {
/// Slots of which the lowest free one is taken; there are as many as were ever needed.
class Pool {
public:
  unsigned take() {
    if (free.empty())
      return count++;
    unsigned slot = free.top();
    free.pop();
    return slot;
  }
  void giveBack(unsigned slot) { free.push(slot); }
  unsigned count = 0;

private:
  std::priority_queue<unsigned, std::vector<unsigned>, std::greater<>> free;
};
} // namespace

Slots braid::pipeline::assignSlots(const Schedule &schedule, SlotsOf owner) {
  std::vector<Pool> pools(owner == SlotsOf::Stage ? schedule.numStages() : schedule.numRanks());
  Slots slots;
  slots.numbers.assign(schedule.numStages(), std::vector<unsigned>(schedule.numMicrobatches()));
  for (const Table::Row &row : schedule.getTable().rows)
    for (const Cell &cell : row) {
      Pool &pool = pools[owner == SlotsOf::Stage ? cell.stage : schedule.rankOf(cell.stage)];
      unsigned &slot = slots.numbers[cell.stage][cell.microbatch];
      if (cell.action == Action::Forward)
        slot = pool.take();
      else if (releases(cell.action))
        pool.giveBack(slot);
    }
  for (const Pool &pool : pools)
    slots.counts.push_back(pool.count);
  return slots;
}

std::vector<unsigned> braid::pipeline::peaksHeld(const Schedule &schedule) {
  std::vector<unsigned> peaks;
  for (const Table::Row &row : schedule.getTable().rows) {
    unsigned held = 0, peak = 0;
    for (const Cell &cell : row) {
      peak = std::max(peak, held += cell.action == Action::Forward);
      held -= releases(cell.action);
    }
    peaks.push_back(peak);
  }
  return peaks;
}
