//===- CheckpointTest.cpp - saving, restoring, refusing -------------------===//

#include "ExampleModels.h"
#include "TestFiles.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>

using namespace braid::test;

namespace {

class Checkpoint : public testing::Test {
protected:
  Outcome train(std::vector<std::string> more) {
    std::vector<std::string> arguments = {"train", "--data", data, "--checkpoint", directory};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return runMain(regressionModel(), arguments);
  }
  Outcome resumeFrom(const std::string &content) {
    writeFile(directory + "/step-00000099.safetensors", content);
    return train({"--steps", "120", "--resume"});
  }
  std::vector<std::string> files() {
    std::vector<std::string> names;
    for (const auto &entry : std::filesystem::directory_iterator(directory))
      names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }
  // Rewrites the file's header by `change`, without checksums.
  template <class F> std::string edited(const std::string &sealed, F change) {
    const std::string file = withoutChecksums(sealed);
    const uint64_t length = littleEndianAt(file);
    auto header = nlohmann::ordered_json::parse(file.substr(8, length));
    change(header);
    return safetensors(header.dump(), file.substr(8 + length));
  }

  ScratchDirectory scratch;
  std::string data = writeFile(scratch / "data.safetensors", regressionData());
  std::string directory = scratch / "checkpoints";
};

TEST_F(Checkpoint, holdsLogicalTensorsAndTheJobsState) {
  ASSERT_EQ(train({"--steps", "5"}).status, 0);
  std::string file = readFile(directory + "/step-00000005.safetensors");
  uint64_t length;
  std::memcpy(&length, file.data(), 8);
  EXPECT_EQ(length % 8, 0u);
  auto header = nlohmann::ordered_json::parse(file.substr(8, length));
  EXPECT_EQ(header.size(), 3u); // no accumulators
  EXPECT_EQ(header["w"]["shape"], nlohmann::json({4, 3}));
  EXPECT_EQ(header["w.momentum"]["dtype"], "F32");
  EXPECT_EQ(header["__metadata__"]["step"], "5");
  EXPECT_EQ(header["__metadata__"]["tokens_seen"], "80");
  EXPECT_EQ(header["__metadata__"]["graph_hash"], "0000000000001234");
}

TEST_F(Checkpoint, keepsTheNewest) {
  ASSERT_EQ(train({"--steps", "10", "--save-every", "2", "--keep", "2"}).status, 0);
  EXPECT_EQ(files(), (std::vector<std::string>{"step-00000008.safetensors", "step-00000010.safetensors"}));
}

TEST_F(Checkpoint, refusesToMixTwoJobs) {
  ASSERT_EQ(train({"--steps", "2"}).status, 0);
  Outcome again = train({"--steps", "2"});
  EXPECT_EQ(again.status, 1);
  EXPECT_NE(again.errors.find("already holds checkpoints"), std::string::npos);
  Outcome done = train({"--steps", "2", "--resume"});
  EXPECT_EQ(done.status, 1);
  EXPECT_NE(done.errors.find("has done 2 steps already"), std::string::npos);
}

TEST_F(Checkpoint, resumeWithoutCheckpoint) {
  Outcome run = train({"--steps", "2", "--resume"});
  EXPECT_EQ(run.status, 1);
  EXPECT_NE(run.errors.find(directory), std::string::npos);
}

TEST_F(Checkpoint, newestValidIsTaken) {
  ASSERT_EQ(train({"--steps", "4", "--save-every", "2"}).status, 0);
  std::string file = readFile(directory + "/step-00000004.safetensors");
  writeFile(directory + "/step-00000004.safetensors", file.substr(0, file.size() - 3));
  Outcome run = train({"--steps", "6", "--resume"});
  EXPECT_EQ(run.status, 0) << run.errors;
  EXPECT_NE(run.errors.find("skipping a checkpoint"), std::string::npos);
  EXPECT_NE(run.output.find("step-00000002.safetensors: step 2"), std::string::npos) << run.output;
}

TEST_F(Checkpoint, anotherGraphsIsRefusedNamingTheTensor) {
  ASSERT_EQ(train({"--steps", "2"}).status, 0);
  std::string file = readFile(directory + "/step-00000002.safetensors");
  struct Case {
    std::function<void(nlohmann::ordered_json &)> change;
    std::string message;
  };
  for (const Case &c :
       {Case{[](auto &h) {
               h["v"] = h["w"];
               h.erase("w");
             },
             "it has no tensor 'w'"},
        Case{[](auto &h) { h["w.momentum"]["shape"] = {3, 4}; },
             "tensor 'w.momentum' has shape [3, 4] in the file, but [4, 3] in the "
             "model"},
        Case{[](auto &h) { h["w"]["dtype"] = "I32"; }, "tensor 'w' has type I32 in the file, but F32 in the model"},
        Case{[](auto &h) { h["v"] = {{"dtype", "F32"}, {"shape", {0}}, {"data_offsets", {96, 96}}}; },
             "it has the tensor 'v', which the model lacks"},
        Case{[](auto &h) { h["__metadata__"].erase("step"); }, "its metadata lacks 'step'"},
        Case{[](auto &h) { h["__metadata__"]["step"] = "x"; }, "step = 'x'"},
        Case{[](auto &h) { h["__metadata__"]["step"] = "-4"; }, "has step -4"},
        Case{[](auto &h) { h["__metadata__"]["format"] = "x"; }, "has format 'x'"}}) {
    Outcome run = resumeFrom(edited(file, c.change));
    EXPECT_EQ(run.status, 1);
    EXPECT_NE(run.errors.find(c.message), std::string::npos) << run.errors;
  }
}

TEST_F(Checkpoint, corruptFileAloneIsAnError) {
  std::filesystem::create_directory(directory);
  Outcome run = resumeFrom("garbage");
  EXPECT_EQ(run.status, 1);
  EXPECT_NE(run.errors.find("no checkpoint in"), std::string::npos) << run.errors;
}

TEST_F(Checkpoint, initTakesParametersOnly) {
  ASSERT_EQ(train({"--steps", "3"}).status, 0);
  std::string weights = directory + "/step-00000003.safetensors";
  std::string other = scratch / "other";
  Outcome run = runMain(regressionModel(), {"train", "--data", data, "--steps", "1", "--lr", "0", "--checkpoint", other,
                                            "--init", weights});
  ASSERT_EQ(run.status, 0) << run.errors;
  std::string a = readFile(weights), b = readFile(other + "/step-00000001.safetensors");
  EXPECT_EQ(a.substr(a.size() - 96, 48), b.substr(b.size() - 96, 48)); // w
  EXPECT_NE(a.substr(a.size() - 48), b.substr(b.size() - 48));         // momentum
}

TEST_F(Checkpoint, initConvertsFloats) {
  std::string half;
  for (int i = 0; i < 12; ++i)
    half += littleEndian(0x3c00 + 0x100 * i, 2); // F16
  std::string weights =
      writeFile(scratch / "half", safetensors(R"({"w":{"dtype":"F16","shape":[4,3],"data_offsets":[0,24]}})", half));
  ASSERT_EQ(train({"--steps", "1", "--lr", "0", "--init", weights}).status, 0);
  std::string file = readFile(directory + "/step-00000001.safetensors");
  float w[12];
  std::memcpy(w, file.data() + file.size() - 96, 48);
  EXPECT_EQ(w[0], 1.0f);
  EXPECT_EQ(w[5], 2.5f);

  std::string wrong =
      writeFile(scratch / "wrong",
                safetensors(R"({"w":{"dtype":"I32","shape":[4,3],"data_offsets":[0,48]}})", std::string(48, '\0')));
  Outcome run = runMain(regressionModel(), {"train", "--data", data, "--steps", "1", "--init", wrong});
  EXPECT_NE(run.errors.find("has type I32, which cannot become the model's F32"), std::string::npos);
}

// A file size limit stands in for a full disk: writing fails in the middle. The
// model's checkpoint is above it, captured output is below.
TEST_F(Checkpoint, fullDiskLeavesOldOnesIntact) {
  std::string text = writeFile(scratch / "text", bigramData());
  std::vector<std::string> arguments = {"train", "--data", text, "--steps", "2", "--checkpoint", directory};
  ASSERT_EQ(runMain(bigramModel(), arguments).status, 0);
  std::string before = readFile(directory + "/step-00000002.safetensors");
  arguments[4] = "4";
  arguments.push_back("--resume");

  rlimit old;
  getrlimit(RLIMIT_FSIZE, &old);
  auto oldHandler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit tight = old;
  tight.rlim_cur = 64 << 10;
  setrlimit(RLIMIT_FSIZE, &tight);
  Outcome run = runMain(bigramModel(), arguments);
  setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, oldHandler);

  EXPECT_EQ(run.status, 1);
  EXPECT_NE(run.errors.find("the checkpoint of step 4 was not saved"), std::string::npos);
  EXPECT_EQ(files(), std::vector<std::string>{"step-00000002.safetensors"});
  EXPECT_EQ(readFile(directory + "/step-00000002.safetensors"), before);
}

TEST_F(Checkpoint, unusableDirectory) {
  writeFile(scratch / "file", "x");
  Outcome run =
      runMain(regressionModel(), {"train", "--data", data, "--steps", "1", "--checkpoint", scratch / "file/dir"});
  EXPECT_EQ(run.status, 1);
  EXPECT_NE(run.errors.find("cannot create the checkpoint directory"), std::string::npos) << run.errors;
}

} // namespace
