//===- RunOutputs.h - logical tensors put together from what ranks hold ---===//
//
// `run` writes one file, whatever the number of ranks.  Each rank, a thread of this
// process, adds its parts of the same tensors in the same order; the last to be
// done writes.  Nobody waits, so a rank that fails keeps nobody from ending.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CORE_RUNOUTPUTS_H
#define BRAID_CORE_RUNOUTPUTS_H

#include "core/TensorPart.h"

#include <deque>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace braid {

// A tensor to be put together.
struct OutputTensor {
  std::string name;
  br_dtype dtype;
  std::vector<int64_t> shape;
  int64_t pieces = 1; // terms that it is the sum of
};

class RunOutputs {
public:
  // Made once, for the ranks of this process.
  explicit RunOutputs(int ranksHere) : ranks(ranksHere) {}

  int ranksHere() const { return ranks; }

  // What a rank adds: its part of the tensor number `at`, counted from 0.
  struct Part {
    int rank;
    size_t at;
    int64_t piece = 0;
    TensorPart where;
    const std::byte *memory;
  };
  void add(const OutputTensor &tensor, const Part &part);
  // The tensor is that of number `before` after the run: written if it changed.
  void addUpdate(const OutputTensor &tensor, const Part &part, size_t before);

  // Says that a rank has added all.  The last one writes the file and is told so;
  // throws Error when ranks hold different values of the same element.
  bool finish(const std::string &path);

private:
  using Holder = std::pair<int, TensorPart>;
  struct Piece {
    std::vector<std::byte> memory; // of the whole tensor
    std::vector<Holder> holders;   // those that were first to add their parts
  };
  struct Gathered {
    OutputTensor tensor;
    std::vector<Piece> pieces;
    size_t before;
  };
  struct Difference {
    size_t at;
    int64_t element;
    std::string text;
  };
  void gather(const OutputTensor &tensor, const Part &part, size_t before);
  void compare(const Gathered &gathered, const Part &part, int other);
  std::vector<Gathered *> changed();

  std::mutex mutex;
  int ranks, finished = 0;
  std::deque<Gathered> tensors;
  std::vector<Difference> differences;
};

} // namespace braid
#endif // BRAID_CORE_RUNOUTPUTS_H
