//===- CheckpointRanksTest.cpp - checkpoints of many ranks, of any layout -===//

#include "AllocationCounter.h"
#include "SavedModel.h"

#include <condition_variable>
#include <csignal>
#include <mutex>
#include <nlohmann/json.hpp>
#include <sys/resource.h>

using namespace braid;
using namespace braid::test;
namespace fs = std::filesystem;

namespace {

TEST(CheckpointRanks, anyLayoutReadsAnyOther) {
  std::mt19937 random(5);
  for (int i = 0; i < 25; ++i) {
    ScratchDirectory scratch;
    ShardedModel a(random, logical), b(random, logical);
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
    ShardedModel model(random, logical);
    save(model, scratch / "a", 3);
    model.run([&](Model &m) {
      restoreTensors(openCheckpoint(scratch / "a", m.rank()), m, Restore::Everything);
      CheckpointWriter(m, scratch / "b", 0, "").save(stateOf(3));
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
  ShardedModel copies(4, logical, Sharding::Replicated), alone(1, logical, Sharding::Replicated),
      flat(3, logical, Sharding::Flat);
  save(copies, scratch / "four", 7);
  save(alone, scratch / "one", 7);
  EXPECT_EQ(namesIn(scratch / "four"), Names{"step-00000007.safetensors"});
  EXPECT_EQ(readFile(scratch / "four/step-00000007.safetensors"), readFile(scratch / "one/step-00000007.safetensors"));
  EXPECT_EQ(load(flat, scratch / "four"), "");
}

TEST(CheckpointRanks, flatIsOneFileARank) {
  ScratchDirectory scratch;
  ShardedModel flat(3, logical, Sharding::Flat), alone(1, logical, Sharding::Replicated);
  save(flat, scratch.path, 7);
  std::string folder = scratch / "step-00000007";
  EXPECT_EQ(namesIn(scratch.path), Names{"step-00000007"});
  EXPECT_EQ(namesIn(folder),
            (Names{"index.json", "rank-00000.safetensors", "rank-00001.safetensors", "rank-00002.safetensors"}));
  auto index = nlohmann::json::parse(readFile(folder + "/index.json"));
  EXPECT_EQ(index["job"]["step"], "7");
  EXPECT_EQ(index["mesh"], nlohmann::json::parse(R"([["dp",3]])"));
  EXPECT_EQ(index["tensors"]["bias"],
            nlohmann::json::parse(R"({"dtype":"F32","shape":[5],"flat":["dp"],"order":[0]})"));
  SafetensorsFile last(folder + "/rank-00002.safetensors");
  EXPECT_EQ(last.find("bias")->shape, std::vector<int64_t>{1}); // of 5, after 2 and 2
  EXPECT_EQ(last.find("count"), nullptr);                       // one element, on rank 0
  // The option can name a checkpoint's folder itself.
  EXPECT_EQ(load(alone, folder), "");
}

TEST(CheckpointRanks, readsOnlyWhatItNeeds) {
  ScratchDirectory scratch;
  const std::vector<LogicalTensor> big = {{"w", BR_PARAMETERS, BR_F32, {1024, 1024}}};
  ShardedModel four(4, big, Sharding::Flat), eight(8, big, Sharding::Flat), alone(1, big, Sharding::Replicated);
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
  const std::vector<LogicalTensor> big = {{"w", BR_PARAMETERS, BR_F32, {2048, 2048}},
                                          {"b", BR_PARAMETERS, BR_F32, {7}}};
  std::mt19937 random(2);
  ShardedModel four(4, big, Sharding::Flat), any(random, big), two(2, big, Sharding::Replicated);
  std::mutex mutex;
  std::condition_variable all;
  for (const ShardedModel *model : {&four, &any, &two}) {
    // Ranks begin and end together, so that work of other ranks before and after is not counted.
    int begun = 0, ended = 0;
    auto rendezvous = [&](int &count, auto last) {
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
      CheckpointWriter writer(m, scratch.path, 1, "");
      writer.save(stateOf(1));
      rendezvous(begun, [] { startCountingAllocations(); });
      writer.save(stateOf(2));
      rendezvous(ended, [&] { saving = stopCountingAllocations(); });
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

TEST(CheckpointRanks, weightsFromAnyFileAreConvertedAndSharded) {
  ScratchDirectory scratch;
  std::string half;
  for (int i = 0; i < 30; ++i)
    half += littleEndian(0x3c00 + 16 * i, 2); // F16: 1 + i / 64
  std::string file =
      writeFile(scratch / "w", safetensors(R"({"w":{"dtype":"F16","shape":[6,5],"data_offsets":[0,60]}})", half));
  std::mt19937 random(9);
  for (int i = 0; i < 20; ++i) {
    ShardedModel model(random, {{"w", BR_PARAMETERS, BR_F32, {6, 5}}});
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
  ShardedModel model(2, logical, Sharding::Flat);
  fs::create_directories(scratch / "step-00000002.tmp");
  writeFile(scratch / "step-00000002.tmp/rank-00000.safetensors", "half of it");
  fs::create_directories(scratch / "step-00000001.old.tmp");
  writeFile(scratch / "step-00000003.safetensors.tmp", "half of it");
  writeFile(scratch / "step-notes.tmp", "the user's own");
  for (int64_t step : {4, 5, 6})
    save(model, scratch.path, step, 2);
  EXPECT_EQ(namesIn(scratch.path), (Names{"step-00000005", "step-00000006", "step-notes.tmp"}));
}

TEST(CheckpointRanks, otherJobsCheckpointsStay) {
  ScratchDirectory scratch;
  ShardedModel flat(2, logical, Sharding::Flat), alone(1, logical, Sharding::Replicated);
  const std::string one = "00000000000000aa", other = "00000000000000bb";
  save(flat, scratch.path, 1); // of a version without ids
  save(alone, scratch.path, 2, 0, one);
  save(flat, scratch.path, 3, 0, one);
  fs::create_directories(scratch / ("step-00000009." + one + ".tmp"));
  writeFile(scratch / ("step-00000009.safetensors." + other + ".tmp"), "half of it");
  for (int64_t step : {4, 5, 6})
    save(flat, scratch.path, step, 2, other);
  EXPECT_EQ(namesIn(scratch.path), (Names{"step-00000002.safetensors", "step-00000003", "step-00000005",
                                          "step-00000006", "step-00000009." + one + ".tmp"}));
}

TEST(CheckpointRanks, theSameStepOfAnotherMeshIsReplaced) {
  ScratchDirectory scratch;
  ShardedModel alone(1, logical, Sharding::Replicated), flat(2, logical, Sharding::Flat);
  save(flat, scratch.path, 4);
  save(alone, scratch.path, 4);
  EXPECT_EQ(namesIn(scratch.path), Names{"step-00000004.safetensors"});
  save(flat, scratch.path, 4);
  save(flat, scratch.path, 4);
  EXPECT_EQ(namesIn(scratch.path), Names{"step-00000004"});
  EXPECT_EQ(load(alone, scratch.path), "");
}

// Only rank 0's file exceeds the limit, because it also holds the odd element.
TEST(CheckpointRanks, oneRanksFailureIsEverybodys) {
  ScratchDirectory scratch;
  const std::vector<LogicalTensor> uneven = {{"w", BR_PARAMETERS, BR_F32, {64, 1024}},
                                             {"b", BR_PARAMETERS, BR_F32, {1}}};
  ShardedModel model(2, uneven, Sharding::Flat);
  save(model, scratch.path, 1);
  uint64_t most = fs::file_size(scratch / "step-00000001/rank-00000.safetensors");
  ASSERT_LT(fs::file_size(scratch / "step-00000001/rank-00001.safetensors"), most);
  rlimit old;
  getrlimit(RLIMIT_FSIZE, &old);
  auto oldHandler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit tight = old;
  tight.rlim_cur = most - 1;
  setrlimit(RLIMIT_FSIZE, &tight);
  auto errors = model.run([&](Model &m) { CheckpointWriter(m, scratch.path, 0, "").save(stateOf(2)); });
  setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, oldHandler);
  EXPECT_NE(errors[0].find("the checkpoint of step 2 was not saved (earlier ones are intact): cannot write"),
            std::string::npos)
      << errors[0];
  EXPECT_NE(errors[1].find("rank 0 failed; see its own error"), std::string::npos) << errors[1];
  EXPECT_EQ(namesIn(scratch.path), Names{"step-00000001"});
  EXPECT_EQ(load(model, scratch.path), "");
}

} // namespace
