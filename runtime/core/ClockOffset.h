//===- ClockOffset.h - one clock for the ranks of several hosts -----------===//
//
// Processes of a host share a clock.  Ranks of other hosts look at theirs around several exchanges:
// nobody has received before all have sent, which bounds the difference of two clocks from both
// sides.  The middle between the bounds is right to half of the fastest exchange.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CORE_CLOCKOFFSET_H
#define BRAID_CORE_CLOCKOFFSET_H

#include <functional>
#include <string>
#include <vector>

namespace braid {

// The blobs of all ranks, in their order: all call it with their own.  Throws Error when
// communication fails.
using GatherBlobs = std::function<std::vector<std::string>(const std::string &own)>;

// How far this rank's clock is ahead of that of rank 0.  All ranks must call it.  Throws what
// `gather` throws.  `host` tells hosts with different clocks apart.
double clockOffset(const GatherBlobs &gather, int rank, const std::string &host, const std::function<double()> &now);

// What the processes that share a clock have in common, and no others: the number of the boot.
std::string clockOfHost();

} // namespace braid
#endif // BRAID_CORE_CLOCKOFFSET_H
