//===- MatmulChoices.h - what a search has chosen, in a file ---------------===//
//
// Searches that time may choose other algorithms each time, which round differently.  So
// the first run that searches writes what it has chosen, and later runs, resumed ones too,
// and all ranks take that: rank 0 reads the file for all.
//
// An algorithm of cuBLASLt is 64 bytes that mean something to the same version of the
// library on the same GPU alone, for the same matmul.  A file for others is refused, and
// the library checks each algorithm before it is taken.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CUDA_MATMULCHOICES_H
#define BRAID_CUDA_MATMULCHOICES_H

#include "comm/Rank.h"
#include "cuda/MatmulSearch.h"

#include <functional>
#include <string>
#include <vector>

namespace braid {

// What algorithms are for.
struct MatmulPlatform {
  std::string gpu; // its name and compute capability
  uint64_t library = 0;
};

class MatmulChoices {
public:
  // Agrees with the other ranks, all of which must make one, on whether there are choices.
  // `allGather` returns the blobs of all ranks, in their order.  Throws Error where ranks are
  // told to do different things, or where rank 0 cannot read the file that it was told to take.
  using AllGather = std::function<std::vector<std::string>(const std::string &)>;
  MatmulChoices(const Rank &rank, MatmulPlatform platform, const AllGather &allGather);

  // Whether there are some, which are to be taken; if not, whether to search.
  bool any() const { return !text.empty(); }
  bool areWanted() const { return !any() && most > 1; }

  // Gives each trial the algorithm that was chosen, as its only candidate.
  void giveTo(std::vector<MatmulTrial> &trials) const;
  // Writes those of a search.
  void write(const std::vector<MatmulTrial> &trials) const;

  // What to do about choices that do not fit.
  std::string advice() const;
  const std::string &path() const { return file; }

private:
  std::string ask(bool isTold) const;

  MatmulPlatform platform;
  int most;
  std::string file, text;
};

} // namespace braid
#endif // BRAID_CUDA_MATMULCHOICES_H
