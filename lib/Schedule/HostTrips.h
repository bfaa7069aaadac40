//===- HostTrips.h - which tensors wait in the host's memory, as a problem -*- C++ -*-===//
//
// Some tensors are made early in a program and read again late.  In between they can wait in the
// memory of a device's host: one copy puts them there, another one fetches them.  There is a queue
// for each direction, and both work beside computing.
//
//   away     a tensor is away if its copy is over when the program turns, where the most tensors
//            wait, and if it is fetched no earlier
//   back     it is fetched in the order of uses, at most `ahead` before their turn, as
//            the schedule of communication does (Overlap.h)
//   hidden   both copies are over in time even if they take `contention` times as long
//
//   check    the problem makes sense
//   solve    as many bytes as are hidden together
//   verify   they are, whatever the algorithm was
//
// Nothing here knows of MLIR's operations.
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
    /// The action that makes it, and the first that reads it again.
    unsigned made = 0, use = 0;
    /// Of a copy in one direction.
    double seconds = 0;
  };
  /// What is fetched anyway, and the action that reads it first.
  struct Fetch {
    unsigned use = 0;
    double seconds = 0;
  };

  /// When each action begins, and when the last is over.
  std::vector<double> begins;
  /// The first action that no tensor need be on the device for, but for those that it reads.
  unsigned turn = 0;
  std::vector<Tensor> tensors;
  std::vector<Fetch> others;
  unsigned ahead = 1;
  /// A copy may take so many times its seconds, and `slack` seconds more.
  double contention = 2, slack = 10e-6;
};

/// By how many seconds each copy of a tensor is late; 0 where it is hidden.
struct HostTrip {
  double lateAway = 0, lateBack = 0;
  bool isHidden() const { return lateAway == 0 && lateBack == 0; }
};

struct HostTrips {
  /// Of each tensor, whether it goes.
  std::vector<bool> goes;
  /// Of each tensor, how its copies fare: beside all that go, or if it went, too.
  std::vector<HostTrip> trips;
};

/// How the copies of all tensors that go fare beside each other; empty entries for the others.
std::vector<HostTrip> simulate(const HostTripsProblem &problem, const std::vector<bool> &goes);

llvm::Error check(const HostTripsProblem &problem);
/// For a problem that passed `check`: the largest tensors first, each that is hidden beside those
/// that go already and leaves them hidden.  O(n^2 log n) for n tensors.
HostTrips solve(const HostTripsProblem &problem);
/// Whether all that go are hidden.
llvm::Error verify(const HostTripsProblem &problem, const HostTrips &answer);

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_HOSTTRIPS_H
