//===- HostTrips.h - chooses tensors that wait in host memory ---*- C++ -*-===//
//
// Some tensors are computed early in a program and read again late. In between they can wait in the host's memory: one
// copy offloads them, another one fetches them. Each direction has a queue, and both work in parallel with computing.
//
//   away     a tensor is away if its copy ends before the program turns, where most tensors
//            wait, and if its fetch starts no earlier
//   back     fetches run in the order of uses, at most `ahead` uses early, as in the schedule
//            of communication (Overlap.h)
//   hidden   both copies end in time even if they take `contention` times as long
//
//   check    checks that the problem is valid
//   solve    offloads as many bytes as can be hidden together
//   verify   checks that all copies are hidden, independently of the algorithm
//
// The algorithm does not depend on MLIR's operations.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_SCHEDULE_HOSTTRIPS_H
#define BRAID_LIB_SCHEDULE_HOSTTRIPS_H

#include "llvm/Support/Error.h"
#include <cstdint>
#include <vector>

namespace braid {

struct HostTripsProblem {
  struct Tensor {
    int64_t bytes = 0;
    /// Index of the action that computes the tensor, and of the first action that reads it again.
    unsigned made = 0, use = 0;
    /// Seconds of a copy in one direction.
    double seconds = 0;
  };
  /// A tensor that is fetched in any case; `use` is the first action that reads it.
  struct Fetch {
    unsigned use = 0;
    double seconds = 0;
  };

  /// Start time of each action, and the end of the last, in seconds.
  std::vector<double> begins;
  /// The first action that needs no tensor on the device, except those that it reads.

  unsigned turn = 0;
  std::vector<Tensor> tensors;
  std::vector<Fetch> others;
  unsigned ahead = 1;
  /// A copy may take `contention` times its seconds, plus `slack` seconds.
  double contention = 2, slack = 10e-6;
};

/// Seconds by which each copy of a tensor is late; 0 if the copy is hidden.
struct HostTrip {
  double offloadDelay = 0, fetchDelay = 0;
  bool isHidden() const { return offloadDelay == 0 && fetchDelay == 0; }
};

struct HostTrips {
  /// Whether each tensor is offloaded.
  std::vector<bool> isOffloaded;
  /// Lateness of the copies of each tensor, beside all offloaded tensors. For other tensors, the lateness if they were
  /// offloaded, too.
  std::vector<HostTrip> trips;
};

/// Returns the lateness of the copies of all offloaded tensors; empty entries for the others.
std::vector<HostTrip> simulate(const HostTripsProblem &problem, const std::vector<bool> &isOffloaded);

llvm::Error check(const HostTripsProblem &problem);
/// Solves a problem that passed `check`. Takes the largest tensors first, and offloads each that is hidden and keeps
/// the earlier ones hidden. O(n^2 log n) for n tensors.
HostTrips solve(const HostTripsProblem &problem);
/// Checks that the copies of all offloaded tensors are hidden.
llvm::Error verify(const HostTripsProblem &problem, const HostTrips &answer);

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_HOSTTRIPS_H
