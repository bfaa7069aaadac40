//===- LiveBytes.h - live memory of a sequence of actions -------*- C++ -*-===//
//
// A buffer is live from the beginning of its first user to the end of its last. Actions occupy slots on a line, and
// most slots are free. A buffer that is live at a free slot is also live at the nearest occupied slots on both sides,
// so no free slot exceeds the peak. An action can move to any free slot without moving others.
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

/// A buffer that is live from the beginning of its first user to the end of its last.
struct LiveBuffer {
  int64_t bytes = 0;
  bool isLiveIn = false, isLiveOut = false;
  /// Users of the buffer: actions in program order.
  llvm::SmallVector<unsigned, 4> users;
  /// Whether the buffer is placed below all others.
  bool isAtBase = false;
  /// The last action that writes the buffer; -1 where the planner does not need it.
  int64_t lastWriter = -1;
};

/// Slots at which an action begins and ends; equal for an action of one slot.
struct ActionSlots {
  unsigned begin, end;
};

/// Returns the peak of live bytes, counted from scratch.
int64_t peakBytes(llvm::ArrayRef<LiveBuffer> buffers, llvm::ArrayRef<ActionSlots> actions);

class LiveBytes {
public:
  LiveBytes(llvm::ArrayRef<LiveBuffer> buffers, llvm::ArrayRef<ActionSlots> actions, unsigned slots);

  void move(unsigned action, ActionSlots to);
  ActionSlots slotsOf(unsigned action) const { return actions[action]; }

  /// Returns the peak of live bytes.
  int64_t peak() const { return std::max(atStart, largest[1]); }
  /// Returns the first slot at the peak.
  unsigned peakSlot() const;

private:
  /// Live range [first, last] of a buffer; empty for an unused buffer.
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
  /// Bytes that are live before the first action.
  int64_t atStart = 0;
  /// A segment tree over slots, with the root at 1 and the children of node i at 2i and 2i + 1. `added` holds the bytes
  /// added to a node's whole range. `largest` holds the most bytes at one slot of the range, without the bytes added to
  /// its ancestors.
  unsigned leaves = 1;
  std::vector<int64_t> largest, added;
};

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_LIVEBYTES_H
