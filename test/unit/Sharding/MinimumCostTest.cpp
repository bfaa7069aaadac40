//===- MinimumCostTest.cpp - eliminating variables against trying all -----===//

#include "lib/Sharding/MinimumCost.h"
#include "gtest/gtest.h"
#include <random>

using namespace braid;

namespace {

/// Calls f with all values of the variables.
template <typename F> void forAll(const MinimumCost &problem, const F &f) {
  std::vector<unsigned> values(problem.numVariables());
  while (true) {
    f(values);
    unsigned variable = 0;
    for (; variable < values.size() && ++values[variable] == problem.numValues(variable); ++variable)
      values[variable] = 0;
    if (variable == values.size())
      return;
  }
}

Cost randomCost(std::mt19937 &random) {
  if (random() % 8 == 0)
    return Cost::impossible();
  auto next = [&] { return int64_t(random() % 3); };
  return {next(), next(), next(), next()};
}

TEST(MinimumCost, isThatOfAllChoices) {
  std::mt19937 random(5);
  int solved = 0;
  for (int round = 0; round < 300; ++round) {
    MinimumCost problem;
    unsigned variables = 1 + random() % 6;
    for (unsigned i = 0; i < variables; ++i)
      problem.addVariable(1 + random() % 3);
    for (unsigned table = 0; table < 8; ++table) {
      llvm::SmallVector<unsigned> of;
      size_t size = 1;
      for (unsigned i = 0; i < variables; ++i)
        if (random() % 3 == 0) {
          of.push_back(i);
          size *= problem.numValues(i);
        }
      std::vector<Cost> prices(size);
      for (Cost &price : prices)
        price = randomCost(random);
      problem.addPrices(of, std::move(prices));
    }
    Cost best = Cost::impossible();
    forAll(problem, [&](llvm::ArrayRef<unsigned> values) { best = std::min(best, problem.costOf(values)); });
    std::optional<std::vector<unsigned>> found = problem.solve();
    ASSERT_EQ(found.has_value(), best.isPossible());
    if (!found)
      continue;
    ++solved;
    EXPECT_EQ(problem.costOf(*found), best);
  }
  EXPECT_GT(solved, 50);
}

TEST(MinimumCost, refusesTablesThatAreTooLarge) {
  MinimumCost problem;
  llvm::SmallVector<unsigned> all;
  for (unsigned i = 0; i < 8; ++i)
    all.push_back(problem.addVariable(4));
  for (unsigned i : all)
    for (unsigned j = i + 1; j < all.size(); ++j)
      problem.addPrices({i, j}, std::vector<Cost>(16));
  EXPECT_FALSE(problem.solve(/*maxTableSize=*/1000));
  EXPECT_TRUE(problem.solve());
}

TEST(MinimumCost, takesLongChainsInLinearTime) {
  MinimumCost problem;
  for (unsigned i = 0; i < 20000; ++i) {
    problem.addVariable(2);
    if (i == 0)
      continue;
    // Neighbors differ.
    problem.addPrices({i - 1, i}, {{1}, {0}, {0}, {1}});
  }
  std::optional<std::vector<unsigned>> found = problem.solve();
  ASSERT_TRUE(found);
  EXPECT_EQ(problem.costOf(*found), Cost());
}

} // namespace
