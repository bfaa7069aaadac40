//===- CheckpointIndex.h - which file of a checkpoint has which elements --===//
//
// A checkpoint of several files has an index, index.json: the state of the job, the
// mesh that it was saved on, and of each tensor its logical shape and which axes of
// the mesh shard it.  Which file has which elements follows as it does in a program
// (br_tensor), so the index does not grow with the number of ranks, and whatever it
// says is a complete partition.
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

// What a rank writes: the tensors that are saved, of which it is the first to hold a
// part that is not empty.
std::vector<const br_tensor *> savedTensorsOf(const br_model &model, int rank);
// The shape of that part in its file: a block's, or the length of a flat range.
std::vector<int64_t> savedShapeOf(const br_model &model, const br_tensor &tensor, int rank);

// An index begins so, and goes on with its own checksum (seal).
inline constexpr const char *kIndexChecksum = "index_xxh3";
inline constexpr std::string_view kSealedIndex = R"({"index_xxh3":")";
// The index without the state of the job, which goes before it: `,"mesh":...}`.
std::string describeParts(const br_model &model);

class CheckpointIndex {
public:
  // Throws Error that names the file and what is wrong with it.
  explicit CheckpointIndex(const std::string &path);

  const std::map<std::string, std::string> &metadata() const { return strings; }
  // Whether it has its own checksum, which is right: older ones have none.
  bool isSealed() const { return sealed; }
  // The mesh and the tensors of the program that saved it, and nothing else.
  const br_model &layout() const { return model; }

private:
  template <class Json> void readMesh(const Json &mesh);
  template <class Json> void readTensor(const std::string &name, const Json &value);
  template <class Json> void readHolder(const std::string &about, const Json &at, br_tensor &t);
  template <class Json> void readFused(const std::string &about, const Json &fused, br_tensor &t);
  template <class Json> int32_t groupOf(const std::string &name, const Json &axes, std::vector<bool> &used);

  std::string where; // for messages
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
