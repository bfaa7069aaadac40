//===- RunOutputsTest.cpp - parts of ranks, put together ------------------===//

#include "train/RunOutputs.h"
#include "ShardedModel.h"
#include "TestFiles.h"
#include "base/Safetensors.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace braid;
using namespace braid::test;

namespace {

std::vector<float> read(const std::string &path, const std::string &name) {
  SafetensorsFile file(path);
  const TensorEntry *entry = file.find(name);
  if (!entry)
    return {};
  std::vector<float> values((entry->end - entry->begin) / 4);
  file.read(*entry, 0, values.data(), values.size() * 4);
  return values;
}

class RunOutputsFile : public testing::Test {
protected:
  // Adds the parts of one tensor, whose value at logical index i on a rank is
  // f(rank, i), from the last rank to the first.
  template <class F> void add(RunOutputs &outputs, const RandomTensor &t, const F &f) {
    const std::vector<int64_t> shape(t.tensor.shape, t.tensor.shape + t.tensor.rank);
    for (int rank = worldSize(t.model) - 1; rank >= 0; --rank) {
      TensorPart part = partOf(t.model, t.tensor, rank);
      std::vector<float> memory(part.places());
      forEachRun(part, wholeTensor(shape), [&](const auto &run) {
        for (int64_t i = 0; i < run.count; ++i)
          memory[run.place + i * run.step] = f(rank, run.otherPlace + i * run.otherStep);
      });
      auto *bytes = reinterpret_cast<std::byte *>(memory.data());
      outputs.add({"x", BR_F32, shape}, {rank, 0, 0, part, bytes});
      outputs.addUpdate({"updates x", BR_F32, shape}, {rank, 1, 0, part, bytes}, "x");
    }
  }
  void finish(RunOutputs &outputs) {
    for (int i = 1; i < outputs.ranksHere(); ++i)
      EXPECT_FALSE(outputs.finish(path));
    EXPECT_TRUE(outputs.finish(path));
  }

  ScratchDirectory scratch;
  std::string path = scratch / "out";
};

TEST_F(RunOutputsFile, partsMakeTheWhole) {
  std::mt19937 random(3);
  for (int i = 0; i < 50; ++i) {
    RandomTensor t(random, BR_F32);
    RunOutputs outputs(worldSize(t.model));
    add(outputs, t, [](int, int64_t k) { return static_cast<float>(k); });
    finish(outputs);
    std::vector<float> expected(numElements(t.tensor));
    for (size_t k = 0; k < expected.size(); ++k)
      expected[k] = static_cast<float>(k);
    EXPECT_EQ(read(path, "x"), expected) << t.text;
    EXPECT_EQ(SafetensorsFile(path).find("updates x"), nullptr) << "it did not change";
  }
}

TEST_F(RunOutputsFile, copiesThatDifferAreNamed) {
  std::mt19937 random(3);
  RandomTensor t(random, BR_F32);
  br_axis axis{"dp", 3};
  t.model.mesh = &axis, t.model.n_axes = 1;
  t.tensor = {};
  t.tensor.name = "x", t.tensor.dtype = BR_F32, t.tensor.bytes = 80;
  t.tensor.rank = 2, t.tensor.shape[0] = 4, t.tensor.shape[1] = 5;
  t.tensor.stride[0] = 1, t.tensor.stride[1] = 4;
  RunOutputs outputs(3);
  add(outputs, t, [](int rank, int64_t k) { return rank == 1 && k >= 7 ? 2.5f : 1.0f; });
  outputs.finish(path), outputs.finish(path);
  try {
    outputs.finish(path);
    FAIL();
  } catch (const Error &error) {
    EXPECT_STREQ(error.what(), "'x' differs between rank 1 and rank 2, which hold the same part: element [1, 2] is 1 "
                               "and 2.5");
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(RunOutputsFile, sumsAreTaken) {
  RunOutputs outputs(2);
  for (int rank : {1, 0}) {
    float value[2] = {1.5f + rank, 0.25f};
    outputs.add({"g", BR_F32, {2}, 2}, {rank, 0, rank, wholeTensor({2}), reinterpret_cast<std::byte *>(value)});
    value[0] += 1;
    outputs.addUpdate({"updates g", BR_F32, {2}, 2},
                      {rank, 1, rank, wholeTensor({2}), reinterpret_cast<std::byte *>(value)}, "g");
  }
  finish(outputs);
  EXPECT_EQ(read(path, "g"), (std::vector<float>{4, 0.5f}));
  EXPECT_EQ(read(path, "updates g"), (std::vector<float>{6, 0.5f}));
}

} // namespace
