//===- Slots.cpp - slots of held microbatches -----------------------------===//

#include "lib/Pipeline/Slots.h"
#include "lib/Pipeline/SlotPool.h"
#include <algorithm>

using namespace braid::pipeline;

Slots braid::pipeline::assignSlots(const Schedule &schedule, SlotsOf owner) {
  std::vector<SlotPool> pools(owner == SlotsOf::Stage ? schedule.numStages() : schedule.numRanks());
  Slots slots;
  slots.numbers.assign(schedule.numStages(), std::vector<unsigned>(schedule.numMicrobatches()));
  for (const Table::Row &row : schedule.getTable().rows)
    for (const Cell &cell : row) {
      SlotPool &pool = pools[owner == SlotsOf::Stage ? cell.stage : schedule.rankOf(cell.stage)];
      unsigned &slot = slots.numbers[cell.stage][cell.microbatch];
      if (cell.action == Action::Forward)
        slot = pool.acquire();
      else if (releases(cell.action))
        pool.release(slot);
    }
  for (const SlotPool &pool : pools)
    slots.counts.push_back(pool.count);
  return slots;
}

std::vector<unsigned> braid::pipeline::peakHeldMicrobatches(const Schedule &schedule) {
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
