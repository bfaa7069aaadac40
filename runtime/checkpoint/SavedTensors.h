//===- SavedTensors.h - logical tensors in one file or in several ---------===//
//
// What a checkpoint, or any file of weights, holds: named tensors in pieces, each
// in a safetensors file.  Opening checks every file against the index, so that what
// is offered can be read; reading touches only the bytes that are asked for.
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
    std::string tensor;
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

  std::string name;
  std::map<std::string, std::string> strings;
  std::map<std::string, SavedTensor> all;
  std::vector<StoredFile> files;
  bool checked = true;
};

} // namespace braid
#endif // BRAID_CHECKPOINT_SAVEDTENSORS_H
