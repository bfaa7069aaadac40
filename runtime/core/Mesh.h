//===- Mesh.h - which ranks are in which group ----------------------------===//
#ifndef BRAID_CORE_MESH_H
#define BRAID_CORE_MESH_H

#include "braid_rt.h"

#include <string>
#include <vector>

namespace braid {

// The number of ranks that the model was compiled for.
int worldSize(const br_model &model);

// Whether all ranks run this model; else some run another one of its list.
inline bool isOfAllRanks(const br_model &model) { return model.n_coordinates == 0; }

// The one of the list that starts with `first` which a rank runs; throws Error when
// there is none.
const br_model &modelOf(const br_model &first, int rank);

// How many ranks run this model, and which: "dp = 1, 2, 3".
int ranksOf(const br_model &model);
std::string nameOfRanks(const br_model &model);

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
