//===- LiveBytes.h - how much memory a schedule holds -----------*- C++ -*-===//
//
// Counted one action at a time: a buffer is live from the beginning of its first
// user to the end of its last.  The planner may need a little more (gaps) or less
// (what it writes in place).
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_SCHEDULE_LIVEBYTES_H
#define BRAID_LIB_SCHEDULE_LIVEBYTES_H

#include "lib/Schedule/Overlap.h"

namespace braid {

class LiveBytes {
public:
  explicit LiveBytes(const OverlapProblem &problem);

  void begin(unsigned action);
  void end(unsigned action);

  int64_t live() const { return bytes; }
  int64_t peak() const { return highest; }
  /// What would become live if the action began now.
  int64_t taken(unsigned action) const;
  /// What the end of the action, which has begun, would give back now.
  int64_t freed(unsigned action) const;

private:
  const OverlapProblem &problem;
  std::vector<llvm::SmallVector<unsigned, 4>> buffersOf;
  /// Users that are not over; whether one has begun.
  std::vector<unsigned> usersLeft;
  std::vector<bool> isLive;
  int64_t bytes, highest;
};

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_LIVEBYTES_H
