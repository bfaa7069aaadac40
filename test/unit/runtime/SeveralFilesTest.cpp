//===- SeveralFilesTest.cpp - data in several files -----------------------===//

#include "ExampleModels.h"
#include "TestFiles.h"
#include "base/Error.h"
#include "data/Fingerprint.h"
#include "data/Mix.h"
#include "data/TokenBatches.h"

#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <set>

using namespace braid;
using namespace braid::test;

namespace {

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

TEST(DataFiles, namesAndWeights) {
  ScratchDirectory scratch;
  std::filesystem::create_directory(scratch / "folder");
  for (const char *name : {"b.txt", "a.tok", "c.bin", "README.md", ".hidden.tok"})
    writeFile(scratch / (std::string("folder/") + name), "x");
  const std::string plain = writeFile(scratch / "plain", "x"), odd = writeFile(scratch / "odd:2", "x");

  DataFiles all = findData({plain, scratch / "folder", odd}, DataFormat::Auto);
  ASSERT_EQ(all.groups.size(), 1u);
  EXPECT_EQ(all.groups[0].paths, (std::vector<std::string>{plain, scratch / "folder/a.tok", scratch / "folder/b.txt",
                                                           scratch / "folder/c.bin", odd}));
  DataFiles weighted = findData({plain + ":0.25", scratch / "folder:3", odd + ":1e-3"}, DataFormat::Auto);
  ASSERT_EQ(weighted.groups.size(), 3u);
  EXPECT_EQ(weighted.groups[0].weight, 0.25);
  EXPECT_EQ(weighted.groups[1].paths.size(), 3u);
  EXPECT_EQ(weighted.groups[2].paths[0], odd);

  std::filesystem::create_directory(scratch / "empty");
  EXPECT_THROW(findData({scratch / "empty"}, DataFormat::Auto), Error);
  EXPECT_THROW(findData({plain + ":1", odd}, DataFormat::Auto), Error);
  EXPECT_THROW(findData({plain + ":0"}, DataFormat::Auto), Error);
  EXPECT_THROW(findData({plain + ":-1"}, DataFormat::Auto), Error);
  EXPECT_THROW(findData({plain + ":inf"}, DataFormat::Auto), Error);
}

TEST(DataFiles, fingerprints) {
  ScratchDirectory scratch;
  const std::string a = writeFile(scratch / "a", "aaa"), b = writeFile(scratch / "b", "bb");
  auto of = [](std::vector<std::string> texts, DataFormat format = DataFormat::Auto) {
    return fingerprintOf(findData(texts, format));
  };
  EXPECT_EQ(of({a}), fingerprintOf(a));
  EXPECT_EQ(of({a, b}).substr(0, 24), "2 files, 5 bytes, sample");
  const std::set<std::string> all = {of({a, b}), of({b, a}), of({a + ":1", b + ":1"}), of({a + ":1", b + ":2"}),
                                     of({a, b}, DataFormat::Bytes)};
  EXPECT_EQ(all.size(), 5u);
}

//===----------------------------------------------------------------------===//
// Proportions
//===----------------------------------------------------------------------===//

// Rows of a source are numbered without gaps, and its share is always close to its weight.
TEST(Mix, keepsProportions) {
  for (const std::vector<double> &weights :
       std::vector<std::vector<double>>{{1}, {0.7, 0.3}, {1e-3, 1, 1e3}, {1, 1, 1, 1, 1}, {1e300, 1e300}, {3, 1e-12}}) {
    Mix mix(weights);
    double sum = 0;
    for (double weight : weights)
      sum += weight / weights[0];
    std::vector<int64_t> count(weights.size());
    for (int64_t row = 0; row < 20000; ++row) {
      const Mix::Place place = mix.at(row);
      ASSERT_EQ(place.number, count[place.source]++) << row;
      for (size_t i = 0; i < weights.size(); ++i)
        ASSERT_NEAR(count[i], (row + 1) * (weights[i] / weights[0]) / sum, weights.size()) << row;
    }
  }
}

TEST(Mix, ofRowsFarAway) {
  Mix mix(std::vector<double>{0.7, 0.3});
  std::map<size_t, int64_t> last;
  for (int64_t row = int64_t{1} << 52; row < (int64_t{1} << 52) + 1000; ++row) {
    const Mix::Place place = mix.at(row);
    if (last.contains(place.source)) {
      EXPECT_EQ(place.number, last[place.source] + 1);
    }
    last[place.source] = place.number;
  }
}

//===----------------------------------------------------------------------===//
// Batches
//===----------------------------------------------------------------------===//

class SeveralFiles : public testing::Test {
protected:
  static constexpr int rows = 4, length = 16;

  // The rows of a step, each by its first token.
  std::vector<int32_t> firsts(const std::vector<std::string> &texts, int64_t step, bool sequential,
                              int32_t microbatch = 0, int32_t microbatches = 1) {
    BatchOptions options{findData(texts, DataFormat::Auto), 0, 7, sequential};
    const br_program &train = model.program("train");
    TokenBatches batches(model, options, &train, nullptr);
    batches.fillTraining(train, step, microbatch, microbatches);
    const int32_t *tokens = model.input<int32_t>(train, *findByRole(inputsOf(train), "tokens"));
    std::vector<int32_t> result;
    for (int row = 0; row < rows; ++row)
      result.push_back(tokens[row * length]);
    return result;
  }

  // Windows that begin with different letters.
  std::string file(const char *name, char first, int windows) {
    std::string text;
    for (int i = 0; i < windows; ++i)
      text += std::string(1, static_cast<char>(first + i)) + std::string(length - 1, '-');
    return writeFile(scratch / name, text + "-");
  }

  ScratchDirectory scratch;
  Model model{bigramModel(), 1};
};

using Tokens = std::vector<int32_t>;

TEST_F(SeveralFiles, oneBehindTheOther) {
  const std::string a = file("a", 'a', 3), b = file("b", 'B', 5);
  EXPECT_EQ(firsts({a, b}, 1, true), (Tokens{'a', 'b', 'c', 'B'}));
  EXPECT_EQ(firsts({a, b}, 2, true), (Tokens{'C', 'D', 'E', 'F'}));
  EXPECT_EQ(firsts({a, b}, 3, true), firsts({a, b}, 1, true));
}

// Each group goes through its own windows repeatedly.
TEST_F(SeveralFiles, inProportion) {
  const std::string a = file("a", 'a', 3), b = file("b", 'B', 5);
  std::string first, second;
  for (int64_t step = 1; step <= 10; ++step)
    for (int32_t token : firsts({a + ":3", b + ":1"}, step, true))
      (token >= 'a' ? first : second) += static_cast<char>(token);
  EXPECT_EQ(first, "abcabcabcabcabcabcabcabcabcabc");
  EXPECT_EQ(second, "BCDEFBCDEF");
}

// A step's batch does not depend on earlier steps, and every window that fits can be drawn. A step of two microbatches
// has the rows of two steps.
TEST_F(SeveralFiles, microbatchesGoOn) {
  const std::vector<std::string> texts{file("a", 'a', 12) + ":1", file("b", 'A', 12) + ":3"};
  EXPECT_EQ(firsts(texts, 1, true, 0, 2), firsts(texts, 1, true));
  EXPECT_EQ(firsts(texts, 1, true, 1, 2), firsts(texts, 2, true));
  EXPECT_EQ(firsts(texts, 2, true, 1, 2), firsts(texts, 4, true));
  EXPECT_NE(firsts(texts, 1, true), firsts(texts, 2, true));
}

TEST_F(SeveralFiles, atRandom) {
  const std::string a = file("a", 'a', 2), b = file("b", 'B', 2);
  const std::string one = writeFile(scratch / "one", readFile(a));
  EXPECT_EQ(firsts({a, b}, 5, false), firsts({a, b}, 5, false));
  EXPECT_EQ(firsts({a}, 3, false), firsts({one}, 3, false));
  std::set<int32_t> seen;
  for (int64_t step = 1; step <= 100; ++step)
    for (int32_t token : firsts({a, b}, step, false))
      seen.insert(token);
  EXPECT_EQ(seen, (std::set<int32_t>{'-', 'a', 'b', 'B', 'C'}));
}

TEST_F(SeveralFiles, refusals) {
  const std::string a = file("a", 'a', 2), small = writeFile(scratch / "small", "few");
  EXPECT_THROW(firsts({a, small}, 1, false), Error);
  EXPECT_THROW(firsts({a, scratch / "none"}, 1, false), Error);
  Outcome run = runMain(regressionModel(), {"train", "--data", a + "," + small, "--steps", "1"});
  EXPECT_NE(run.errors.find("--data names several files, but the model takes rows of tensors"), std::string::npos)
      << run.errors;
}

// A resumed job must have the same files in the same proportions.
TEST_F(SeveralFiles, resume) {
  const std::string a = writeFile(scratch / "a", bigramData()), b = writeFile(scratch / "b", bigramData() + "!");
  auto train = [&](const std::string &data, const char *folder, std::vector<std::string> more) {
    std::vector<std::string> words = {"train", "--data", data, "--checkpoint", scratch / folder, "--lr", "1"};
    words.insert(words.end(), more.begin(), more.end());
    return runMain(bigramModel(), words);
  };
  const std::string data = a + ":2," + b + ":1";
  EXPECT_EQ(train(data, "whole", {"--steps", "6"}).status, 0);
  EXPECT_EQ(train(data, "parts", {"--steps", "3", "--decay-steps", "6"}).status, 0);
  Outcome other = train(a + ":1," + b + ":1", "parts", {"--steps", "6", "--resume"});
  EXPECT_NE(other.errors.find("was saved with data of '2 files, "), std::string::npos) << other.errors;
  EXPECT_EQ(train(data, "parts", {"--steps", "6", "--resume"}).status, 0);
  auto saved = [&](const char *folder) {
    const std::string bytes = readFile(scratch / (std::string(folder) + "/step-00000006.safetensors"));
    return bytes.substr(8 + littleEndianAt(bytes)); // without the job's name
  };
  EXPECT_EQ(saved("whole"), saved("parts"));
}

} // namespace
