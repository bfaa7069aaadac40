//===- ResumeTest.cpp - one job, however often it is started --------------===//

#include "ExampleModels.h"
#include "TestFiles.h"
#include "data/Fingerprint.h"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <functional>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace braid;
using namespace braid::test;

namespace {

class Restarts : public testing::Test {
protected:
  void SetUp() override { model.optimizer = "momentum momentum=0.9"; }
  void TearDown() override { afterTrainStep = nullptr; }

  Outcome train(std::vector<std::string> more) {
    std::vector<std::string> arguments = {"train", "--data", data, "--checkpoint", directory, "--lr", "0.02"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return runMain(model, arguments);
  }
  std::string checkpoint(int step) const { return directory + "/step-0000000" + std::to_string(step) + ".safetensors"; }

  // Passes the metadata of a checkpoint through `change`.
  void edit(const std::string &path, const std::function<void(nlohmann::ordered_json &)> &change) {
    std::string file = withoutChecksums(readFile(path));
    uint64_t length = littleEndianAt(file);
    auto header = nlohmann::ordered_json::parse(file.substr(8, length));
    change(header["__metadata__"]);
    writeFile(path, safetensors(header.dump(), file.substr(8 + length)));
  }
  static void expectIn(const std::string &part, const std::string &text) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }

  br_model model = regressionModel();
  ScratchDirectory scratch;
  std::string data = writeFile(scratch / "data.safetensors", regressionData());
  std::string directory = scratch / "checkpoints";
};

//===----------------------------------------------------------------------===//
// Starting and going on
//===----------------------------------------------------------------------===//

TEST_F(Restarts, oneCommandStartsGoesOnAndEnds) {
  const std::vector<std::string> command = {"--steps", "6", "--save-every", "2", "--resume=auto"};
  afterTrainStep = [](int step) {
    if (step == 3)
      std::raise(SIGUSR1);
  };
  Outcome first = train(command);
  EXPECT_EQ(first.status, 128 + SIGUSR1) << first.errors;
  afterTrainStep = nullptr;
  Outcome second = train(command);
  EXPECT_EQ(second.status, 0) << second.errors;
  expectIn("resumed from " + checkpoint(3) + ": step 3", second.output);
  Outcome third = train(command);
  EXPECT_EQ(third.status, 0) << third.errors;
  EXPECT_EQ(third.output, "nothing is left to train: " + checkpoint(6) + " has done 6 steps, and --steps is 6\n");
}

TEST_F(Restarts, neverStartOverWhatCannotBeRead) {
  std::filesystem::create_directory(directory);
  writeFile(checkpoint(4), "garbage");
  Outcome run = train({"--steps", "6", "--resume=auto"});
  EXPECT_EQ(run.status, 1);
  expectIn("no checkpoint in", run.errors);
  EXPECT_EQ(readFile(checkpoint(4)), "garbage");
}

TEST_F(Restarts, takeInitialWeightsOnlyAtTheStart) {
  ASSERT_EQ(train({"--steps", "2"}).status, 0);
  std::string weights = checkpoint(2);
  directory = scratch / "other";
  EXPECT_EQ(train({"--steps", "1", "--resume=auto", "--init", weights}).status, 0);
  Outcome again = train({"--steps", "3", "--resume=auto", "--init", weights});
  expectIn("resumed from", again.output);
  Outcome both = train({"--steps", "4", "--resume", "--init", weights});
  EXPECT_EQ(both.status, 1);
  expectIn("--init and --resume exclude each other", both.errors);
}

TEST_F(Restarts, startTheLogAnewWhereTheJobStarts) {
  const std::string log = scratch / "log";
  ASSERT_EQ(train({"--steps", "1", "--resume=auto", "--log", log}).status, 0);
  std::filesystem::remove_all(directory); // as if it had been ended before it saved
  ASSERT_EQ(train({"--steps", "1", "--resume=auto", "--log", log}).status, 0);
  ASSERT_EQ(train({"--steps", "2", "--resume=auto", "--log", log}).status, 0);
  const std::string text = readFile(log);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2) << text;
  writeFile(log, "{\"step\":7,\"loss\":\"of another job\"}\n");
  expectIn("does not say which job wrote it", train({"--steps", "3", "--resume=auto", "--log", log}).errors);
  EXPECT_EQ(readFile(log), "{\"step\":7,\"loss\":\"of another job\"}\n");
}

//===----------------------------------------------------------------------===//
// Whether it is the same job
//===----------------------------------------------------------------------===//

TEST_F(Restarts, refuseAnotherOptimizer) {
  ASSERT_EQ(train({"--steps", "2"}).status, 0);
  model.optimizer = "momentum momentum=0.8";
  Outcome refused = train({"--steps", "3", "--resume"});
  EXPECT_EQ(refused.status, 1);
  expectIn("was saved with the optimizer 'momentum momentum=0.9', but this run has 'momentum momentum=0.8'; compile "
           "with the options that it was trained with, or accept the difference with --allow=optimizer",
           refused.errors);
  EXPECT_EQ(train({"--steps", "3", "--resume", "--allow=data"}).status, 1);
  Outcome allowed = train({"--steps", "3", "--resume", "--allow=optimizer"});
  EXPECT_EQ(allowed.status, 0) << allowed.errors;
  expectIn("warning: ", allowed.errors);
  EXPECT_EQ(train({"--steps", "4", "--resume"}).errors, ""); // it is that of the newest now
}

TEST_F(Restarts, refuseOtherData) {
  ASSERT_EQ(train({"--steps", "2"}).status, 0);
  std::string other = regressionData();
  other.back() ^= 1;
  writeFile(data, other);
  Outcome refused = train({"--steps", "3", "--resume=auto"});
  EXPECT_EQ(refused.status, 1);
  expectIn("was saved with data of '", refused.errors);
  expectIn("--allow=data", refused.errors);
  EXPECT_EQ(train({"--steps", "3", "--resume=auto", "--allow=optimizer,data"}).status, 0);
  EXPECT_EQ(train({"--steps", "4", "--resume=auto"}).status, 0);
}

// Their metadata does not contain the training settings.
TEST_F(Restarts, goOnFromOlderVersionsWithAWarning) {
  ASSERT_EQ(train({"--steps", "2"}).status, 0);
  edit(checkpoint(2), [](auto &metadata) {
    metadata.erase("optimizer");
    metadata.erase("data");
  });
  Outcome run = train({"--steps", "3", "--resume"});
  EXPECT_EQ(run.status, 0) << run.errors;
  expectIn("warning: '" + checkpoint(2) +
               "' does not record the optimizer and data of its job, so a change of it is not checked\n",
           run.errors);
}

TEST_F(Restarts, unknownDifferencesAreRefused) {
  Outcome run = train({"--steps", "3", "--resume", "--allow=shapes"});
  EXPECT_EQ(run.status, 2);
  expectIn("--allow=shapes: invalid value; expected", run.errors);
}

//===----------------------------------------------------------------------===//
// The learning rate after its schedule
//===----------------------------------------------------------------------===//

TEST_F(Restarts, warnOfACosineThatHasEnded) {
  ASSERT_EQ(train({"--steps", "4", "--lr-schedule", "cosine"}).status, 0);
  Outcome run = train({"--steps", "9", "--resume"});
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(run.errors, "warning: the cosine of the learning rate ends at step 4, as the checkpoint says, and steps up "
                        "to 9 have the rate 0 (--min-lr); to stretch it, give --decay-steps=9\n");
  EXPECT_EQ(train({"--steps", "12", "--decay-steps", "12", "--resume"}).errors, "");
  EXPECT_EQ(train({"--steps", "14", "--lr-schedule", "constant", "--resume"}).errors, "");
}

//===----------------------------------------------------------------------===//
// Ends that save
//===----------------------------------------------------------------------===//

TEST_F(Restarts, saveWithoutAnEnd) {
  afterTrainStep = [](int step) {
    if (step == 3 || step == 5)
      std::raise(SIGUSR2);
  };
  Outcome run = train({"--steps", "7"});
  EXPECT_EQ(run.status, 0) << run.errors;
  for (int step : {3, 5, 7})
    EXPECT_TRUE(std::filesystem::exists(checkpoint(step))) << step;
}

TEST_F(Restarts, endWithTheTerminalUnlessThatIsIgnored) {
  afterTrainStep = [](int step) {
    if (step == 3)
      std::raise(SIGHUP);
  };
  auto old = std::signal(SIGHUP, SIG_DFL);
  EXPECT_EQ(train({"--steps", "7", "--resume=auto"}).status, 128 + SIGHUP);
  EXPECT_TRUE(std::filesystem::exists(checkpoint(3)));
  std::filesystem::remove_all(directory);
  std::signal(SIGHUP, SIG_IGN);
  EXPECT_EQ(train({"--steps", "7", "--resume=auto"}).status, 0);
  std::signal(SIGHUP, old);
}

TEST_F(Restarts, saveWhenTheLogIsFull) {
  Outcome run = train({"--steps", "7", "--log", "/dev/full"});
  EXPECT_EQ(run.status, 1);
  expectIn(
      "cannot write '/dev/full': No space left on device; the job ended after step 1, and the latest checkpoint is "
      "'" +
          checkpoint(1) + "': go on from it with --resume",
      run.errors);
  EXPECT_EQ(train({"--steps", "7", "--resume"}).status, 0);
}

TEST_F(Restarts, saveWhenTheDataIsGone) {
  afterTrainStep = [&](int step) {
    if (step == 3)
      std::filesystem::resize_file(data, 400);
  };
  Outcome run = train({"--steps", "7"});
  EXPECT_EQ(run.status, 1);
  expectIn("it ends at byte", run.errors);
  expectIn("the job ended after step 3, and the latest checkpoint is '" + checkpoint(3), run.errors);
  afterTrainStep = nullptr;
  writeFile(data, regressionData());
  EXPECT_EQ(train({"--steps", "7", "--resume"}).status, 0);
}

//===----------------------------------------------------------------------===//
// Fingerprints
//===----------------------------------------------------------------------===//

TEST(Fingerprint, isOfTheSizeAndOfSamples) {
  ScratchDirectory scratch;
  auto of = [&](const std::string &text) { return fingerprintOf(writeFile(scratch / "file", text)); };
  EXPECT_EQ(of("").rfind("0 bytes, sample ", 0), 0u);
  std::string small(5000, 'a');
  EXPECT_EQ(of(small), of(small));
  for (size_t at : {0, 4095, 4096, 4999}) { // all of it
    std::string other = small;
    other[at] = 'b';
    EXPECT_NE(of(other), of(small));
  }
  EXPECT_NE(of(small + "a"), of(small));
  std::string large(3 << 20, 'a');
  for (size_t at : {size_t{0}, large.size() - 1}) {
    std::string other = large;
    other[at] = 'b';
    EXPECT_NE(of(other), of(large));
  }
}

// Blocks do not overlap, and a file with fewer blocks is read completely.
TEST(Fingerprint, samplesAreSpread) {
  ScratchDirectory scratch;
  constexpr size_t blockBytes = 4096, limit = 64 * blockBytes;
  std::string text(limit, 'a');
  auto of = [&](const std::string &content) { return fingerprintOf(writeFile(scratch / "file", content)); };
  const std::string own = of(text);
  text[limit / 2] = 'b';
  EXPECT_NE(of(text), own);
  std::string large(10 * limit, 'a');
  const std::string before = of(large);
  int noticed = 0;
  for (size_t at = 0; at < large.size(); at += large.size() / 40) {
    std::string other = large;
    std::fill_n(other.begin() + static_cast<std::ptrdiff_t>(at), large.size() / 40, 'b');
    noticed += of(other) != before;
  }
  EXPECT_EQ(noticed, 40);
}

} // namespace
