//===- RanksTest.cpp - the training loop on the ranks of one process ------===//

#include "launch/Ranks.h"
#include "ExampleModels.h"
#include "RanksModel.h"
#include "TestFiles.h"
#include "base/Error.h"
#include "core/Agree.h"
#include "core/Model.h"
#include "train/Metrics.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstring>
#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

using namespace braid;
using namespace braid::test;

namespace {

//===----------------------------------------------------------------------===//
// Which ranks a process runs
//===----------------------------------------------------------------------===//

Launch launched(Launcher launcher, int rank, int size) {
  Launch launch;
  launch.launcher = launcher, launch.rank = rank, launch.size = size;
  launch.rendezvous = "tcp://host:1";
  return launch;
}

std::string refusal(const RankOptions &options, const Launch &launch,
                    std::vector<br_axis> mesh = {{"dp", 2}, {"tp", 2}}) {
  try {
    planRanks(ranksModel(mesh), options, launch);
    return "";
  } catch (const Error &error) {
    return error.what();
  }
}

TEST(RankPlan, threadsAreAsManyAsTheMeshHas) {
  RankPlan plan = planRanks(ranksModel({{"dp", 2}, {"tp", 2}}), {}, {});
  EXPECT_EQ(plan.transport, "threads");
  EXPECT_EQ(plan.size, 4);
  EXPECT_EQ(plan.ranksHere, 4);
}

TEST(RankPlan, oneRankTalksToNobody) {
  EXPECT_EQ(planRanks(ranksModel({{"dp", 1}}), {}, {}).transport, "");
  EXPECT_EQ(planRanks(regressionModel(), {}, launched(Launcher::Torchrun, 0, 1)).transport, "");
}

TEST(RankPlan, worldsThatAreNotTheMesh) {
  RankOptions two;
  two.ranks = 2;
  EXPECT_EQ(refusal(two, {}),
            "model 'ranks' was compiled for 4 ranks (dp=2,tp=2), but --ranks is 2; start 4, or compile "
            "with another --mesh");
  EXPECT_EQ(
      refusal({}, launched(Launcher::OpenMpi, 1, 3)),
      "model 'ranks' was compiled for 4 ranks (dp=2,tp=2), but mpirun started 3; start 4, or compile with another "
      "--mesh");
  EXPECT_EQ(refusal({}, launched(Launcher::Torchrun, 1, 2), {{"dp", 1}}),
            "model 'ranks' was compiled for 1 rank (dp=1), but torchrun started 2; start 1, or compile with another "
            "--mesh");
}

TEST(RankPlan, whatDoesNotFitTogether) {
  RankOptions options;
  options.transport = "gloo";
  EXPECT_NE(refusal(options, {}).find("no launcher was found"), std::string::npos);
  options.ranks = 4;
  EXPECT_NE(refusal(options, {}).find("leave out one of --ranks and --transport"), std::string::npos);
  options = {};
  options.transport = "threads";
  EXPECT_NE(refusal(options, launched(Launcher::OpenMpi, 0, 4)).find("mpirun started 4 processes, each of which"),
            std::string::npos);
  options = {};
  options.link = LinkModel{1e-6, 1e9};
  EXPECT_NE(refusal(options, launched(Launcher::Slurm, 0, 4)).find("transport gloo uses a real link"),
            std::string::npos);
  EXPECT_NE(refusal(options, {}, {{"dp", 1}}).find("compiled for 1 rank (dp=1), which does not communicate"),
            std::string::npos);
  options = {};
  options.rendezvous = "file:///somewhere";
  EXPECT_NE(refusal(options, {}).find("transport threads does not use it"), std::string::npos);
  EXPECT_NE(refusal({}, launched(Launcher::OpenMpi, 0, 4)).find("cannot run over mpi: it has threads"),
            std::string::npos);
}

//===----------------------------------------------------------------------===//
// Data
//===----------------------------------------------------------------------===//

class OnRanks : public testing::Test {
protected:
  void SetUp() override {
    std::string text;
    for (int i = 0; i < 997; ++i)
      text += static_cast<char>(i * 7 % 251);
    data = writeFile(scratch / "data", text);
  }
  void TearDown() override { onRankCall = nullptr; }

  Outcome run(const br_model &model, std::vector<std::string> more) {
    std::vector<std::string> arguments = {"train", "--data", data, "--data-format", "bytes", "--threads", "1"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return runMain(model, arguments);
  }

  // Global batches by program and step: the inputs of the ranks, in the order of ranks along the first axis.
  std::vector<std::vector<int32_t>> globalBatches(std::vector<br_axis> mesh, std::vector<std::string> arguments,
                                                  int32_t microbatches = 2) {
    const br_model &model = ranksModel(mesh, microbatches);
    int inner = mesh.size() > 1 ? mesh[1].size : 1;
    std::map<int, std::vector<std::vector<int32_t>>> given; // by rank
    onRankCall = [&](const RankCall &call) {
      given[call.rank].push_back(call.tokens);
      given[call.rank].back().insert(given[call.rank].back().end(), call.targets.begin(), call.targets.end());
    };
    Outcome outcome = run(model, arguments);
    EXPECT_EQ(outcome.status, 0) << outcome.errors;
    std::vector<std::vector<int32_t>> batches(given[0].size());
    for (auto &[rank, calls] : given) {
      EXPECT_EQ(calls.size(), batches.size());
      EXPECT_EQ(calls, given[rank / inner * inner]) << "ranks that share rows are given different ones";
      if (rank % inner != 0)
        continue;
      // Tokens first, then targets; each goes to its place in the global batch.
      for (size_t i = 0; i < calls.size(); ++i) {
        auto half = static_cast<std::ptrdiff_t>(calls[i].size() / 2),
             at = static_cast<std::ptrdiff_t>(batches[i].size() / 2);
        batches[i].insert(batches[i].begin() + at, calls[i].begin(), calls[i].begin() + half);
        batches[i].insert(batches[i].end(), calls[i].begin() + half, calls[i].end());
      }
    }
    return batches;
  }

  ScratchDirectory scratch;
  std::string data;
};

TEST_F(OnRanks, readTheRowsOfOneGlobalBatch) {
  for (const char *order : {"random", "sequential"}) {
    std::vector<std::string> arguments = {"--steps",      "4", "--batch-order",  order,
                                          "--eval-every", "2", "--eval-batches", "3"};
    auto one = globalBatches({{"dp", 1}}, arguments);
    EXPECT_EQ(one.size(), 4u * 2 + 2 * 3);
    EXPECT_EQ(one, globalBatches({{"dp", 2}}, arguments));
    EXPECT_EQ(one, globalBatches({{"dp", 8}}, arguments));
    EXPECT_EQ(one, globalBatches({{"dp", 2}, {"tp", 2}}, arguments));
  }
}

// 100 training tokens are 33 windows. The last batch has one window, so seven of eight ranks, and the second of two
// microbatches, have none.
TEST_F(OnRanks, endAPassWithAShortBatch) {
  std::string text = readFile(data);
  for (int microbatches : {1, 2}) {
    std::vector<std::string> arguments = {
        "--steps", microbatches == 1 ? "10" : "6", "--batch-order", "sequential", "--holdout", "0.9"};
    auto one = globalBatches({{"dp", 1}}, arguments, microbatches);
    std::vector<int32_t> targets, expected;
    for (const std::vector<int32_t> &batch : one)
      std::copy_if(batch.begin() + batch.size() / 2, batch.end(), std::back_inserter(targets),
                   [](int32_t target) { return target != -1; });
    for (int pass = 0; pass < 2; ++pass)
      std::transform(text.begin() + 1, text.begin() + 100, std::back_inserter(expected),
                     [](char byte) { return static_cast<unsigned char>(byte); });
    EXPECT_EQ(targets, expected);
    for (int ranks : {2, 4, 8})
      EXPECT_EQ(one, globalBatches({{"dp", ranks}}, arguments, microbatches));
    EXPECT_EQ(one, globalBatches({{"dp", 2}, {"tp", 2}}, arguments, microbatches));
  }
}

std::vector<nlohmann::json> readLog(const std::string &path) {
  std::vector<nlohmann::json> lines;
  std::istringstream text(readFile(path));
  for (std::string line; std::getline(text, line);)
    lines.push_back(nlohmann::json::parse(line));
  return lines;
}

TEST_F(OnRanks, logOnceWithGlobalTokens) {
  Outcome outcome = run(ranksModel({{"dp", 4}}, 2), {"--steps", "3", "--log", scratch / "log"});
  ASSERT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_NE(outcome.output.find("48 tokens a step = 2 x 3 x 2 microbatches x 4 ranks"), std::string::npos)
      << outcome.output;
  EXPECT_NE(outcome.output.find("4 ranks over threads, each with 1 threads"), std::string::npos) << outcome.output;
  auto log = readLog(scratch / "log");
  ASSERT_EQ(log.size(), 3u);
  EXPECT_EQ(log[0]["tokens"], 48);
  ASSERT_EQ(run(ranksModel({{"dp", 1}}, 2), {"--steps", "3", "--log", scratch / "one"}).status, 0);
  auto one = readLog(scratch / "one");
  for (int i = 0; i < 3; ++i)
    EXPECT_FLOAT_EQ(log[i]["loss"].get<float>(), one[i]["loss"].get<float>());
}

// The mean is over existing tokens, for a short batch and for the whole held-out part, with any batch size.
TEST_F(OnRanks, averageOverTheTokensThatAreThere) {
  std::string text = readFile(data);
  auto mean = [&](size_t begin, size_t end, int32_t ignored) {
    double sum = 0, count = 0;
    for (size_t i = begin; i + 1 < end; ++i)
      if (static_cast<unsigned char>(text[i + 1]) != ignored)
        sum += static_cast<unsigned char>(text[i]), ++count;
    return sum / count;
  };
  for (int ranks : {1, 4, 8})
    for (int microbatches : {1, 2})
      for (int32_t ignored : {-1, 14}) { // none of the tokens, and one of them
        Outcome outcome = run(ranksModel({{"dp", ranks}}, microbatches, ignored),
                              {"--steps", "5", "--batch-order", "sequential", "--holdout", "0.9", "--eval-every", "5",
                               "--eval-batches", "1000", "--log", scratch / "log", "--force"});
        ASSERT_EQ(outcome.status, 0) << outcome.errors;
        auto log = readLog(scratch / "log");
        int last = microbatches == 1 ? 4 : 2;
        EXPECT_EQ(log[last - 1]["tokens"], 24 * microbatches);
        EXPECT_EQ(log[last]["tokens"], 3);
        EXPECT_NEAR(log[last]["loss"].get<double>(), mean(96, 100, ignored), 1e-4);
        EXPECT_NEAR(log[5]["eval_loss"].get<double>(), mean(100, 997, ignored), 1e-4);
      }
}

TEST_F(OnRanks, takeAsManyMicrobatchesAsTokensSay) {
  auto tokens = [&](int32_t microbatches, const char *wanted) {
    Outcome outcome = run(ranksModel({{"dp", 2}}, microbatches),
                          {"--steps", "1", "--batch-tokens", wanted, "--log", scratch / "log", "--force"});
    return outcome.status == 0 ? readLog(scratch / "log")[0]["tokens"].dump() : outcome.errors;
  };
  EXPECT_EQ(tokens(2, "24"), "24");
  EXPECT_EQ(tokens(2, "120"), "120");
  EXPECT_EQ(tokens(1, "24"), "24");
  EXPECT_NE(tokens(2, "25").find("--batch-tokens=25 is not a multiple of the 24 tokens that all ranks together take"),
            std::string::npos);
  EXPECT_NE(tokens(1, "48").find("compiled for one per step; compile it with --accumulate"), std::string::npos);
}

// |G|^2 = 3 and a trace of 120 give 3 + 120/b for b tokens.
TEST(NoiseScale, isTheTraceOverTheSquare) {
  NoiseMetrics noise = noiseOf(3 + 120.0f / 10, 3 + 120.0f / 40, 10, 40);
  EXPECT_FLOAT_EQ(noise.localSquare, 15);
  EXPECT_FLOAT_EQ(noise.globalSquare, 6);
  EXPECT_NEAR(noise.scale, 40, 1e-4);
}

//===----------------------------------------------------------------------===//
// Ends
//===----------------------------------------------------------------------===//

// A signal reaches ranks in different steps. The rank that begins a step last decides.
TEST_F(OnRanks, stopAfterTheSameStep) {
  std::map<int, int> steps;
  onRankCall = [&](const RankCall &call) {
    steps[call.rank] = call.step;
    if (call.rank == 2 && call.step == 5)
      std::raise(SIGTERM);
  };
  Outcome outcome = run(ranksModel({{"dp", 4}}), {"--steps", "1000"});
  EXPECT_EQ(outcome.status, 143);
  EXPECT_NE(outcome.output.find("stopped by SIGTERM after step "), std::string::npos) << outcome.output;
  for (auto &[rank, step] : steps)
    EXPECT_EQ(step, steps[0]) << "rank " << rank;
  EXPECT_GE(steps[0], 5);
  EXPECT_LE(steps[0], 6);
}

TEST_F(OnRanks, failTogetherWithOneMessage) {
  onRankCall = [&](const RankCall &call) {
    if (call.rank == 1 && call.step == 2)
      std::this_thread::sleep_for(std::chrono::milliseconds(100)); // the others wait
  };
  const br_model &model = ranksModel({{"dp", 4}});
  Outcome missing = runMain(model, {"train", "--data", scratch / "none", "--steps", "1"});
  EXPECT_EQ(missing.status, 1);
  EXPECT_EQ(std::count(missing.errors.begin(), missing.errors.end(), '\n'), 1) << missing.errors;
}

// A command that has nothing to prepare.
template <class F> Preparation unprepared(const F &command) {
  return [command](int) { return PreparedCommand{{}, command}; };
}

// One rank comes too late. The error names this rank and the operation for which the others wait.
TEST_F(OnRanks, waitNoLongerThanTheyMust) {
  auto begin = std::chrono::steady_clock::now();
  RankPlan plan = planRanks(ranksModel({{"dp", 3}}), {}, {});
  RankOptions options;
  options.timeout = 0.3;
  auto late = [&](const Rank &rank, int) {
    br_operation barrier = {BR_BARRIER, BR_SUM, BR_F32, 0, 0, nullptr, 0, nullptr, 0};
    br_ticket ticket;
    if (rank.number == 1)
      std::this_thread::sleep_for(std::chrono::milliseconds(600));
    if (br_comm_start(rank.comm, &barrier, &ticket) != BR_OK || br_comm_wait(rank.comm, ticket) != BR_OK)
      throw RankError(br_comm_error(rank.comm));
    return 0;
  };
  try {
    runRanks(ranksModel({{"dp", 3}}), plan, options, unprepared(late));
    FAIL() << "nobody was late";
  } catch (const Error &error) {
    EXPECT_NE(std::string(error.what()).find("after 0.3 s rank "), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("waits for barrier #1 while rank 1 is not in any operation"),
              std::string::npos)
        << error.what();
  }
  EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(), 5);
}

// The reported error is the one that a rank throws, not the resulting errors of the others.
TEST_F(OnRanks, sayTheFirstError) {
  RankPlan plan = planRanks(ranksModel({{"dp", 3}}), {}, {});
  auto failing = [&](const Rank &rank, int) -> int {
    if (rank.number == 2)
      fail("no more paper");
    br_operation barrier = {BR_BARRIER, BR_SUM, BR_F32, 0, 0, nullptr, 0, nullptr, 0};
    br_ticket ticket;
    br_comm_start(rank.comm, &barrier, &ticket);
    br_comm_wait(rank.comm, ticket);
    throw RankError(br_comm_error(rank.comm));
  };
  try {
    runRanks(ranksModel({{"dp", 3}}), plan, {}, unprepared(failing));
    FAIL();
  } catch (const Error &error) {
    EXPECT_STREQ(error.what(), "no more paper");
  }
}

// A copy that differs is found before the first step, on all ranks.
TEST_F(OnRanks, compareTheirCopies) {
  const br_model &table = ranksModel({{"dp", 2}, {"tp", 2}});
  for (int other : {-1, 0, 3}) {
    std::atomic<int> unequal = 0;
    auto compare = [&](const Rank &rank, int threads) {
      Model model(table, threads, rank);
      model.onHost(table.tensors[0], Use::Write,
                   [&](std::byte *memory) { std::memset(memory, rank.number == other, table.tensors[0].bytes); });
      try {
        checkCopiesAreEqual(model);
      } catch (const Error &error) {
        EXPECT_NE(std::string(error.what()).find("different copies"), std::string::npos) << error.what();
        ++unequal;
      }
      return 0;
    };
    EXPECT_EQ(runRanks(table, planRanks(table, {}, {}), {}, unprepared(compare)), 0);
    EXPECT_EQ(unequal, other < 0 ? 0 : 4);
  }
}

TEST_F(OnRanks, agreeOnTheGreatest) {
  const br_model &table = ranksModel({{"dp", 3}});
  auto ask = [&](const Rank &rank, int threads) {
    Model model(table, threads, rank);
    std::array<int32_t, agreeValues> values = {rank.number, -rank.number, 7};
    EXPECT_EQ(agree(model, values), (std::array<int32_t, agreeValues>{2, 0, 7}));
    EXPECT_FALSE(anyAgrees(model, false));
    EXPECT_TRUE(anyAgrees(model, rank.number == 1));
    return 0;
  };
  EXPECT_EQ(runRanks(table, planRanks(table, {}, {}), {}, unprepared(ask)), 0);
}

} // namespace
