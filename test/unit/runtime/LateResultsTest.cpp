//===- LateResultsTest.cpp - commands on a target that runs behind --------===//
//
// A command has the same effects and output as on the CPU, except that a job that is asked to stop has run one more
// step.
//
//===----------------------------------------------------------------------===//

#include "DeferredTarget.h"
#include "ExampleModels.h"
#include "TestFiles.h"

#include <csignal>
#include <filesystem>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sstream>

using namespace braid::test;
using nlohmann::ordered_json;

namespace {

class LateResults : public testing::Test {
protected:
  void TearDown() override { afterTrainStep = nullptr; }

  Outcome train(const br_model &model, const std::string &name, std::vector<std::string> more) {
    std::vector<std::string> arguments = {"train", "--data",       data,           "--threads",    "2",
                                          "--log", scratch / name, "--checkpoint", directory(name)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return runMain(model, arguments);
  }
  std::string directory(const std::string &name) { return scratch / (name + ".d"); }
  // Returns the log without times and without the job's identity.
  std::vector<std::string> log(const std::string &name) {
    std::istringstream lines(readFile(scratch / name));
    std::vector<std::string> log;
    for (std::string text; std::getline(lines, text);) {
      ordered_json line = ordered_json::parse(text);
      line.erase("seconds");
      line.erase("tokens_per_second");
      line.erase("job");
      log.push_back(line.dump());
    }
    return log;
  }
  void expectSameCheckpoint(const std::string &a, const std::string &b, int step) {
    char file[40];
    std::snprintf(file, sizeof file, "/step-%08d.safetensors", step);
    EXPECT_EQ(ofAnyJob(readFile(directory(a) + file)), ofAnyJob(readFile(directory(b) + file))) << step;
  }

  ScratchDirectory scratch;
  std::string data = writeFile(scratch / "data.safetensors", regressionData());
  std::string text = writeFile(scratch / "data.txt", bigramData());
  br_model late = deferred(regressionModel());
};

TEST_F(LateResults, areThoseOfTheCpu) {
  const std::vector<std::string> options = {"--steps", "11", "--eval-every", "3", "--save-every", "4", "--keep", "0"};
  ASSERT_EQ(train(regressionModel(), "cpu", options).status, 0);
  lateResults = 0;
  Outcome run = train(late, "late", options);
  ASSERT_EQ(run.status, 0) << run.errors;
  EXPECT_EQ(log("late"), log("cpu"));
  EXPECT_EQ(log("late").size(), 14u);
  for (int step : {4, 8, 11})
    expectSameCheckpoint("cpu", "late", step);
  // Loss and norm of steps that only another step follows: 1 2 . 5 7 10.
  EXPECT_EQ(lateResults, 2 * 5);
}

TEST_F(LateResults, goOnFromACheckpoint) {
  ASSERT_EQ(train(regressionModel(), "cpu", {"--steps", "9"}).status, 0);
  ASSERT_EQ(train(late, "late", {"--steps", "5"}).status, 0);
  ASSERT_EQ(train(late, "late", {"--steps", "9", "--resume"}).status, 0);
  EXPECT_EQ(log("late"), log("cpu"));
  Outcome loss = runMain(late, {"eval", "--data", data, "--checkpoint", directory("late")});
  EXPECT_EQ(loss.output, runMain(regressionModel(), {"eval", "--data", data, "--checkpoint", directory("cpu")}).output);
}

// The step that has already started is finished, logged and saved.
TEST_F(LateResults, keepTheStepAfterASignal) {
  afterTrainStep = [](int step) {
    if (step == 5)
      std::raise(SIGTERM);
  };
  Outcome run = train(late, "late", {"--steps", "20"});
  EXPECT_EQ(run.status, 143);
  EXPECT_NE(run.output.find("stopped by SIGTERM after step 6; saved "), std::string::npos) << run.output;
  afterTrainStep = nullptr;
  ASSERT_EQ(train(regressionModel(), "cpu", {"--steps", "20"}).status, 0);
  ASSERT_EQ(log("late").size(), 6u);
  ASSERT_EQ(train(late, "late", {"--steps", "20", "--resume"}).status, 0);
  EXPECT_EQ(log("late"), log("cpu"));
}

TEST_F(LateResults, endAJobWhoseLossIsNoNumber) {
  const std::vector<std::string> options = {"--steps", "400", "--lr", "1e30"};
  Outcome cpu = train(regressionModel(), "cpu", options), run = train(late, "late", options);
  EXPECT_EQ(run.status, 1);
  EXPECT_EQ(run.errors, cpu.errors);
  EXPECT_EQ(log("late"), log("cpu"));
  EXPECT_TRUE(!std::filesystem::exists(directory("late")));
}

TEST_F(LateResults, sampleAndRunAsTheCpuDoes) {
  const br_model &bigram = bigramModel();
  br_model other = deferred(bigram);
  ASSERT_EQ(
      runMain(other, {"train", "--data", text, "--steps", "50", "--lr", "30", "--checkpoint", scratch / "c"}).status,
      0);
  const std::vector<std::string> sample = {"sample", "--checkpoint", scratch / "c", "--prompt",
                                           "the",    "--length",     "20"};
  EXPECT_EQ(runMain(other, sample).output, runMain(bigram, sample).output);
  for (const char *program : {"train", "eval", "generate"}) {
    for (const auto &[model, name] :
         {std::pair(&bigram, "cpu"), std::pair(const_cast<const br_model *>(&other), "late")}) {
      Outcome run = runMain(*model, {"run", "--program", program, "--outputs", scratch / name});
      ASSERT_EQ(run.status, 0) << run.errors;
    }
    EXPECT_EQ(readFile(scratch / "cpu"), readFile(scratch / "late")) << program;
  }
}

TEST_F(LateResults, devicesHaveOptionsOfTheirOwn) {
  auto train = [&](const br_model &model, const char *option) {
    return runMain(model, {"train", "--data", data, "--steps", "1", option}).errors;
  };
  for (const char *option : {"--cuda-graph=on", "--matmul-search=2", "--device=0"}) {
    std::string name = std::string(option).substr(0, std::string(option).find('='));
    EXPECT_EQ(train(regressionModel(), option)
                  .find("error: " + name +
                        " applies to programs for cuda, but this one was "
                        "compiled for cpu: leave it out, or compile with --target=cuda\n"),
              0u);
  }
  EXPECT_NE(train(regressionModel(), "--transport=nccl").find("--transport=nccl applies to programs for cuda"),
            std::string::npos);
  EXPECT_NE(train(late, "--transport=threads").find("--transport=threads applies to programs for cpu"),
            std::string::npos);
  EXPECT_EQ(train(late, "--cuda-graph=off"), "");
  EXPECT_NE(train(late, "--cuda-graph=maybe").find("maybe"), std::string::npos);
  EXPECT_EQ(train(late, "--profile"), "");
  for (const char *option : {"--deterministic-attention", "--deterministic-attention=off"})
    for (const br_model *model : {&regressionModel(), const_cast<const br_model *>(&late)})
      EXPECT_EQ(train(*model, option)
                    .find("error: --deterministic-attention is no longer an option: the order of sums is chosen when "
                          "the graph is compiled, by --attention-order of braidc\n"),
                0u);
}

} // namespace
