//===- MatmulSearch.h - the fastest algorithm of those that cuBLASLt offers -===//
//
// The heuristic's first algorithm is a guess.  With --matmul-search=N up to N of its
// candidates are timed for each distinct product, on the stream where products run, and
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
// the same.  All tell their times, and a product takes the candidate that is the fastest
// on its slowest rank.
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

// A call of a product, and how long each algorithm takes for it.
struct MatmulTrial {
  int32_t product = 0;   // its number among those that differ
  int64_t users = 1;     // descriptors that are this product
  bool isLast = true;    // of the calls that add up to a result: the one that finishes it
  int64_t calls = 1;     // of one run
  std::string name, key; // for people; the same on other ranks for the same product alone
  std::vector<cublasLtMatmulHeuristicResult_t> candidates; // in the library's order
  std::vector<MatmulTime> times;                           // of them; none: there was no room for operands
  size_t chosen = 0;
};

// Times `count` alternatives; `call` queues one of them, and says whether it could.
std::vector<MatmulTime> timeByTurns(size_t count, cudaStream_t stream, const std::function<bool(size_t)> &call);

// The first of those that took least; 0 where there are none.
size_t fastestOf(const std::vector<MatmulTime> &times);

// What tells all ranks of the trials of this one, or of the error for want of them.
std::string wordOf(const std::vector<MatmulTrial> &trials);
std::string wordOfFailure(const std::string &error);

// Chooses by the words of all ranks, in their order.  Throws RankError where one of them
// failed; Error where a product has other candidates elsewhere, or none that runs.
void chooseByWords(std::vector<MatmulTrial> &trials, const std::vector<std::string> &words);

// For people: of how many products and algorithms, and the gain over the heuristic's first.
std::string describeSearch(const std::vector<MatmulTrial> &trials);
// For programs: what --profile writes.
nlohmann::ordered_json jsonOfSearch(const std::vector<MatmulTrial> &trials);

} // namespace braid
#endif // BRAID_CUDA_MATMULSEARCH_H
