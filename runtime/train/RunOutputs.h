//===- RunOutputs.h - logical tensors put together from what ranks hold ---===//
//
// `run` writes one file, whatever the number of ranks.  Each rank, a thread of this
// process, adds its parts of the tensors that it has; the last to be done writes, in
// the order of the first rank.  Nobody waits, so a rank that fails keeps nobody from
// ending.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_TRAIN_RUNOUTPUTS_H
#define BRAID_TRAIN_RUNOUTPUTS_H

#include "core/TensorPart.h"
#include "data/DataFiles.h"

#include <map>
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

// Before hours of work: throws Error if the file is one of the data, or cannot be made where it is to be.
void checkWritable(const std::string &path, const DataFiles &data);

class RunOutputs {
public:
  // Made once, for the ranks of this process.
  explicit RunOutputs(int ranksHere) : ranks(ranksHere) {}

  int ranksHere() const { return ranks; }

  // What a rank adds, as number `at` of all that it does, counted from 0.
  struct Part {
    int rank;
    size_t at;
    int64_t piece = 0;
    TensorPart where;
    const std::byte *memory;
  };
  // A tensor that the run was given, or that came out.
  void add(const OutputTensor &tensor, const Part &part);
  void addResult(const OutputTensor &tensor, const Part &part);
  // What became of the tensor `before` that was given: written if it changed.
  void addUpdate(const OutputTensor &tensor, const Part &part, const std::string &before);

  // Some rows of a result, whose other rows come with other calls.  Ranks that hold the same are not compared.
  void addRows(const OutputTensor &tensor, const TensorPart &where, const std::byte *memory);

  // Says that a rank has added all.  The last one writes the file and is told so;
  // throws Error when ranks hold different values of the same element.
  bool finish(const std::string &path);

private:
  using Holder = std::pair<int, TensorPart>;
  struct Piece {
    std::vector<std::byte> memory; // of the whole tensor
    std::vector<Holder> holders;   // those that were first to add their parts
  };
  enum class Role { Given, Result, Update };
  using Key = std::pair<Role, std::string>; // a tensor's name
  struct Gathered {
    OutputTensor tensor;
    std::vector<Piece> pieces;
    std::string before;
    std::pair<int, size_t> order; // the first rank that added it, and as which number
  };
  struct Difference {
    size_t at;
    int64_t element;
    std::string text;
  };
  void gather(Role role, const OutputTensor &tensor, const Part &part, const std::string &before);
  void compare(const Gathered &gathered, const Part &part, int other);
  std::vector<Gathered *> changed();

  std::mutex mutex;
  int ranks, finished = 0;
  std::map<Key, Gathered> tensors;
  std::vector<Difference> differences;
};

} // namespace braid
#endif // BRAID_TRAIN_RUNOUTPUTS_H
