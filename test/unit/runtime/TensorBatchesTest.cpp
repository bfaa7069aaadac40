//===- TensorBatchesTest.cpp - rows of tensors in batches -----------------===//

#include "data/TensorBatches.h"
#include "TestFiles.h"
#include "base/Error.h"
#include "train/Evaluate.h"

#include <cstddef>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <tuple>
#include <vector>

using namespace braid;
using namespace braid::test;

namespace {

constexpr int batch = 4, ignored = -7;

// A classifier of rows of two numbers; its loss is the sum of the classes that count.
struct Memory {
  alignas(64) float x[batch][2];
  int32_t y[batch];
  float loss;
};

br_status addUp(br_context *ctx) {
  Memory &a = *static_cast<Memory *>(br_arena(ctx));
  a.loss = 0;
  for (int32_t y : a.y)
    a.loss += y == ignored ? 0.0f : static_cast<float>(y);
  return BR_OK;
}

const br_io ios[] = {{"x", "features", BR_F32, 2, {batch, 2}, offsetof(Memory, x), sizeof(Memory::x), {}, 0, 0, 0, 0},
                     {"y", "labels", BR_I32, 1, {batch}, offsetof(Memory, y), sizeof(Memory::y), {}, 0, 0, 0, 0},
                     {"loss", "loss", BR_F32, 0, {}, offsetof(Memory, loss), sizeof(Memory::loss), {}, 0, 0, 0, 0}};
const br_program program = {"eval", addUp, ios, 2, 1, nullptr, 0};
const br_loss loss = {"y", ignored, BR_SUM, /*rows=*/1};

br_model classifier() {
  br_model model{};
  model.abi_version = BR_ABI_VERSION, model.name = "classifier", model.arena_bytes = sizeof(Memory);
  model.accumulate = 1, model.plan_json = "{}", model.cpu_features = "";
  model.programs = &program, model.n_programs = 1, model.loss = &loss;
  return model;
}

// Row r is (r, 100 + r) of class r; the eighth row has no class.
std::string tenRows() {
  std::vector<float> x;
  std::vector<int32_t> y;
  for (int row = 0; row < 10; ++row) {
    x.insert(x.end(), {static_cast<float>(row), 100.0f + static_cast<float>(row)});
    y.push_back(row == 8 ? ignored : row);
  }
  std::string data(reinterpret_cast<char *>(x.data()), x.size() * sizeof(float));
  data.append(reinterpret_cast<char *>(y.data()), y.size() * sizeof(int32_t));
  return safetensors(R"({"x":{"dtype":"F32","shape":[10,2],"data_offsets":[0,80]},)"
                     R"("y":{"dtype":"I32","shape":[10],"data_offsets":[80,120]}})",
                     data);
}

class OrderedRows : public testing::Test {
protected:
  TensorBatches open(double holdout) {
    return {model, {findData({path}, DataFormat::Auto), holdout, 1, true}, &program, &program};
  }
  std::vector<int32_t> classes() const {
    const int32_t *y = model.input<int32_t>(program, ios[1]);
    return {y, y + batch};
  }

  ScratchDirectory scratch;
  std::string path = writeFile(scratch / "rows", tenRows());
  br_model table = classifier();
  Model model{table, 1};
};

TEST_F(OrderedRows, endWithTargetsThatDoNotCount) {
  TensorBatches batches = open(0.3);
  EXPECT_EQ(batches.fillTraining(program, 2, 0, 1).tokens, 3);
  EXPECT_EQ(classes(), (std::vector<int32_t>{4, 5, 6, ignored}));
  EXPECT_EQ(model.input<float>(program, ios[0])[7], 100); // as good a row as any
  EXPECT_EQ(batches.fillTraining(program, 3, 0, 1).tokens, 4);
  EXPECT_EQ(classes(), (std::vector<int32_t>{0, 1, 2, 3}));
  EXPECT_EQ(model.input<float>(program, ios[0])[7], 103);
}

// Classes in other integer types are the same classes. The error names a class that the model's type cannot hold.
TEST_F(OrderedRows, convertIntegers) {
  auto write = [&](const char *type, size_t size, int64_t last) {
    const std::string data = tenRows();
    std::string bytes = data.substr(data.size() - 120, 80);
    for (int64_t row = 0; row < 10; ++row)
      bytes += littleEndian(static_cast<uint64_t>(row == 9 ? last : row), size);
    path = writeFile(scratch / type, safetensors(R"({"x":{"dtype":"F32","shape":[10,2],"data_offsets":[0,80]},"y":)"
                                                 R"({"dtype":")" +
                                                     std::string(type) + R"(","shape":[10],"data_offsets":[80,)" +
                                                     std::to_string(80 + 10 * size) + "]}}",
                                                 bytes));
  };
  for (auto [type, size] : {std::pair("I64", 8), {"U8", 1}, {"U16", 2}, {"I16", 2}, {"I8", 1}, {"U32", 4}}) {
    write(type, size, 9);
    TensorBatches batches = open(0.3);
    batches.fillTraining(program, 1, 0, 1);
    EXPECT_EQ(classes(), (std::vector<int32_t>{0, 1, 2, 3})) << type;
    EXPECT_EQ(batches.fillEvaluation(program, 0, 1), 3) << type;
    EXPECT_EQ(classes(), (std::vector<int32_t>{7, 8, 9, ignored})) << type;
  }
  for (auto [last, text] : {std::pair(int64_t{1} << 31, "2147483648"), {-(int64_t{1} << 40), "-1099511627776"}}) {
    write("I64", 8, last);
    TensorBatches batches = open(0.3);
    try {
      batches.fillEvaluation(program, 0, 1);
      FAIL() << text;
    } catch (const Error &error) {
      EXPECT_NE(std::string(error.what())
                    .find("tensor 'y' holds " + std::string(text) + " in row 9, which is I64 and does not fit I32"),
                std::string::npos)
          << error.what();
    }
  }
}

// If each row needs a result, the last batch is filled up.
TEST_F(OrderedRows, fillUp) {
  table.loss = nullptr;
  TensorBatches batches(model, {.data = findData({path}, DataFormat::Auto), .holdout = 1, .fillsLastBatch = true},
                        nullptr, &program);
  EXPECT_EQ(batches.evaluationOrder(program).batches(), 3);
  batches.fillEvaluation(program, 2, 3);
  EXPECT_EQ(classes(), (std::vector<int32_t>{ignored, 9, 0, 0}));
}

// Two readers have two rows each, and the second has one target less.
TEST_F(OrderedRows, countTargets) {
  const BatchCount even = countOf({2, 2}, 4, {1, 0, 0, 1});
  EXPECT_EQ(even.tokens, 4);
  EXPECT_EQ(even.targets, 2);
  EXPECT_EQ(even.ofEach, 1);
  BatchCount step = even;
  step.add(even, /*isFirst=*/false);
  EXPECT_EQ(step.targets, 4);
  EXPECT_EQ(step.ofEach, 1);
  step.add(countOf({2, 2}, 4, {1, 1, 1, 0}), /*isFirst=*/false);
  EXPECT_EQ(step.targets, 7);
  EXPECT_EQ(step.ofEach, BatchCount::kUneven);

  TensorBatches batches = open(0.3);
  const BatchCount last = batches.fillTraining(program, 2, 0, 1);
  EXPECT_EQ(last.tokens, 3);
  EXPECT_EQ(last.targets, 3);
  EXPECT_TRUE(batches.hasTrainingTargets());

  TensorBatches more = open(0.1);
  const BatchCount masked = more.fillTraining(program, 3, 0, 1); // row 8, which has no target
  EXPECT_EQ(masked.tokens, 1);
  EXPECT_EQ(masked.targets, 0);
}

TEST_F(OrderedRows, leaveMicrobatchesEmpty) {
  TensorBatches batches = open(0.3);
  EXPECT_EQ(batches.fillTraining(program, 1, 1, 3).tokens, 3);
  EXPECT_EQ(batches.fillTraining(program, 1, 2, 3).tokens, 0);
  EXPECT_EQ(classes(), std::vector<int32_t>(batch, ignored));
  EXPECT_EQ(batches.fillTraining(program, 2, 0, 3).tokens, 4);
}

// A sum is divided by its count, so that it does not depend on the batch either.
TEST_F(OrderedRows, countOnceInAnEvaluation) {
  for (auto [holdout, wanted, counted, mean] : {std::tuple(0.3, 1, 2, 8.0f), std::tuple(0.6, 2, 5, 31 / 5.0f)}) {
    TensorBatches batches = open(holdout);
    HeldOutLoss heldOut = heldOutLoss(model, program, batches, 16, 1);
    EXPECT_EQ(heldOut.batches, wanted);
    EXPECT_EQ(heldOut.counted, counted);
    EXPECT_FLOAT_EQ(heldOut.loss, mean);
  }
}

TEST_F(OrderedRows, refuseAnEvaluationOfNothing) {
  std::string none = tenRows();
  int32_t index = ignored;
  std::memcpy(none.data() + none.size() - sizeof index, &index, sizeof index);
  path = writeFile(scratch / "none", none);
  TensorBatches batches = open(0.2);
  EXPECT_THROW(heldOutLoss(model, program, batches, 16, 1), Error);
}

//===----------------------------------------------------------------------===//
// Numbers that the model cannot take
//===----------------------------------------------------------------------===//

// Rows of two numbers, and of two indices of [0, extent) or `ignored`.
template <class Index> struct Lookup {
  static constexpr br_dtype dtype = sizeof(Index) == 8 ? BR_I64 : BR_I32;
  struct Memory {
    alignas(64) float x[batch][2];
    Index y[batch][2];
  };

  explicit Lookup(int64_t extent, int64_t ignored)
      : ios{{"x", "features", BR_F32, 2, {batch, 2}, 0, sizeof(Memory::x), {}, 0, 0, 0, 0},
            {"y", "labels", dtype, 2, {batch, 2}, offsetof(Memory, y), sizeof(Memory::y), {}, 0, 0, extent, ignored}} {
    model.programs = &program, model.arena_bytes = sizeof(Memory), model.loss = nullptr;
  }

  br_io ios[2];
  br_program program{"eval", addUp, ios, 2, 0, nullptr, 0};
  br_model model = classifier();
};

template <class Index> std::string rowsOf(const std::vector<float> &x, const std::vector<Index> &y) {
  size_t xBytes = x.size() * sizeof(float), bytes = xBytes + y.size() * sizeof(Index);
  std::string data(reinterpret_cast<const char *>(x.data()), xBytes);
  data.append(reinterpret_cast<const char *>(y.data()), bytes - xBytes);
  std::string shape = "\"shape\":[" + std::to_string(y.size() / 2) + ",2],\"data_offsets\":[";
  return safetensors("{\"x\":{\"dtype\":\"F32\"," + shape + "0," + std::to_string(xBytes) + "]},\"y\":{\"dtype\":\"" +
                         (sizeof(Index) == 8 ? "I64" : "I32") + "\"," + shape + std::to_string(xBytes) + "," +
                         std::to_string(bytes) + "]}}",
                     data);
}

// Returns the message about a file in which one of 30 rows has this index; empty if there is none.
template <class Index> std::string problemOf(Index index, int64_t row, int64_t extent, int64_t ignored) {
  ScratchDirectory scratch;
  std::vector<Index> y(60, 1);
  y[2 * row + row % 2] = index;
  Lookup<Index> lookup(extent, ignored);
  Model model(lookup.model, 1);
  BatchOptions options{findData({writeFile(scratch / "rows", rowsOf(std::vector<float>(60), y))}, DataFormat::Auto),
                       0.5, 1, true};
  try {
    TensorBatches(model, options, &lookup.program, &lookup.program);
    return "";
  } catch (const Error &error) {
    return error.what();
  }
}

template <class Index> void checkEveryIndex() {
  constexpr int64_t least = std::numeric_limits<Index>::min(), most = std::numeric_limits<Index>::max();
  for (int64_t extent : {2, 10})
    for (int64_t ignoredIndex : {0, -100, 12})
      for (int64_t index : {least, int64_t{-100}, int64_t{-1}, int64_t{0}, extent - 1, extent, int64_t{12}, most})
        for (int64_t row : {0, 1, 14, 15, 29}) {
          std::string problem = problemOf(static_cast<Index>(index), row, extent, ignoredIndex);
          bool isRight = (index >= 0 && index < extent) || index == ignoredIndex;
          std::string place = "tensor 'y' holds " + std::to_string(index) + " in row " + std::to_string(row) + ",";
          std::string range = "from 0 to " + std::to_string(extent - 1);
          EXPECT_EQ(problem.empty(), isRight) << place << problem;
          EXPECT_EQ(problem.find(place) != std::string::npos, !isRight) << place << problem;
          EXPECT_EQ(problem.find(range) != std::string::npos, !isRight) << range << problem;
        }
}

TEST(Indices, areCheckedBeforeTheFirstStep) {
  checkEveryIndex<int32_t>();
  checkEveryIndex<int64_t>();
}

TEST(Indices, ofInputsThatAreNoneMayBeAnything) { EXPECT_EQ(problemOf<int32_t>(-5, 3, 0, 0), ""); }

// A file that changes while a job runs does not evade the check.
TEST(Indices, areCheckedAsTheyAreRead) {
  ScratchDirectory scratch;
  std::vector<int32_t> y(16, 1);
  std::string path = writeFile(scratch / "rows", rowsOf(std::vector<float>(16), y));
  Lookup<int32_t> lookup(2, 0);
  Model model(lookup.model, 1);
  TensorBatches batches(model, {findData({path}, DataFormat::Auto), 0.0, 1, true}, &lookup.program, nullptr);
  batches.fillTraining(lookup.program, 1, 0, 1);
  y[3] = 2;
  writeFile(path, rowsOf(std::vector<float>(16), y));
  EXPECT_THROW(batches.fillTraining(lookup.program, 1, 0, 1), Error);
}

TEST(NonFinite, isNamedWithItsRow) {
  for (float bad : {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()})
    for (int row : {0, 6, 7}) {
      ScratchDirectory scratch;
      std::vector<float> x(16);
      x[2 * row + 1] = bad;
      std::string path = writeFile(scratch / "rows", rowsOf(x, std::vector<int32_t>(16)));
      Lookup<int32_t> lookup(2, 0);
      Model model(lookup.model, 1);
      TensorBatches batches(model, {findData({path}, DataFormat::Auto), 0.0, 1, true}, &lookup.program, nullptr);
      int64_t step = row / batch + 1;
      EXPECT_EQ(batches.nonFinite(lookup.program, 3 - step, 1), "");
      EXPECT_EQ(batches.nonFinite(lookup.program, step, 1),
                "tensor 'x' of '" + path + "' holds " + (bad < 0 ? "-inf" : "nan") + " in row " + std::to_string(row));
    }
}

} // namespace
