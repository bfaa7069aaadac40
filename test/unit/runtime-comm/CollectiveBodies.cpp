//===- CollectiveBodies.cpp - every collective, checked by every rank -----===//

#include "Bucket.h"

#include <cstdlib>

using namespace braid;
using namespace braid::test;

namespace {

constexpr br_dtype dtypes[] = {BR_F64, BR_F32, BR_BF16, BR_I32, BR_I64, BR_I1, BR_I8};

// The tensors of a bucket, and the rows from which blocks are taken.
struct Shape {
  std::vector<int64_t> counts;
  int rows;
};

std::vector<Shape> shapes(int n) {
  return {{{}, 1}, {{0}, 1}, {{1}, 1}, {{7, 0, 1000, 13, 1}, 1}, {{4099}, 1}, {{3 * n * 5, 3 * n, 0}, 3}};
}

int64_t all(int64_t count) { return count; }
int64_t none(int64_t) { return -1; }

double combined(br_dtype dtype, br_reduction reduction, int n, int tensor, int64_t i) {
  double result = value(dtype, 0, tensor, i);
  for (int rank = 1; rank < n; ++rank) {
    double next = value(dtype, rank, tensor, i);
    result = reduction == BR_MAX   ? std::max(result, next)
             : reduction == BR_MIN ? std::min(result, next)
                                   : result + next;
  }
  if (reduction != BR_MEAN)
    return result;
  return dtype == BR_F64 ? result / n : static_cast<double>(static_cast<float>(result) / static_cast<float>(n));
}

std::vector<br_reduction> reductionsOf(br_dtype dtype) {
  if (dtype == BR_I1)
    return {BR_MAX, BR_MIN};
  if (dtype == BR_I32 || dtype == BR_I64 || dtype == BR_I8)
    return {BR_SUM, BR_MAX, BR_MIN};
  return {BR_SUM, BR_MEAN, BR_MAX, BR_MIN};
}

void fillWithOwn(Bucket &bucket, int rank) {
  for (size_t t = 0; t < bucket.send.size(); ++t)
    bucket.send[t].fill([&](int64_t i) { return value(bucket.dtype, rank, t, i); });
}

// A rank's own blocks, in place. Padding must not appear in results.
void fillWithBlocks(Bucket &bucket, Rank &rank, int rows) {
  for (size_t t = 0; t < bucket.send.size(); ++t)
    bucket.send[t].fill([&](int64_t k) {
      int64_t i = wholeIndex(bucket.counts[t], rows, rank.n, rank.me, k);
      return i < 0 ? 1.0 : value(bucket.dtype, rank.me, t, i);
    });
}

// Returns the blocks of all ranks side by side.
void expectBlocks(const Bucket &bucket, int n, int rows, const std::string &what) {
  for (size_t t = 0; t < bucket.recv.size(); ++t) {
    int64_t count = bucket.counts[t];
    std::vector<int> owner(count);
    for (int block = 0; block < n; ++block)
      for (int64_t k = 0; k < (count + n - 1) / n; ++k)
        if (int64_t i = wholeIndex(count, rows, n, block, k); i >= 0)
          owner[i] = block;
    bucket.recv[t].expect(what, [&](int64_t i) { return value(bucket.dtype, owner[i], t, i); });
  }
}

void checkReductions(Rank &rank, br_dtype dtype, const Shape &shape, br_reduction reduction) {
  auto block = [&](int64_t count) { return (count + rank.n - 1) / rank.n; };
  for (bool inPlace : {false, true}) {
    Bucket bucket(dtype, shape.counts);
    bucket.allocate(all, all, 1);
    fillWithOwn(bucket, rank.me);
    if (inPlace)
      bucket.receiveInPlace();
    run(rank, bucket.operation(BR_ALL_REDUCE, 0, reduction));
    for (size_t t = 0; t < bucket.recv.size(); ++t)
      (inPlace ? bucket.send : bucket.recv)[t].expect(
          "all_reduce", [&](int64_t i) { return combined(dtype, reduction, rank.n, t, i); });
  }
  Bucket scattered(dtype, shape.counts);
  scattered.allocate(all, block, shape.rows);
  fillWithOwn(scattered, rank.me);
  run(rank, scattered.operation(BR_REDUCE_SCATTER, 0, reduction));
  for (size_t t = 0; t < scattered.recv.size(); ++t)
    scattered.recv[t].expect("reduce_scatter", [&](int64_t k) {
      int64_t i = wholeIndex(shape.counts[t], shape.rows, rank.n, rank.me, k);
      return i < 0 ? 0.0 : combined(dtype, reduction, rank.n, t, i);
    });
  int root = rank.n - 1;
  Bucket reduced(dtype, shape.counts);
  reduced.allocate(all, rank.me == root ? all : none, 1);
  fillWithOwn(reduced, rank.me);
  run(rank, reduced.operation(BR_REDUCE, root, reduction));
  if (rank.me == root)
    for (size_t t = 0; t < reduced.recv.size(); ++t)
      reduced.recv[t].expect("reduce", [&](int64_t i) { return combined(dtype, reduction, rank.n, t, i); });
}

void checkBlocks(Rank &rank, br_dtype dtype, const Shape &shape) {
  auto block = [&](int64_t count) { return (count + rank.n - 1) / rank.n; };
  int root = rank.n / 2;
  Bucket gathered(dtype, shape.counts);
  gathered.allocate(block, all, shape.rows);
  fillWithBlocks(gathered, rank, shape.rows);
  run(rank, gathered.operation(BR_ALL_GATHER));
  expectBlocks(gathered, rank.n, shape.rows, "all_gather");

  Bucket rooted(dtype, shape.counts);
  rooted.allocate(block, rank.me == root ? all : none, shape.rows);
  fillWithBlocks(rooted, rank, shape.rows);
  run(rank, rooted.operation(BR_GATHER, root));
  if (rank.me == root)
    expectBlocks(rooted, rank.n, shape.rows, "gather");

  Bucket scattered(dtype, shape.counts);
  scattered.allocate(rank.me == root ? all : none, block, shape.rows);
  fillWithOwn(scattered, root);
  run(rank, scattered.operation(BR_SCATTER, root));
  for (size_t t = 0; t < scattered.recv.size(); ++t)
    scattered.recv[t].expect("scatter", [&](int64_t k) {
      int64_t i = wholeIndex(shape.counts[t], shape.rows, rank.n, rank.me, k);
      return i < 0 ? 0.0 : value(dtype, root, t, i);
    });
}

void checkWholes(Rank &rank, br_dtype dtype, const Shape &shape) {
  for (int root = 0; root < rank.n; root += 2) {
    Bucket bucket(dtype, shape.counts);
    bucket.allocate(rank.me == root ? all : none, all, 1);
    fillWithOwn(bucket, root);
    run(rank, bucket.operation(BR_BROADCAST, root));
    for (size_t t = 0; t < bucket.recv.size(); ++t)
      bucket.recv[t].expect("broadcast", [&](int64_t i) { return value(dtype, root, t, i); });
  }
  // A ring in which no rank sends to rank 0 and the last rank sends to itself.
  std::vector<int32_t> pairs;
  for (int source = 0; source + 2 < rank.n; ++source)
    pairs.insert(pairs.end(), {source, source + 1});
  if (rank.n > 1)
    pairs.insert(pairs.end(), {rank.n - 1, rank.n - 1});
  Bucket bucket(dtype, shape.counts);
  bucket.allocate(all, all, 1);
  fillWithOwn(bucket, rank.me);
  br_operation permute = bucket.operation(BR_PERMUTE);
  permute.pairs = pairs.data();
  permute.n_pairs = static_cast<int32_t>(pairs.size() / 2);
  run(rank, permute);
  int source = rank.me == rank.n - 1 ? rank.me : rank.me - 1;
  bool gets = rank.n > 1 && (rank.me > 0);
  for (size_t t = 0; t < bucket.recv.size(); ++t)
    bucket.recv[t].expect("permute", [&](int64_t i) { return gets ? value(dtype, source, t, i) : 0.0; });
}

// Sends a whole tensor to the next rank; even ranks send first.
void checkTransfers(Rank &rank, br_dtype dtype, const Shape &shape) {
  if (rank.n == 1)
    return;
  Bucket bucket(dtype, shape.counts);
  bucket.allocate(all, all, 1);
  fillWithOwn(bucket, rank.me);
  int next = (rank.me + 1) % rank.n, previous = (rank.me + rank.n - 1) % rank.n;
  for (bool sends : {rank.me % 2 == 0, rank.me % 2 != 0})
    run(rank, sends ? bucket.operation(BR_SEND, next) : bucket.operation(BR_RECV, previous));
  for (size_t t = 0; t < bucket.recv.size(); ++t)
    bucket.recv[t].expect("recv", [&](int64_t i) { return value(dtype, previous, t, i); });
}

// Blocks of `sendRows` rows arrive as blocks of `recvRows` rows.
void checkAllToAll(Rank &rank, br_dtype dtype, int64_t blockSize, int sendRows, int recvRows) {
  int n = rank.n;
  Bucket bucket(dtype, {blockSize * n, 0, blockSize * n});
  bucket.allocate(all, all, 1);
  for (br_segment &segment : bucket.segments) {
    segment.send_rows = sendRows;
    segment.recv_rows = recvRows;
  }
  fillWithOwn(bucket, rank.me);
  run(rank, bucket.operation(BR_ALL_TO_ALL));
  for (size_t t = 0; t < bucket.recv.size(); ++t) {
    int64_t count = bucket.counts[t];
    std::vector<double> expected(count);
    for (int peer = 0; peer < n; ++peer)
      for (int64_t k = 0; k < count / n; ++k)
        expected[wholeIndex(count, recvRows, n, peer, k)] =
            value(dtype, peer, t, wholeIndex(count, sendRows, n, rank.me, k));
    bucket.recv[t].expect("all_to_all", [&](int64_t i) { return expected[i]; });
  }
}

} // namespace

BRAID_BODY(everyCollective) {
  for (br_dtype dtype : dtypes) {
    for (const Shape &shape : shapes(rank.n)) {
      for (br_reduction reduction : reductionsOf(dtype))
        checkReductions(rank, dtype, shape, reduction);
      checkBlocks(rank, dtype, shape);
      checkWholes(rank, dtype, shape);
      checkTransfers(rank, dtype, shape);
    }
    checkAllToAll(rank, dtype, 12, 1, 1);
    checkAllToAll(rank, dtype, 12, 3, 4);
    checkAllToAll(rank, dtype, 12, 6, 1);
    run(rank, br_operation{BR_BARRIER, BR_SUM, dtype, 0, 0, nullptr, 0, nullptr, 0});
  }
}

// Several MiB, which transports split into chunks; 64 MiB in long runs.
BRAID_BODY(largeTensors) {
  int64_t elements = std::getenv("BRAID_LONG_TESTS") ? (16 << 20) + 1 : (1 << 20) + 1;
  Shape large = {{elements, 3, elements / 3}, 1};
  checkReductions(rank, BR_F32, large, BR_SUM);
  checkBlocks(rank, BR_F32, large);
  checkWholes(rank, BR_F32, large);
  checkTransfers(rank, BR_F32, large);
  int64_t inner = elements / 2 / rank.n;
  checkBlocks(rank, BR_F32, {{2 * rank.n * inner}, 2});
  checkAllToAll(rank, BR_F32, elements / 8 * 2, 1, 2);
}
