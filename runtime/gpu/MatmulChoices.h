//===- MatmulChoices.h - file of chosen matmul algorithms -----------------===//
//
// Timed searches may choose other algorithms each time, and these round differently.  So the first
// run that searches writes its choices to a file, and later runs (also resumed ones) use them on
// all ranks.  Rank 0 reads the file for all.
//
// An algorithm is up to 64 bytes, valid only for the same matmul, library version and GPU.  A
// file for another platform is not used, and the library checks each algorithm before its use.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_GPU_MATMULCHOICES_H
#define BRAID_GPU_MATMULCHOICES_H

#include "comm/Rank.h"
#include "gpu/MatmulSearch.h"

#include <functional>
#include <string>
#include <vector>

namespace braid {

// GPU and library version that algorithms are valid for.
struct MatmulPlatform {
  std::string gpu; // name and compute capability
  uint64_t library = 0;
};

class MatmulChoices {
public:
  // All ranks must construct one together.  They agree on whether there are choices, and on whether
  // any rank finds that a search pays off.  `ofAllRanks`: all ranks have the same matmuls.
  // `allGather` returns the blobs of all ranks, in rank order.  Throws Error if ranks have
  // different options, or if rank 0 cannot read the named file.
  using AllGather = std::function<std::vector<std::string>(const std::string &)>;
  MatmulChoices(const Rank &rank, MatmulPlatform platform, bool ofAllRanks, bool paysOff, const AllGather &allGather);

  // Whether there are choices to use.
  bool any() const { return !text.empty(); }
  // Upper limit of algorithms to time for each matmul if there are no choices; up to 1 means no
  // search.
  int maxCandidates() const { return candidates; }
  // Whether the user has named the file (isNamed), or has given the number of algorithms to time
  // (isAsked).
  bool isNamed() const { return named; }
  bool isAsked() const { return isSearchRequested; }

  // Gives each trial its chosen algorithm as the only candidate.  Throws Error if the choices do
  // not fit.
  void giveTo(std::vector<MatmulTrial> &trials) const;

  // All ranks call this with the trials of a search.  Rank 0 writes the choices of all ranks.  From
  // then on all ranks use the file's content, which another run may have written first.  Returns
  // why there is no file; empty if there is one.
  std::string write(const std::vector<MatmulTrial> &trials, const AllGather &allGather);
  // Whether the choices are this run's own, not another run's.
  bool isOwn() const { return own; }
  // For rank 0: returns why the file cannot be written; empty if it can.
  std::string findObstacle() const;
  // For rank 0: removes a file that does not fit.
  void remove();

  // Returns advice for choices that do not fit.
  std::string advice() const;
  const std::string &path() const { return file; }

private:
  std::string ask() const;
  std::string textOf(const std::vector<std::string> &blobs) const;

  const bool isFirst, ofAllRanks;
  MatmulPlatform platform;
  bool named, isSearchRequested, own = false;
  int candidates;
  std::string file, text;
};

} // namespace braid
#endif // BRAID_GPU_MATMULCHOICES_H
