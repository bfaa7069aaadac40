//===- InPlaceBodies.cpp - results where operands lie, and sizes ----------===//

#include "Bucket.h"

#include <algorithm>
#include <cstdlib>

using namespace braid;
using namespace braid::test;

namespace {

constexpr br_dtype dtypes[] = {BR_F64, BR_F32, BR_BF16, BR_I32, BR_I64, BR_I1, BR_I8};

// One tensor of n blocks of an odd size; each rank has its own block in place.
struct Whole {
  Rank &rank;
  br_dtype dtype;
  int64_t block;
  Tensor tensor;
  br_segment segment{};

  Whole(Rank &rank, br_dtype dtype, int64_t block)
      : rank(rank), dtype(dtype), block(block), tensor(dtype, block * rank.n) {}

  std::byte *blockOf(int place) { return static_cast<std::byte *>(tensor.data()) + place * block * elementSize(dtype); }
  void fill(int owner) {
    tensor.fill([&](int64_t i) { return value(dtype, owner, 0, i); });
  }
  // Checks that block b is from rank owner(b), and that other blocks have not changed.
  template <class F> void expect(const std::string &what, const F &owner) {
    tensor.expect(what, [&](int64_t i) { return value(dtype, owner(static_cast<int>(i / block)), 0, i); });
  }
  void run(br_collective kind, const void *send, void *recv, int root = 0, br_reduction reduction = BR_MAX) {
    segment = {send, recv, block * rank.n, 1, 1};
    test::run(rank, {kind, reduction, dtype, 0, root, nullptr, 0, &segment, 1});
  }
};

double greatest(br_dtype dtype, int n, int64_t i) {
  double result = value(dtype, 0, 0, i);
  for (int rank = 1; rank < n; ++rank)
    result = std::max(result, value(dtype, rank, 0, i));
  return result;
}

void checkReductions(Rank &rank, br_dtype dtype, int64_t block) {
  Whole scattered(rank, dtype, block);
  scattered.fill(rank.me);
  scattered.run(BR_REDUCE_SCATTER, scattered.tensor.data(), scattered.blockOf(rank.me));
  scattered.tensor.expect("reduce_scatter in place", [&](int64_t i) {
    return i / block == rank.me ? greatest(dtype, rank.n, i) : value(dtype, rank.me, 0, i);
  });
  Whole reduced(rank, dtype, block);
  int root = rank.n - 1;
  reduced.fill(rank.me);
  reduced.run(BR_REDUCE, reduced.tensor.data(), reduced.tensor.data(), root);
  reduced.tensor.expect("reduce in place", [&](int64_t i) {
    return rank.me == root ? greatest(dtype, rank.n, i) : value(dtype, rank.me, 0, i);
  });
}

void checkBlocks(Rank &rank, br_dtype dtype, int64_t block) {
  int root = rank.n / 2;
  Whole all(rank, dtype, block);
  all.fill(rank.me);
  all.run(BR_ALL_GATHER, all.blockOf(rank.me), all.tensor.data());
  all.expect("all_gather in place", [](int b) { return b; });
  Whole gathered(rank, dtype, block);
  gathered.fill(rank.me);
  gathered.run(BR_GATHER, gathered.blockOf(rank.me), gathered.tensor.data(), root);
  gathered.expect("gather in place", [&](int b) { return rank.me == root ? b : rank.me; });
  Whole scattered(rank, dtype, block);
  scattered.fill(rank.me);
  scattered.run(BR_SCATTER, scattered.tensor.data(), scattered.blockOf(rank.me), root);
  scattered.expect("scatter in place", [&](int b) { return b == rank.me ? root : rank.me; });
  Whole broadcast(rank, dtype, block);
  broadcast.fill(rank.me);
  broadcast.run(BR_BROADCAST, broadcast.tensor.data(), broadcast.tensor.data(), root);
  broadcast.expect("broadcast in place", [&](int) { return root; });
}

} // namespace

BRAID_BODY(inPlace) {
  for (br_dtype dtype : dtypes)
    for (int64_t block : {0, 1, 7, 1001}) {
      checkReductions(rank, dtype, block);
      checkBlocks(rank, dtype, block);
    }
}

// Sizes from zero to some MiB, 64 MiB in long runs: each is odd and about four times the previous one.
BRAID_BODY(manySizes) {
  int64_t most = (std::getenv("BRAID_LONG_TESTS") ? 64 : 2) << 18;
  for (int64_t elements = 1; elements <= most; elements = elements * 4 + 3) {
    int64_t block = std::max<int64_t>(elements / rank.n, 1);
    checkReductions(rank, BR_F32, block);
    checkBlocks(rank, BR_F32, block);
  }
}
