//===- PlacementTest.cpp - placing buffers --------------------------------===//

#include "lib/Memory/Placement.h"
#include "gtest/gtest.h"
#include <chrono>
#include <random>

using namespace braid;

namespace {

std::string message(llvm::Error error) { return llvm::toString(std::move(error)); }

PlacementProblem problem(std::vector<PlacementBuffer> buffers) { return {std::move(buffers), 64}; }

/// The buffers of a training step: activations live from forward to backward, and temporaries live for one or two
/// actions in either.
PlacementProblem trainingStep(int64_t layers, int64_t savedPerLayer, std::mt19937_64 &random) {
  PlacementProblem result;
  auto bytes = [&] { return static_cast<int64_t>(1024 * (1 + random() % 64)); };
  int64_t steps = savedPerLayer * 2, end = 2 * layers * steps;
  for (int64_t layer = 0; layer < layers; ++layer)
    for (int64_t step = 0; step < steps; ++step) {
      int64_t time = layer * steps + step;
      result.buffers.push_back({bytes(), time, time + 1 + static_cast<int64_t>(random() % 3), {}});
      result.buffers.push_back({bytes(), end - 1 - time, end + 1 - time, {}});
      if (step % 2 == 0)
        result.buffers.push_back({bytes(), time, end - 1 - time, {}});
    }
  return result;
}

TEST(Placement, EmptyProblemTakesNothing) {
  Placement placement = solve(problem({}));
  EXPECT_EQ(placement.bytes, 0);
  EXPECT_FALSE(verify(problem({}), placement));
}

TEST(Placement, BuffersThatNeverMeetShareBytes) {
  auto p = problem({{100, 0, 1, {}}, {128, 2, 3, {}}, {64, 4, 4, {}}});
  EXPECT_EQ(solve(p).bytes, 128);
}

TEST(Placement, TouchingLifetimesDoNotShare) {
  auto p = problem({{64, 0, 1, {}}, {64, 1, 2, {}}});
  EXPECT_EQ(solve(p).bytes, 128);
  EXPECT_EQ(liveBound(p).bytes, 128);
  EXPECT_EQ(liveBound(p).time, 1);
}

TEST(Placement, SizesArePaddedToTheAlignment) {
  auto p = problem({{4, 0, 0, {}}, {4, 0, 0, {}}});
  EXPECT_EQ(liveBound(p).bytes, 128);
  EXPECT_EQ(solve(p).bytes, 128);
}

TEST(Placement, FixedBuffersStayAndOthersGoAround) {
  auto p = problem({{64, 0, 5, {}}, {128, 2, 3, 0}, {64, 4, 5, {}}});
  Placement placement = solve(p);
  EXPECT_EQ(placement.offsets[1], 0);
  EXPECT_EQ(placement.bytes, 192);
  EXPECT_FALSE(verify(p, placement));
}

TEST(Placement, ChecksRejectNonsense) {
  EXPECT_EQ(message(check(problem({{-1, 0, 0, {}}}))), "buffer 0 has -1 bytes");
  EXPECT_EQ(message(check(problem({{1, 3, 2, {}}}))), "buffer 0 lives from 3 to 2");
  EXPECT_EQ(message(check(problem({{1, 0, 2, 13}}))), "buffer 0 is fixed at 13, no multiple of 64");
}

TEST(Placement, VerifierFindsEachMistake) {
  auto p = problem({{64, 0, 2, {}}, {128, 1, 3, {}}});
  EXPECT_EQ(message(verify(p, {{0, 64}, 192})), "");
  EXPECT_EQ(message(verify(p, {{0}, 192})), "1 offsets for 2 buffers");
  EXPECT_EQ(message(verify(p, {{0, 32}, 192})), "buffer 1 is at 32, no multiple of 64");
  EXPECT_EQ(message(verify(p, {{0, 64}, 128})), "buffer 1 ends at 192, past the end 128");
  EXPECT_EQ(message(verify(p, {{64, 0}, 192})), "buffers 0 at 64 to 128 and 1 at 0 to 128 overlap while both live");
  EXPECT_EQ(message(verify(problem({{64, 0, 2, 64}}), {{0}, 64})), "buffer 0 is at 0 but fixed at 64");
}

TEST(Placement, RandomProblemsArePlacedWithoutOverlap) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    PlacementProblem p;
    int64_t count = 1 + random() % 60, times = 1 + random() % 40;
    for (int64_t i = 0; i < count; ++i) {
      int64_t a = random() % times, b = random() % times;
      p.buffers.push_back({static_cast<int64_t>(random() % 5000), std::min(a, b), std::max(a, b), {}});
    }
    if (round % 3 == 0)
      p.buffers.front().fixed = 64 * (random() % 4);
    ASSERT_FALSE(check(p));
    Placement placement = solve(p);
    EXPECT_EQ(message(verify(p, placement)), "");
    EXPECT_GE(placement.bytes, liveBound(p).bytes);
    EXPECT_EQ(solve(p).offsets, placement.offsets);
  }
}

TEST(Placement, BrokenPlacementsAreCaught) {
  // The check must find a buffer that is moved onto another live buffer.
  std::mt19937_64 random(11);
  for (int round = 0; round < 100; ++round) {
    PlacementProblem p = trainingStep(3, 3, random);
    Placement placement = solve(p);
    size_t a = random() % p.buffers.size(), b = random() % p.buffers.size();
    if (a == b || p.buffers[a].first > p.buffers[b].last || p.buffers[b].first > p.buffers[a].last)
      continue;
    placement.offsets[a] = placement.offsets[b];
    placement.bytes += p.buffers[a].bytes;
    EXPECT_NE(message(verify(p, placement)), "");
  }
}

TEST(Placement, TrainingStepsComeCloseToTheBound) {
  std::mt19937_64 random(3);
  for (int64_t layers : {1, 4, 12}) {
    PlacementProblem p = trainingStep(layers, 8, random);
    Placement placement = solve(p);
    EXPECT_EQ(message(verify(p, placement)), "");
    EXPECT_LE(placement.bytes, liveBound(p).bytes * 1.05) << layers << " layers";
  }
}

TEST(Placement, TwentyThousandBuffersTakeSeconds) {
  std::mt19937_64 random(5);
  PlacementProblem p = trainingStep(320, 12, random);
  ASSERT_GT(p.buffers.size(), 19000u);
  auto start = std::chrono::steady_clock::now();
  Placement placement = solve(p);
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  EXPECT_EQ(message(verify(p, placement)), "");
  EXPECT_LE(placement.bytes, liveBound(p).bytes * 1.05);
  EXPECT_LT(seconds, 10);
}

} // namespace
