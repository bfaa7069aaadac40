//===- GatherTest.cpp - rows by index, on the device ----------------------===//

#include "cuda/Gather.h"

#include "Device.h"

#include <algorithm>
#include <cmath>
#include <cuda_bf16.h>
#include <random>
#include <utility>

using namespace braid;
using namespace braid::test;

namespace {

using Half = __nv_bfloat16;

template <class T> std::vector<T> randomValues(int64_t n, unsigned seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal;
  std::vector<T> values(n);
  for (T &x : values)
    x = T(std::exp(3 * normal(engine)));
  return values;
}

// Few ids, many times, and some ids outside the table.
std::vector<int32_t> randomIds(int64_t n, int64_t rows, unsigned seed) {
  std::mt19937 engine(seed);
  std::vector<int32_t> ids(n);
  for (int32_t &id : ids)
    id = engine() % 16 ? static_cast<int32_t>(engine() % 3 ? engine() % rows : engine() % std::min<int64_t>(rows, 3))
                       : static_cast<int32_t>(rows * (engine() % 2) - 1 + engine() % 2);
  return ids;
}

template <class T> std::vector<float> floats(const std::vector<T> &values) {
  return std::vector<float>(values.begin(), values.end());
}

//===----------------------------------------------------------------------===//
// Lookup
//===----------------------------------------------------------------------===//

template <class T> void checkGather(int64_t n, int64_t rows, int64_t width, size_t shift) {
  br_context context;
  const std::vector<T> table = randomValues<T>(rows * width, 1);
  const std::vector<int32_t> ids = randomIds(n, rows, 2);
  std::vector<float> wanted(n * width);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < width && ids[i] >= 0 && ids[i] < rows; ++j)
      wanted[i * width + j] = table[ids[i] * width + j];
  OnDevice<T> from(table, shift), out(std::vector<T>(n * width, T(-1.0f)));
  OnDevice<int32_t> places(ids);
  gather<T>(Memory(&context), n, rows, width, from.data(), places.data(), out.data());
  EXPECT_EQ(floats(out.read()), wanted) << n << " of " << rows << " x " << width;
  EXPECT_EQ(context.error, "");
}

TEST(CudaGather, copiesRowsAndZeroesWhatIsOutside) {
  for (int64_t width : {1, 3, 8, 33, 256, 300})
    for (size_t shift : {0, 1}) {
      checkGather<float>(70, 9, width, shift);
      checkGather<Half>(70, 9, width, shift);
      checkGather<double>(70, 9, width, shift);
    }
  checkGather<float>(0, 9, 8, 0);
}

//===----------------------------------------------------------------------===//
// Its gradient
//===----------------------------------------------------------------------===//

// The CPU's loop for the first updates of an id; then sums of chunks.  Sums of bf16 stay in f32
// until the end.
template <class Sum, class Out, class In>
std::vector<float> sumInOrder(int64_t rows, int64_t width, const std::vector<int32_t> &ids,
                              const std::vector<In> &updates, const std::vector<Out> &old, bool accumulate) {
  std::vector<Sum> sums(rows * width);
  if (accumulate)
    sums.assign(old.begin(), old.end());
  std::vector<Sum> chunks(rows * width);
  std::vector<int> counts(rows);
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] < 0 || ids[i] >= rows)
      continue;
    const int before = counts[ids[i]]++;
    for (int64_t j = ids[i] * width; j < (ids[i] + 1) * width; ++j) {
      if (before >= chunk_updates && before % chunk_updates == 0)
        sums[j] += std::exchange(chunks[j], Sum{});
      (before < chunk_updates ? sums : chunks)[j] += static_cast<Sum>(updates[i * width + j - ids[i] * width]);
    }
  }
  for (size_t j = 0; j < sums.size(); ++j)
    sums[j] += chunks[j];
  std::vector<float> wanted;
  for (Sum sum : sums)
    wanted.push_back(static_cast<float>(Out(sum)));
  return wanted;
}

template <class Out, class In = Out>
void checkScatter(int64_t n, int64_t rows, int64_t width, bool accumulate, size_t shift = 0) {
  br_context context;
  using Sum = std::conditional_t<sizeof(Out) == 8, double, float>;
  const std::vector<int32_t> ids = randomIds(n, rows, 3);
  const std::vector<In> updates = randomValues<In>(n * width, 4);
  const std::vector<Out> old = randomValues<Out>(rows * width, 5);
  OnDevice<int32_t> places(ids);
  OnDevice<In> from(updates, shift);
  OnDevice<Out> out(old);
  OnDevice<uint64_t> scratch(std::vector<uint64_t>((scatter_add_scratch(n, rows) + 7) / 8));
  scatter_add<Out, In>(Memory(&context), n, rows, width, places.data(), from.data(), accumulate, out.data(),
                       scratch.data());
  EXPECT_EQ(floats(out.read()), (sumInOrder<Sum>(rows, width, ids, updates, old, accumulate)))
      << n << " into " << rows << " x " << width;
  EXPECT_EQ(context.error, "");
}

TEST(CudaScatterAdd, addsInOrder) {
  for (bool accumulate : {false, true})
    for (int64_t width : {1, 5, 12, 132}) {
      checkScatter<float>(400, 7, width, accumulate);
      checkScatter<float>(37, 300, width, accumulate, 1);
    }
}

TEST(CudaScatterAdd, otherTypes) {
  for (bool accumulate : {false, true})
    for (int64_t width : {5, 24}) {
      checkScatter<Half>(100, 7, width, accumulate);
      checkScatter<double>(100, 7, width, accumulate);
      checkScatter<float, Half>(100, 7, width, accumulate);
    }
}

// Sizes around those of tiles and runs, so that the last one is short or missing.
TEST(CudaScatterAdd, sortsAnyNumber) {
  for (int64_t n : {0, 1, 2, 255, 256, 257, 511, 513, 769, 1025, 2100})
    checkScatter<float>(n, 50, 4, n % 2);
}

// More chunks than a block has warps.
TEST(CudaScatterAdd, onlyOneId) {
  br_context context;
  const int64_t n = 2500, width = 4;
  const std::vector<float> updates = randomValues<float>(n * width, 6), old(3 * width, 7);
  const std::vector<int32_t> ids(n, 1);
  OnDevice<int32_t> places(ids);
  OnDevice<float> from(updates), out(old);
  OnDevice<uint64_t> scratch(std::vector<uint64_t>((scatter_add_scratch(n, 3) + 7) / 8));
  scatter_add<float>(Memory(&context), n, 3, width, places.data(), from.data(), 0, out.data(), scratch.data());
  EXPECT_EQ(out.read(), (sumInOrder<float>(3, width, ids, updates, old, false)));
}

} // namespace
