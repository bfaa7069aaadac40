//===- MomentsTest.cpp - moments on a mesh that stores them otherwise -----===//

#include "checkpoint/Moments.h"
#include "SavedModel.h"

#include <cmath>

using namespace braid;
using namespace braid::test;

namespace {

// A way to store the moment of a matrix: in f32, in bf16, or in 8 bits in blocks along a dim.
struct Storage {
  br_dtype dtype;
  int dim;
  int64_t block;
};
constexpr int64_t momentRows = 12, momentColumns = 24;
constexpr Storage storages[] = {{BR_F32, 0, 0}, {BR_BF16, 0, 0}, {BR_I8, 1, 24}, {BR_I8, 1, 8},
                                {BR_I8, 1, 3},  {BR_I8, 0, 4},   {BR_I8, 0, 12}};

std::vector<LogicalTensor> tensorsIn(const Storage &storage) {
  std::vector<LogicalTensor> tensors = {{"w", BR_PARAMETERS, BR_F32, {momentRows, momentColumns}},
                                        {"w.moment", BR_OPTIMIZER_STATE, storage.dtype, {momentRows, momentColumns}}};
  if (storage.block) {
    std::vector<int64_t> shape = {momentRows, momentColumns};
    shape[storage.dim] /= storage.block;
    tensors.push_back({"w.moment.scale", BR_OPTIMIZER_STATE, BR_F32, shape});
  }
  return tensors;
}

int64_t scaleIndexOf(const Storage &storage, int64_t i) {
  const int64_t row = i / momentColumns, column = i % momentColumns;
  return storage.dim == 0 ? row / storage.block * momentColumns + column
                          : row * (momentColumns / storage.block) + column / storage.block;
}

// Arbitrary codes and scales: 0, both signs, the largest and the smallest code.
int8_t savedCode(int64_t i) { return static_cast<int8_t>(i % 7 == 0 ? 0 : i * 37 % 255 - 127); }
float savedScale(int64_t i) { return std::ldexp(1.0f + float(i % 5), int(i % 9) - 30); }
double savedNumber(const Storage &storage, int64_t i) {
  if (storage.block)
    return std::copysign(std::pow(double(savedCode(i)), 4) * savedScale(scaleIndexOf(storage, i)), savedCode(i));
  const float number = float(savedCode(i)) * savedScale(i / 5);
  return storage.dtype == BR_F32 ? number : fromBFloat16(toBFloat16(number));
}

void fillMoments(Model &model, const Storage &storage) {
  forEachElement(model, [&](int t, int64_t i, std::byte *at, int64_t) {
    const br_tensor &tensor = model.table().tensors[t];
    putNumber(tensor.dtype, at,
              t == 0   ? double(i)
              : t == 2 ? savedScale(i)
                       : (storage.block ? savedCode(i) : savedNumber(storage, i)));
  });
}

// Returns all elements of a tensor, from the parts of its ranks.
std::vector<double> elementsOf(const ShardedModel &model, const std::vector<std::vector<double>> &ofRanks,
                               int32_t tensor) {
  const br_tensor &t = model.table().tensors[tensor];
  std::vector<double> all(numElements(t), NAN);
  for (const std::vector<double> &part : ofRanks)
    for (size_t i = 0; i < all.size(); ++i)
      if (!std::isnan(part[tensor * momentRows * momentColumns + i]))
        all[i] = part[tensor * momentRows * momentColumns + i];
  return all;
}

// Returns the tensors of a model after it has read a checkpoint.
std::vector<std::vector<double>> readBy(const ShardedModel &model, const std::string &path) {
  std::vector<std::vector<double>> ofRanks(model.size(), std::vector<double>(3 * momentRows * momentColumns, NAN));
  const auto errors = model.run([&](Model &m) {
    restoreTensors(openCheckpoint(path, m.rank()), m, Restore::Everything);
    forEachElement(m, [&](int t, int64_t i, std::byte *at, int64_t) {
      ofRanks[m.rank().number][t * momentRows * momentColumns + i] = numberAt(m.table().tensors[t].dtype, at);
    });
  });
  for (const std::string &error : errors)
    EXPECT_EQ(error, "");
  std::vector<std::vector<double>> tensors;
  for (int32_t t = 0; t < model.table().n_tensors; ++t)
    tensors.push_back(elementsOf(model, ofRanks, t));
  return tensors;
}

// Returns the distance from a code below `size` to the next code, relative to the largest number of a block.
double gapAt(double size) {
  const double below = std::min(std::floor(std::sqrt(std::sqrt(size)) * 127), 126.0);
  return (std::pow(below + 1, 4) - std::pow(below, 4)) / std::pow(127.0, 4);
}

void expectNear(const Storage &from, const Storage &to, const std::vector<std::vector<double>> &read) {
  std::map<int64_t, double> largest;
  for (int64_t i = 0; to.block && i < momentRows * momentColumns; ++i)
    largest[scaleIndexOf(to, i)] = std::max(largest[scaleIndexOf(to, i)], std::fabs(savedNumber(from, i)));
  for (int64_t i = 0; i < momentRows * momentColumns; ++i) {
    const double expected = savedNumber(from, i);
    EXPECT_EQ(read[0][i], i);
    if (!to.block) {
      EXPECT_NEAR(read[1][i], expected, std::fabs(expected) * (to.dtype == BR_F32 ? 1e-6 : 1.0 / 256)) << i;
      continue;
    }
    const double scale = read[2][scaleIndexOf(to, i)], most = largest[scaleIndexOf(to, i)];
    const double found = std::copysign(std::pow(read[1][i], 4) * scale, read[1][i]);
    EXPECT_EQ(found == 0, expected == 0) << i;
    // A nonzero number has at least the first code.
    const double first = most / std::pow(127.0, 4);
    EXPECT_NEAR(found, expected, most ? std::max(0.5001 * gapAt(std::fabs(expected) / most) * most, first) : 0) << i;
  }
}

TEST(Moments, anyMeshReadsAnyStorage) {
  std::mt19937 random(11);
  for (const Storage &from : storages)
    for (const Storage &to : storages) {
      const ShardedModel saver(random, tensorsIn(from)), reader(random, tensorsIn(to));
      ScratchDirectory scratch;
      for (const std::string &error : saver.run([&](Model &m) {
             fillMoments(m, from);
             CheckpointWriter(m, scratch.path, 0, "").save(stateOf(3));
           }))
        ASSERT_EQ(error, "");
      SCOPED_TRACE(testing::Message() << nameOf(from.dtype) << " " << from.block << " to " << nameOf(to.dtype) << " "
                                      << to.block);
      expectNear(from, to, readBy(reader, scratch.path));
    }
}

// A rank with an eighth of a flat moment reads about an eighth of a moment in another form.
TEST(Moments, aFlatPartIsReadAlone) {
  const std::vector<int64_t> shape = {1024, 1024};
  const std::vector<LogicalTensor> saved = {{"w.moment", BR_OPTIMIZER_STATE, BR_BF16, shape}},
                                   wanted = {{"w.moment", BR_OPTIMIZER_STATE, BR_F32, shape}};
  const ShardedModel one(1, saved, Sharding::Replicated), eight(8, wanted, Sharding::Flat);
  ScratchDirectory scratch;
  for (const std::string &error : one.run([&](Model &m) {
         forEachElement(m, [&](int, int64_t i, std::byte *at, int64_t) { putNumber(BR_BF16, at, double(i % 251)); });
         CheckpointWriter(m, scratch.path, 0, "").save(stateOf(3));
       }))
    ASSERT_EQ(error, "");
  for (const std::string &error : eight.run([&](Model &m) {
         const SavedTensors opened = openCheckpoint(scratch.path, m.rank());
         const uint64_t before = bytesRead();
         restoreTensors(opened, m, Restore::Everything);
         EXPECT_LE(bytesRead() - before, shape[0] * shape[1] * 2 / 8 + (512 << 10)) << "two blocks of checksums more";
         forEachElement(
             m, [&](int, int64_t i, std::byte *at, int64_t) { ASSERT_EQ(numberAt(BR_F32, at), double(i % 251)) << i; });
       }))
    EXPECT_EQ(error, "");
}

TEST(Moments, scalesThatDoNotFitAreRefused) {
  ScratchDirectory scratch;
  std::vector<LogicalTensor> broken = tensorsIn(storages[2]);
  broken.back().shape = {momentRows, 7};
  const ShardedModel saver(1, broken, Sharding::Replicated), reader(1, tensorsIn(storages[3]), Sharding::Replicated);
  save(saver, scratch.path, 3);
  EXPECT_NE(load(reader, scratch.path).find("tensor 'w.moment.scale' has shape [12, 7] in the file, but [12, 3]"),
            std::string::npos);
}

} // namespace
