//===- SampleTest.cpp - generating, evaluating, describing ----------------===//

#include "ExampleModels.h"
#include "TestFiles.h"

#include <bit>
#include <cctype>
#include <cmath>
#include <gtest/gtest.h>
#include <set>

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

// A NaN is refused wherever it is among the logits, and so is infinity.
TEST_F(Sample, logitsThatAreNoNumbers) {
  const std::string path = directory + "/step-00000300.safetensors", file = withoutChecksums(readFile(path));
  const size_t data = 8 + littleEndianAt(file), row = 'q';
  for (const auto &[value, name] : {std::pair(0x7fc00000u, "nan"), {0x7f800000u, "inf"}})
    for (size_t token : {1u, 255u}) {
      std::string broken = file;
      broken.replace(data + (row * 256 + token) * 4, 4, littleEndian(value, 4));
      writeFile(path, broken);
      Outcome run = sample({"--prompt", "q", "--length", "4", "--temperature", "0"});
      EXPECT_EQ(run.status, 1) << run.output;
      EXPECT_NE(run.errors.find("that of token " + std::to_string(token) + " is " + name), std::string::npos)
          << run.errors;
    }
}

// As in Transformers: a, b, c or d can be drawn if the likelier tokens have a total probability below p.
TEST_F(Sample, topPAndRepetitionPenalty) {
  const std::string path = directory + "/step-00000300.safetensors", file = withoutChecksums(readFile(path));
  const size_t row = 8 + littleEndianAt(file) + 'q' * 256 * 4;
  auto logits = [&](float more) {
    std::string changed = file;
    for (size_t token = 0; token < 256; ++token)
      changed.replace(row + token * 4, 4, littleEndian(0xff800000u, 4)); // -inf
    const std::pair<char, double> shares[] = {{'b', 0.3}, {'d', 0.05}, {'a', 0.5}, {'c', 0.15}};
    for (auto [token, share] : shares)
      changed.replace(row + token * 4, 4,
                      littleEndian(std::bit_cast<uint32_t>(static_cast<float>(std::log(share)) + more), 4));
    writeFile(path, changed);
  };
  logits(0);
  auto drawn = [&](std::vector<std::string> more) {
    std::set<char> tokens;
    for (int seed = 1; seed <= 60; ++seed) {
      std::vector<std::string> words = {"--prompt", "q", "--length", "1", "--temperature", "1", "--seed"};
      words.push_back(std::to_string(seed));
      words.insert(words.end(), more.begin(), more.end());
      tokens.insert(sample(words).output.at(1));
    }
    return std::string(tokens.begin(), tokens.end());
  };
  EXPECT_EQ(drawn({}), "abcd");
  EXPECT_EQ(drawn({"--top-p", "1"}), "abcd");
  EXPECT_EQ(drawn({"--top-p", "0.81"}), "abc");
  EXPECT_EQ(drawn({"--top-p", "0.79"}), "ab");
  EXPECT_EQ(drawn({"--top-p", "0.49"}), "a");
  EXPECT_EQ(drawn({"--top-p", "0"}), "a");
  EXPECT_EQ(drawn({"--top-k", "2", "--top-p", "0.63"}), "ab"); // a has 5/8 of the two
  EXPECT_EQ(drawn({"--top-k", "2", "--top-p", "0.62"}), "a");
  for (float more : {0.0f, 5.0f}) { // negative logits, and positive ones
    logits(more);
    auto greedy = [&](const char *prompt, const char *penalty) {
      return sample({"--prompt", prompt, "--length", "1", "--temperature", "0", "--repetition-penalty", penalty})
          .output;
    };
    EXPECT_EQ(greedy("aq", "1"), "aqa\n");
    EXPECT_EQ(greedy("aq", "2"), "aqb\n");
    EXPECT_EQ(greedy("abq", "3"), "abqc\n");
    EXPECT_EQ(greedy("bq", "2"), "bqa\n");
    EXPECT_EQ(greedy("bq", "0.2"), "bqb\n");
  }
}

// A token whose logit is minus infinity is not drawn; at least one token must be possible.
TEST_F(Sample, tokensThatCannotBeDrawn) {
  const std::string path = directory + "/step-00000300.safetensors", file = withoutChecksums(readFile(path));
  const size_t data = 8 + littleEndianAt(file), row = 'q';
  auto withNone = [&](size_t first, size_t end) {
    std::string changed = file;
    for (size_t token = first; token < end; ++token)
      changed.replace(data + (row * 256 + token) * 4, 4, littleEndian(0xff800000u, 4));
    writeFile(path, changed);
    return sample({"--prompt", "q", "--length", "1", "--temperature", "0"});
  };
  EXPECT_EQ(withNone('a', 'b').output, "qu\n");
  Outcome one = withNone('u', 'v'), all = withNone(0, 256);
  EXPECT_EQ(one.status, 0) << one.errors;
  EXPECT_NE(one.output.substr(0, 2), "qu");
  EXPECT_EQ(all.status, 1) << all.output;
  EXPECT_NE(all.errors.find("the model's logits are not finite: all are -inf"), std::string::npos) << all.errors;
}

TEST_F(Sample, promptTokens) {
  EXPECT_EQ(sample({"--prompt-tokens", "104", "--length", "1", "--temperature", "0"}).output, "he\n");
  Outcome bad = sample({"--prompt-tokens", "1,x"});
  EXPECT_EQ(bad.status, 1);
  EXPECT_NE(bad.errors.find("not a list of numbers"), std::string::npos);
  Outcome outside = sample({"--prompt-tokens", "256"});
  EXPECT_NE(outside.errors.find("token 256 of the prompt is outside"), std::string::npos);
  EXPECT_EQ(sample({"--prompt", ""}).status, 2);
}

// A token file whose tokens are bytes, each with a text of its own: the capital letter.
std::string tableOfCapitals(int end) {
  std::string text, offsets = littleEndian(0, 4);
  for (int byte = 0; byte < 256; ++byte) {
    text += byte == ' ' ? std::string("_") : std::string(1, static_cast<char>(std::toupper(byte)));
    offsets += littleEndian(text.size(), 4);
  }
  std::string file = "BRAIDTOK" + littleEndian(2, 4) + littleEndian(2, 4) + littleEndian(0, 8) + littleEndian(256, 8) +
                     littleEndian(0, 8) + littleEndian(text.size(), 8) + littleEndian(0, 4) + littleEndian(end, 4) +
                     littleEndian(0, 8) + offsets;
  file.resize((file.size() + 7) / 8 * 8);
  return file + text;
}

TEST_F(Sample, speaksByTheTable) {
  const std::string table = writeFile(scratch / "table", tableOfCapitals(' '));
  auto greedy = [&](std::vector<std::string> more) {
    more.insert(more.end(), {"--temperature", "0"});
    return sample(more);
  };
  // The sample ends where the text ends.
  EXPECT_EQ(greedy({"--tokenizer", table, "--prompt-tokens", "113", "--length", "9"}).output, "QUICK\n");
  writeFile(scratch / "c/tokenizer.tok", tableOfCapitals('k'));
  EXPECT_EQ(greedy({"--prompt-tokens", "113", "--length", "9"}).output, "QUIC\n");
  EXPECT_EQ(greedy({"--prompt-tokens", "113", "--length", "2"}).output, "QUI\n");
  // A text also begins with the token that ends a text.
  EXPECT_EQ(greedy({"--length", "1"}).output, "K_\n");
  Outcome run = greedy({"--prompt", "q"});
  EXPECT_NE(
      run.errors.find("not bytes, and this program has no tokenizer: give a text to scripts/sample, or its tokens "
                      "as --prompt-tokens=1,2,3"),
      std::string::npos)
      << run.errors;
  run = greedy({"--tokenizer", text});
  EXPECT_NE(run.errors.find("is a text file, not a token file with a table"), std::string::npos) << run.errors;
}

// Training leaves the table of its data beside the checkpoints.
TEST_F(Sample, tableOfTheData) {
  std::string data = tableOfCapitals(0);
  const std::string bytes = bigramData();
  data.replace(16, 8, littleEndian(bytes.size(), 8));
  std::string ids;
  for (unsigned char byte : bytes)
    ids += littleEndian(byte, 2);
  ids.resize((ids.size() + 7) / 8 * 8);
  data.insert(64, ids);
  Outcome run = runMain(bigramModel(), {"train", "--data", writeFile(scratch / "data.tok", data), "--steps", "1",
                                        "--checkpoint", scratch / "d"});
  EXPECT_EQ(run.status, 0) << run.errors;
  EXPECT_NE(readFile(scratch / "d/tokenizer.tok"), "");
  const std::string file = scratch / "d/step-00000001.safetensors";
  for (const std::string &checkpoint : {scratch / "d", scratch / "d/", file}) {
    run = runMain(bigramModel(), {"sample", "--checkpoint", checkpoint, "--prompt-tokens", "113", "--length", "0"});
    EXPECT_EQ(run.output, "Q\n") << run.errors;
  }
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
