//===- TimedAction.h - begin and end of an action -------------------------===//
#ifndef BRAID_CORE_TIMEDACTION_H
#define BRAID_CORE_TIMEDACTION_H

#include <cstdint>

namespace braid {

// Begin and end in seconds, by the clock of the target.  An action ends where the next one begins.
struct TimedAction {
  int32_t action; // index in the program
  double begin, end;
};

} // namespace braid
#endif // BRAID_CORE_TIMEDACTION_H
