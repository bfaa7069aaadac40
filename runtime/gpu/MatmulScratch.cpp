//===- MatmulScratch.cpp - operands for timing matmuls --------------------===//

#include "gpu/MatmulScratch.h"

#include <algorithm>
#include <numeric>
#include <random>

using namespace braid;

// Alignment of arena buffers, in bytes.
static constexpr uint64_t pieceAlignment = 256;

static uint64_t alignedUp(uint64_t at) { return (at + pieceAlignment - 1) / pieceAlignment * pieceAlignment; }

// Places the largest piece first, each in the first gap with room.
std::optional<std::vector<uint64_t>> braid::placePieces(const std::vector<uint64_t> &bytes, ArenaRange taken,
                                                        uint64_t arenaBytes) {
  ArenaRange gaps[] = {{0, taken.begin}, {taken.end, arenaBytes}};
  std::vector<size_t> order(bytes.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return bytes[a] > bytes[b]; });
  std::vector<uint64_t> begins(bytes.size());
  for (size_t piece : order) {
    auto hasRoom = [&](const ArenaRange &gap) { return alignedUp(gap.begin) + bytes[piece] <= gap.end; };
    ArenaRange *gap = std::find_if(std::begin(gaps), std::end(gaps), hasRoom);
    if (gap == std::end(gaps))
      return std::nullopt;
    begins[piece] = alignedUp(gap->begin);
    gap->begin = begins[piece] + bytes[piece];
  }
  return begins;
}

// Random numbers of either sign with magnitudes from 0.5 to 1: each word is one in bf16, each pair
// of words one in f32.
static std::vector<uint16_t> makeNoise() {
  constexpr size_t words = 1 << 19;
  constexpr uint16_t half = 0x3f00, signAndFraction = 0x807f;
  std::minstd_rand random(1);
  std::vector<uint16_t> noise(words);
  for (uint16_t &word : noise)
    word = half | (static_cast<uint16_t>(random() >> 8) & signAndFraction);
  return noise;
}

MatmulScratch::MatmulScratch(std::byte *arena, uint64_t bytes, const GpuStream &stream)
    : arena(arena), arenaBytes(bytes), stream(stream), noise(makeNoise()) {}

std::vector<std::byte *> MatmulScratch::place(const std::vector<uint64_t> &bytes, ArenaRange workspace) {
  std::optional<std::vector<uint64_t>> begins = placePieces(bytes, workspace, arenaBytes);
  if (!begins) {
    std::vector<uint64_t> shared = bytes;
    shared[0] = std::max(bytes[0], bytes[1]);
    shared.erase(shared.begin() + 1);
    begins = placePieces(shared, workspace, arenaBytes);
    if (!begins)
      return {};
    begins->insert(begins->begin() + 1, begins->front());
  }
  std::vector<std::byte *> places;
  for (size_t i = 0; i < bytes.size(); ++i) {
    fill((*begins)[i], bytes[i]);
    places.push_back(arena + (*begins)[i]);
  }
  return places;
}

// Copies the noise once from the host, then doubles the filled part until all is filled.
void MatmulScratch::fill(uint64_t begin, uint64_t bytes) {
  uint64_t filled = std::min<uint64_t>(bytes, noise.size() * sizeof noise[0]);
  stream.copyToDevice(arena + begin, noise.data(), filled).check(" of operands to time");
  while (filled < bytes) {
    const uint64_t next = std::min(filled, bytes - filled);
    stream.copyOnDevice(arena + begin + filled, arena + begin, next).check(" of operands to time");
    filled += next;
  }
}

void MatmulScratch::clear() {
  stream.fillZeros(arena, arenaBytes).check();
  stream.synchronize().check();
}
