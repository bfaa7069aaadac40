//===- OrderTest.cpp - who comes to the end, and who waits for whom -------===//
//
// The random test compares with a simulation of its own: all ranks one by one,
// no symmetry, no counters, everything looked at again in each round.
//
//===----------------------------------------------------------------------===//

#include "lib/Schedule/Order.h"
#include "gtest/gtest.h"
#include <random>

using namespace braid;
using Meeting = OrderProblem::Meeting;
using Communication = OrderProblem::Communication;
using Step = OrderProblem::Step;

namespace {

/// Communications that are each started and waited for at once.
OrderProblem::Class inOrder(std::vector<Communication> communications) {
  OrderProblem::Class cls{std::move(communications), {}};
  for (unsigned i = 0; i < cls.communications.size(); ++i) {
    cls.steps.push_back({Step::Start, i});
    cls.steps.push_back({Step::Wait, i});
  }
  return cls;
}

/// Communications of which all are started before the first is waited for.
OrderProblem::Class overlapped(std::vector<Communication> communications) {
  OrderProblem::Class cls{std::move(communications), {}};
  for (unsigned i = 0; i < cls.communications.size(); ++i)
    cls.steps.push_back({Step::Start, i});
  for (unsigned i = 0; i < cls.communications.size(); ++i)
    cls.steps.push_back({Step::Wait, i});
  return cls;
}

Communication group(unsigned communicator, unsigned content = 1) {
  return {Meeting::Group, communicator, 0, content, 1, 1};
}
Communication send(unsigned communicator, int64_t peer, unsigned tensors = 1) {
  return {Meeting::Send, communicator, peer, 0, tensors, 0};
}
Communication recv(unsigned communicator, int64_t peer, unsigned tensors = 1) {
  return {Meeting::Recv, communicator, peer, 0, 0, tensors};
}

/// Two stages of two ranks: axes pp and dp, communicators {pp}, {dp}, {pp, dp}.
OrderProblem stages(std::vector<OrderProblem::Class> classes) {
  std::vector<unsigned> classOf;
  for (unsigned i = 0; i < classes.size(); ++i)
    classOf.push_back(i);
  return {{int64_t(classes.size()), 2}, {{0}, {1}, {0, 1}}, std::move(classes), 0, classOf};
}

std::vector<int64_t> ranksOf(const Standstill &found) {
  std::vector<int64_t> ranks;
  for (const RankState &state : found.ranks)
    ranks.push_back(state.rank);
  return ranks;
}

TEST(Order, FaultsOfTickets) {
  auto fault = [](std::vector<Step> steps) {
    OrderProblem problem{{2}, {{0}}, {{{group(0), group(0)}, std::move(steps)}}, std::nullopt, {}};
    return check(problem);
  };
  Step start0{Step::Start, 0}, start1{Step::Start, 1}, wait0{Step::Wait, 0}, wait1{Step::Wait, 1};
  EXPECT_FALSE(fault({start0, start1, wait1, wait0}));
  EXPECT_EQ(fault({start1, start0, wait1, wait0})->kind, OrderFault::StartedOutOfOrder);
  EXPECT_EQ(fault({start0, wait1, start1, wait0})->kind, OrderFault::WaitedBeforeStart);
  EXPECT_EQ(fault({start0, start1, wait0, wait0, wait1})->kind, OrderFault::WaitedTwice);
  EXPECT_EQ(fault({start0, start1, wait1})->kind, OrderFault::NeverWaited);
  EXPECT_EQ(fault({start0, start1, wait1})->communication, 0u);
}

TEST(Order, OneRankStandsForAnSpmdProgram) {
  std::vector<Communication> list;
  for (unsigned i = 0; i < 5000; ++i)
    list.push_back(group(i % 3, i));
  OrderProblem problem{{32, 32}, {{0}, {1}, {0, 1}}, {inOrder(list)}, std::nullopt, {}};
  std::vector<RankState> states = simulate(problem);
  ASSERT_EQ(states.size(), 1u);
  EXPECT_EQ(states[0].completed, 5000u);
  EXPECT_FALSE(findStandstill(problem));
}

TEST(Order, OneRankStandsForAStage) {
  // Eight stages of 128 ranks: microbatches come, go on, and gradients are reduced.
  std::vector<OrderProblem::Class> classes;
  std::vector<unsigned> classOf;
  for (int64_t stage = 0; stage < 8; ++stage) {
    std::vector<Communication> list;
    for (int microbatch = 0; microbatch < 300; ++microbatch) {
      if (stage > 0)
        list.push_back(recv(0, stage - 1));
      list.push_back(group(1));
      if (stage < 7)
        list.push_back(send(0, stage + 1));
    }
    list.push_back(group(2));
    classes.push_back(overlapped(list));
    classOf.push_back(stage);
  }
  OrderProblem problem{{8, 128}, {{0}, {1}, {0, 1}}, classes, 0, classOf};
  EXPECT_EQ(simulate(problem).size(), 8u);
  EXPECT_EQ(simulate(problem)[3].rank, 3 * 128);
  EXPECT_FALSE(findStandstill(problem));
}

TEST(Order, CrossedOrderIsACycle) {
  auto found = findStandstill(stages({inOrder({group(0), send(0, 1)}), inOrder({recv(0, 0), group(0)})}));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->kind, Standstill::Cycle);
  EXPECT_EQ(ranksOf(*found), (std::vector<int64_t>{0, 2}));
}

TEST(Order, SendsThatBothWaitForAreACycleUnlessARecvIsFirst) {
  EXPECT_TRUE(findStandstill(stages({inOrder({send(0, 1), recv(0, 1)}), inOrder({send(0, 0), recv(0, 0)})})));
  EXPECT_FALSE(findStandstill(stages({inOrder({send(0, 1), recv(0, 1)}), inOrder({recv(0, 0), send(0, 0)})})));
  // Starting both does not help: the queue is in order.
  EXPECT_TRUE(findStandstill(stages({overlapped({send(0, 1), recv(0, 1)}), overlapped({send(0, 0), recv(0, 0)})})));
}

TEST(Order, OneQueueServesAllCommunicators) {
  OrderProblem::Class first = inOrder({group(0), group(1)}), second = inOrder({group(1), group(0)});
  EXPECT_FALSE(findStandstill(stages({first, second})));
  // With {pp, dp} instead of {dp} they wait for each other.
  for (auto &[cls, at] : {std::pair(&first, 1), std::pair(&second, 0)})
    cls->communications[at] = group(2);
  auto found = findStandstill(stages({first, second}));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->kind, Standstill::Cycle);
}

TEST(Order, ComputingWaitsBehindTheHead) {
  // Rank 0 waits for its second start, which is queued behind the first.
  OrderProblem::Class first{{send(0, 1), group(1)},
                            {{Step::Start, 0}, {Step::Start, 1}, {Step::Wait, 1}, {Step::Wait, 0}}};
  auto found = findStandstill(stages({first, inOrder({group(1)})}));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->kind, Standstill::Unpaired);
  EXPECT_EQ(found->ranks[0].step, 2u);
  EXPECT_EQ(*found->ranks[0].head(), 0u);
}

TEST(Order, WhoHasNothingLeftIsUnpaired) {
  auto found = findStandstill(stages({inOrder({send(0, 1), send(0, 1)}), inOrder({recv(0, 0)})}));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->kind, Standstill::Unpaired);
  EXPECT_EQ(ranksOf(*found), (std::vector<int64_t>{0, 2}));
  EXPECT_EQ(*found->ranks[0].head(), 1u);
}

TEST(Order, RanksThatMeetMustAgree) {
  auto kind = [](Communication a, Communication b) {
    auto found = findStandstill(stages({inOrder({a}), inOrder({b})}));
    return found ? std::optional(found->kind) : std::nullopt;
  };
  EXPECT_EQ(kind(group(0, 1), group(0, 2)), Standstill::Disagreement);
  EXPECT_EQ(kind(send(0, 1, 1), recv(0, 0, 2)), Standstill::Disagreement);
  Communication root = group(0), other = group(0), wrong = group(0);
  other.sent = 0;
  wrong.sent = 0;
  wrong.received = 2;
  EXPECT_EQ(kind(root, other), std::nullopt);
  EXPECT_EQ(kind(root, wrong), Standstill::Disagreement);
}

TEST(Order, PeersNumberedAlongAnAxisAreSimulatedOneByOne) {
  // Both data parallel ranks of the first stage send to rank (1, 0).
  OrderProblem problem = stages({inOrder({send(2, 2)}), inOrder({recv(2, 0)})});
  EXPECT_EQ(simulate(problem).size(), 4u);
  auto found = findStandstill(problem);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->kind, Standstill::Unpaired);
  EXPECT_EQ(ranksOf(*found), (std::vector<int64_t>{1, 2}));
}

//===----------------------------------------------------------------------===//
// Against all ranks, one by one
//===----------------------------------------------------------------------===//

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
      std::vector<int64_t> mine = coordinates(rank), its = coordinates(state.rank);
      for (unsigned axis : axes)
        mine[axis] = its[axis] = 0;
      if (mine == its)
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

  bool groupMeets(const std::vector<int64_t> &members, const Communication &at) const {
    for (int64_t a : members)
      for (int64_t b : members) {
        const Communication *x = head(a), *y = head(b);
        if (!x || !y || x->meeting != Meeting::Group || x->communicator != at.communicator ||
            y->meeting != Meeting::Group || y->communicator != at.communicator || x->content != y->content ||
            (x->sent && y->sent && x->sent != y->sent) || (x->received && y->received && x->received != y->received))
          return false;
      }
    return true;
  }

  /// Completes one meeting; false if there is none.
  bool meet() {
    for (RankState &state : states) {
      const Communication *at = head(state.rank);
      if (!at)
        continue;
      std::vector<int64_t> members = group(state.rank, at->communicator);
      if (at->meeting == Meeting::Group && groupMeets(members, *at)) {
        for (int64_t member : members)
          ++states[member].completed;
        return true;
      }
      if (at->meeting != Meeting::Send)
        continue;
      int64_t other = members[at->peer];
      const Communication *its = head(other);
      if (its && its->meeting == Meeting::Recv && its->communicator == at->communicator &&
          members[its->peer] == state.rank && its->received == at->sent) {
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
    } while (meet());
  }

  const std::vector<Step> &steps(const RankState &state) const { return problem.classes[state.classNumber].steps; }

  /// Whether a rank has come as far as the one of its class that stands for it,
  /// the first of those that differ from it along axes without numbered peers.
  bool isLike(const RankState &state, const std::vector<RankState> &representatives) const {
    return std::any_of(representatives.begin(), representatives.end(), [&](const RankState &other) {
      std::vector<int64_t> mine = coordinates(state.rank), its = coordinates(other.rank);
      for (size_t axis = 0; axis < mine.size(); ++axis)
        if (its[axis] != mine[axis] && its[axis] != 0)
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

  /// The same meetings in all classes, in an order that is now and then disturbed.
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
    std::optional<Standstill> found = findStandstill(problem);
    ASSERT_EQ(!found, allEnd);
    ended += allEnd;
    // Whom the explanation names is kept in the other simulation, too.
    if (found && found->kind == Standstill::Cycle) {
      for (const RankState &state : found->ranks)
        ASSERT_LT(state.step, naive.steps(naive.states[state.rank]).size());
    }
  }
  // The problems are neither all hopeless nor all harmless.
  EXPECT_GT(ended, 300u);
  EXPECT_LT(ended, 2700u);
  EXPECT_GT(symmetric, 300u);
}

} // namespace
