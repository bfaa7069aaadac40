//===- TimedAction.h - when an action of a program ran --------------------===//
#ifndef BRAID_CORE_TIMEDACTION_H
#define BRAID_CORE_TIMEDACTION_H

#include <cstdint>

namespace braid {

// In seconds of the clock of what ran it.  An action ends where the next one begins.
struct TimedAction {
  int32_t action; // of the program
  double begin, end;
};

} // namespace braid
#endif // BRAID_CORE_TIMEDACTION_H
