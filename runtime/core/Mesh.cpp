//===- Mesh.cpp - groups of ranks in the mesh -----------------------------===//

#include "core/Mesh.h"

#include "base/Error.h"

#include <algorithm>

using namespace braid;

int braid::worldSize(const br_model &model) {
  int size = 1;
  for (int32_t i = 0; i < model.n_axes; ++i)
    size *= model.mesh[i].size;
  return size;
}

// Returns the distance in rank numbers between neighbours along an axis.
static int strideOf(const br_model &model, int32_t axis) {
  int stride = 1;
  for (int32_t i = axis + 1; i < model.n_axes; ++i)
    stride *= model.mesh[i].size;
  return stride;
}

static bool runs(const br_model &model, int rank) {
  int32_t at = rank / strideOf(model, model.axis) % model.mesh[model.axis].size;
  return std::count(model.coordinates, model.coordinates + model.n_coordinates, at) > 0;
}

const br_model &braid::modelOf(const br_model &first, int rank) {
  if (isOfAllRanks(first))
    return first;
  for (const br_model *model = &first; model; model = model->others)
    if (runs(*model, rank))
      return *model;
  fail("the compiled model is broken: it has no entry for rank ", rank, "; compile it again");
}

int braid::ranksOf(const br_model &model) {
  int world = worldSize(model);
  return isOfAllRanks(model) ? world : world / model.mesh[model.axis].size * model.n_coordinates;
}

std::string braid::nameOfRanks(const br_model &model) {
  std::string text = concat(model.mesh[model.axis].name, " = ");
  for (int32_t i = 0; i < model.n_coordinates; ++i)
    text += concat(i ? ", " : "", model.coordinates[i]);
  return text;
}

GroupPlace braid::placeInGroup(const br_model &model, int32_t group, int rank) {
  GroupPlace place;
  if (group == 0)
    return place;
  const br_group &g = model.groups[group];
  for (int32_t i = 0; i < g.n_axes; ++i) {
    int size = model.mesh[g.axes[i]].size;
    place.index = place.index * size + rank / strideOf(model, g.axes[i]) % size;
    place.size *= size;
  }
  return place;
}

std::vector<std::vector<int32_t>> braid::groupsOf(const br_model &model, int32_t group) {
  const int world = worldSize(model);
  std::vector<std::vector<int32_t>> groups;
  for (int first = 0; first < world; ++first) {
    if (placeInGroup(model, group, first).index != 0)
      continue;
    std::vector<int32_t> &ranks = groups.emplace_back();
    ranks.resize(placeInGroup(model, group, first).size);
    const br_group *g = group == 0 ? nullptr : &model.groups[group];
    for (int64_t number = 0; number < int64_t(ranks.size()); ++number) {
      int64_t rest = number;
      int rank = first;
      for (int32_t i = g ? g->n_axes - 1 : -1; i >= 0; --i) {
        int size = model.mesh[g->axes[i]].size;
        rank += static_cast<int>(rest % size) * strideOf(model, g->axes[i]);
        rest /= size;
      }
      ranks[number] = rank;
    }
  }
  return groups;
}
