//===- ClockOffset.h - one clock for the ranks of several hosts -----------===//
//
// Processes of a host share a clock.  Between hosts rank 0 asks another rank for its time, and
// takes it to have looked at its clock in the middle between question and answer; of several
// answers the fastest is right to half the time that it took.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CORE_CLOCKOFFSET_H
#define BRAID_CORE_CLOCKOFFSET_H

#include "comm/Communicator.h"

#include <functional>

namespace braid {

// How far this rank's clock is ahead of that of rank 0.  All ranks must call it.  Throws Error when
// communication fails.  `host` tells hosts with different clocks apart.
double clockOffset(br_comm &ranks, const std::string &host, const std::function<double()> &now);

// What the processes that share a clock have in common, and no others: the number of the boot.
std::string clockOfHost();

} // namespace braid
#endif // BRAID_CORE_CLOCKOFFSET_H
