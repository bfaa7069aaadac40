//===- ClockOffset.h - one clock for the ranks of several hosts -----------===//
//
// Processes of a host share a clock.  Ranks on other hosts read theirs before and after several
// exchanges.  No rank receives before all have sent, which bounds the difference of two clocks from
// both sides.  The middle of the bounds is exact to half the time of the fastest exchange.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CORE_CLOCKOFFSET_H
#define BRAID_CORE_CLOCKOFFSET_H

#include <functional>
#include <string>
#include <vector>

namespace braid {

// Returns the blobs of all ranks, in rank order; each rank calls it with its own.  Throws Error if
// communication fails.
using GatherBlobs = std::function<std::vector<std::string>(const std::string &own)>;

// Returns by how many seconds this rank's clock is ahead of rank 0's.  All ranks must call it.
// Throws the errors of `gather`.  `host` is a text that differs between hosts with different
// clocks.
double clockOffset(const GatherBlobs &gather, int rank, const std::string &host, const std::function<double()> &now);

// Returns the boot id, which only processes with the same clock share.
std::string clockOfHost();

} // namespace braid
#endif // BRAID_CORE_CLOCKOFFSET_H
