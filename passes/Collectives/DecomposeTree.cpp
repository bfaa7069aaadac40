//===- DecomposeTree.cpp - binomial trees ---------------------------------===//
//
// Sends the whole tensor in ceil(log2 n) permutes to one rank, and in as many back. The few messages suit small
// tensors. Works for any n:
//
//   reduce, n = 6     step 1: 1 -> 0, 3 -> 2, 5 -> 4
//                     step 2: 2 -> 0             (4 has no partner and keeps)
//                     step 4: 4 -> 0
//   broadcast, n = 6  step 1: 0 -> 1
//                     step 2: 0 -> 2, 1 -> 3
//                     step 4: 0 -> 4, 1 -> 5
//
// Ranks are numbered from the root. A rank that receives nothing keeps its value.
//
//===----------------------------------------------------------------------===//

#include "passes/Collectives/Decompose.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

/// Returns whether step <= number < 2 step.
static Value isSecondHalf(Group &group, Value number, int64_t step) {
  tg::TensorBuilder &b = group.b;
  Value fromStep = b.compare(arith::CmpIPredicate::sge, number, b.constantLike(number, step));
  if (2 * step >= group.n)
    return fromStep;
  Value toEnd = b.compare(arith::CmpIPredicate::slt, number, b.constantLike(number, 2 * step));
  return b.make<arith::AndIOp>(fromStep, toEnd);
}

/// Whether a rank is the first of 2 step ranks, and the group has more than `step` ranks from there on.
static Value hasPartner(Group &group, Value number, int64_t step) {
  tg::TensorBuilder &b = group.b;
  Value place = b.make<arith::RemSIOp>(number, b.constantLike(number, 2 * step));
  Value isFirst = b.compare(arith::CmpIPredicate::eq, place, b.constantLike(number, 0));
  if (group.n % (2 * step) == 0)
    return isFirst;
  Value isFull = b.compare(arith::CmpIPredicate::slt, number, b.constantLike(number, group.n - step));
  return b.make<arith::AndIOp>(isFirst, isFull);
}

namespace {
struct Tree final : Algorithm {
  Values allReduce(Group &group, Reduction kind, ValueRange values) const final {
    return broadcast(group, group.finish(kind, reduce(group, kind, values)), /*root=*/0);
  }

  Values broadcast(Group &group, ValueRange own, int64_t root) const final {
    Values values(own);
    Value number = group.number(root);
    for (int64_t step = 1; step < group.n; step *= 2) {
      SmallVector<int64_t> pairs;
      for (int64_t rank = 0; rank < step && rank + step < group.n; ++rank)
        pairs.append({(rank + root) % group.n, (rank + step + root) % group.n});
      values = group.select(isSecondHalf(group, number, step), group.permute(values, pairs), values);
    }
    return values;
  }

private:
  /// Returns the combination on rank 0; the values of other ranks are not used.
  static Values reduce(Group &group, Reduction kind, ValueRange own) {
    Values values(own);
    Value number = group.number();
    for (int64_t step = 1; step < group.n; step *= 2) {
      SmallVector<int64_t> pairs;
      for (int64_t rank = 0; rank + step < group.n; rank += 2 * step)
        pairs.append({rank + step, rank});
      Values combined = group.combine(kind, values, group.permute(values, pairs));
      values = group.select(hasPartner(group, number, step), combined, values);
    }
    return values;
  }
};
} // namespace

std::unique_ptr<Algorithm> braid::makeTree() { return std::make_unique<Tree>(); }
