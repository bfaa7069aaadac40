//===- DecomposeRing.cpp - ring and direct exchange of blocks -------------===//
//
// Two algorithms that split tensors into n blocks, one per rank. Each needs n - 1 permutes of a block for
// reduce_scatter and n - 1 for all_gather.
//
// ring: every rank sends to the next rank. A reduced block starts at the rank after its owner and collects the
// term of every rank on its route, so block i is added in the order i+1, i+2, ..., i:
//
//   step            rank 0   rank 1   rank 2       (which block it sends)
//     0                2        0        1
//     1                1        2        0
//   has                0        1        2
//
// direct: in step s every rank sends a block straight to its owner, the rank s after it. Block i is added in
// the order i, i-1, i-2, ...
//
// Floats may therefore differ by rounding from the plain op, which adds in rank order. They are equal in every
// run and on all ranks.
//
//===----------------------------------------------------------------------===//

#include "passes/Collectives/Decompose.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

namespace {

/// Builds all_reduce from reduce_scatter, then all_gather.
class ByBlocks : public Algorithm {
public:
  Values allReduce(Group &group, Reduction kind, ValueRange values) const final {
    SmallVector<Type> types = typesOf(values);
    SmallVector<int64_t> dims = dimsOfBlocks(types, group.n);
    Values blocks = reduceScatter(group, kind, values, dims, blockTypes(types, dims, group.n));
    return allGather(group, blocks, dims, types);
  }

protected:
  /// Joins the blocks of this rank and of the ranks 1, 2, ... before it.
  static Values assembleBackwards(Group &group, ArrayRef<Values> blocks, Dims dims, Types results) {
    SmallVector<int64_t> shifts;
    for (int64_t distance = 0; distance < group.n; ++distance)
      shifts.push_back((group.n - distance) % group.n);
    Values wholes;
    for (auto [tensor, dim, result] : llvm::enumerate(dims, results)) {
      auto parts = llvm::map_to_vector(blocks, [tensor = tensor](const Values &of) { return of[tensor]; });
      wholes.push_back(group.assemble(parts, dim, shifts, result));
    }
    return wholes;
  }
};

struct RingAlgorithm final : ByBlocks {
  Values reduceScatter(Group &group, Reduction kind, ValueRange values, Dims dims, Types) const final {
    Values blocks = group.slice(values, dims, group.n - 1);
    for (int64_t shift = group.n - 2; shift >= 0; --shift) {
      Values sums = group.rotate(blocks, 1);
      blocks = group.combine(kind, sums, group.slice(values, dims, shift));
    }
    return group.finish(kind, blocks);
  }

  Values allGather(Group &group, ValueRange values, Dims dims, Types results) const final {
    SmallVector<Values> blocks{Values(values)};
    while (int64_t(blocks.size()) < group.n)
      blocks.push_back(group.rotate(blocks.back(), 1));
    return assembleBackwards(group, blocks, dims, results);
  }
};

struct Direct final : ByBlocks {
  Values reduceScatter(Group &group, Reduction kind, ValueRange values, Dims dims, Types) const final {
    Values blocks = group.slice(values, dims);
    for (int64_t distance = 1; distance < group.n; ++distance)
      blocks = group.combine(kind, blocks, group.rotate(group.slice(values, dims, distance), distance));
    return group.finish(kind, blocks);
  }

  Values allGather(Group &group, ValueRange values, Dims dims, Types results) const final {
    SmallVector<Values> blocks{Values(values)};
    for (int64_t distance = 1; distance < group.n; ++distance)
      blocks.push_back(group.rotate(values, distance));
    return assembleBackwards(group, blocks, dims, results);
  }

  Values allToAll(Group &group, ValueRange values, Dims split, Dims concat) const final {
    SmallVector<Values> blocks{group.slice(values, split)};
    for (int64_t distance = 1; distance < group.n; ++distance)
      blocks.push_back(group.rotate(group.slice(values, split, distance), distance));
    return assembleBackwards(group, blocks, concat, wholeTypes(typesOf(blocks[0]), concat, group.n));
  }
};

} // namespace

std::unique_ptr<Algorithm> braid::makeRing() { return std::make_unique<RingAlgorithm>(); }
std::unique_ptr<Algorithm> braid::makeDirect() { return std::make_unique<Direct>(); }
