//===- MatmulSearchTest.cpp - which algorithm a search keeps --------------===//
//
// The shim has the algorithms of BRAID_SHIM_LT, and its events report the times given there.
//
//===----------------------------------------------------------------------===//

#include "gpu/MatmulSearch.h"

#include "../runtime/MatmulCases.h"
#include "Device.h"
#include "base/Error.h"
#include "gpu/Matmul.h"
#include "gpu/MatmulChoices.h"
#include "gpu/MatmulScratch.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <unistd.h>

using namespace braid;
using namespace braid::test;
using Json = nlohmann::ordered_json;

namespace {

constexpr uint64_t workspace = 1 << 16;

// Sets the heuristic's algorithms while the object exists.
class Offered {
public:
  explicit Offered(const char *algorithms) { setenv("BRAID_SHIM_LT", algorithms, 1); }
  ~Offered() { unsetenv("BRAID_SHIM_LT"); }
};

std::vector<std::string> alone(const std::string &word) { return {word}; }

// Matmuls in a zeroed arena: the workspace, followed by C, A and B of each matmul.
class Arena {
public:
  explicit Arena(const std::vector<MatmulCase> &matmuls, uint64_t room = 1 << 18) : matmuls(matmuls), bytes(room) {
    for (const MatmulCase &matmul : matmuls) {
      descriptors.push_back(matmul.d);
      descriptors.back().workspace_bytes = workspace;
    }
    model.arena_bytes = bytes;
    model.matmuls = descriptors.data();
    model.n_matmuls = static_cast<int32_t>(descriptors.size());
    setenv("BRAID_SHIM_ZEROS", "1", 1); // isZero() may read them
    succeed(cudaMalloc(reinterpret_cast<void **>(&base), bytes));
    succeed(cudaMemset(base, 0, bytes));
    table.emplace(model, base, context.stream);
  }
  ~Arena() { cudaFree(base); }

  // The matmuls' names, choices and candidates; the matmuls run with the choices.
  Json search(int most) {
    table->search(most, alone);
    table->useChosen(table->searched());
    return jsonOfSearch(table->searched());
  }
  bool isZero() {
    std::vector<char> memory(bytes);
    succeed(cudaMemcpy(memory.data(), base, bytes, cudaMemcpyDeviceToHost));
    return std::all_of(memory.begin(), memory.end(), [](char byte) { return byte == 0; });
  }
  std::vector<float> run(int32_t index) {
    const MatmulCase &p = matmuls[index];
    std::byte *c = base + workspace, *a = c + alignedBytes(p.sizeC), *b = a + alignedBytes(p.sizeA);
    write(c, p.c()), write(a, p.a()), write(b, p.b());
    EXPECT_EQ(table->run(index, a, b, c, nullptr, nullptr), BR_OK) << table->error();
    succeed(cudaDeviceSynchronize());
    std::vector<float> result(p.sizeC);
    succeed(cudaMemcpy(result.data(), c, p.sizeC * sizeof(float), cudaMemcpyDeviceToHost));
    return result;
  }

  br_context context;
  std::optional<MatmulTable> table;

private:
  static int64_t alignedBytes(int64_t elements) { return (elements * 4 + 255) / 256 * 256; }
  void write(std::byte *to, const std::vector<float> &values) {
    succeed(cudaMemcpy(to, values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice));
  }

  std::vector<MatmulCase> matmuls;
  std::vector<br_matmul_desc> descriptors;
  br_model model{};
  uint64_t bytes;
  std::byte *base = nullptr;
};

const MatmulCase plain(9, 16, 8, false, true, false);

size_t chosenOf(const char *algorithms, int most) {
  const Offered offered(algorithms);
  Arena arena({plain});
  const size_t chosen = arena.search(most)[0]["chosen"];
  EXPECT_TRUE(arena.isZero());
  EXPECT_EQ(arena.run(0), expected(plain).c);
  return chosen;
}

TEST(MatmulSearch, keepsTheFastest) {
  EXPECT_EQ(chosenOf("4096:30,0:12,0:20", 8), 1u);
  EXPECT_EQ(chosenOf("4096:10,0:12,0:20", 8), 0u);
  EXPECT_EQ(chosenOf("0:30,0:20,0:10", 8), 2u);
}

TEST(MatmulSearch, keepsTheFirstOfEqualOnes) {
  EXPECT_EQ(chosenOf("0:20,0:20,0:20", 8), 0u);
  EXPECT_EQ(chosenOf("0:30,0:20,0:20", 8), 1u);
}

TEST(MatmulSearch, looksAtSoManyOfThem) {
  EXPECT_EQ(chosenOf("0:30,0:20,0:10", 2), 1u);
  // The first algorithm does not fit the workspace, so it is no candidate.
  EXPECT_EQ(chosenOf("1048576:5,0:30,0:20,0:10", 2), 1u);
}

TEST(MatmulSearch, leavesOutThoseThatFail) {
  EXPECT_EQ(chosenOf("0:30,0:5:fails,0:20", 8), 2u);
  EXPECT_EQ(chosenOf("0:5:fails,0:30", 8), 1u);
  const Offered offered("0:5:fails,0:30:fails");
  Arena arena({plain});
  try {
    arena.search(8);
    FAIL() << "no algorithm runs";
  } catch (const Error &error) {
    EXPECT_STREQ(error.what(), "matmul 0 (9 x 16 x 8): cublasLtMatmul: CUBLAS_STATUS_NOT_SUPPORTED");
  }
}

TEST(MatmulSearch, timesEachDifferentMatmulOnce) {
  const Offered offered("0:30,0:10");
  MatmulCase other(4, 8, 8, false, true, false), parts = plain;
  parts.outer(3);
  Arena arena({plain, other, plain, parts});
  const Json matmuls = arena.search(8);
  ASSERT_EQ(matmuls.size(), 4u); // the last is two kinds of calls
  EXPECT_EQ(matmuls[1]["name"], "matmul 1 (4 x 8 x 8)");
  EXPECT_EQ(matmuls[3]["name"], "matmul 3 (9 x 16 x 8), all but its last call");
  EXPECT_EQ(matmuls[3]["calls"], 2);
  EXPECT_EQ(matmuls[3]["product"], 2);
  for (const Json &matmul : matmuls) {
    EXPECT_EQ(matmul["chosen"], 1);
    EXPECT_FLOAT_EQ(matmul["candidates"][0]["seconds"], 30e-6);
    EXPECT_FLOAT_EQ(matmul["candidates"][1]["median_seconds"], 10e-6);
  }
  EXPECT_EQ(arena.table->numberOf(2), 0);
  EXPECT_EQ(describeSearch(arena.table->searched()),
            "matmul search: 4 matmuls, 8 algorithms; together 3.00 times as fast as the heuristic's first");
  for (int32_t i = 0; i < 4; ++i)
    EXPECT_EQ(arena.run(i), expected(std::vector{plain, other, plain, parts}[i]).c);
}

// For every type and epilogue, operands are in the arena, which is zeroed afterwards.
TEST(MatmulSearch, timesWhatPlansRun) {
  const Offered offered("4096:30,0:10");
  std::vector<MatmulCase> matmuls;
  for (auto [inputs, result] : {std::pair(BR_F32, BR_F32), std::pair(BR_BF16, BR_F32), std::pair(BR_BF16, BR_BF16)}) {
    MatmulCase p = plain;
    matmuls.push_back(p.ofTypes(inputs, result).with(true, true));
    matmuls.push_back(p.with(true, false, BR_EPILOGUE_GELU_TANH));
    matmuls.push_back(p.withAux(true, BR_EPILOGUE_GELU_TANH, 8));
    matmuls.push_back(p.withAux(false, BR_EPILOGUE_GELU_TANH_GRAD));
    matmuls.push_back(MatmulCase(plain).ofTypes(inputs, result).withAddend(true, 8));
    MatmulCase batch(8, 12, 4, true, false, false, 3);
    matmuls.push_back(batch.ofTypes(inputs, result).batch(3).batch(4, true, 1));
  }
  Arena arena(matmuls);
  for (const Json &matmul : arena.search(8))
    EXPECT_EQ(matmul["chosen"], 1) << matmul;
  EXPECT_TRUE(arena.isZero());
}

TEST(MatmulSearch, keepsTheFirstWhereThereIsNoRoom) {
  const Offered offered("0:30,0:10");
  Arena arena({plain}, workspace + 256);
  const Json matmuls = arena.search(8);
  EXPECT_EQ(matmuls[0]["chosen"], 0);
  EXPECT_TRUE(matmuls[0]["candidates"].empty());
  EXPECT_NE(describeSearch(arena.table->searched()).find("; 1 not timed, because their operands"), std::string::npos);
}

//===----------------------------------------------------------------------===//
// Long sums in parts
//===----------------------------------------------------------------------===//

// Candidates and their splits: "0/1 1/1 0/2".
std::string splitsOf(const char *algorithms, int64_t k, int most, uint64_t &chosen) {
  const Offered offered(algorithms);
  const MatmulCase longSum(16, 16, k, false, true, false);
  Arena arena({longSum}, 1 << 20);
  const Json matmul = arena.search(most)[0];
  chosen = matmul["chosen"];
  EXPECT_TRUE(arena.isZero());
  EXPECT_EQ(arena.run(0), expected(longSum).c);
  std::string text;
  for (const Json &candidate : matmul["candidates"]) {
    const std::string name = candidate["algorithm"];
    auto number = [&](const std::string &what) {
      const size_t at = name.find(what) + what.size();
      return name.substr(at, name.find(',', at) - at);
    };
    text += (text.empty() ? "" : " ") + number("algorithm ") + "/" + number(", split ");
    EXPECT_EQ(number(", reduction "), number(", split ") == "1" ? "0" : "2") << name;
  }
  return text;
}

TEST(MatmulSearch, splitsLongSums) {
  uint64_t chosen;
  EXPECT_EQ(splitsOf("0:30,0:20::12", 4096, 16, chosen), "0/1 1/1 1/2 1/4 1/8");
  EXPECT_EQ(chosen, 2u);
  EXPECT_EQ(splitsOf("0:30::40,0:20::25", 2048, 16, chosen), "0/1 1/1 0/2 0/4 1/2 1/4");
  EXPECT_EQ(chosen, 1u);
}

TEST(MatmulSearch, splitsNoMoreThanWasAsked) {
  uint64_t chosen;
  EXPECT_EQ(splitsOf("0:30::12,0:20", 4096, 3, chosen), "0/1 1/1 0/2");
  EXPECT_EQ(chosen, 2u);
  EXPECT_EQ(splitsOf("0:30::12,0:20", 4096, 2, chosen), "0/1 1/1");
}

// For the second matmul this many parts do not fit, and the library refuses them.
TEST(MatmulSearch, splitsWithinTheWorkspace) {
  uint64_t chosen;
  EXPECT_EQ(splitsOf("0:30::12,61440:20::5", 4096, 16, chosen), "0/1 1/1 0/2 0/4 0/8 1/2 1/4");
}

TEST(MatmulSearch, leavesShortSumsWhole) {
  uint64_t chosen;
  EXPECT_EQ(splitsOf("0:30::12,0:20", 1023, 16, chosen), "0/1 1/1");
}

// GPT-2 124M with 64 x 1024 tokens on an H100: 50 ms of matmuls at the peak, 18 of them distinct ones.
TEST(MatmulSearch, paysOffInLongJobs) {
  EXPECT_FALSE(searchPaysOff(0.050, 0.018, 1000));
  EXPECT_TRUE(searchPaysOff(0.050, 0.018, 2000));
  EXPECT_FALSE(searchPaysOff(0.050, 0.018, 0));
  EXPECT_FALSE(searchPaysOff(1e-9, 1e-10, 1000000));   // nothing is won
  EXPECT_FALSE(searchPaysOff(0, 0, int64_t{1} << 40)); // nobody knows the rates
}

//===----------------------------------------------------------------------===//
// Ranks
//===----------------------------------------------------------------------===//

std::vector<MatmulTrial> trialsOf(const std::vector<double> &times) {
  MatmulTrial trial;
  trial.name = "matmul 0", trial.key = "1,2,3";
  trial.candidates.resize(times.size());
  for (double time : times)
    trial.times.push_back({time, time});
  return {trial};
}

constexpr double fails = std::numeric_limits<double>::infinity();

size_t chosenTogether(const std::vector<double> &mine, const std::vector<double> &other) {
  std::vector<MatmulTrial> trials = trialsOf(mine);
  chooseByBlobs(trials, {blobOf(trials), blobOf(trialsOf(other)), blobOf({})});
  return trials[0].chosen;
}

TEST(MatmulSearch, takesTheSameOnAllRanks) {
  EXPECT_EQ(chosenTogether({3, 1, 2}, {3, 4, 2}), 2u);
  EXPECT_EQ(chosenTogether({3, 4, 2}, {3, 1, 2}), 2u);
  EXPECT_EQ(chosenTogether({3, 1, 2}, {3, fails, 4}), 0u);
  EXPECT_THROW(chosenTogether({3, fails}, {fails, 3}), Error);
  EXPECT_THROW(chosenTogether({3, 1, 2}, {3, 1}), Error);
}

TEST(MatmulSearch, saysWhichRankHasFailed) {
  std::vector<MatmulTrial> trials = trialsOf({1});
  try {
    chooseByBlobs(trials, {blobOf(trials), blobOfFailure("no memory")});
    FAIL() << "rank 1 has failed";
  } catch (const RankError &error) {
    EXPECT_STREQ(error.what(), "rank 1: no memory");
  }
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

TEST(MatmulScratch, placesPiecesBesideEachOther) {
  const std::vector<uint64_t> bytes = {100, 5000, 300, 0};
  for (uint64_t begin : {0, 256, 1024, 8192}) {
    const ArenaRange taken = {begin, begin + 700};
    const auto begins = placePieces(bytes, taken, 16384);
    ASSERT_TRUE(begins);
    for (size_t i = 0; i < bytes.size(); ++i) {
      const uint64_t at = (*begins)[i], end = at + bytes[i];
      EXPECT_EQ(at % 256, 0u);
      EXPECT_LE(end, 16384u);
      EXPECT_TRUE(end <= taken.begin || at >= taken.end);
      for (size_t j = 0; j < i; ++j)
        EXPECT_TRUE(end <= (*begins)[j] || at >= (*begins)[j] + bytes[j]);
    }
  }
  EXPECT_FALSE(placePieces(bytes, {4000, 5000}, 8192));
}

// Like q and k, which are in one matrix.
TEST(MatmulScratch, letsOperandsThatAreReadShareTheirPlace) {
  br_context context;
  OnDevice<char> memory(std::vector<char>(4096, 7));
  MatmulScratch scratch(reinterpret_cast<std::byte *>(memory.data()), 4096, context.stream);
  const auto places = scratch.place({1500, 2000, 1000}, {0, 512});
  ASSERT_EQ(places.size(), 3u);
  EXPECT_EQ(places[0], places[1]);
  EXPECT_TRUE(scratch.place({1500, 2000, 2000}, {0, 512}).empty());
  scratch.clear();
  EXPECT_EQ(memory.read(), std::vector<char>(4096, 0));
}

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

class PlanFile {
public:
  PlanFile() : path(testing::TempDir() + "braid-" + std::to_string(getpid()) + ".matmul-plan.json") {
    std::filesystem::remove(path);
  }
  ~PlanFile() { std::filesystem::remove(path); }

  MatmulChoices choices(int most = 8) const {
    Rank rank;
    rank.matmulSearch = most;
    rank.matmulPlan = path;
    return MatmulChoices(rank, {"a GPU", 1}, /*ofAllRanks=*/true, /*paysOff=*/false, alone);
  }
  const std::string path;
};

std::vector<MatmulTrial> chosen(size_t number) {
  std::vector<MatmulTrial> trials = trialsOf({3, 2, 1});
  for (size_t i = 0; i < trials[0].candidates.size(); ++i)
    trials[0].candidates[i].words[0] = 100 + i;
  trials[0].chosen = number;
  return trials;
}

uint64_t algorithmOf(const MatmulChoices &choices) {
  std::vector<MatmulTrial> trials = trialsOf({0});
  choices.giveTo(trials);
  return trials[0].candidates[0].words[0];
}

TEST(MatmulPlan, isThatOfTheFirstToWrite) {
  const PlanFile file;
  MatmulChoices first = file.choices(), second = file.choices(); // both find none
  EXPECT_FALSE(first.any() || second.any());
  EXPECT_EQ(first.write(chosen(2), alone), "");
  EXPECT_EQ(second.write(chosen(1), alone), "");
  EXPECT_TRUE(first.isOwn());
  EXPECT_FALSE(second.isOwn());
  EXPECT_EQ(algorithmOf(first), 102u);
  EXPECT_EQ(algorithmOf(second), 102u);
  EXPECT_EQ(algorithmOf(file.choices()), 102u);
}

// Ranks of a pipeline have matmuls of their own.
TEST(MatmulPlan, hasTheMatmulsOfAllRanks) {
  const PlanFile file;
  MatmulChoices mine = file.choices();
  const auto withAnother = [&](const std::string &blob) {
    std::vector<std::string> blobs = {blob};
    if (Json other = Json::parse(blob); other.is_array()) {
      other[0]["key"] = "4,5,6";
      blobs.push_back(other.dump());
    }
    return blobs;
  };
  EXPECT_EQ(mine.write(chosen(1), withAnother), "");
  const Json plan = Json::parse(std::ifstream(file.path));
  ASSERT_EQ(plan["matmuls"].size(), 2u);
  EXPECT_EQ(plan["matmuls"][1]["key"], "4,5,6");
  // If all ranks have the same plan, it belongs to another program.
  std::vector<MatmulTrial> trials = trialsOf({0});
  EXPECT_THROW(file.choices().giveTo(trials), Error);
}

} // namespace
