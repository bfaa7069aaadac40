//===- DecomposeRing.cpp - blocks that go around, or straight -------------===//
//
// Two algorithms that split tensors into n blocks, one a rank; each needs n - 1
// permutes of a block for reduce_scatter and as many for all_gather.
//
// ring: every rank sends to the next.  A block that is reduced starts at the rank
// after its owner and gathers every rank's part on its way, so block i is added
// in the order i+1, i+2, ..., i:
//
//   step            rank 0   rank 1   rank 2       (which block it sends)
//     0                2        0        1
//     1                1        2        0
//   has                0        1        2
//
// direct: in step s every rank sends what is for the rank s after it, without a
// stop between.  Block i is added in the order i, i-1, i-2, ...
//
// So floats may differ from the plain op's, which adds in the order of ranks, by
// rounding; they are the same in every run and on all ranks.
//
//===----------------------------------------------------------------------===//

#include "passes/Collectives/Decompose.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

namespace {

/// all_reduce is reduce_scatter, then all_gather.
class ByBlocks : public Algorithm {
public:
  Value allReduce(Group &group, Reduction kind, Value value) const final {
    Type type = tg::typeOf(value);
    int64_t dim = dimOfBlocks(type, group.n);
    Value block = reduceScatter(group, kind, value, dim, blockType(type, dim, group.n));
    return allGather(group, block, dim, type);
  }

protected:
  /// The blocks of this rank and of those 1, 2, ... before it, side by side.
  static Value assembleBackwards(Group &group, ArrayRef<Value> blocks, int64_t dim, Type result) {
    SmallVector<int64_t> shifts;
    for (int64_t distance = 0; distance < group.n; ++distance)
      shifts.push_back((group.n - distance) % group.n);
    return group.assemble(blocks, dim, shifts, result);
  }
};

struct Ring final : ByBlocks {
  Value reduceScatter(Group &group, Reduction kind, Value value, int64_t dim, Type) const final {
    Value block = group.slice(value, dim, group.n - 1);
    for (int64_t shift = group.n - 2; shift >= 0; --shift) {
      Value sum = group.rotate(block, 1);
      block = group.combine(kind, sum, group.slice(value, dim, shift));
    }
    return group.finish(kind, block);
  }

  Value allGather(Group &group, Value value, int64_t dim, Type result) const final {
    SmallVector<Value> blocks{value};
    while (int64_t(blocks.size()) < group.n)
      blocks.push_back(group.rotate(blocks.back(), 1));
    return assembleBackwards(group, blocks, dim, result);
  }
};

struct Direct final : ByBlocks {
  Value reduceScatter(Group &group, Reduction kind, Value value, int64_t dim, Type) const final {
    Value block = group.slice(value, dim);
    for (int64_t distance = 1; distance < group.n; ++distance)
      block = group.combine(kind, block, group.rotate(group.slice(value, dim, distance), distance));
    return group.finish(kind, block);
  }

  Value allGather(Group &group, Value value, int64_t dim, Type result) const final {
    SmallVector<Value> blocks{value};
    for (int64_t distance = 1; distance < group.n; ++distance)
      blocks.push_back(group.rotate(value, distance));
    return assembleBackwards(group, blocks, dim, result);
  }

  Value allToAll(Group &group, Value value, int64_t split, int64_t concat) const final {
    SmallVector<Value> blocks{group.slice(value, split)};
    for (int64_t distance = 1; distance < group.n; ++distance)
      blocks.push_back(group.rotate(group.slice(value, split, distance), distance));
    return assembleBackwards(group, blocks, concat, wholeType(tg::typeOf(blocks[0]), concat, group.n));
  }
};

} // namespace

std::unique_ptr<Algorithm> braid::makeRing() { return std::make_unique<Ring>(); }
std::unique_ptr<Algorithm> braid::makeDirect() { return std::make_unique<Direct>(); }
