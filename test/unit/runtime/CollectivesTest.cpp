//===- CollectivesTest.cpp - the collectives of a compiled model ----------===//

#include "base/Error.h"
#include "comm/Communicator.h"
#include "comm/ThreadsTransport.h"
#include "cpu/CpuContext.h"

#include <functional>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

using namespace braid;

namespace {

// One i32 at 0; its gather is at 64, its sum at 128 and its broadcast at 192.
const br_segment_desc gathered[] = {{0, 64, 4, 1, 1, 0, 0}}, summed[] = {{0, 128, 1, 1, 1, 0, 0}},
                      sent[] = {{0, 192, 1, 1, 1, 0, 0}};

const br_axis mesh[] = {{"dp", 2}, {"tp", 2}}, one[] = {{"dp", 1}};
const br_group groups[] = {{0, {}}, {2, {0, 1}}, {2, {1, 0}}, {1, {0}}}, oneGroups[] = {{0, {}}, {1, {0}}};

br_model modelOn(const br_axis *axes, int32_t n_axes, const br_collective_desc *collectives, int32_t n) {
  br_model model{};
  model.name = "numbers";
  model.arena_bytes = 256;
  model.mesh = axes;
  model.n_axes = n_axes;
  model.groups = n_axes == 2 ? groups : oneGroups;
  model.n_groups = n_axes == 2 ? 4 : 2;
  model.collectives = collectives;
  model.n_collectives = n;
  return model;
}

int32_t *at(br_context &context, uint64_t offset) {
  return reinterpret_cast<int32_t *>(static_cast<char *>(br_arena(&context)) + offset);
}

// Runs f on the context of each of four ranks, a thread each.
void onFourRanks(const br_model &model, const std::function<void(br_context &, int)> &f) {
  auto hub = std::make_shared<ThreadsHub>(4);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 4; ++rank)
    threads.emplace_back([&, rank] {
      br_comm comm(threadsTransport(hub, rank), 20);
      CpuContext context(model, 1, Rank{rank, 4, &comm});
      f(context, rank);
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST(Collectives, groupsNumberRanksInTheOrderOfTheirAxes) {
  const br_collective_desc collectives[] = {{BR_ALL_GATHER, BR_SUM, BR_I32, 1, 0, nullptr, 0, gathered, 1},
                                            {BR_ALL_GATHER, BR_SUM, BR_I32, 2, 0, nullptr, 0, gathered, 1},
                                            {BR_ALL_REDUCE, BR_SUM, BR_I32, 3, 0, nullptr, 0, summed, 1}};
  std::vector<int32_t> rows[4], columns[4];
  int32_t sums[4], indices[4][4];
  onFourRanks(modelOn(mesh, 2, collectives, 3), [&](br_context &context, int rank) {
    *at(context, 0) = rank;
    for (int32_t i : {0, 1}) {
      ASSERT_EQ(br_start(&context, i), BR_OK);
      ASSERT_EQ(br_wait(&context, i), BR_OK);
      (i ? columns : rows)[rank].assign(at(context, 64), at(context, 64) + 4);
    }
    ASSERT_EQ(br_start(&context, 2), BR_OK);
    ASSERT_EQ(br_wait(&context, 2), BR_OK);
    sums[rank] = *at(context, 128);
    for (int32_t group = 0; group < 4; ++group)
      indices[rank][group] = br_axis_index(&context, group);
  });
  for (int rank = 0; rank < 4; ++rank) {
    int dp = rank / 2, tp = rank % 2;
    EXPECT_EQ(rows[rank], (std::vector<int32_t>{0, 1, 2, 3}));
    EXPECT_EQ(columns[rank], (std::vector<int32_t>{0, 2, 1, 3}));
    EXPECT_EQ(sums[rank], tp + (2 + tp)); // along dp
    EXPECT_EQ(indices[rank][0], 0);
    EXPECT_EQ(indices[rank][1], rank);
    EXPECT_EQ(indices[rank][2], tp * 2 + dp);
    EXPECT_EQ(indices[rank][3], dp);
  }
}

TEST(Collectives, aRankAloneSendsToItself) {
  const br_segment_desc whole[] = {{0, 64, 1, 1, 1, 0, 0}};
  const br_collective_desc collectives[] = {{BR_ALL_GATHER, BR_SUM, BR_I32, 1, 0, nullptr, 0, whole, 1},
                                            {BR_ALL_REDUCE, BR_SUM, BR_I32, 1, 0, nullptr, 0, summed, 1},
                                            {BR_BROADCAST, BR_SUM, BR_I32, 1, 0, nullptr, 0, sent, 1}};
  br_model model = modelOn(one, 1, collectives, 3);
  CpuContext context(model, 1);
  *at(context, 0) = 7;
  for (int32_t i = 0; i < 3; ++i)
    ASSERT_EQ(br_start(&context, i), BR_OK);
  for (int32_t i = 0; i < 3; ++i)
    ASSERT_EQ(br_wait(&context, i), BR_OK);
  EXPECT_EQ(*at(context, 64), 7);
  EXPECT_EQ(*at(context, 128), 7);
  EXPECT_EQ(*at(context, 192), 7);
  EXPECT_EQ(br_axis_index(&context, 1), 0);
}

std::string messageOf(const br_model &model, const Rank &rank) {
  try {
    CpuContext context(model, 1, rank);
  } catch (const Error &error) {
    return error.what();
  }
  return "";
}

TEST(Collectives, theRanksAreThoseOfTheMesh) {
  br_model four = modelOn(mesh, 2, nullptr, 0), single = modelOn(one, 1, nullptr, 0);
  EXPECT_EQ(messageOf(four, {}),
            "model 'numbers' was compiled for 4 ranks, but 1 is running; start as many, or compile "
            "with another --mesh");
  EXPECT_EQ(messageOf(single, {1, 3}), "model 'numbers' was compiled for 1 rank, but 3 are running; start as many, or "
                                       "compile with another --mesh");
  EXPECT_EQ(messageOf(four, {1, 4}), "rank 1 of 4 has no communicator");
  br_comm comm(threadsTransport(std::make_shared<ThreadsHub>(1), 0), 20);
  EXPECT_EQ(messageOf(four, {1, 4, &comm}), "rank 1 of 4 has the communicator of rank 0 of 1");
}

TEST(Collectives, failuresHaveAReason) {
  const br_collective_desc collectives[] = {{BR_BROADCAST, BR_SUM, BR_I32, 1, 3, nullptr, 0, sent, 1}};
  br_model model = modelOn(one, 1, collectives, 1);
  CpuContext context(model, 1);
  EXPECT_EQ(br_start(&context, 0), BR_ERROR);
  EXPECT_NE(std::string(context.error()).find("rank 3 is not in a group of 1"), std::string::npos) << context.error();
}

} // namespace
