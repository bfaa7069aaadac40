//===- MatmulChoices.h - what a search has chosen, in a file ---------------===//
//
// Searches that time may choose other algorithms each time, which round differently.  So
// the first run that searches writes what it has chosen, and later runs, resumed ones too,
// and all ranks take that: rank 0 reads the file for all.
//
// An algorithm of cuBLASLt is 64 bytes that mean something to the same version of the
// library on the same GPU alone, for the same matmul.  A file for others is not taken, and
// the library checks each algorithm before it is.
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
  // Agrees with the other ranks, all of which must make one, on what to do: whether there are choices, and
  // whether any rank finds that a search pays off.  `ofAllRanks`: all have the same matmuls.
  // `allGather` returns the blobs of all ranks, in their order.  Throws Error where ranks are
  // told to do different things, or where rank 0 cannot read the file that it was told to take.
  using AllGather = std::function<std::vector<std::string>(const std::string &)>;
  MatmulChoices(const Rank &rank, MatmulPlatform platform, bool ofAllRanks, bool paysOff, const AllGather &allGather);

  // Whether there are some, which are to be taken.
  bool any() const { return !text.empty(); }
  // How many algorithms of each matmul to time where there are none; up to 1: not to.
  int most() const { return candidates; }
  // Whether the user has named the file, or has said how many to time.
  bool isNamed() const { return named; }
  bool isAsked() const { return asked; }

  // Gives each trial the algorithm that was chosen, as its only candidate.  Throws Error where they do not fit.
  void giveTo(std::vector<MatmulTrial> &trials) const;

  // All ranks come here with the trials of a search: rank 0 writes what was chosen for any of them, and from
  // now on all have what the file holds, which another run may have written first.  Returns why there is no
  // file; empty if there is.
  std::string write(const std::vector<MatmulTrial> &trials, const AllGather &allGather);
  // Whether these are what this run has written, and not another.
  bool isOwn() const { return own; }
  // On rank 0: why nothing can be written there; empty if it can.
  std::string findObstacle() const;
  // On rank 0: takes away a file that does not fit.
  void remove();

  // What to do about choices that do not fit.
  std::string advice() const;
  const std::string &path() const { return file; }

private:
  std::string ask() const;
  std::string textOf(const std::vector<std::string> &blobs) const;

  const bool isFirst, ofAllRanks;
  MatmulPlatform platform;
  bool named, asked, own = false;
  int candidates;
  std::string file, text;
};

} // namespace braid
#endif // BRAID_CUDA_MATMULCHOICES_H
