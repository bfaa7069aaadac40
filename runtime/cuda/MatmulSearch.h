//===- MatmulSearch.h - takes the fastest algorithm of cuBLASLt -----------===//
//
// The heuristic's first algorithm is a guess.  With --matmul-search=N up to N of its
// candidates are timed for each distinct matmul, on the stream where matmuls run, and
// the fastest is kept; of equal ones the first.  One that fails is left out.
//
// That happens while the context is made: the arena is all zeros, no input, initial value
// or checkpoint is in it yet, and nothing else runs on the device for this rank.  So
// operands lie anywhere in it (MatmulScratch.h), and it is all zeros again afterwards.
//
// Candidates go by turns, so that clocks and heat are the same for all.  The first round,
// in which the library loads kernels, does not count.  Operands may still be in the
// device's cache, for all candidates alike.
//
// Algorithms add in different orders, so runs that search may differ from each other in
// the last bits.  The ranks of one run do not: where they compute the same they must get
// the same.  They exchange their times, and each matmul runs by the candidate whose
// slowest rank is the fastest.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CUDA_MATMULSEARCH_H
#define BRAID_CUDA_MATMULSEARCH_H

#include <cublasLt.h>

#include <functional>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace braid {

// Milliseconds of a call; infinite: it failed.
struct MatmulTime {
  double least = std::numeric_limits<double>::infinity(), median = least;
};

// A call of a matmul, and how long each algorithm takes for it.
struct MatmulTrial {
  int32_t matmul = 0;    // its number among those that differ
  int64_t users = 1;     // descriptors that are this matmul
  bool isLast = true;    // of the calls that add up to a result: the one that finishes it
  int64_t calls = 1;     // of one run
  std::string name, key; // for people; the same on other ranks for the same matmul alone
  std::vector<cublasLtMatmulHeuristicResult_t> candidates; // in the library's order
  std::vector<MatmulTime> times;                           // of them; none: there was no room for operands
  size_t chosen = 0;
};

// The configuration that the library reports of an algorithm, "?" where it reports none; equal only for equal
// algorithms.
std::string describeAlgorithm(const cublasLtMatmulAlgo_t &algorithm);

// Times `count` alternatives; `call` queues one of them, and says whether it could.
std::vector<MatmulTime> timeByTurns(size_t count, cudaStream_t stream, const std::function<bool(size_t)> &call);

// The first of those that took least; 0 where there are none.
size_t fastestOf(const std::vector<MatmulTime> &times);

// This rank's trials, or the error for which it has none, as a blob for the other ranks.
std::string blobOf(const std::vector<MatmulTrial> &trials);
std::string blobOfFailure(const std::string &error);

// Chooses by the blobs of all ranks, in their order.  Throws RankError if one of them
// failed; Error if a matmul has other candidates on another rank, or none that runs.
void chooseByBlobs(std::vector<MatmulTrial> &trials, const std::vector<std::string> &blobs);

// For people: of how many matmuls and algorithms, and the gain over the heuristic's first.
std::string describeSearch(const std::vector<MatmulTrial> &trials);
// For programs: what --profile writes.
nlohmann::ordered_json jsonOfSearch(const std::vector<MatmulTrial> &trials);

} // namespace braid
#endif // BRAID_CUDA_MATMULSEARCH_H
