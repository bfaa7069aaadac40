//===- SavedTensors.h - logical tensors in one file or in several ---------===//
//
// What a checkpoint, or any file of weights, holds: named tensors in pieces, each
// in a safetensors file.  Opening checks every file against the index, so that what
// is offered can be read; reading touches only the bytes that are asked for.
//
// A name with a star, "experts.*.w", is of a stack: side by side along dim 0 it has the tensors
// that files of other programs call by numbers from 0 on in the place of the star.
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
  std::string dtype; // as safetensors calls it
  std::vector<int64_t> shape;
};

class SavedTensors {
public:
  // A safetensors file, or a folder of them: with the index of a checkpoint, or as weights
  // (Weights.h).  Throws Error that names the file and what is wrong with it.
  explicit SavedTensors(const std::string &path);

  const std::string &path() const { return name; }
  const std::map<std::string, std::string> &metadata() const { return strings; }
  // Whether damage to any of it would be noticed.
  bool hasChecksums() const { return checked; }
  const std::map<std::string, SavedTensor> &tensors() const { return all; }
  const SavedTensor *find(const std::string &tensor) const; // null: none
  // The same, with these stacks in the place of their tensors, where those are there.  Where no
  // name fits, those that lack the first part of the stack's are taken.  Throws Error when one is
  // missing in between or differs from the first.
  SavedTensors withStacks(const std::vector<std::string> &names) const;

  // A piece: where its elements lie in an open file.
  struct Piece {
    const CheckedFile &file;
    const TensorEntry &entry;
    const TensorPart &part;
  };
  // Calls f for every piece for which `wanted` is true, file by file, each opened
  // only if it has one.
  void forEachPiece(const std::function<bool(const std::string &tensor, const TensorPart &part)> &wanted,
                    const std::function<void(const std::string &tensor, const Piece &piece)> &f) const;

private:
  struct Stored {
    std::string tensor, entry; // what it is a part of, and what its file calls it
    TensorPart part;
    std::vector<int64_t> shape; // in its file
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

// The name of tensor `number` of a stack; of another tensor, its name.
std::string nameInStack(const std::string &name, int64_t number);
inline bool isStack(const std::string &name) { return name.find('*') != std::string::npos; }

} // namespace braid
#endif // BRAID_CHECKPOINT_SAVEDTENSORS_H
