//===- LiveBytes.h - how much memory a sequence of actions holds -*- C++ -*-===//
//
// A buffer is live from the beginning of the first of its users to the end of the
// last.  Actions stand on a line of slots, most of which may be free: what lives at a
// free slot lives at the nearest taken slots on both sides too, so a free slot never
// has the most bytes, and an action can move to any free slot without moving others.
//
// A move costs O(log n) for each buffer that the action uses.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_SCHEDULE_LIVEBYTES_H
#define BRAID_LIB_SCHEDULE_LIVEBYTES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

namespace braid {

/// Memory that is live from the beginning of the first of its users to the end of
/// the last.
struct LiveBuffer {
  int64_t bytes = 0;
  bool fromStart = false, toEnd = false;
  /// Actions, in the order of the program.
  llvm::SmallVector<unsigned, 4> users;
  /// Whether it lies below all others.
  bool isAtBase = false;
  /// The last action that writes it; -1 where that does not matter to the planner.
  int64_t lastWriter = -1;
};

/// The slots at which an action begins and ends; the same for one that takes one slot.
struct ActionSlots {
  unsigned begin, end;
};

/// The most bytes that are live at one time, counted from scratch.
int64_t peakBytes(llvm::ArrayRef<LiveBuffer> buffers, llvm::ArrayRef<ActionSlots> actions);

class LiveBytes {
public:
  LiveBytes(llvm::ArrayRef<LiveBuffer> buffers, llvm::ArrayRef<ActionSlots> actions, unsigned slots);

  void move(unsigned action, ActionSlots to);
  ActionSlots slotsOf(unsigned action) const { return actions[action]; }

  /// The most bytes that are live at one time.
  int64_t peak() const { return std::max(atStart, most[1]); }
  /// The first slot at which the most bytes are live, of all slots.
  unsigned peakSlot() const;

private:
  /// What is live at [first, last], which is empty for a buffer that nothing uses.
  struct Life {
    std::set<unsigned> begins, ends;
    unsigned first = 1, last = 0;
  };

  void update(unsigned buffer);
  void add(unsigned first, unsigned last, int64_t bytes);

  llvm::ArrayRef<LiveBuffer> buffers;
  std::vector<ActionSlots> actions;
  std::vector<llvm::SmallVector<unsigned, 4>> buffersOf;
  std::vector<Life> lives;
  /// The bytes that are there before the first action.
  int64_t atStart = 0;
  /// A tree over slots, the root at 1 and the children of a node at 2i and 2i + 1: the most
  /// bytes at one slot of a node's range, without what was added to its ancestors' ranges;
  /// and what was added to its whole range.
  unsigned leaves = 1;
  std::vector<int64_t> most, added;
};

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_LIVEBYTES_H
