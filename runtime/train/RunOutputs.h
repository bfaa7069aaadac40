//===- RunOutputs.h - logical tensors from ranks' parts -------------------===//
//
// `run` writes one file for any number of ranks. Each rank is a thread of this process and adds its parts
// of tensors. The last rank to finish writes the file, in the order of the first rank. No rank waits, so a
// failing rank cannot block the others.
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

// Description of an output tensor that is assembled from parts.
struct OutputTensor {
  std::string name;
  br_dtype dtype;
  std::vector<int64_t> shape;
  int64_t pieces = 1; // number of terms if the tensor is a partial sum
};

// Throws Error if `path` is one of the data files or cannot be created. Called before hours of work.
void checkWritable(const std::string &path, const DataFiles &data);

class RunOutputs {
public:
  // Created once, for the ranks of this process.
  explicit RunOutputs(int ranksHere) : ranks(ranksHere) {}

  int ranksHere() const { return ranks; }

  // Data that a rank adds. `at` is its index among all additions of the rank, from 0.
  struct Part {
    int rank;
    size_t at;
    int64_t piece = 0;
    TensorPart where;
    const std::byte *memory;
  };
  // Adds an input tensor or a result of the run.
  void add(const OutputTensor &tensor, const Part &part);
  void addResult(const OutputTensor &tensor, const Part &part);
  // Adds the value after the run of the input tensor `before`. It is written only if it changed.
  void addUpdate(const OutputTensor &tensor, const Part &part, const std::string &before);

  // Adds some rows of a result; other calls add the other rows. Does not compare copies on different ranks.
  void addRows(const OutputTensor &tensor, const TensorPart &where, const std::byte *memory);

  // Marks a rank as done. The last rank writes the file and gets true. Throws Error if ranks hold different
  // values of the same element.
  bool finish(const std::string &path);

private:
  using Holder = std::pair<int, TensorPart>;
  struct Piece {
    std::vector<std::byte> memory; // of the whole tensor
    std::vector<Holder> holders;   // the first rank to add each part
  };
  enum class Role { Given, Result, Update };
  using Key = std::pair<Role, std::string>; // a tensor's name
  struct Gathered {
    OutputTensor tensor;
    std::vector<Piece> pieces;
    std::string before;
    std::pair<int, size_t> order; // rank that added it first, and the index of that addition
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
