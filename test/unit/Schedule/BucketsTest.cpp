//===- BucketsTest.cpp - which collectives become one, and in which order -===//

#include "lib/Schedule/Buckets.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"
#include <random>

using namespace braid;
using Items = std::vector<unsigned>;

namespace {

/// Builds a program action by action.
struct Program {
  BucketProblem problem;

  unsigned action(llvm::ArrayRef<unsigned> dependences = {}) {
    problem.dependences.emplace_back(dependences.begin(), dependences.end());
    return problem.dependences.size() - 1;
  }
  /// Adds an action with an item, which gets the next number. Returns the action.
  unsigned item(llvm::ArrayRef<unsigned> dependences, int64_t bytes, unsigned order, unsigned kind = 0,
                unsigned unit = 0) {
    problem.items.push_back({action(dependences), kind, unit, order, bytes});
    return problem.items.back().action;
  }
  /// Solves, verifies, and returns the items of each bucket.
  std::vector<Items> solve() {
    EXPECT_EQ(toString(check(problem)), "");
    solution = findBuckets(problem);
    EXPECT_EQ(toString(verify(problem, solution)), "");
    std::vector<Items> buckets;
    for (const Bucket &bucket : solution.buckets)
      buckets.push_back(bucket.items);
    return buckets;
  }
  BucketSolution solution;
};

/// Backward: gradients of parameters n-1 to 0, of equal size, each made and reduced.
Program gradients(unsigned count, int64_t bytes, BucketProblem::Kind kind) {
  Program program;
  program.problem.kinds = {kind};
  for (unsigned order = count; order-- > 0;)
    program.item({program.action()}, bytes, order);
  return program;
}

} // namespace

TEST(Buckets, FirstIsSmall) {
  Program program = gradients(7, 10, {10, 30, true});
  EXPECT_EQ(program.solve(), (std::vector<Items>{{0}, {1, 2, 3}, {4, 5, 6}}));
}

TEST(Buckets, ZeroIsOneTensorEach) {
  Program program = gradients(3, 10, {0, 0, true});
  EXPECT_EQ(program.solve(), (std::vector<Items>{{0}, {1}, {2}}));
  EXPECT_EQ(program.solution.order, (std::vector<unsigned>{0, 1, 2, 3, 4, 5}));
}

TEST(Buckets, NoLimitIsOneBucket) {
  Program program = gradients(4, 10, {});
  EXPECT_EQ(program.solve(), (std::vector<Items>{{0, 1, 2, 3}}));
  // The bucket stands behind the last gradient, in the place of the first item.
  EXPECT_EQ(program.solution.order, (std::vector<unsigned>{0, 2, 4, 6, 1}));
}

TEST(Buckets, LargeTensorsAreNotSplit) {
  Program program;
  program.problem.kinds = {{100, 100, true}};
  unsigned gradient = program.action();
  program.item({gradient}, 60, 3);
  program.item({gradient}, 500, 2);
  program.item({gradient}, 60, 1);
  program.item({gradient}, 40, 0);
  EXPECT_EQ(program.solve(), (std::vector<Items>{{0}, {1}, {2, 3}}));
}

TEST(Buckets, EnoughIsEnough) {
  // Small tensors join large ones; a remainder that is too small joins the last bucket.
  Program program;
  program.problem.kinds = {{}};
  program.problem.kinds.front().enough = 100;
  unsigned gradient = program.action(), order = 9;
  for (int64_t bytes : {3, 500, 3, 90, 20, 100, 40})
    program.item({gradient}, bytes, order--);
  EXPECT_EQ(program.solve(), (std::vector<Items>{{0, 1}, {2, 3, 4}, {5, 6}}));
}

TEST(Buckets, WalkRegistrationBackwards) {
  Program program;
  program.problem.kinds = {{20, 20, true}};
  unsigned gradient = program.action();
  for (unsigned order : {1, 3, 0, 2})
    program.item({gradient}, 10, order);
  EXPECT_EQ(program.solve(), (std::vector<Items>{{1, 3}, {0, 2}}));
}

TEST(Buckets, EndWithTheUnit) {
  Program program;
  program.problem.kinds = {{}};
  unsigned gradient = program.action();
  program.item({gradient}, 1, 3, 0, 2);
  program.item({gradient}, 1, 2, 0, 2);
  program.item({gradient}, 1, 1, 0, 1);
  EXPECT_EQ(program.solve(), (std::vector<Items>{{0, 1}, {2}}));
}

TEST(Buckets, ReadersFollow) {
  // Each result is read at once, and the read values are added up.
  Program program;
  program.problem.kinds = {{}};
  unsigned first = program.item({program.action()}, 1, 1);
  unsigned reader = program.action({first});
  unsigned second = program.item({program.action()}, 1, 0);
  program.action({reader, second});
  EXPECT_EQ(program.solve(), (std::vector<Items>{{0, 1}}));
  EXPECT_EQ(program.solution.order, (std::vector<unsigned>{0, 3, 1, 2, 5}));
}

TEST(Buckets, DependentItemsStayApart) {
  // The second tensor is made of the first result; the third is free.
  Program program;
  program.problem.kinds = {{}};
  unsigned first = program.item({program.action()}, 1, 2);
  program.item({program.action({first})}, 1, 1);
  program.item({program.action()}, 1, 0);
  EXPECT_EQ(program.solve(), (std::vector<Items>{{0, 2}, {1}}));
}

TEST(Buckets, ChainsThroughOtherKinds) {
  // a -> b and c -> d, of two kinds: {a, d} and {b, c} would wait for each other.
  Program program;
  program.problem.kinds = {{}, {}};
  unsigned free = program.action();
  unsigned a = program.item({free}, 1, 0, 0);
  program.item({program.action({a})}, 1, 1, 1);
  unsigned c = program.item({free}, 1, 2, 1);
  program.item({program.action({c})}, 1, 3, 0);
  program.solve();
  EXPECT_EQ(program.solution.buckets.size(), 4u);
}

TEST(Buckets, FollowersKeepCompany) {
  // reduce_scatter over shard, all_reduce of it over replica; blocks are half as large.
  Program program;
  program.problem.kinds = {{20, 20, true}, {20, 20, true}};
  for (unsigned order = 4; order-- > 0;) {
    unsigned scattered = program.item({program.action()}, 10, order, 0);
    program.item({scattered}, 5, order, 1);
  }
  EXPECT_EQ(program.solve(), (std::vector<Items>{{0, 2}, {4, 6}, {1, 3}, {5, 7}}));
  EXPECT_EQ(program.solution.order, (std::vector<unsigned>{0, 3, 1, 2, 6, 9, 7, 8}));
}

TEST(Buckets, NobodyWaitsForNumbers) {
  // The count is read before the loss is made, and no action reads whether to stop.
  Program program;
  program.problem.kinds = {{BucketProblem::kUnlimited, BucketProblem::kUnlimited, /*mayDelay=*/false}};
  program.item({}, 4, 0); // stop
  unsigned count = program.item({}, 4, 0);
  unsigned forward = program.action({count});
  program.item({forward}, 4, 0); // loss
  EXPECT_EQ(program.solve(), (std::vector<Items>{{0, 1}, {2}}));
}

TEST(Buckets, VerifierRefuses) {
  Program program = gradients(3, 10, {20, 20, true});
  program.solve();
  BucketSolution wrong = program.solution;
  std::swap(wrong.order.front(), wrong.order.back());
  EXPECT_NE(toString(verify(program.problem, wrong)), "");
  wrong = program.solution;
  wrong.buckets.pop_back();
  EXPECT_NE(toString(verify(program.problem, wrong)), "");
  wrong = program.solution;
  wrong.order.pop_back();
  EXPECT_NE(toString(verify(program.problem, wrong)), "");
  wrong.buckets = {{{0, 1, 2}, 30, 20}};
  EXPECT_EQ(toString(verify(program.problem, wrong)), "bucket 0 holds 30 bytes of at most 20");
  wrong.buckets = {{{1, 0}, 20, 20}, {{2}, 10, 20}};
  EXPECT_EQ(toString(verify(program.problem, wrong)), "bucket 0 takes order 2 after 1");
}

TEST(Buckets, RandomPrograms) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    std::mt19937 random(seed);
    auto below = [&](unsigned bound) { return unsigned(random() % bound); };
    Program program;
    unsigned kinds = 1 + below(4);
    for (unsigned kind = 0; kind < kinds; ++kind) {
      int64_t cap = below(3) ? 10 * below(8) : BucketProblem::kUnlimited;
      program.problem.kinds.push_back({std::min<int64_t>(cap, 10 * below(4)), cap, below(4) != 0});
    }
    unsigned density = 1 + below(4);
    for (unsigned action = 0; action < 60; ++action) {
      llvm::SmallVector<unsigned, 2> dependences;
      for (unsigned i = 0; i < density; ++i)
        if (unsigned dependence = action ? below(action) : 0;
            dependence < action && !llvm::is_contained(dependences, dependence))
          dependences.push_back(dependence);
      if (below(2))
        program.item(dependences, below(40), below(20), below(kinds), below(2));
      else
        program.action(dependences);
    }
    program.solve();
    if (testing::Test::HasFailure())
      FAIL() << "seed " << seed;
  }
}

TEST(Buckets, LargeProgramsAreNearLinear) {
  // 96 layers of 12 tensors, each with some 80 actions, and a norm of all.
  Program program;
  program.problem.kinds = {{1 << 20, 25 << 20, true}, {1 << 20, 25 << 20, true}};
  std::vector<unsigned> reduced;
  unsigned last = program.action();
  for (unsigned order = 1200; order-- > 0;) {
    for (unsigned i = 0; i < 40; ++i)
      last = program.action({last});
    reduced.push_back(program.item({last}, 1 << 20, order));
  }
  unsigned norm = program.action();
  for (unsigned gradient : reduced)
    norm = program.action({norm, gradient});
  for (auto [order, gradient] : llvm::enumerate(llvm::reverse(reduced))) {
    unsigned update = program.action({norm, gradient});
    for (unsigned i = 0; i < 40; ++i)
      update = program.action({update, norm});
    program.item({update}, 1 << 20, order, 1);
  }
  EXPECT_EQ(program.solve().size(), 2u * (1 + 48));
}
