//===- StartFactsTest.cpp - what ranks must have in common to start -------===//

#include "comm/StartFacts.h"
#include "ExampleModels.h"
#include "RanksModel.h"
#include "base/Error.h"
#include "core/ProgramHash.h"

#include <gtest/gtest.h>

using namespace braid;
using namespace braid::test;

namespace {

TEST(StartFacts, arriveAsTheyWere) {
  StartFacts facts = {{"--lr", "0.001"}, {"", std::string("\0\n", 2)}, {"the data", ""}};
  StartFacts same = unpackFacts(packFacts(facts));
  ASSERT_EQ(same.size(), facts.size());
  for (size_t i = 0; i < facts.size(); ++i)
    EXPECT_TRUE(same[i].name == facts[i].name && same[i].value == facts[i].value);
  EXPECT_THROW(unpackFacts(packFacts(facts).substr(0, 12)), Error);
}

TEST(StartFacts, differencesNameTheFactAndTheRanks) {
  EXPECT_EQ(differencesOf({{{"--lr", "1"}}, {{"--lr", "1"}}}), "");
  EXPECT_EQ(differencesOf({{{"--lr", "1"}, {"--seed", "3"}}, {{"--lr", "2"}, {"--seed", "3"}}}),
            "--lr is 1 on rank 0 and 2 on rank 1");
  EXPECT_EQ(differencesOf({{{"a", "1"}, {"b", "x"}},
                           {{"a", "2"}, {"b", "y"}},
                           {{"a", "1"}, {"b", "x"}},
                           {{"a", "1"}, {"b", "x"}},
                           {{"a", "3"}, {"b", "x"}}}),
            "a is 1 on ranks 0, 2-3, 2 on rank 1 and 3 on rank 4; b is x on ranks 0, 2-4 and y on rank 1");
}

// If one rank reads the data for all, the others report no data.
TEST(StartFacts, aRankWithoutAFactDoesNotDiffer) { EXPECT_EQ(differencesOf({{{"the data", "1"}}, {}}), ""); }

TEST(ProgramHash, isOfWhatRuns) {
  const std::string own = programHash(regressionModel());
  EXPECT_EQ(own, programHash(regressionModel()));
  EXPECT_NE(own, programHash(bigramModel()));
  br_model model = regressionModel();
  model.cpu_features = "avx9000f"; // another processor of the same job
  EXPECT_EQ(own, programHash(model));
  model.optimizer = "adamw";
  EXPECT_NE(own, programHash(model));
  model = regressionModel();
  std::vector<br_tensor> tensors(model.tensors, model.tensors + model.n_tensors);
  model.tensors = tensors.data();
  EXPECT_EQ(own, programHash(model));
  tensors[1].offset += 64;
  EXPECT_NE(own, programHash(model));
}

TEST(ProgramHash, isOfTheOrderOfCollectives) {
  br_model model = regressionModel();
  br_segment_desc segments[] = {{0, 64, 16, 1, 1, 0, 0}, {64, 0, 16, 1, 1, 0, 0}};
  br_collective_desc collectives[] = {{BR_ALL_REDUCE, BR_SUM, BR_F32, 0, 0, nullptr, 0, &segments[0], 1},
                                      {BR_ALL_REDUCE, BR_SUM, BR_F32, 0, 0, nullptr, 0, &segments[1], 1}};
  model.collectives = collectives, model.n_collectives = 2;
  const std::string own = programHash(model);
  std::swap(collectives[0], collectives[1]);
  EXPECT_NE(own, programHash(model));
}

} // namespace
