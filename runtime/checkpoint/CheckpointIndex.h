//===- CheckpointIndex.h - the files that hold a tensor -------------------===//
//
// A checkpoint of several files has an index, index.json. It holds the state of the job, the mesh at the
// time of the save, and for each tensor its logical shape and the mesh axes that shard it. The elements in
// each file follow from these by the rules for programs (br_tensor). So the index does not grow with the
// number of ranks, and always describes a complete partition.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CHECKPOINT_CHECKPOINTINDEX_H
#define BRAID_CHECKPOINT_CHECKPOINTINDEX_H

#include "braid_rt.h"

#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace braid {

// Returns the tensors that a rank writes: saved tensors with a nonempty part that this rank is the first to
// hold.
std::vector<const br_tensor *> savedTensorsOf(const br_model &model, int rank);
// Returns the shape of that part in its file: the shape of a block, or the length of a flat range.
std::vector<int64_t> savedShapeOf(const br_model &model, const br_tensor &tensor, int rank);

// The start of an index, followed by its own checksum (seal).
inline constexpr const char *kIndexChecksum = "index_xxh3";
inline constexpr std::string_view kSealedIndex = R"({"index_xxh3":")";
// Returns the index without the state of the job, which precedes it: `,"mesh":...}`.
std::string describeParts(const br_model &model);

class CheckpointIndex {
public:
  // Throws an Error that names the file and says what is wrong.
  explicit CheckpointIndex(const std::string &path);

  const std::map<std::string, std::string> &metadata() const { return strings; }
  // Whether the index has its own, correct checksum; older ones have none.
  bool isSealed() const { return sealed; }
  // The mesh and the tensors of the program that saved the checkpoint; other fields are empty.
  const br_model &layout() const { return model; }

private:
  template <class Json> void readMesh(const Json &mesh);
  template <class Json> void readTensor(const std::string &name, const Json &value);
  template <class Json> void readHolder(const std::string &about, const Json &at, br_tensor &t);
  template <class Json> void readFused(const std::string &about, const Json &fused, br_tensor &t);
  template <class Json> int32_t groupOf(const std::string &name, const Json &axes, std::vector<bool> &used);

  std::string where; // prefix of messages
  bool sealed = false;
  std::map<std::string, std::string> strings;
  std::deque<std::string> names;
  std::vector<br_axis> axes;
  std::vector<br_group> groups;
  std::vector<br_tensor> tensors;
  br_model model{};
};

} // namespace braid
#endif // BRAID_CHECKPOINT_CHECKPOINTINDEX_H
