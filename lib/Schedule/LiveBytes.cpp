//===- LiveBytes.cpp - live memory of a sequence of actions ---------------===//

#include "lib/Schedule/LiveBytes.h"
#include <algorithm>
#include <limits>
#include <map>

using namespace braid;
using llvm::ArrayRef;

int64_t braid::peakBytes(ArrayRef<LiveBuffer> buffers, ArrayRef<ActionSlots> actions) {
  int64_t atStart = 0, live = 0, largest = 0;
  // Changes of the live bytes: at the slot where a buffer becomes live, and after its last live slot.
  std::map<int64_t, int64_t> changes;
  for (const LiveBuffer &buffer : buffers) {
    atStart += buffer.isLiveIn ? buffer.bytes : 0;
    if (buffer.users.empty())
      continue;
    int64_t first = std::numeric_limits<int64_t>::max(), last = 0;
    for (unsigned user : buffer.users) {
      first = std::min<int64_t>(first, actions[user].begin);
      last = std::max<int64_t>(last, actions[user].end);
    }
    changes[buffer.isLiveIn ? 0 : first] += buffer.bytes;
    if (!buffer.isLiveOut)
      changes[last + 1] -= buffer.bytes;
  }
  for (auto [slot, change] : changes)
    largest = std::max(largest, live += change);
  return std::max(atStart, largest);
}

LiveBytes::LiveBytes(ArrayRef<LiveBuffer> buffers, ArrayRef<ActionSlots> actions, unsigned slots)
    : buffers(buffers), actions(actions.begin(), actions.end()), buffersOf(actions.size()), lives(buffers.size()) {
  while (leaves < slots)
    leaves *= 2;
  largest.assign(2 * leaves, 0);
  added.assign(2 * leaves, 0);
  for (unsigned number = 0; number < buffers.size(); ++number) {
    for (unsigned user : buffers[number].users) {
      buffersOf[user].push_back(number);
      lives[number].begins.insert(actions[user].begin);
      lives[number].ends.insert(actions[user].end);
    }
    atStart += buffers[number].isLiveIn ? buffers[number].bytes : 0;
    update(number);
  }
}

/// Updates the live range of a buffer after its users moved.
void LiveBytes::update(unsigned number) {
  const LiveBuffer &buffer = buffers[number];
  Life &life = lives[number];
  unsigned first = 1, last = 0;
  if (!life.ends.empty()) {
    first = buffer.isLiveIn ? 0 : *life.begins.begin();
    last = buffer.isLiveOut ? leaves - 1 : *life.ends.rbegin();
  }
  if (first == life.first && last == life.last)
    return;
  add(life.first, life.last, -buffer.bytes);
  add(first, last, buffer.bytes);
  life.first = first;
  life.last = last;
}

void LiveBytes::move(unsigned action, ActionSlots to) {
  ActionSlots from = std::exchange(actions[action], to);
  for (unsigned number : buffersOf[action]) {
    Life &life = lives[number];
    life.begins.erase(from.begin);
    life.ends.erase(from.end);
    life.begins.insert(to.begin);
    life.ends.insert(to.end);
    update(number);
  }
}

unsigned LiveBytes::peakSlot() const {
  unsigned node = 1;
  while (node < leaves)
    node = 2 * node + (largest[2 * node] < largest[2 * node + 1]);
  return node - leaves;
}

void LiveBytes::add(unsigned first, unsigned last, int64_t bytes) {
  if (first > last)
    return;
  auto refresh = [&](unsigned node) {
    largest[node] = added[node] + std::max(largest[2 * node], largest[2 * node + 1]);
  };
  auto addTo = [&](unsigned node) {
    largest[node] += bytes;
    if (node < leaves)
      added[node] += bytes;
  };
  unsigned low = first + leaves, high = last + leaves;
  for (unsigned left = low, right = high + 1; left < right; left /= 2, right /= 2) {
    if (left & 1)
      addTo(left++);
    if (right & 1)
      addTo(--right);
  }
  for (unsigned node = low / 2; node > 0; node /= 2)
    refresh(node);
  for (unsigned node = high / 2; node > 0; node /= 2)
    refresh(node);
}
