//===- Order.cpp - simulates queues, tickets and matches ------------------===//

#include "lib/Schedule/Order.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <cassert>

using namespace braid;
using CommunicationKind = OrderProblem::CommunicationKind;
using Communication = OrderProblem::Communication;
using Step = OrderProblem::Step;

//===----------------------------------------------------------------------===//
// Tickets
//===----------------------------------------------------------------------===//

std::optional<OrderFault> braid::check(const OrderProblem &problem) {
  for (auto [number, cls] : llvm::enumerate(problem.classes)) {
    unsigned classNumber = number, started = 0;
    std::vector<bool> waited(cls.communications.size());
    for (auto [index, step] : llvm::enumerate(cls.steps)) {
      auto fault = [&, index = unsigned(index), communication = step.communication](OrderFault::Kind kind) {
        return OrderFault{kind, classNumber, communication, index};
      };
      if (step.kind == Step::Start) {
        if (step.communication != started++)
          return fault(OrderFault::StartedOutOfOrder);
        continue;
      }
      if (step.communication >= started)
        return fault(OrderFault::WaitedBeforeStart);
      if (waited[step.communication])
        return fault(OrderFault::WaitedTwice);
      waited[step.communication] = true;
    }
    for (auto [index, done] : llvm::enumerate(waited))
      if (!done)
        return OrderFault{OrderFault::NeverWaited, classNumber, unsigned(index), std::nullopt};
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Ranks and groups
//===----------------------------------------------------------------------===//

namespace {

/// The simulated ranks: those with coordinate 0 along every axis of symmetry. They are numbered in row-major order over
/// the other axes.
class Ranks {
public:
  explicit Ranks(const OrderProblem &problem);

  size_t size() const { return count; }
  /// Returns the rank number in the whole mesh.
  int64_t inMesh(size_t rank) const;
  int64_t coordinate(size_t rank, unsigned axis) const { return rank / strides[axis] % kept[axis]; }
  /// Returns the first rank of the group of `rank`.
  size_t firstOf(size_t rank, unsigned communicator) const;
  size_t groupSize(unsigned communicator) const;
  llvm::SmallVector<size_t> group(size_t first, unsigned communicator) const;
  /// Returns the peer of a communication, which is an index in the group of `rank`.
  size_t peer(size_t rank, const Communication &communication) const;

private:
  const OrderProblem &problem;
  /// Sizes of the mesh's axes, 1 for axes of symmetry, and the resulting strides.
  std::vector<int64_t> kept, strides;
  size_t count = 1;
};

} // namespace

Ranks::Ranks(const OrderProblem &problem)
    : problem(problem), kept(problem.sizes.size(), 1), strides(problem.sizes.size()) {
  auto keep = [&](unsigned axis) { kept[axis] = problem.sizes[axis]; };
  if (problem.axis)
    keep(*problem.axis);
  for (const auto &cls : problem.classes)
    for (const Communication &communication : cls.communications)
      if (communication.kind != CommunicationKind::Group)
        llvm::for_each(problem.communicators[communication.communicator], keep);
  for (size_t axis = kept.size(); axis-- > 0;) {
    strides[axis] = count;
    count *= kept[axis];
  }
}

int64_t Ranks::inMesh(size_t rank) const {
  int64_t number = 0;
  for (size_t axis = 0; axis < kept.size(); ++axis)
    number = number * problem.sizes[axis] + coordinate(rank, axis);
  return number;
}

size_t Ranks::firstOf(size_t rank, unsigned communicator) const {
  size_t first = rank;
  for (unsigned axis : problem.communicators[communicator])
    first -= coordinate(rank, axis) * strides[axis];
  return first;
}

size_t Ranks::groupSize(unsigned communicator) const {
  size_t size = 1;
  for (unsigned axis : problem.communicators[communicator])
    size *= kept[axis];
  return size;
}

llvm::SmallVector<size_t> Ranks::group(size_t first, unsigned communicator) const {
  llvm::SmallVector<size_t> members{first};
  for (unsigned axis : problem.communicators[communicator]) {
    llvm::SmallVector<size_t> wider;
    for (size_t member : members)
      for (int64_t i = 0; i < kept[axis]; ++i)
        wider.push_back(member + i * strides[axis]);
    members = std::move(wider);
  }
  return members;
}

size_t Ranks::peer(size_t rank, const Communication &communication) const {
  size_t result = firstOf(rank, communication.communicator);
  int64_t number = communication.peer;
  for (unsigned axis : llvm::reverse(problem.communicators[communication.communicator])) {
    result += number % kept[axis] * strides[axis];
    number /= kept[axis];
  }
  assert(number == 0 && "peers are ranks of the group");
  return result;
}

//===----------------------------------------------------------------------===//
// Simulation
//===----------------------------------------------------------------------===//

namespace {

class Simulator {
public:
  explicit Simulator(const OrderProblem &problem);
  void run();

  const std::vector<RankState> &result() const { return states; }
  std::optional<Deadlock> deadlock() const;

private:
  const OrderProblem::Class &classOf(size_t rank) const { return problem.classes[states[rank].classNumber]; }
  /// Returns the head of a rank's queue, or null.
  const Communication *head(size_t rank) const;
  bool hasEnded(size_t rank) const { return !head(rank) && states[rank].step == classOf(rank).steps.size(); }
  /// Returns whether the heads of two ranks are a send and its recv.
  bool arePair(size_t a, size_t b) const;
  bool matches(size_t rank, const Communication &communication, size_t other, const Communication &candidate) const;

  void compute(size_t rank);
  void arrive(size_t rank);
  void complete(size_t rank);
  /// Returns the first two ranks of a group whose heads disagree.
  std::optional<std::pair<size_t, size_t>> mismatch(llvm::ArrayRef<size_t> members, unsigned communicator) const;
  bool isAtGroup(size_t rank, unsigned communicator) const;

  bool hasMatchLeft(size_t rank, size_t other) const;
  /// Explains why a rank waits: returns the deadlock if it is visible here, else sets `waitsFor`.
  std::optional<Deadlock> explain(size_t rank, size_t &waitsFor) const;

  const OrderProblem &problem;
  Ranks ranks;
  std::vector<RankState> states;
  /// Whether `arrive` has processed the head of the rank's queue.
  std::vector<bool> arrived;
  /// For each communicator, at the first rank of each group: the number of ranks that have arrived.
  std::vector<std::vector<uint32_t>> numArrived;
  std::vector<size_t> worklist;
};

} // namespace

Simulator::Simulator(const OrderProblem &problem)
    : problem(problem), ranks(problem), arrived(ranks.size()),
      numArrived(problem.communicators.size(), std::vector<uint32_t>(ranks.size())) {
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    unsigned classNumber = problem.axis ? problem.classOf[ranks.coordinate(rank, *problem.axis)] : 0;
    states.push_back({ranks.inMesh(rank), classNumber});
    worklist.push_back(rank);
  }
}

const Communication *Simulator::head(size_t rank) const {
  std::optional<unsigned> number = states[rank].head();
  return number ? &classOf(rank).communications[*number] : nullptr;
}

void Simulator::run() {
  while (!worklist.empty()) {
    size_t rank = worklist.back();
    worklist.pop_back();
    compute(rank);
    if (!arrived[rank] && head(rank))
      arrive(rank);
  }
}

/// Runs until a wait for a communication that has not ended.
void Simulator::compute(size_t rank) {
  RankState &state = states[rank];
  const std::vector<Step> &steps = classOf(rank).steps;
  for (; state.step < steps.size(); ++state.step) {
    const Step &step = steps[state.step];
    if (step.kind == Step::Start)
      ++state.started;
    else if (step.communication >= state.completed)
      return;
  }
}

void Simulator::complete(size_t rank) {
  ++states[rank].completed;
  arrived[rank] = false;
  worklist.push_back(rank);
}

bool Simulator::isAtGroup(size_t rank, unsigned communicator) const {
  const Communication *at = head(rank);
  return at && at->kind == CommunicationKind::Group && at->communicator == communicator;
}

/// Returns whether a communication of `rank` matches `candidate` of `other`.
bool Simulator::matches(size_t rank, const Communication &communication, size_t other,
                        const Communication &candidate) const {
  if (communication.communicator != candidate.communicator)
    return false;
  if (communication.kind == CommunicationKind::Group || candidate.kind == CommunicationKind::Group)
    return communication.kind == candidate.kind;
  return communication.kind != candidate.kind && ranks.peer(rank, communication) == other &&
         ranks.peer(other, candidate) == rank;
}

bool Simulator::arePair(size_t a, size_t b) const {
  return a != b && head(a) && head(b) && head(a)->kind != CommunicationKind::Group && matches(a, *head(a), b, *head(b));
}

/// Returns whether two communications move the same values; unknown values agree with any.
static bool moveSameValues(const Communication &a, const Communication &b) {
  return !a.moved || !b.moved || a.moved == b.moved;
}

static bool pairAgrees(const Communication &a, const Communication &b) {
  if (!moveSameValues(a, b))
    return false;
  return a.kind == CommunicationKind::Send ? a.sent == b.received : a.received == b.sent;
}

void Simulator::arrive(size_t rank) {
  arrived[rank] = true;
  const Communication &at = *head(rank);
  if (at.kind != CommunicationKind::Group) {
    size_t peer = ranks.peer(rank, at);
    if (arrived[peer] && arePair(rank, peer) && pairAgrees(at, *head(peer))) {
      complete(rank);
      complete(peer);
    }
    return;
  }
  size_t first = ranks.firstOf(rank, at.communicator);
  uint32_t &count = numArrived[at.communicator][first];
  if (++count < ranks.groupSize(at.communicator))
    return;
  llvm::SmallVector<size_t> members = ranks.group(first, at.communicator);
  if (mismatch(members, at.communicator))
    return;
  count = 0;
  llvm::for_each(members, [&](size_t member) { complete(member); });
}

std::optional<std::pair<size_t, size_t>> Simulator::mismatch(llvm::ArrayRef<size_t> members,
                                                             unsigned communicator) const {
  // All heads must agree with the first that arrived, and with the first that sends or receives tensors.
  std::optional<size_t> first, sender, receiver, mover;
  for (size_t rank : members) {
    if (!isAtGroup(rank, communicator))
      continue;
    const Communication &at = *head(rank);
    if (!first)
      first = rank;
    if (head(*first)->content != at.content)
      return std::pair(*first, rank);
    if (at.moved && !mover)
      mover = rank;
    if (mover && !moveSameValues(*head(*mover), at))
      return std::pair(*mover, rank);
    if (at.sent && !sender)
      sender = rank;
    if (at.sent && head(*sender)->sent != at.sent)
      return std::pair(*sender, rank);
    if (at.received && !receiver)
      receiver = rank;
    if (at.received && head(*receiver)->received != at.received)
      return std::pair(*receiver, rank);
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Explanation
//===----------------------------------------------------------------------===//

/// Returns whether `other` has a communication left that matches the head of `rank`.
bool Simulator::hasMatchLeft(size_t rank, size_t other) const {
  llvm::ArrayRef<Communication> left(classOf(other).communications);
  return llvm::any_of(left.drop_front(states[other].completed),
                      [&](const Communication &candidate) { return matches(rank, *head(rank), other, candidate); });
}

std::optional<Deadlock> Simulator::explain(size_t rank, size_t &waitsFor) const {
  const Communication &at = *head(rank);
  auto found = [&](Deadlock::Kind kind, size_t a, size_t b) { return Deadlock{kind, {states[a], states[b]}}; };
  if (at.kind == CommunicationKind::Group) {
    llvm::SmallVector<size_t> members = ranks.group(ranks.firstOf(rank, at.communicator), at.communicator);
    if (auto pair = mismatch(members, at.communicator))
      return found(Deadlock::Mismatch, pair->first, pair->second);
    waitsFor = *llvm::find_if(members, [&](size_t member) { return !isAtGroup(member, at.communicator); });
  } else {
    waitsFor = ranks.peer(rank, at);
    if (arePair(rank, waitsFor))
      return found(Deadlock::Mismatch, rank, waitsFor);
  }
  if (!hasMatchLeft(rank, waitsFor))
    return found(Deadlock::Unmatched, rank, waitsFor);
  return std::nullopt;
}

/// Follows the waits-for relation from the first rank that has not ended. A rank that has ended has no communications
/// left, so the path ends there or forms a cycle.
std::optional<Deadlock> Simulator::deadlock() const {
  size_t rank = 0;
  while (rank < ranks.size() && hasEnded(rank))
    ++rank;
  if (rank == ranks.size())
    return std::nullopt;
  std::vector<size_t> path;
  std::vector<int64_t> placeOnPath(ranks.size(), -1);
  while (placeOnPath[rank] < 0) {
    placeOnPath[rank] = path.size();
    path.push_back(rank);
    size_t waitsFor = rank;
    if (std::optional<Deadlock> found = explain(rank, waitsFor))
      return found;
    rank = waitsFor;
  }
  Deadlock cycle{Deadlock::Cycle, {}};
  for (size_t member : llvm::ArrayRef(path).drop_front(placeOnPath[rank]))
    cycle.ranks.push_back(states[member]);
  return cycle;
}

std::vector<RankState> braid::simulate(const OrderProblem &problem) {
  Simulator simulator(problem);
  simulator.run();
  return simulator.result();
}

std::optional<Deadlock> braid::findDeadlock(const OrderProblem &problem) {
  Simulator simulator(problem);
  simulator.run();
  return simulator.deadlock();
}
