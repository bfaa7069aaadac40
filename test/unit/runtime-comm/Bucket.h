//===- Bucket.h - tensors with known values, and what collectives make of them //
//
// Values are small integers that depend on the rank, the tensor and the place, so that sums are exact in every type.
// Places in blocks are computed independently, from the definition in braid_comm.h. Guard bytes behind every tensor
// must not change.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_TEST_BUCKET_H
#define BRAID_TEST_BUCKET_H

#include "Ranks.h"

#include <cstring>

namespace braid::test {

inline double value(br_dtype dtype, int rank, int tensor, int64_t i) {
  if (dtype == BR_I1)
    return static_cast<double>((rank * 7 + tensor + i * 3 + i / 5) % 2);
  return static_cast<double>((rank * 5 + tensor * 3 + i * 7 + i / 11) % 13 - 6);
}

// Returns the index in the whole tensor of place `k` in block `block`; -1 for padding.
inline int64_t wholeIndex(int64_t count, int rows, int n, int block, int64_t k) {
  if (rows == 1) {
    int64_t most = (count + n - 1) / n, index = most * block + k;
    return index < count ? index : -1;
  }
  int64_t inner = count / rows / n;
  return (k / inner * n + block) * inner + k % inner;
}

// The memory of one tensor.
class Tensor {
public:
  Tensor(br_dtype dtype, int64_t count)
      : dtype(dtype), width(elementSize(dtype)), count(count), memory(count * width + guard, std::byte{0xA5}) {}

  void *data() { return memory.data(); }
  int64_t size() const { return count; }
  template <class F> void fill(const F &f) {
    for (int64_t i = 0; i < count; ++i)
      putNumber(dtype, memory.data() + i * width, f(i));
  }
  // Checks that every element has the bits of f(i).
  template <class F> void expect(const std::string &what, const F &f) const {
    std::byte expected[8];
    for (int64_t i = 0; i < count; ++i) {
      putNumber(dtype, expected, f(i));
      require(std::memcmp(expected, memory.data() + i * width, width) == 0, what, ": element ", i, " of ", count,
              " is not ", f(i));
    }
    for (size_t i = count * width; i < memory.size(); ++i)
      require(memory[i] == std::byte{0xA5}, what, " wrote past the end of ", count, " elements");
  }
  std::string bits() const { return std::string(reinterpret_cast<const char *>(memory.data()), count * width); }

private:
  static constexpr size_t guard = 16;
  br_dtype dtype;
  size_t width;
  int64_t count;
  std::vector<std::byte> memory;
};

// Sent and received memory of each tensor.
struct Bucket {
  br_dtype dtype;
  std::vector<int64_t> counts;
  std::vector<Tensor> send, recv;
  std::vector<br_segment> segments;

  Bucket(br_dtype dtype, std::vector<int64_t> counts) : dtype(dtype), counts(std::move(counts)) {}

  // Memory of `sent(count)` and `received(count)` elements; none for negative numbers.
  template <class Sent, class Received> void allocate(const Sent &sent, const Received &received, int rows) {
    for (int64_t count : counts) {
      send.emplace_back(dtype, std::max<int64_t>(sent(count), 0));
      recv.emplace_back(dtype, std::max<int64_t>(received(count), 0));
      void *from = sent(count) < 0 ? nullptr : send.back().data();
      void *to = received(count) < 0 ? nullptr : recv.back().data();
      segments.push_back({from, to, count, rows, rows});
    }
  }
  void receiveInPlace() {
    for (br_segment &segment : segments)
      segment.recv = const_cast<void *>(segment.send);
  }

  br_operation operation(br_collective kind, int root = 0, br_reduction reduction = BR_SUM) const {
    return {kind, reduction, dtype, 0, root, nullptr, 0, segments.data(), static_cast<int32_t>(segments.size())};
  }
};

} // namespace braid::test
#endif // BRAID_TEST_BUCKET_H
