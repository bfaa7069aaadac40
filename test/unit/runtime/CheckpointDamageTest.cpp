//===- CheckpointDamageTest.cpp - files that are not what was saved -------===//

#include "SavedModel.h"

using namespace braid;
using namespace braid::test;
namespace fs = std::filesystem;

namespace {

class Damaged : public testing::Test {
protected:
  void SetUp() override { save(model, scratch.path, 8); }
  void expectRefused(const std::string &message) {
    std::string error = load(alone, scratch.path);
    EXPECT_NE(error.find(message), std::string::npos) << error;
  }

  ShardedModel model{3, logical, Sharding::Flat}, alone{1, logical, Sharding::Replicated};
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

TEST_F(Damaged, fileOfAnotherJob) {
  save(model, scratch / "one", 8, 0, "00000000000000aa");
  save(model, scratch / "other", 8, 0, "00000000000000bb");
  const std::string file = "/step-00000008/rank-00001.safetensors";
  fs::copy_file(scratch / "other" + file, scratch / "one" + file, fs::copy_options::overwrite_existing);
  const std::string error = load(alone, scratch / "one/step-00000008");
  EXPECT_NE(error.find("'" + (scratch / "one" + file) + "' does not belong to the index of its checkpoint: it is of " +
                       "job_id '00000000000000bb', not '00000000000000aa'"),
            std::string::npos)
      << error;
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
  for (const Case &c :
       {Case{"[[\"dp\",3]]", "[[\"dp\",2]]", "has shape"}, Case{"[[\"dp\",3]]", "[[\"dp\",4]]", "has shape"},
        Case{"[[\"dp\",3]]", "[[\"dp\",0]]", "sensible size"},
        Case{"[[\"dp\",3]]", "[[\"dp\",3],[\"dp\",3]]", "two axes 'dp'"},
        Case{"[[\"dp\",3]]", "[]", "is sharded over unknown mesh axis"},
        Case{"[36,12]", "[12,36]", "has shape [12, 36] in the file, but [36, 12] in the model"},
        Case{"[36,12]", "[36,13]", "has shape"}, Case{"[36,12]", "[36,9223372036854775807]", "size overflows"},
        Case{"\"order\":[0,1]", "\"order\":[0,0]", "does not name each of its 2 dims once"},
        Case{"\"BF16\"", "\"F16\"", "unknown type \"F16\""},
        Case{"\"BF16\"", "\"F64\"", "has type BF16 in the file, but F64 in the index"},
        Case{"\"step\":\"8\"", "\"step\":\"7\"", "it is of step '8', not '7'"},
        Case{"\"bias\"", "\"bios\"", "lacks its part of tensor 'bios'"},
        Case{"\"order\":[0,1]", "\"order\":" + std::string(9, '[') + std::string(9, ']'), "nests too deeply"},
        Case{"\"tensors\"", "\"sensors\"", "it lacks 'tensors'"}}) {
    ASSERT_NE(good.find(c.from), std::string::npos) << c.from;
    std::string bad = good;
    bad.replace(bad.find(c.from), c.from.size(), c.to);
    seal(bad, kSealedIndex.size());
    writeFile(index, bad);
    expectRefused(c.message);
  }
}

// Flips any byte of the index, of a header, of padding and of data.
TEST_F(Damaged, everyByte) {
  std::mt19937 random(12);
  for (const std::string &file : {index, second}) {
    const std::string good = readFile(file);
    for (size_t at = 0; at < good.size(); at += 1 + random() % 4) {
      std::string bad = good;
      bad[at] ^= static_cast<char>(1 << random() % 8);
      writeFile(file, bad);
      const std::string error = load(alone, folder);
      EXPECT_TRUE(!error.empty() && error.find("not what was saved:") == std::string::npos)
          << file << " " << at << error;
      EXPECT_NE(error.find(file), std::string::npos) << error;
    }
    writeFile(file, good);
  }
}

std::string flipLastBit(const std::string &path) {
  std::string content = readFile(path);
  content.back() ^= 1;
  return writeFile(path, content);
}

TEST_F(Damaged, theOneBeforeIsOffered) {
  save(model, scratch.path, 9);
  flipLastBit(scratch / "step-00000009/rank-00001.safetensors");
  expectRefused("'" + scratch.path +
                "/step-00000009/rank-00001.safetensors' is damaged: bytes [0, 12) of tensor 'seen'");
  expectRefused("; the checkpoint before it is '" + folder + "': to continue from it, move '" + scratch.path +
                "/step-00000009' to another directory and start again");
  EXPECT_NE(load(alone, scratch.path, Restore::ModelOnly).find("': name it in --checkpoint"), std::string::npos);
  fs::remove(index);
  expectRefused("; there is no earlier checkpoint beside it");
}

TEST_F(Damaged, oneRanksDamageEndsAll) {
  flipLastBit(second);
  auto errors = model.run([&](Model &m) { restoreTensors(openCheckpoint(folder), m, Restore::Everything); });
  EXPECT_NE(errors[1].find("is damaged"), std::string::npos) << errors[1];
  for (int rank : {0, 2})
    EXPECT_NE(errors[rank].find("rank 1 failed; see its own error"), std::string::npos) << errors[rank];
}

TEST_F(Damaged, olderOnesHaveNoChecksums) {
  for (const std::string &name : namesIn(folder))
    writeFile(folder + "/" + name, withoutChecksums(readFile(folder + "/" + name)));
  testing::internal::CaptureStderr();
  EXPECT_EQ(load(model, scratch.path), "");
  const std::string printed = testing::internal::GetCapturedStderr(),
                    warning = "warning: '" + folder + "' has no checksums";
  EXPECT_EQ(printed.find(warning), printed.rfind(warning)) << printed;
  EXPECT_NE(printed.find(warning), std::string::npos) << printed;
}

TEST_F(Damaged, aFileWithoutChecksumsAmongOthers) {
  writeFile(second, withoutChecksums(readFile(second)));
  expectRefused("' is damaged: it has no checksums, and other files of the checkpoint have");
}

// For any bytes, reading gives an error or the saved tensors, also without checksums.
TEST_F(Damaged, bytesAtRandom) {
  std::mt19937 random(13);
  for (const std::string &name : namesIn(folder))
    writeFile(folder + "/" + name, withoutChecksums(readFile(folder + "/" + name)));
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
