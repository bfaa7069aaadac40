//===- Buckets.h - merges collectives into buckets --------------*- C++ -*-===//
//
// Merges collectives of equal kind (op, reduction, element type, group) into one collective over all their tensors. The
// merged collective runs after the last of its tensors is computed, and readers of the other tensors wait for it. So no
// item of a bucket may need the result of another one, directly or through other buckets.
//
// A kind *leads to* another if an item of the second needs an item of the first. A kind that does not lead back to
// itself can be split into buckets in any way. In a strongly connected component of kinds, only items of the same
// *wave* share a bucket. The wave of an item is the number of items of the component on the longest chain to it; no
// chain connects two items of one wave. The order of a program needs no other constraint on its buckets.
//
// Items are visited in reverse order of their parameters, because gradients are computed in that order. This order does
// not depend on time, so every rank and run agrees. A kind whose items only send what other items produce is split like
// those: for example, the all_reduce across nodes is split like the reduce_scatter within them.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_SCHEDULE_BUCKETS_H
#define BRAID_LIB_SCHEDULE_BUCKETS_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace braid {

struct BucketProblem {
  static constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max();

  /// Limits of the buckets of a kind.
  struct Kind {
    /// Largest bytes of the first bucket and of the others. A larger tensor gets a bucket of its own.
    int64_t firstCap = kUnlimited, cap = kUnlimited;
    /// Whether readers may move behind the bucket. If not, the bucket ends before the first reader.
    bool mayDelay = true;
    /// A bucket of at least this many bytes ends early if the rest of its unit has at least as many bytes.
    int64_t enough = kUnlimited;
  };

  /// A collective that may share a bucket.
  struct Item {
    unsigned action, kind;
    /// The unit of the model. A bucket ends where the unit changes.
    unsigned unit = 0;
    /// Position in which the parameter is registered.
    unsigned order = 0;
    int64_t bytes = 0;
  };

  /// For each action in program order, the earlier actions that it needs.
  std::vector<llvm::SmallVector<unsigned, 2>> dependences;
  std::vector<Kind> kinds;
  /// Items in the order of their actions.
  std::vector<Item> items;
};

struct Bucket {
  /// Items in the order in which they were added.
  std::vector<unsigned> items;
  /// Bytes of all tensors, and their limit; no limit if the bucket follows another one.
  int64_t bytes = 0;
  std::optional<int64_t> cap;
};

struct BucketSolution {
  /// Buckets; each item is in exactly one.
  std::vector<Bucket> buckets;
  /// The actions in their new order. The first item of a bucket in program order stands for the whole bucket.
  std::vector<unsigned> order;
};

/// Returns the first error in the problem itself, if any.
llvm::Error check(const BucketProblem &problem);

/// Solves a problem. The time is nearly linear in the needs, with one queue over the actions.
BucketSolution findBuckets(const BucketProblem &problem);

/// Returns the first error in the solution, if any. Does not use components and waves: it checks that the new order
/// exists and is valid.
llvm::Error verify(const BucketProblem &problem, const BucketSolution &solution);

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_BUCKETS_H
