//===- Buckets.h - which collectives become one -----------------*- C++ -*-===//
//
// Collectives of equal kind (op, reduction, element type, group) may be one, over
// the tensors of all of them.  It stands where the last of its tensors is made, and
// what reads the others waits for it: so none may need the result of another, and no
// chain through other buckets may lead from one to another.
//
// Let a kind lead to another if an item of the second needs one of the first.  A
// kind from which nothing leads back to itself can be split into buckets in any way.  In kinds that
// lead to each other only items of the same *wave* share a bucket: as many items of
// these kinds lie on the longest chain to each of them, and from one wave to the same
// there is no chain.  That is all that the order of a program asks of its buckets.
//
// Items are walked in the order of their parameters, backwards, because gradients
// become ready so; the order says nothing of times, so every rank and run agrees.
// A kind that sends nothing but what other items make is split like these: the
// all_reduce across nodes as the reduce_scatter within them.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_SCHEDULE_BUCKETS_H
#define BRAID_LIB_SCHEDULE_BUCKETS_H

#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace braid {

struct BucketProblem {
  static constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max();

  /// What bounds the buckets of a kind.
  struct Kind {
    /// Bytes, of the first bucket and of the others.  A tensor that is larger has a
    /// bucket of its own.
    int64_t firstCap = kUnlimited, cap = kUnlimited;
    /// Whether readers may move behind the bucket.  If not, it ends before the first
    /// of them.
    bool mayDelay = true;
    /// A bucket with so many bytes takes no more of them than are too few for another.
    int64_t enough = kUnlimited;
  };

  /// A collective that may share a bucket.
  struct Item {
    unsigned action, kind;
    /// A bucket ends where the unit changes.
    unsigned unit = 0;
    /// Where its parameter is registered.
    unsigned order = 0;
    int64_t bytes = 0;
  };

  /// For each action of the program, in its order, the earlier ones that it needs.
  std::vector<llvm::SmallVector<unsigned, 2>> needs;
  std::vector<Kind> kinds;
  /// In the order of their actions.
  std::vector<Item> items;
};

struct Bucket {
  /// In the order in which they were taken.
  std::vector<unsigned> items;
  /// Of all tensors, and the most there may be; none where another bucket decided.
  int64_t bytes = 0;
  std::optional<int64_t> cap;
};

struct BucketSolution {
  /// Every item is in one.
  std::vector<Bucket> buckets;
  /// The actions in their new order; the first item of a bucket in the program's
  /// order stands for all.
  std::vector<unsigned> order;
};

/// What is wrong with the problem itself, if anything.
std::optional<std::string> check(const BucketProblem &problem);

/// Near-linear in the needs: one queue over the actions.
BucketSolution findBuckets(const BucketProblem &problem);

/// What is wrong with the solution, if anything.  Knows nothing of kinds that lead to
/// each other and of waves: the new order is the proof that there is one.
std::optional<std::string> verify(const BucketProblem &problem, const BucketSolution &solution);

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_BUCKETS_H
