//===- Mesh.h - which ranks are in which group ----------------------------===//
#ifndef BRAID_CORE_MESH_H
#define BRAID_CORE_MESH_H

#include "braid_rt.h"

#include <vector>

namespace braid {

// The number of ranks that the model was compiled for.
int worldSize(const br_model &model);

// A rank's number in its group of a kind, and how many ranks that has.
struct GroupPlace {
  int64_t index = 0, size = 1;
};
GroupPlace placeInGroup(const br_model &model, int32_t group, int rank);

// All groups of a kind, each a list of ranks in the order of their numbers; the
// groups in the order of their first ranks.
std::vector<std::vector<int32_t>> groupsOf(const br_model &model, int32_t group);

} // namespace braid
#endif // BRAID_CORE_MESH_H
