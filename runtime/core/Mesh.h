//===- Mesh.h - groups of ranks in the mesh -------------------------------===//
#ifndef BRAID_CORE_MESH_H
#define BRAID_CORE_MESH_H

#include "braid_rt.h"

#include <string>
#include <vector>

namespace braid {

// The number of ranks that the model was compiled for.
int worldSize(const br_model &model);

// Whether all ranks run this model; otherwise some ranks run another model of its list.
inline bool isOfAllRanks(const br_model &model) { return model.n_coordinates == 0; }

// Returns the model that a rank runs, from the list that starts with `first`; throws Error if there
// is none.
const br_model &modelOf(const br_model &first, int rank);

// Returns how many ranks run this model, and which: "dp = 1, 2, 3".
int ranksOf(const br_model &model);
std::string nameOfRanks(const br_model &model);

// A rank's number in its group of a kind, and the size of that group.
struct GroupPlace {
  int64_t index = 0, size = 1;
};
GroupPlace placeInGroup(const br_model &model, int32_t group, int rank);

// Returns all groups of a kind, in the order of their first ranks.  Each is a list of ranks in the
// order of their numbers in the group.
std::vector<std::vector<int32_t>> groupsOf(const br_model &model, int32_t group);

} // namespace braid
#endif // BRAID_CORE_MESH_H
