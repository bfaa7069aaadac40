//===- Agree.cpp - agreement between ranks --------------------------------===//

#include "core/Agree.h"

#include "base/Error.h"
#include "core/Arena.h"
#include "core/Mesh.h"
#include "host/Threads.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <map>
#include <vector>

using namespace braid;

std::array<int32_t, agreeValues> braid::agree(Model &model, const std::array<int32_t, agreeValues> &values) {
  if (model.rank().size == 1)
    return values;
  const br_program &program = model.program("agree");
  const br_io *in = findByRole(inputsOf(program), "values"), *out = findByRole(resultsOf(program), "values");
  if (!in || !out || in->bytes != sizeof values || out->bytes != sizeof values)
    fail("the compiled model is broken: program 'agree' does not take and return ", agreeValues,
         " numbers; compile it again");
  std::memcpy(model.input<int32_t>(program, *in), values.data(), sizeof values);
  model.run(program);
  std::array<int32_t, agreeValues> result;
  model.onHost(*out, Use::Read, [&](const std::byte *memory) { std::memcpy(result.data(), memory, sizeof result); });
  return result;
}

static void mix(uint64_t &state, uint64_t word) { state = (state ^ word) * 0xD6E8FEB86659FD93u ^ (state >> 29); }

// Hashes with four chains, which do not wait for each other's products.
static uint64_t hashOfBytes(uint64_t seed, const std::byte *data, uint64_t bytes) {
  std::array<uint64_t, 4> chains{seed, seed + 1, seed + 2, seed + 3}, words;
  uint64_t at = 0;
  for (; at + sizeof words <= bytes; at += sizeof words) {
    std::memcpy(&words, data + at, sizeof words);
    for (size_t i = 0; i < words.size(); ++i)
      mix(chains[i], words[i]);
  }
  uint64_t state = seed;
  for (uint64_t chain : chains)
    mix(state, chain);
  for (; at < bytes; ++at)
    mix(state, static_cast<uint64_t>(data[at]));
  return state;
}

// Returns a checksum of 30 bits, never negative.  Sums the hashes of separate blocks, because ranks
// may have different numbers of threads.
static int32_t checksum(int32_t hash, const std::byte *data, uint64_t bytes, int threads = 1) {
  constexpr uint64_t blockBytes = 1 << 20;
  const uint64_t seed = static_cast<uint64_t>(hash) + 0x9E3779B97F4A7C15u;
  std::atomic<uint64_t> sum = seed;
  parallelRanges(threads, static_cast<int64_t>((bytes + blockBytes - 1) / blockBytes),
                 [&](int, int64_t begin, int64_t end) {
                   for (uint64_t i = begin; i < static_cast<uint64_t>(end); ++i)
                     sum += hashOfBytes(seed + i, data + i * blockBytes, std::min(bytes - i * blockBytes, blockBytes));
                 });
  uint64_t state = bytes;
  mix(state, sum);
  return static_cast<int32_t>(state >> 34);
}

bool braid::anyAgrees(Model &model, bool condition) { return agree(model, {condition})[0] != 0; }

void braid::allOrNothing(Model &model, const std::function<void()> &action) {
  const int rank = model.rank().number;
  std::string problem;
  try {
    action();
  } catch (const std::bad_alloc &) {
    problem = kMoreMemory;
  } catch (const std::exception &error) {
    problem = error.what();
  }
  const int32_t failed = agree(model, {problem.empty() ? 0 : rank + 1})[0];
  if (!problem.empty())
    throw Error(problem);
  if (failed != 0)
    throw RankError(concat("rank ", failed - 1, " failed; see its own error"));
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

namespace {

// Sharding of a tensor; equal for tensors whose blocks lie on the same ranks.
struct Sharding {
  std::vector<int32_t> groups; // of the dims, then of the flat range
  auto operator<=>(const Sharding &) const = default;
};

Sharding shardingOf(const br_tensor &tensor) {
  Sharding sharding{{tensor.dims, tensor.dims + tensor.rank}};
  while (!sharding.groups.empty() && sharding.groups.back() == 0)
    sharding.groups.pop_back();
  // A flat range is part of a block: only the numbering of blocks matters, not the dims before it.
  sharding.groups.push_back(tensor.flat);
  return sharding;
}

GroupPlace blockOf(const br_model &model, const Sharding &sharding, int rank) {
  GroupPlace block;
  for (int32_t group : sharding.groups) {
    GroupPlace place = placeInGroup(model, group, rank);
    block.index = block.index * place.size + place.index;
    block.size *= place.size;
  }
  return block;
}

} // namespace

static constexpr int32_t noValue = std::numeric_limits<int32_t>::min();

static void compareCopies(Model &model, const std::vector<std::array<int32_t, agreeValues>> &rounds, int32_t count) {
  for (int32_t round = 0; round < count; ++round) {
    std::array<int32_t, agreeValues> values;
    values.fill(noValue);
    if (static_cast<size_t>(round) < rounds.size())
      values = rounds[round];
    values = agree(model, values);
    for (int64_t i = 0; i < agreeValues; i += 2)
      if (values[i] != noValue && values[i] != -values[i + 1])
        fail("ranks hold different copies of the same tensors before the first step; check that all of them read the "
             "same files");
  }
}

// `agree` takes maxima.  So each block has a checksum and its negative, which only its holders fill
// in: both maxima match only if all copies are equal.  One round of `agree` compares four blocks.
void braid::checkCopiesAreEqual(Model &model) {
  const br_model &table = model.table();
  if (model.rank().size == 1)
    return;
  std::map<Sharding, int32_t> sums;
  for (const br_tensor &tensor : tensorsOf(table)) {
    const Sharding sharding = shardingOf(tensor);
    const bool hasCopies = blockOf(table, sharding, model.rank().number).size < ranksOf(table);
    if (tensor.checkpoint && tensor.partial == 0 && hasCopies) {
      int32_t &sum = sums[sharding];
      model.onHost(tensor, Use::Read,
                   [&](const std::byte *memory) { sum = checksum(sum, memory, tensor.bytes, model.threads()); });
    }
  }
  // This rank's values for each round.
  std::vector<std::array<int32_t, agreeValues>> rounds;
  for (const auto &[sharding, sum] : sums) {
    const GroupPlace own = blockOf(table, sharding, model.rank().number);
    constexpr int64_t perRound = agreeValues / 2;
    for (int64_t first = 0; first < own.size; first += perRound) {
      auto &values = rounds.emplace_back();
      values.fill(noValue);
      if (own.index >= first && own.index < first + perRound) {
        values[(own.index - first) * 2] = sum;
        values[(own.index - first) * 2 + 1] = -sum;
      }
    }
  }
  if (isOfAllRanks(table))
    return compareCopies(model, rounds, static_cast<int32_t>(rounds.size()));
  // Ranks with other tensors take part without values.
  for (int32_t at = 0; at < table.mesh[table.axis].size; ++at) {
    const bool isOwn = table.coordinates[0] == at;
    const int32_t count = agree(model, {isOwn ? static_cast<int32_t>(rounds.size()) : 0})[0];
    compareCopies(model, isOwn ? rounds : decltype(rounds)(), count);
  }
}
