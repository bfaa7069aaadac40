//===- KindsTest.cpp - ranks that run models of their own -----------------===//

#include "base/Error.h"
#include "core/Mesh.h"

#include <gtest/gtest.h>

using namespace braid;

namespace {

// A mesh {dp = 3, tp = 2} with two kinds of ranks: those with dp = 0, and those with dp = 1 and 2.
struct Kinds {
  br_axis mesh[2] = {{"dp", 3}, {"tp", 2}};
  int32_t first[1] = {0}, second[2] = {1, 2};
  br_model root{}, workers{};

  Kinds() {
    for (br_model *model : {&root, &workers})
      model->mesh = mesh, model->n_axes = 2, model->axis = 0;
    root.coordinates = first, root.n_coordinates = 1, root.others = &workers;
    workers.coordinates = second, workers.n_coordinates = 2;
  }
};

TEST(Kinds, aRankHasTheModelOfItsCoordinate) {
  Kinds kinds;
  for (int rank = 0; rank < 6; ++rank)
    EXPECT_EQ(&modelOf(kinds.root, rank), rank < 2 ? &kinds.root : &kinds.workers) << rank;
  EXPECT_EQ(ranksOf(kinds.root), 2);
  EXPECT_EQ(ranksOf(kinds.workers), 4);
  EXPECT_EQ(nameOfRanks(kinds.workers), "dp = 1, 2");
  EXPECT_FALSE(isOfAllRanks(kinds.workers));
}

TEST(Kinds, aModelOfAllRanksIsThatOfEach) {
  Kinds kinds;
  kinds.root.n_coordinates = 0;
  EXPECT_EQ(&modelOf(kinds.root, 5), &kinds.root);
  EXPECT_EQ(ranksOf(kinds.root), 6);
  EXPECT_TRUE(isOfAllRanks(kinds.root));
}

TEST(Kinds, aRankWithoutModelIsRefused) {
  Kinds kinds;
  kinds.root.others = nullptr;
  try {
    modelOf(kinds.root, 3);
    FAIL();
  } catch (const Error &error) {
    EXPECT_STREQ(error.what(), "the compiled model is broken: it has no entry for rank 3; compile it again");
  }
}

} // namespace
