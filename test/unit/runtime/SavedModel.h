//===- SavedModel.h - models whose elements say what they are -------------===//
//
// Saves sharded models filled with a pattern, loads them into other models, and compares every element.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_TEST_SAVEDMODEL_H
#define BRAID_TEST_SAVEDMODEL_H

#include "ShardedModel.h"
#include "TestFiles.h"
#include "checkpoint/Checkpoint.h"
#include "checkpoint/CheckpointIndex.h"

#include <cstring>
#include <gtest/gtest.h>

namespace braid::test {

// Bytes that this thread has read from files.
inline uint64_t bytesRead() {
  std::string text = readFile("/proc/thread-self/io");
  return std::stoull(text.substr(text.find("rchar: ") + 7));
}

using Names = std::vector<std::string>;

inline const std::vector<LogicalTensor> logical = {
    {"embedding", BR_PARAMETERS, BR_F32, {36, 12}}, {"weight", BR_PARAMETERS, BR_BF16, {6, 4, 18}},
    {"bias", BR_PARAMETERS, BR_F32, {5}},           {"count", BR_OPTIMIZER_STATE, BR_I64, {}},
    {"mean", BR_OPTIMIZER_STATE, BR_F64, {7, 6}},   {"seen", BR_PARAMETERS, BR_I1, {3, 12}},
    {"none", BR_PARAMETERS, BR_F32, {0, 4}}};

// Bits that identify the tensor and the element.
inline void putBits(std::byte *at, int tensor, int64_t i, int64_t size) {
  uint64_t bits = (static_cast<uint64_t>(i) * 8 + tensor + 1) * 0x9E3779B97F4A7C15u;
  std::memcpy(at, reinterpret_cast<const std::byte *>(&bits) + 8 - size, size);
}

template <class F> void forEachElement(const Model &model, const F &f) {
  for (int32_t k = 0; k < model.table().n_tensors; ++k) {
    const br_tensor &t = model.table().tensors[k];
    const int64_t size = elementSize(t.dtype);
    model.onHost(t, Use::Update, [&](std::byte *base) {
      forEachRun(partOf(model.table(), t, model.rank().number), wholeTensor({t.shape, t.shape + t.rank}),
                 [&](const auto &run) {
                   for (int64_t i = 0; i < run.count; ++i)
                     f(k, run.otherPlace + i * run.otherStep, base + (run.place + i * run.step) * size, size);
                 });
    });
  }
}

inline void fill(Model &model) {
  forEachElement(model, [](int t, int64_t i, std::byte *at, int64_t n) { putBits(at, t, i, n); });
}

// Throws Error at the first element that differs from `fill`, or that belongs to no part and is not zero.
inline void expectFilled(Model &model, bool optimizerState = true) {
  forEachElement(model, [&](int t, int64_t i, std::byte *at, int64_t size) {
    std::byte expected[8] = {};
    if (optimizerState || model.table().tensors[t].category == BR_PARAMETERS)
      putBits(expected, t, i, size);
    if (std::memcmp(at, expected, size) != 0)
      fail("element ", i, " of '", model.table().tensors[t].name, "' is not what was saved");
    std::memset(at, 0, size);
  });
  br_tensor before{};
  before.bytes = model.table().tensors[model.table().n_tensors - 1].offset;
  model.onHost(before, Use::Read, [&](const std::byte *memory) {
    for (uint64_t i = 0; i < before.bytes; ++i)
      if (memory[i] != std::byte{0})
        fail("byte ", i, " is nobody's and was written");
  });
}

inline JobState stateOf(int64_t step, const std::string &id = "") {
  JobState state;
  state.id = id, state.step = step, state.tokensSeen = 80 * step, state.lastLoss = 1.5f;
  return state;
}

inline void save(const ShardedModel &model, const std::string &directory, int64_t step, int keep = 0,
                 const std::string &id = "") {
  auto errors = model.run([&](Model &m) {
    fill(m);
    CheckpointWriter(m, directory, keep, id).save(stateOf(step, id));
  });
  for (const std::string &error : errors)
    ASSERT_EQ(error, "");
}

// Returns the errors of a model's ranks for a checkpoint; empty if all could read it.
inline std::string load(const ShardedModel &model, const std::string &path, Restore what = Restore::Everything) {
  auto errors = model.run([&](Model &m) {
    SavedTensors saved = openCheckpoint(path, m.rank());
    restoreTensors(saved, m, what);
    expectFilled(m, what == Restore::Everything);
    if (readJobState(saved).tokensSeen != 80 * readJobState(saved).step)
      fail("the state of the job is another");
  });
  for (const std::string &error : errors)
    if (!error.empty() && error.find("failed; see its own error") == std::string::npos)
      return error;
  return errors[0];
}

inline Names namesIn(const std::string &directory) {
  Names names;
  for (const auto &entry : std::filesystem::directory_iterator(directory))
    names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

} // namespace braid::test
#endif // BRAID_TEST_SAVEDMODEL_H
