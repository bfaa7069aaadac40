//===- SampleTest.cpp - generating, evaluating, describing ----------------===//

#include "ExampleModels.h"
#include "TestFiles.h"

#include <gtest/gtest.h>

using namespace braid::test;

namespace {

class Sample : public testing::Test {
protected:
  Sample() {
    Outcome run =
        runMain(bigramModel(), {"train", "--data", text, "--steps", "300", "--lr", "30", "--checkpoint", directory});
    EXPECT_EQ(run.status, 0) << run.errors;
  }
  Outcome sample(std::vector<std::string> more) {
    std::vector<std::string> arguments = {"sample", "--checkpoint", directory};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return runMain(bigramModel(), arguments);
  }

  ScratchDirectory scratch;
  std::string text = writeFile(scratch / "text", bigramData());
  std::string directory = scratch / "c";
};

TEST_F(Sample, greedyFollowsTheText) {
  Outcome run = sample({"--prompt", "q", "--length", "4", "--temperature", "0"});
  ASSERT_EQ(run.status, 0) << run.errors;
  EXPECT_EQ(run.output.substr(0, 3), "qui");
}

TEST_F(Sample, windowSlidesAndSeedDecides) {
  auto text = [&](const char *seed) {
    Outcome run = sample({"--prompt", "the", "--length", "60", "--seed", seed, "--top-k", "5"});
    EXPECT_EQ(run.output.size(), 64u); // prompt, 60 bytes, newline
    return run.output;
  };
  EXPECT_EQ(text("1"), text("1"));
  EXPECT_NE(text("1"), text("2"));
}

TEST_F(Sample, promptIds) {
  EXPECT_EQ(sample({"--prompt-ids", "104", "--length", "1", "--temperature", "0"}).output, "he\n");
  Outcome bad = sample({"--prompt-ids", "1,x"});
  EXPECT_EQ(bad.status, 1);
  EXPECT_NE(bad.errors.find("not a list of numbers"), std::string::npos);
  Outcome outside = sample({"--prompt-ids", "256"});
  EXPECT_NE(outside.errors.find("token 256 of the prompt is outside"), std::string::npos);
  EXPECT_EQ(sample({"--prompt", ""}).status, 2);
}

TEST_F(Sample, evalPrintsTheHeldOutLoss) {
  Outcome run = runMain(bigramModel(), {"eval", "--data", text, "--checkpoint", directory});
  ASSERT_EQ(run.status, 0) << run.errors;
  ASSERT_EQ(run.output.rfind("held-out loss ", 0), 0u) << run.output;
  EXPECT_LT(std::stod(run.output.substr(14)), 2.0);
  Outcome again = runMain(bigramModel(), {"eval", "--data", text, "--init", directory + "/step-00000300.safetensors"});
  EXPECT_EQ(again.output, run.output);
}

TEST_F(Sample, modelWithoutTheProgram) {
  Outcome run = runMain(regressionModel(), {"sample", "--checkpoint", directory});
  EXPECT_EQ(run.status, 1);
  EXPECT_NE(run.errors.find("was compiled without the program 'generate'"), std::string::npos);
}

} // namespace
