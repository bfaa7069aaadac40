//===- CheckpointRanksTest.cpp - checkpoints of many ranks, of any layout -===//

#include "AllocationCounter.h"
#include "CutModel.h"
#include "TestFiles.h"
#include "core/Checkpoint.h"
#include "core/CheckpointIndex.h"

#include <condition_variable>
#include <csignal>
#include <cstring>
#include <gtest/gtest.h>
#include <mutex>
#include <nlohmann/json.hpp>
#include <sys/resource.h>

using namespace braid;
using namespace braid::test;
namespace fs = std::filesystem;

namespace {

const std::vector<LogicalTensor> logical = {{"embedding", "parameters", BR_F32, {36, 12}},
                                            {"weight", "parameters", BR_BF16, {6, 4, 18}},
                                            {"bias", "parameters", BR_F32, {5}},
                                            {"count", "optimizer_state", BR_I64, {}},
                                            {"mean", "optimizer_state", BR_F64, {7, 6}},
                                            {"seen", "parameters", BR_I1, {3, 12}},
                                            {"none", "parameters", BR_F32, {0, 4}}};

// Bits that say which tensor and element it is.
void putBits(std::byte *at, int tensor, int64_t i, int64_t size) {
  uint64_t bits = (static_cast<uint64_t>(i) * 8 + tensor + 1) * 0x9E3779B97F4A7C15u;
  std::memcpy(at, reinterpret_cast<const std::byte *>(&bits) + 8 - size, size);
}

template <class F> void forEachElement(const Model &model, const F &f) {
  for (int32_t k = 0; k < model.table().n_tensors; ++k) {
    const br_tensor &t = model.table().tensors[k];
    const int64_t size = elementSize(t.dtype);
    std::byte *base = model.arena() + t.offset;
    forEachRun(partOf(model.table(), t, model.rank().number), wholeTensor({t.shape, t.shape + t.rank}),
               [&](const auto &run) {
                 for (int64_t i = 0; i < run.count; ++i)
                   f(k, run.otherPlace + i * run.otherStep, base + (run.place + i * run.step) * size, size);
               });
  }
}
void fill(Model &model) { forEachElement(model, [](int t, int64_t i, std::byte *at, int64_t n) { putBits(at, t, i, n); }); }

// Throws Error at the first element that is not what `fill` put there, or that is not
// a part's and not zero.
void expectFilled(Model &model, bool optimizerState = true) {
  forEachElement(model, [&](int t, int64_t i, std::byte *at, int64_t size) {
    std::byte expected[8] = {};
    if (optimizerState || std::string(model.table().tensors[t].cause) == "parameters")
      putBits(expected, t, i, size);
    if (std::memcmp(at, expected, size) != 0)
      fail("element ", i, " of '", model.table().tensors[t].name, "' is not what was saved");
    std::memset(at, 0, size);
  });
  const br_tensor &last = model.table().tensors[model.table().n_tensors - 1];
  for (uint64_t i = 0; i < last.offset; ++i)
    if (model.arena()[i] != std::byte{0})
      fail("byte ", i, " is nobody's and was written");
}

JobState stateOf(int64_t step) {
  JobState state;
  state.step = step, state.tokensSeen = 80 * step, state.lastLoss = 1.5f;
  return state;
}

void save(const CutModel &model, const std::string &directory, int64_t step, int keep = 0) {
  auto errors = model.run([&](Model &m) {
    fill(m);
    CheckpointWriter(m, directory, keep).save(stateOf(step));
  });
  for (const std::string &error : errors)
    ASSERT_EQ(error, "");
}

// What the ranks of a model say to a checkpoint; empty if all could read it.
std::string load(const CutModel &model, const std::string &path, Restore what = Restore::Everything) {
  auto errors = model.run([&](Model &m) {
    SavedTensors saved = openCheckpoint(path, m.rank());
    restoreTensors(saved, m, what);
    expectFilled(m, what == Restore::Everything);
    if (readJobState(saved).tokensSeen != 80 * readJobState(saved).step)
      fail("the state of the job is another");
  });
  for (const std::string &error : errors)
    if (!error.empty() && error.find("failed, and says why") == std::string::npos)
      return error;
  return errors[0];
}

std::vector<std::string> namesIn(const std::string &directory) {
  std::vector<std::string> names;
  for (const auto &entry : fs::directory_iterator(directory))
    names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

using Names = std::vector<std::string>;

TEST(CheckpointRanks, anyLayoutReadsAnyOther) {
  std::mt19937 random(5);
  for (int i = 0; i < 25; ++i) {
    ScratchDirectory scratch;
    CutModel a(random, logical), b(random, logical);
    save(a, scratch.path, 3);
    EXPECT_EQ(load(a, scratch.path), "");
    EXPECT_EQ(load(b, scratch.path), "");
    EXPECT_EQ(load(b, scratch.path, Restore::ModelOnly), "");
  }
}

TEST(CheckpointRanks, sameLayoutWritesTheSameBytesAgain) {
  std::mt19937 random(6);
  int folders = 0;
  for (int i = 0; i < 10; ++i) {
    ScratchDirectory scratch;
    CutModel model(random, logical);
    save(model, scratch / "a", 3);
    model.run([&](Model &m) {
      restoreTensors(openCheckpoint(scratch / "a", m.rank()), m, Restore::Everything);
      CheckpointWriter(m, scratch / "b", 0).save(stateOf(3));
    });
    std::string first = checkpointPath(scratch / "a", 3), second = checkpointPath(scratch / "b", 3);
    if (!fs::is_directory(first)) {
      EXPECT_EQ(readFile(first), readFile(second));
      continue;
    }
    ++folders;
    EXPECT_EQ(namesIn(first), namesIn(second));
    for (const std::string &name : namesIn(first))
      EXPECT_EQ(readFile(first + "/" + name), readFile(second + "/" + name)) << name;
  }
  EXPECT_GT(folders, 1);
}

TEST(CheckpointRanks, copiesAreOneFile) {
  ScratchDirectory scratch;
  CutModel copies(4, logical, Cut::Nowhere), alone(1, logical, Cut::Nowhere), flat(3, logical, Cut::Flat);
  save(copies, scratch / "four", 7);
  save(alone, scratch / "one", 7);
  EXPECT_EQ(namesIn(scratch / "four"), Names{"step-00000007.safetensors"});
  EXPECT_EQ(readFile(scratch / "four/step-00000007.safetensors"), readFile(scratch / "one/step-00000007.safetensors"));
  EXPECT_EQ(load(flat, scratch / "four"), "");
}

TEST(CheckpointRanks, flatIsOneFileARank) {
  ScratchDirectory scratch;
  CutModel flat(3, logical, Cut::Flat), alone(1, logical, Cut::Nowhere);
  save(flat, scratch.path, 7);
  std::string folder = scratch / "step-00000007";
  EXPECT_EQ(namesIn(scratch.path), Names{"step-00000007"});
  EXPECT_EQ(namesIn(folder), (Names{"index.json", "rank-00000.safetensors", "rank-00001.safetensors",
                                    "rank-00002.safetensors"}));
  auto index = nlohmann::json::parse(readFile(folder + "/index.json"));
  EXPECT_EQ(index["job"]["step"], "7");
  EXPECT_EQ(index["mesh"], nlohmann::json::parse(R"([["dp",3]])"));
  EXPECT_EQ(index["tensors"]["bias"],
            nlohmann::json::parse(R"({"dtype":"F32","shape":[5],"flat":["dp"],"order":[0]})"));
  SafetensorsFile last(folder + "/rank-00002.safetensors");
  EXPECT_EQ(last.find("bias")->shape, std::vector<int64_t>{1}); // of 5, after 2 and 2
  EXPECT_EQ(last.find("count"), nullptr);                       // one element, on rank 0
  // A folder can be named itself.
  EXPECT_EQ(load(alone, folder), "");
}

// The bytes that this thread has asked files for.
uint64_t bytesRead() {
  std::string text = readFile("/proc/thread-self/io");
  return std::stoull(text.substr(text.find("rchar: ") + 7));
}

TEST(CheckpointRanks, readsOnlyWhatItNeeds) {
  ScratchDirectory scratch;
  const std::vector<LogicalTensor> big = {{"w", "parameters", BR_F32, {1024, 1024}}};
  CutModel four(4, big, Cut::Flat), eight(8, big, Cut::Flat), alone(1, big, Cut::Nowhere);
  save(four, scratch / "four", 1);
  save(alone, scratch / "one", 1);
  for (const char *from : {"four", "one"})
    eight.run([&](Model &m) {
      SavedTensors saved = openCheckpoint(scratch / from, m.rank());
      uint64_t before = bytesRead();
      restoreTensors(saved, m, Restore::Everything);
      EXPECT_LT(bytesRead() - before, (4u << 20) / 8 + (16 << 10)) << from;
      expectFilled(m);
    });
}

TEST(CheckpointRanks, needsBuffersOnly) {
  if (!canCountAllocations())
    GTEST_SKIP() << "a sanitizer has its own malloc";
  ScratchDirectory scratch;
  const std::vector<LogicalTensor> big = {{"w", "parameters", BR_F32, {2048, 2048}}, {"b", "parameters", BR_F32, {7}}};
  std::mt19937 random(2);
  CutModel four(4, big, Cut::Flat), any(random, big), two(2, big, Cut::Nowhere);
  std::mutex mutex;
  std::condition_variable all;
  for (const CutModel *model : {&four, &any, &two}) {
    // Ranks begin and end together, so that what others do before and after is not counted.
    int begun = 0, ended = 0;
    auto meet = [&](int &count, auto last) {
      std::unique_lock lock(mutex);
      if (++count == model->size()) {
        last();
        all.notify_all();
      }
      all.wait(lock, [&] { return count == model->size(); });
    };
    size_t saving = 0;
    auto errors = model->run([&](Model &m) {
      fill(m);
      CheckpointWriter writer(m, scratch.path, 1);
      writer.save(stateOf(1));
      meet(begun, [] { startCountingAllocations(); });
      writer.save(stateOf(2));
      meet(ended, [&] { saving = stopCountingAllocations(); });
    });
    EXPECT_EQ(errors, Names(model->size()));
    EXPECT_LE(saving, 16u * model->size()) << "streams and directories";
    startCountingAllocations();
    EXPECT_EQ(load(four, scratch.path), "");
    stopCountingAllocations();
    // Arenas of 4 MiB, buffers of 1 MiB, stacks.
    EXPECT_LT(countedBytes(), 4 * (8u << 20));
  }
}

TEST(CheckpointRanks, weightsFromAnyFileAreConvertedAndCut) {
  ScratchDirectory scratch;
  std::string half;
  for (int i = 0; i < 30; ++i)
    half += littleEndian(0x3c00 + 16 * i, 2); // F16: 1 + i / 64
  std::string file = writeFile(
      scratch / "w", safetensors(R"({"w":{"dtype":"F16","shape":[6,5],"data_offsets":[0,60]}})", half));
  std::mt19937 random(9);
  for (int i = 0; i < 20; ++i) {
    CutModel model(random, {{"w", "parameters", BR_F32, {6, 5}}});
    auto errors = model.run([&](Model &m) {
      importParameters(openCheckpoint(file), m);
      forEachElement(m, [](int, int64_t k, std::byte *at, int64_t) {
        EXPECT_EQ(numberAt(BR_F32, at), 1 + static_cast<double>(k) / 64);
      });
    });
    EXPECT_EQ(errors, Names(model.size()));
  }
}

//===----------------------------------------------------------------------===//
// Failures
//===----------------------------------------------------------------------===//

TEST(CheckpointRanks, keepsTheNewestAndRemovesLeftovers) {
  ScratchDirectory scratch;
  CutModel model(2, logical, Cut::Flat);
  fs::create_directories(scratch / "step-00000002.tmp");
  writeFile(scratch / "step-00000002.tmp/rank-00000.safetensors", "half of it");
  fs::create_directories(scratch / "step-00000001.old.tmp");
  writeFile(scratch / "step-00000003.safetensors.tmp", "half of it");
  writeFile(scratch / "step-notes.tmp", "the user's own");
  for (int64_t step : {4, 5, 6})
    save(model, scratch.path, step, 2);
  EXPECT_EQ(namesIn(scratch.path), (Names{"step-00000005", "step-00000006", "step-notes.tmp"}));
}

TEST(CheckpointRanks, theSameStepOfAnotherMeshIsReplaced) {
  ScratchDirectory scratch;
  CutModel alone(1, logical, Cut::Nowhere), flat(2, logical, Cut::Flat);
  save(flat, scratch.path, 4);
  save(alone, scratch.path, 4);
  EXPECT_EQ(namesIn(scratch.path), Names{"step-00000004.safetensors"});
  save(flat, scratch.path, 4);
  save(flat, scratch.path, 4);
  EXPECT_EQ(namesIn(scratch.path), Names{"step-00000004"});
  EXPECT_EQ(load(alone, scratch.path), "");
}

// A limit that rank 0's file alone is above: it holds the odd element, too.
TEST(CheckpointRanks, oneRanksFailureIsEverybodys) {
  ScratchDirectory scratch;
  const std::vector<LogicalTensor> uneven = {{"w", "parameters", BR_F32, {64, 1024}}, {"b", "parameters", BR_F32, {1}}};
  CutModel model(2, uneven, Cut::Flat);
  save(model, scratch.path, 1);
  uint64_t most = fs::file_size(scratch / "step-00000001/rank-00000.safetensors");
  ASSERT_LT(fs::file_size(scratch / "step-00000001/rank-00001.safetensors"), most);
  rlimit old;
  getrlimit(RLIMIT_FSIZE, &old);
  auto oldHandler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit tight = old;
  tight.rlim_cur = most - 1;
  setrlimit(RLIMIT_FSIZE, &tight);
  auto errors = model.run([&](Model &m) { CheckpointWriter(m, scratch.path, 0).save(stateOf(2)); });
  setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, oldHandler);
  EXPECT_NE(errors[0].find("the checkpoint of step 2 was not saved (earlier ones are intact): cannot write"),
            std::string::npos)
      << errors[0];
  EXPECT_NE(errors[1].find("rank 0 failed, and says why"), std::string::npos) << errors[1];
  EXPECT_EQ(namesIn(scratch.path), Names{"step-00000001"});
  EXPECT_EQ(load(model, scratch.path), "");
}

class Damaged : public testing::Test {
protected:
  void SetUp() override { save(model, scratch.path, 8); }
  void expectRefused(const std::string &message) {
    std::string error = load(alone, scratch.path);
    EXPECT_NE(error.find(message), std::string::npos) << error;
  }

  CutModel model{3, logical, Cut::Flat}, alone{1, logical, Cut::Nowhere};
  ScratchDirectory scratch;
  std::string folder = scratch / "step-00000008", index = folder + "/index.json",
              second = folder + "/rank-00001.safetensors";
};

TEST_F(Damaged, missingFile) {
  fs::remove(second);
  expectRefused("cannot open '" + second + "'");
}

TEST_F(Damaged, missingIndex) {
  fs::remove(index);
  expectRefused("cannot open '" + index + "'");
}

TEST_F(Damaged, truncatedFile) {
  fs::resize_file(second, fs::file_size(second) - 3);
  expectRefused("'" + second + "' is not a usable safetensors file");
}

TEST_F(Damaged, fileOfAnotherRank) {
  fs::copy_file(folder + "/rank-00000.safetensors", second, fs::copy_options::overwrite_existing);
  expectRefused("it is of rank '0', not '1'");
}

TEST_F(Damaged, fileOfAnotherStep) {
  save(model, scratch / "other", 9);
  fs::copy_file(scratch / "other/step-00000009/rank-00001.safetensors", second, fs::copy_options::overwrite_existing);
  expectRefused("it is of step '9', not '8'");
}

TEST_F(Damaged, olderOnesAreTaken) {
  save(model, scratch.path, 9);
  fs::remove(scratch / "step-00000009/rank-00002.safetensors");
  EXPECT_EQ(load(alone, scratch.path), "");
  EXPECT_EQ(load(model, scratch.path), "");
}

TEST_F(Damaged, indexThatSaysOtherThings) {
  const std::string good = readFile(index);
  struct Case {
    std::string from, to, message;
  };
  for (const Case &c : {Case{"[[\"dp\",3]]", "[[\"dp\",2]]", "has shape"},
                        Case{"[[\"dp\",3]]", "[[\"dp\",4]]", "has shape"},
                        Case{"[[\"dp\",3]]", "[[\"dp\",0]]", "sensible size"},
                        Case{"[[\"dp\",3]]", "[[\"dp\",3],[\"dp\",3]]", "two axes 'dp'"},
                        Case{"[[\"dp\",3]]", "[]", "which the mesh does not have"},
                        Case{"[36,12]", "[12,36]", "has shape [12, 36] there and [36, 12] in the model"},
                        Case{"[36,12]", "[36,13]", "has shape"},
                        Case{"[36,12]", "[36,9223372036854775807]", "size overflows"},
                        Case{"\"order\":[0,1]", "\"order\":[0,0]", "does not name each of its 2 dims once"},
                        Case{"\"BF16\"", "\"F16\"", "unknown type \"F16\""},
                        Case{"\"BF16\"", "\"F64\"", "has type BF16 there and F64 in the index"},
                        Case{"\"step\":\"8\"", "\"step\":\"7\"", "it is of step '8', not '7'"},
                        Case{"\"bias\"", "\"bios\"", "lacks its part of tensor 'bios'"},
                        Case{"\"tensors\"", "\"sensors\"", "it lacks 'tensors'"}}) {
    ASSERT_NE(good.find(c.from), std::string::npos) << c.from;
    std::string bad = good;
    writeFile(index, bad.replace(bad.find(c.from), c.from.size(), c.to));
    expectRefused(c.message);
  }
}

// Whatever the bytes, the answer is an error or the tensors as they were saved; data
// itself carries no checksum.
TEST_F(Damaged, bytesAtRandom) {
  std::mt19937 random(13);
  const std::string goodIndex = readFile(index), goodPart = readFile(second);
  uint64_t header = 0;
  std::memcpy(&header, goodPart.data(), 8);
  int refused = 0;
  for (int i = 0; i < 600; ++i) {
    std::string text = i % 2 ? goodIndex : goodPart;
    size_t reach = i % 2 ? text.size() : 8 + header;
    for (int k = static_cast<int>(random() % 3); k >= 0; --k)
      switch (random() % 3) {
      case 0:
        text[random() % reach] = static_cast<char>(random());
        break;
      case 1:
        text[random() % reach] = "0123456789[]{}\",:"[random() % 17];
        break;
      case 2:
        text.erase(random() % reach, 1 + random() % 4);
        break;
      }
    writeFile(index, i % 2 ? text : goodIndex);
    writeFile(second, i % 2 ? goodPart : text);
    auto errors = alone.run([&](Model &m) {
      SavedTensors saved(folder);
      restoreTensors(saved, m, Restore::ModelOnly);
      expectFilled(m, false);
    });
    refused += !errors[0].empty();
    EXPECT_EQ(errors[0].find("not what was saved"), std::string::npos) << errors[0];
  }
  EXPECT_GT(refused, 400);
}

} // namespace
