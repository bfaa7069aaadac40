//===- SavedTensors.h - logical tensors in one or more files --------------===//
//
// The tensors of a checkpoint or of any file of weights: named, and stored in pieces, each in a safetensors
// file. Opening checks every file against the index, so that every listed tensor is readable. Reading
// touches only the requested bytes.
//
// A name with a star, "experts.*.w", names a stack along dim 0. Files of other programs store its parts as
// separate tensors, with numbers from 0 on instead of the star.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CHECKPOINT_SAVEDTENSORS_H
#define BRAID_CHECKPOINT_SAVEDTENSORS_H

#include "checkpoint/CheckedFile.h"
#include "core/TensorPart.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace braid {

struct SavedTensor {
  std::string dtype; // type name in safetensors
  std::vector<int64_t> shape;
};

class SavedTensors {
public:
  // Opens a safetensors file, or a folder of them, with the index of a checkpoint or as weights
  // (Weights.h). Throws an Error that names the file and says what is wrong.
  explicit SavedTensors(const std::string &path);

  const std::string &path() const { return name; }
  const std::map<std::string, std::string> &metadata() const { return strings; }
  // Whether all data has checksums, so that damage is detected.
  bool hasChecksums() const { return checked; }
  const std::map<std::string, SavedTensor> &tensors() const { return all; }
  const SavedTensor *find(const std::string &tensor) const; // null if there is none
  // Returns a copy in which each stack in `names` replaces its tensors, if they exist. If no name matches,
  // tries the stack's name without its first component. Throws Error if a tensor of the stack is missing or
  // differs from the first.
  SavedTensors withStacks(const std::vector<std::string> &names) const;

  // A piece: the place of its elements in an open file.
  struct Piece {
    const CheckedFile &file;
    const TensorEntry &entry;
    const TensorPart &part;
  };
  // Calls f for every piece for which `wanted` returns true, file by file. Opens a file only if it has such
  // a piece.
  void forEachPiece(const std::function<bool(const std::string &tensor, const TensorPart &part)> &wanted,
                    const std::function<void(const std::string &tensor, const Piece &piece)> &f) const;

private:
  struct Stored {
    std::string tensor, entry; // the tensor that it is a part of, and its name in the file
    TensorPart part;
    std::vector<int64_t> shape; // in the file
  };
  struct StoredFile {
    std::string path;
    std::vector<Stored> pieces;
  };
  void openFile(const std::string &path);
  void openFolder(const std::string &path);
  void openWeights(const std::string &path);
  template <class F> void addFile(const std::string &path, const F &isIncluded);
  void check(const StoredFile &stored, int rank);
  std::map<std::string, int64_t> numbersIn(const std::string &pattern) const;
  bool stack(const std::string &pattern);

  std::string name;
  std::map<std::string, std::string> strings;
  std::map<std::string, SavedTensor> all;
  std::vector<StoredFile> files;
  bool checked = true;
};

// Returns the name of tensor `number` of a stack; for other tensors, their own name.
std::string nameInStack(const std::string &name, int64_t number);
inline bool isStack(const std::string &name) { return name.find('*') != std::string::npos; }

} // namespace braid
#endif // BRAID_CHECKPOINT_SAVEDTENSORS_H
