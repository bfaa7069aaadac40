//===- MatmulSearch.h - search for the fastest GEMM algorithm -------------===//
//
// The heuristic's first algorithm is a guess.  With --matmul-search=N, up to N candidates are timed
// for each distinct matmul, on the stream where matmuls run.  The fastest is kept; of equal ones
// the first.  A candidate that fails is dropped.  If the heuristic has fewer than N, the search
// adds the same candidates with their sums over k split into 2 to 16 parts, added in f32 and in a
// fixed order.
//
// The search runs while the context is made.  Then the arena is all zeros, without any input,
// initial value or checkpoint, and nothing else runs on the device for this rank.  So operands may
// lie anywhere in the arena (MatmulScratch.h), which is all zeros again afterwards.
//
// Candidates take turns, so that clocks and heat are alike for all.  The first round, in which the
// library loads kernels, does not count.  Operands may still be in the device's cache, for all
// candidates alike.
//
// Algorithms add in different orders, so runs that search may differ in the last bits.  The ranks
// of one run must not differ where they compute the same.  So they exchange their times, and each
// matmul uses the candidate whose slowest rank is the fastest.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_GPU_MATMULSEARCH_H
#define BRAID_GPU_MATMULSEARCH_H

#include "gpu/Gemm.h"

#include <functional>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace braid {

// Milliseconds of a call; infinite if it failed.
struct MatmulTime {
  double minimum = std::numeric_limits<double>::infinity(), median = minimum;
};

// A call of a matmul, and the time of each algorithm for it.
struct MatmulTrial {
  int32_t matmul = 0;                    // number among the distinct matmuls
  int64_t users = 1;                     // descriptors with this matmul
  bool isLast = true;                    // whether it is the last of the calls that accumulate into a result
  int64_t calls = 1;                     // calls in one run
  std::string name, key;                 // name for messages; key, equal on all ranks for equal matmuls only
  std::vector<GemmAlgorithm> candidates; // in the library's order
  std::vector<MatmulTime> times;         // one for each candidate; empty without room for operands
  size_t chosen = 0;
};

// Rounds of timing, and the default number of candidates of a matmul.
constexpr int timingRounds = 8, defaultCandidates = 16;

// Whether a search by default wins more than its own time in a job of `steps` steps.  `step` is the
// lower bound in seconds for the matmuls of a step; `distinct`, for each distinct matmul once.
bool searchPaysOff(double step, double distinct, int64_t steps);

// Times `count` alternatives; `call` queues one of them, and returns whether it could.
std::vector<MatmulTime> timeByTurns(size_t count, const GpuStream &stream, const std::function<bool(size_t)> &call);

// Returns the index of the fastest, of equal ones the first; 0 for an empty list.
size_t fastestOf(const std::vector<MatmulTime> &times);

// Returns this rank's trials, or the error that prevented them, as a blob for the other ranks.
std::string blobOf(const std::vector<MatmulTrial> &trials);
std::string blobOfFailure(const std::string &error);

// Chooses by the blobs of all ranks, in rank order.  Throws RankError if one of them failed; throws
// Error if a matmul has other candidates on another rank, or none that runs on all ranks.
void chooseByBlobs(std::vector<MatmulTrial> &trials, const std::vector<std::string> &blobs);

// For messages: numbers of matmuls and algorithms, and the gain over the heuristic's first choices.
std::string describeSearch(const std::vector<MatmulTrial> &trials);
// For programs: the part of the file that --profile writes.
nlohmann::ordered_json jsonOfSearch(const std::vector<MatmulTrial> &trials);

} // namespace braid
#endif // BRAID_GPU_MATMULSEARCH_H
