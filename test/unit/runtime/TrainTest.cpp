//===- TrainTest.cpp - the training loop on models written by hand --------===//

#include "AllocationCounter.h"
#include "ExampleModels.h"
#include "TestFiles.h"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sstream>

using namespace braid::test;
using nlohmann::ordered_json;

namespace {

std::vector<ordered_json> readLog(const std::string &path) {
  std::istringstream lines(readFile(path));
  std::vector<ordered_json> log;
  for (std::string line; std::getline(lines, line);)
    log.push_back(ordered_json::parse(line));
  return log;
}

// Returns the parts of the output that must be equal in two runs: everything except times.
std::string withoutTimes(const std::string &path) {
  std::string text;
  for (ordered_json &line : readLog(path)) {
    line.erase("seconds");
    line.erase("tokens_per_second");
    line.erase("job"); // whose id is drawn
    text += line.dump() + "\n";
  }
  return text;
}

class Train : public testing::Test {
protected:
  void TearDown() override { afterTrainStep = nullptr; }

  Outcome regression(std::vector<std::string> more) {
    std::vector<std::string> arguments = {"train", "--data", data, "--threads", "2"};
    if (std::find(more.begin(), more.end(), "--lr") == more.end())
      more.insert(more.end(), {"--lr", "0.02"});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return runMain(regressionModel(), arguments);
  }
  Outcome bigram(std::vector<std::string> more) {
    std::vector<std::string> arguments = {"train", "--data", text, "--lr", "30", "--threads", "2"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return runMain(bigramModel(), arguments);
  }

  ScratchDirectory scratch;
  std::string data = writeFile(scratch / "data.safetensors", regressionData());
  std::string text = writeFile(scratch / "data.txt", bigramData());
};

TEST_F(Train, regressionLearns) {
  Outcome run = regression({"--steps", "200", "--lr", "0.05", "--log", scratch / "log", "--eval-every", "100"});
  ASSERT_EQ(run.status, 0) << run.errors;
  auto log = readLog(scratch / "log");
  ASSERT_EQ(log.size(), 202u);
  EXPECT_LT(log[199]["loss"].get<double>(), 1e-3 * log[0]["loss"].get<double>());
  EXPECT_EQ(log[100]["step"], 100);
  EXPECT_LT(log[201]["eval_loss"].get<double>(), 1e-3);
}

TEST_F(Train, metricsHaveExactlyTheseKeys) {
  ASSERT_EQ(regression({"--steps", "1", "--log", scratch / "log", "--eval-every", "1"}).status, 0);
  auto keys = [](const ordered_json &line) {
    std::string text;
    for (const auto &item : line.items())
      text += item.key() + " ";
    return text;
  };
  auto log = readLog(scratch / "log");
  EXPECT_EQ(keys(log[0]), "step loss lr grad_norm tokens seconds tokens_per_second job ");
  EXPECT_EQ(keys(log[1]), "step eval_loss ");
  EXPECT_EQ(log[0]["tokens"], 16); // 8 rows, 2 microbatches
  ASSERT_EQ(bigram({"--steps", "1", "--log", scratch / "log", "--force"}).status, 0);
  log = readLog(scratch / "log");
  EXPECT_EQ(keys(log[0]), "step loss lr tokens seconds tokens_per_second job ");
  EXPECT_EQ(log[0]["tokens"], 64);
}

TEST_F(Train, bigramLearns) {
  Outcome run = bigram({"--steps", "300", "--log", scratch / "log", "--eval-every", "300"});
  ASSERT_EQ(run.status, 0) << run.errors;
  auto log = readLog(scratch / "log");
  EXPECT_NEAR(log[0]["loss"].get<double>(), std::log(256), 0.05);
  EXPECT_LT(log[300]["eval_loss"].get<double>(), 2.0);
  EXPECT_NE(run.output.find("step 300/300"), std::string::npos);
  EXPECT_NE(run.output.find(" ms/step"), std::string::npos);
}

TEST_F(Train, printsArenaAndPeak) {
  Outcome run = regression({"--steps", "1"});
  size_t arena = run.output.find("allocated arena "), peak = run.output.find("reported peak ");
  ASSERT_TRUE(arena != std::string::npos && peak != std::string::npos) << run.output;
  auto number = [&](size_t at) { return run.output.substr(at, run.output.find(' ', at) - at); };
  EXPECT_EQ(number(arena + 16), number(peak + 14));
  EXPECT_LE(run.output.find('\n'), 80u) << run.output;
}

TEST_F(Train, twoRunsGiveTheSameMetrics) {
  for (const char *order : {"random", "sequential"}) {
    for (const char *name : {"a", "b"})
      ASSERT_EQ(
          bigram({"--steps", "20", "--batch-order", order, "--eval-every", "10", "--log", scratch / name, "--force"})
              .status,
          0);
    EXPECT_EQ(withoutTimes(scratch / "a"), withoutTimes(scratch / "b"));
  }
}

TEST_F(Train, seedsMatter) {
  ASSERT_EQ(bigram({"--steps", "3", "--log", scratch / "a"}).status, 0);
  ASSERT_EQ(bigram({"--steps", "3", "--seed", "2", "--log", scratch / "b"}).status, 0);
  ASSERT_EQ(bigram({"--steps", "3", "--batch-seed", "2", "--log", scratch / "c"}).status, 0);
  EXPECT_NE(withoutTimes(scratch / "a"), withoutTimes(scratch / "b"));
  EXPECT_NE(withoutTimes(scratch / "a"), withoutTimes(scratch / "c"));
}

TEST_F(Train, resumeIsBitExact) {
  std::vector<std::string> schedule = {"--lr-schedule", "cosine", "--warmup", "3", "--decay-steps", "20"};
  auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), schedule.begin(), schedule.end());
    return more;
  };
  ASSERT_EQ(regression(with({"--steps", "20", "--log", scratch / "whole", "--checkpoint", scratch / "a"})).status, 0);
  ASSERT_EQ(regression(with({"--steps", "10", "--log", scratch / "parts", "--checkpoint", scratch / "b"})).status, 0);
  Outcome resumed =
      regression({"--steps", "20", "--log", scratch / "parts", "--checkpoint", scratch / "b", "--resume"});
  ASSERT_EQ(resumed.status, 0) << resumed.errors;
  EXPECT_EQ(withoutTimes(scratch / "whole"), withoutTimes(scratch / "parts"));
  auto savedTo = [&](const char *directory) {
    return ofAnyJob(readFile(scratch / directory + "/step-00000020.safetensors"));
  };
  EXPECT_EQ(savedTo("a"), savedTo("b"));
}

TEST_F(Train, schedules) {
  ASSERT_EQ(regression({"--steps", "12", "--lr-schedule", "cosine", "--warmup", "4", "--min-lr", "0.001", "--log",
                        scratch / "log"})
                .status,
            0);
  auto log = readLog(scratch / "log");
  auto lr = [&](int step) { return log[step - 1]["lr"].get<double>(); };
  EXPECT_FLOAT_EQ(lr(1), 0.005);
  EXPECT_FLOAT_EQ(lr(4), 0.02);
  EXPECT_FLOAT_EQ(lr(8), 0.5 * (0.02 + 0.001));
  EXPECT_FLOAT_EQ(lr(12), 0.001);
}

TEST_F(Train, laterStepsAllocateNothingAndKeepTheirSize) {
  size_t sizeAtStart = 0, sizeAtEnd = 0, allocations = 0;
  afterTrainStep = [&](int step) {
    if (step == 1) {
      startCountingAllocations();
    } else if (step == 2) {
      sizeAtStart = residentBytes();
    } else if (step == 40) {
      sizeAtEnd = residentBytes();
      allocations = stopCountingAllocations();
    }
  };
  ASSERT_EQ(bigram({"--steps", "40", "--log", scratch / "log", "--eval-every", "10", "--save-every", "10",
                    "--checkpoint", scratch / "c"})
                .status,
            0);
  if (canCountAllocations()) {
    EXPECT_EQ(allocations, 0u);
    EXPECT_LE(sizeAtEnd, sizeAtStart + (256 << 10));
  }
}

TEST_F(Train, signalsSaveAndLeave) {
  for (auto [signal, status] : {std::pair(SIGINT, 130), std::pair(SIGTERM, 143)}) {
    std::string directory = scratch / std::to_string(signal);
    afterTrainStep = [signal = signal](int step) {
      if (step == 7)
        std::raise(signal);
    };
    Outcome run = regression({"--steps", "20", "--checkpoint", directory});
    EXPECT_EQ(run.status, status);
    EXPECT_NE(run.output.find("after step 7"), std::string::npos) << run.output;
    EXPECT_FALSE(readFile(directory + "/step-00000007.safetensors").empty());
    afterTrainStep = nullptr;
    EXPECT_EQ(regression({"--steps", "20", "--checkpoint", directory, "--resume"}).status, 0);
  }
}

TEST_F(Train, nonFiniteLossStops) {
  Outcome run =
      regression({"--steps", "400", "--lr", "1e20", "--checkpoint", scratch / "c", "--save-every", "1", "--keep", "0"});
  EXPECT_EQ(run.status, 1);
  EXPECT_NE(run.errors.find(" at step "), std::string::npos) << run.errors;
  EXPECT_NE(run.errors.find("try a lower --lr"), std::string::npos);
}

TEST_F(Train, badData) {
  struct Case {
    std::string file, content, message;
  };
  for (const Case &c : {Case{"empty", "", "is empty"},
                        Case{"short", "abc",
                             "is too short: its training part has 3 of 3 "
                             "tokens, but one window needs 17"},
                        Case{"short2", std::string(40, 'a'), "its held-out part has 4 of 40 tokens"}}) {
    Outcome run =
        runMain(bigramModel(), {"train", "--data", writeFile(scratch / c.file, c.content), "--steps", "2",
                                "--eval-every", "1", "--log", scratch / "log", "--checkpoint", scratch / "c"});
    EXPECT_EQ(run.status, 1);
    EXPECT_NE(run.errors.find(c.message), std::string::npos) << run.errors;
  }
  EXPECT_FALSE(std::filesystem::exists(scratch / "log"));
  Outcome missing = runMain(bigramModel(), {"train", "--data", scratch / "none", "--steps", "1"});
  EXPECT_EQ(missing.status, 1);
  EXPECT_NE(missing.errors.find("cannot open '"), std::string::npos);
}

// The loss counts every row, so incomplete batches are skipped: 90 rows in steps of 16, and 10 held-out rows in batches
// of 8.
TEST_F(Train, leavesOutABatchThatIsNotWhole) {
  std::vector<std::string> passes = {"--steps", "10", "--batch-order", "sequential", "--log", scratch / "log"};
  Outcome run = regression(passes);
  ASSERT_EQ(run.status, 0) << run.errors;
  EXPECT_EQ(run.errors, "warning: the last 10 of 90 rows of the training part are left out, because a batch has 16: "
                        "the model's loss counts every row of a batch\n");
  for (const ordered_json &line : readLog(scratch / "log"))
    EXPECT_EQ(line["tokens"], 16);

  run = regression({"--steps", "1", "--eval-every", "1"});
  EXPECT_NE(run.errors.find("the last 2 of 10 rows of the held-out part are left out"), std::string::npos)
      << run.errors;
  run = regression({"--steps", "1", "--eval-every", "1", "--eval-batches", "1", "--holdout", "0.16"});
  EXPECT_EQ(run.errors, "");
  run = regression({"--steps", "1", "--eval-every", "1", "--holdout", "0.05"});
  EXPECT_EQ(run.status, 1);
  EXPECT_NE(run.errors.find("the held-out part has 5 rows, fewer than the 8 of a batch"), std::string::npos)
      << run.errors;
  passes.insert(passes.end(), {"--holdout", "0.85", "--force"});
  EXPECT_NE(regression(passes).errors.find("the training part has 15 rows, fewer than the 16 of a batch"),
            std::string::npos);
}

TEST_F(Train, dataOfOtherShapesIsRefused) {
  auto run = [&](const std::string &header, size_t bytes) {
    std::string file = writeFile(scratch / "bad", safetensors(header, std::string(bytes, '\0')));
    return runMain(regressionModel(), {"train", "--data", file, "--steps", "1"}).errors;
  };
  EXPECT_NE(run(R"({"x":{"dtype":"F32","shape":[20,4],"data_offsets":[0,320]}})", 320).find("has no tensor 'y'"),
            std::string::npos);
  EXPECT_NE(run(R"({"x":{"dtype":"F32","shape":[20,5],"data_offsets":[0,400]}})", 400)
                .find("of shape [20, 5]; the model takes rows of it as F32 of shape "
                      "[8, 4]"),
            std::string::npos);
  EXPECT_NE(
      run(R"({"x":{"dtype":"F32","shape":[20,4],"data_offsets":[0,320]},"y":{"dtype":"F32","shape":[19,3],"data_offsets":[320,548]}})",
          548)
          .find("has 19 rows, but another input has 20"),
      std::string::npos);
  EXPECT_NE(
      run(R"({"x":{"dtype":"F32","shape":[2,4],"data_offsets":[0,32]},"y":{"dtype":"F32","shape":[2,3],"data_offsets":[32,56]}})",
          56)
          .find("is too short: it has 2 rows"),
      std::string::npos);
}

TEST_F(Train, unwritableLog) {
  Outcome run = regression({"--steps", "1", "--log", "/nonexistent/log"});
  EXPECT_EQ(run.status, 1);
  EXPECT_NE(run.errors.find("cannot write '/nonexistent/log'"), std::string::npos);
  Outcome full = regression({"--steps", "1", "--log", "/dev/full"});
  EXPECT_EQ(full.status, 1);
  EXPECT_NE(full.errors.find("No space left"), std::string::npos) << full.errors;
}

} // namespace
