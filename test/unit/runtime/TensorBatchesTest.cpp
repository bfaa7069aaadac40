//===- TensorBatchesTest.cpp - rows of tensors in batches -----------------===//

#include "data/TensorBatches.h"
#include "TestFiles.h"
#include "base/Error.h"
#include "train/Evaluate.h"

#include <cstddef>
#include <cstring>
#include <gtest/gtest.h>
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

const br_io ios[] = {{"x", "features", BR_F32, 2, {batch, 2}, offsetof(Memory, x), sizeof(Memory::x), {}, 0, 0},
                     {"y", "labels", BR_I32, 1, {batch}, offsetof(Memory, y), sizeof(Memory::y), {}, 0, 0},
                     {"loss", "loss", BR_F32, 0, {}, offsetof(Memory, loss), sizeof(Memory::loss), {}, 0, 0}};
const br_program program = {"eval", addUp, ios, 2, 1, nullptr, 0};
const br_loss loss = {"y", ignored, BR_SUM};

br_model classifier() {
  br_model model{};
  model.abi_version = BR_ABI_VERSION, model.name = "classifier", model.arena_bytes = sizeof(Memory);
  model.accumulate = 1, model.plan_json = "{}", model.cpu_features = "";
  model.programs = &program, model.n_programs = 1, model.loss = &loss;
  return model;
}

// Row r is (r, 100 + r) of class r, but the eighth has none.
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
  TensorBatches open(double holdout) { return {model, {path, holdout, 1, true}, &program, &program}; }
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
  EXPECT_EQ(batches.fillTraining(program, 2, 0, 1), 3);
  EXPECT_EQ(classes(), (std::vector<int32_t>{4, 5, 6, ignored}));
  EXPECT_EQ(model.input<float>(program, ios[0])[7], 100); // as good a row as any
  EXPECT_EQ(batches.fillTraining(program, 3, 0, 1), 4);
  EXPECT_EQ(classes(), (std::vector<int32_t>{0, 1, 2, 3}));
  EXPECT_EQ(model.input<float>(program, ios[0])[7], 103);
}

TEST_F(OrderedRows, leaveMicrobatchesEmpty) {
  TensorBatches batches = open(0.3);
  EXPECT_EQ(batches.fillTraining(program, 1, 1, 3), 3);
  EXPECT_EQ(batches.fillTraining(program, 1, 2, 3), 0);
  EXPECT_EQ(classes(), std::vector<int32_t>(batch, ignored));
  EXPECT_EQ(batches.fillTraining(program, 2, 0, 3), 4);
}

// A sum is divided by what it counts, so that it too does not depend on the batch.
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

} // namespace
