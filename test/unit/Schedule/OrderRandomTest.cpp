//===- OrderRandomTest.cpp - order against all ranks, one by one ----------===//
//
// Compares with a naive simulation: all ranks one by one, without symmetry and counters, and a complete search in each
// round.
//
//===----------------------------------------------------------------------===//

#include "Communications.h"
#include "gtest/gtest.h"
#include <random>

using namespace braid;
using namespace braid::test;
using CommunicationKind = OrderProblem::CommunicationKind;
using Communication = OrderProblem::Communication;
using Step = OrderProblem::Step;

namespace {

struct Naive {
  explicit Naive(const OrderProblem &problem) : problem(problem) {
    int64_t count = 1;
    for (int64_t size : problem.sizes)
      count *= size;
    for (int64_t rank = 0; rank < count; ++rank)
      states.push_back({rank, problem.axis ? problem.classOf[coordinates(rank)[*problem.axis]] : 0});
  }

  std::vector<int64_t> coordinates(int64_t rank) const {
    std::vector<int64_t> result(problem.sizes.size());
    for (size_t axis = result.size(); axis-- > 0; rank /= problem.sizes[axis])
      result[axis] = rank % problem.sizes[axis];
    return result;
  }

  /// The ranks of a group by their number in it.
  std::vector<int64_t> group(int64_t rank, unsigned communicator) const {
    const std::vector<unsigned> &axes = problem.communicators[communicator];
    auto numberIn = [&](int64_t member) {
      int64_t number = 0;
      for (unsigned axis : axes)
        number = number * problem.sizes[axis] + coordinates(member)[axis];
      return number;
    };
    std::vector<std::pair<int64_t, int64_t>> members;
    for (const RankState &state : states) {
      std::vector<int64_t> mine = coordinates(rank), theirs = coordinates(state.rank);
      for (unsigned axis : axes)
        mine[axis] = theirs[axis] = 0;
      if (mine == theirs)
        members.push_back({numberIn(state.rank), state.rank});
    }
    std::sort(members.begin(), members.end());
    std::vector<int64_t> ranks;
    for (auto [number, member] : members)
      ranks.push_back(member);
    return ranks;
  }

  const Communication *head(int64_t rank) const {
    std::optional<unsigned> number = states[rank].head();
    return number ? &problem.classes[states[rank].classNumber].communications[*number] : nullptr;
  }

  bool groupMatches(const std::vector<int64_t> &members, const Communication &at) const {
    for (int64_t a : members)
      for (int64_t b : members) {
        const Communication *x = head(a), *y = head(b);
        if (!x || !y || x->kind != CommunicationKind::Group || x->communicator != at.communicator ||
            y->kind != CommunicationKind::Group || y->communicator != at.communicator || x->content != y->content ||
            (x->sent && y->sent && x->sent != y->sent) || (x->received && y->received && x->received != y->received))
          return false;
      }
    return true;
  }

  /// Completes one match; returns false if there is none.
  bool completeOne() {
    for (RankState &state : states) {
      const Communication *at = head(state.rank);
      if (!at)
        continue;
      std::vector<int64_t> members = group(state.rank, at->communicator);
      if (at->kind == CommunicationKind::Group && groupMatches(members, *at)) {
        for (int64_t member : members)
          ++states[member].completed;
        return true;
      }
      if (at->kind != CommunicationKind::Send)
        continue;
      int64_t other = members[at->peer];
      const Communication *theirs = head(other);
      if (theirs && theirs->kind == CommunicationKind::Recv && theirs->communicator == at->communicator &&
          members[theirs->peer] == state.rank && theirs->received == at->sent) {
        ++state.completed;
        ++states[other].completed;
        return true;
      }
    }
    return false;
  }

  void run() {
    do {
      for (RankState &state : states)
        while (state.step < steps(state).size()) {
          const Step &step = steps(state)[state.step];
          if (step.kind == Step::Start)
            ++state.started;
          else if (step.communication >= state.completed)
            break;
          ++state.step;
        }
    } while (completeOne());
  }

  const std::vector<Step> &steps(const RankState &state) const { return problem.classes[state.classNumber].steps; }

  /// Returns whether a rank has advanced as far as its representative: the first rank that differs from it only along
  /// axes without numbered peers.
  bool isLike(const RankState &state, const std::vector<RankState> &representatives) const {
    return std::any_of(representatives.begin(), representatives.end(), [&](const RankState &other) {
      std::vector<int64_t> mine = coordinates(state.rank), theirs = coordinates(other.rank);
      for (size_t axis = 0; axis < mine.size(); ++axis)
        if (theirs[axis] != mine[axis] && theirs[axis] != 0)
          return false;
      return other.classNumber == state.classNumber && other.completed == state.completed && other.step == state.step;
    });
  }

  const OrderProblem &problem;
  std::vector<RankState> states;
};

class RandomProblem {
public:
  explicit RandomProblem(unsigned seed) : random(seed) {}

  OrderProblem make() {
    static const std::vector<std::vector<int64_t>> meshes = {{2}, {2, 2}, {3, 2}, {2, 3}, {4, 2}, {2, 2, 2}};
    OrderProblem problem;
    problem.sizes = meshes[below(meshes.size())];
    size_t axes = problem.sizes.size();
    for (unsigned axis = 0; axis < axes; ++axis)
      problem.communicators.push_back({axis});
    if (axes > 1) {
      problem.communicators.push_back({0, 1});
      problem.communicators.push_back({1, 0});
    }
    size_t classes = 1;
    if (below(4)) {
      problem.axis = below(axes);
      classes = 2;
      for (int64_t i = 0; i < problem.sizes[*problem.axis]; ++i)
        problem.classOf.push_back(i % classes);
    }
    makeClasses(problem, classes);
    return problem;
  }

private:
  size_t below(size_t bound) { return random() % bound; }

  /// The same matches in all classes, in an order with random changes.
  void makeClasses(OrderProblem &problem, size_t classes) {
    std::vector<std::vector<Communication>> lists(classes);
    for (size_t i = 0, count = 1 + below(6); i < count; ++i) {
      unsigned communicator = below(problem.communicators.size());
      int64_t size = 1;
      for (unsigned axis : problem.communicators[communicator])
        size *= problem.sizes[axis];
      if (classes == 1 || below(2)) {
        Communication at = group(communicator, 1 + below(2));
        for (auto &list : lists) {
          list.push_back(at);
          list.back().sent = below(8) ? 1 : 0;
          list.back().received = below(12) ? 1 : 2;
        }
      } else {
        size_t sender = below(2);
        lists[sender].push_back(send(communicator, below(size)));
        lists[1 - sender].push_back(recv(communicator, below(size)));
      }
    }
    for (auto &list : lists) {
      if (!below(4))
        std::swap(list[below(list.size())], list[below(list.size())]);
      if (!below(8))
        list.pop_back();
      problem.classes.push_back(withWaits(std::move(list)));
    }
  }

  OrderProblem::Class withWaits(std::vector<Communication> list) {
    OrderProblem::Class cls{std::move(list), {}};
    std::vector<unsigned> open;
    auto waitForOne = [&] {
      size_t at = below(open.size());
      cls.steps.push_back({Step::Wait, open[at]});
      open.erase(open.begin() + at);
    };
    for (unsigned i = 0; i < cls.communications.size(); ++i) {
      cls.steps.push_back({Step::Start, i});
      open.push_back(i);
      while (!open.empty() && below(2))
        waitForOne();
    }
    while (!open.empty())
      waitForOne();
    return cls;
  }

  std::mt19937 random;
};

TEST(Order, EqualsAllRanksOneByOne) {
  unsigned ended = 0, symmetric = 0;
  for (unsigned seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE(seed);
    OrderProblem problem = RandomProblem(seed).make();
    ASSERT_FALSE(check(problem));
    Naive naive(problem);
    naive.run();
    std::vector<RankState> states = simulate(problem);
    symmetric += states.size() < naive.states.size();
    for (const RankState &state : states) {
      ASSERT_EQ(state.completed, naive.states[state.rank].completed);
      ASSERT_EQ(state.step, naive.states[state.rank].step);
    }
    bool allEnd = true;
    for (const RankState &state : naive.states) {
      allEnd &= state.step == naive.steps(state).size();
      ASSERT_TRUE(naive.isLike(state, states));
    }
    std::optional<Deadlock> found = findDeadlock(problem);
    ASSERT_EQ(!found, allEnd);
    ended += allEnd;
    // The rank that the explanation names is stuck in the other simulation, too.
    if (found && found->kind == Deadlock::Cycle) {
      for (const RankState &state : found->ranks)
        ASSERT_LT(state.step, naive.steps(naive.states[state.rank]).size());
    }
  }
  // Some problems deadlock, and some do not.
  EXPECT_GT(ended, 300u);
  EXPECT_LT(ended, 2700u);
  EXPECT_GT(symmetric, 300u);
}

} // namespace
