//===- ArenaCopiesTest.cpp - copies by pieces through pinned buffers ------===//

#include "gpu/ArenaCopies.h"

#include "Device.h"

#include <numeric>

using namespace braid;
using namespace braid::test;

namespace {

constexpr uint64_t arenaBytes = 1 << 16, piece = 4096;

class Copies : public testing::Test {
protected:
  Copies() : arena(std::vector<uint8_t>(arenaBytes, 0)), memory(reinterpret_cast<std::byte *>(arena.data())) {}

  std::vector<uint8_t> numbers(uint64_t bytes, unsigned first) const {
    std::vector<uint8_t> values(bytes);
    for (uint64_t i = 0; i < bytes; ++i)
      values[i] = static_cast<uint8_t>(first + i % 251);
    return values;
  }
  std::vector<uint8_t> read(ArenaCopies &copies, uint64_t offset, uint64_t bytes) const {
    std::vector<uint8_t> values(bytes);
    copies.read(offset, values.data(), bytes);
    return values;
  }

  OnDevice<uint8_t> arena;
  std::byte *memory;
  GpuStream stream;
};

// Sizes: zero, a part of a piece, whole pieces, and slightly more.
TEST_F(Copies, bringWhatWasWritten) {
  for (int threads : {1, 3})
    for (uint64_t bytes : {uint64_t{0}, uint64_t{1}, piece - 1, piece, 2 * piece, 2 * piece + 1, 5 * piece + 7}) {
      ArenaCopies copies(memory, arenaBytes, stream, threads, piece);
      const std::vector<uint8_t> written = numbers(bytes, threads);
      copies.write(512, written.data(), bytes);
      EXPECT_EQ(read(copies, 512, bytes), written) << bytes << " bytes";
      const std::vector<uint8_t> all = arena.read();
      EXPECT_TRUE(std::equal(written.begin(), written.end(), all.begin() + 512));
      EXPECT_EQ(all[511], 0);
      EXPECT_EQ(all[512 + bytes], 0) << bytes << " bytes";
      succeed(cudaMemset(memory, 0, arenaBytes));
      succeed(cudaDeviceSynchronize());
    }
}

TEST_F(Copies, beginWithWhatIsExpected) {
  ArenaCopies copies(memory, arenaBytes, stream, 1, piece);
  const std::vector<uint8_t> first = numbers(3 * piece, 1), second = numbers(2 * piece, 100);
  copies.write(0, first.data(), first.size());
  copies.write(4 * piece, second.data(), second.size());
  copies.expect(4 * piece, second.size());
  EXPECT_EQ(read(copies, 4 * piece, second.size()), second);
  copies.expect(4 * piece, second.size());
  EXPECT_EQ(read(copies, 0, first.size()), first); // another part
  EXPECT_EQ(read(copies, 4 * piece, second.size()), second);
}

// A copy made before a write or before a program is outdated.
TEST_F(Copies, forgetWhatWasExpected) {
  ArenaCopies copies(memory, arenaBytes, stream, 1, piece);
  const std::vector<uint8_t> old = numbers(piece, 1), next = numbers(piece, 7);
  copies.write(0, old.data(), old.size());
  copies.expect(0, old.size());
  copies.write(0, next.data(), next.size());
  EXPECT_EQ(read(copies, 0, next.size()), next);
  copies.expect(0, next.size());
  stream.synchronize().check();
  succeed(cudaMemcpy(memory, old.data(), old.size(), cudaMemcpyHostToDevice));
  copies.forget();
  EXPECT_EQ(read(copies, 0, old.size()), old);
}

TEST_F(Copies, takeNoMoreThanTheLargestPart) {
  ArenaCopies small(memory, 300, stream, 1), large(memory, uint64_t{1} << 33, stream, 1);
  EXPECT_EQ(small.bufferBytes(), 300u);
  EXPECT_EQ(large.bufferBytes(), ArenaCopies::maxBytes);
}

} // namespace
