//===- Buckets.cpp - waves, splits and the resulting order ----------------===//

#include "lib/Schedule/Buckets.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallBitVector.h"
#include <algorithm>
#include <functional>
#include <queue>
#include <tuple>

using namespace braid;
using Item = BucketProblem::Item;
using BucketKind = BucketProblem::Kind;

namespace {

constexpr unsigned kNone = ~0u;

class Solver {
public:
  explicit Solver(const BucketProblem &problem);
  BucketSolution solve();

private:
  void findStronglyConnectedComponents();
  void findWaves();
  void findFollowers();

  /// Splits the items of one kind and wave, given in the order in which they are visited.
  void split(llvm::ArrayRef<unsigned> sequence);
  void splitBeforeReaders(llvm::SmallVector<unsigned> sequence);
  void splitByCap(llvm::ArrayRef<unsigned> sequence);
  void splitFollowers(unsigned depth);
  /// Adds an item to the last bucket, or to a new one if `begins`.
  void add(unsigned item, bool begins, std::optional<int64_t> cap);
  void findOrder();

  const Item &at(unsigned item) const { return problem.items[item]; }
  size_t numActions() const { return problem.dependences.size(); }

  const BucketProblem &problem;
  BucketSolution solution;
  /// Item of each action, or kNone.
  std::vector<unsigned> itemOf;
  /// Strongly connected component of each kind, or kNone.
  std::vector<unsigned> componentOf;
  unsigned numComponents = 0;
  std::vector<unsigned> wave, bucketOf;
  /// For each item, the single item that produces all it sends, and the length of the chain of such items.
  std::vector<unsigned> follows, depth;
};

} // namespace

Solver::Solver(const BucketProblem &problem)
    : problem(problem), itemOf(numActions(), kNone), componentOf(problem.kinds.size(), kNone),
      wave(problem.items.size()), bucketOf(problem.items.size(), kNone), follows(problem.items.size(), kNone),
      depth(problem.items.size()) {
  for (auto [number, item] : llvm::enumerate(problem.items))
    itemOf[item.action] = number;
}

//===----------------------------------------------------------------------===//
// Items that may share a bucket
//===----------------------------------------------------------------------===//

/// Finds the strongly connected components of kinds. Cubic in the number of kinds, which is small.
void Solver::findStronglyConnectedComponents() {
  size_t kinds = problem.kinds.size();
  std::vector<llvm::SmallBitVector> leadsTo(kinds, llvm::SmallBitVector(kinds));
  // Kinds of the items that an action needs, including itself.
  std::vector<llvm::SmallBitVector> behind(numActions(), llvm::SmallBitVector(kinds));
  for (unsigned action = 0; action < numActions(); ++action) {
    for (unsigned dependence : problem.dependences[action])
      behind[action] |= behind[dependence];
    if (itemOf[action] == kNone)
      continue;
    unsigned kind = at(itemOf[action]).kind;
    for (unsigned before : behind[action].set_bits())
      leadsTo[before].set(kind);
    behind[action].set(kind);
  }
  for (unsigned via = 0; via < kinds; ++via)
    for (unsigned from = 0; from < kinds; ++from)
      if (leadsTo[from].test(via))
        leadsTo[from] |= leadsTo[via];
  for (unsigned kind = 0; kind < kinds; ++kind) {
    if (componentOf[kind] != kNone || !leadsTo[kind].test(kind))
      continue;
    for (unsigned other : leadsTo[kind].set_bits())
      if (leadsTo[other].test(kind))
        componentOf[other] = numComponents;
    ++numComponents;
  }
}

void Solver::findWaves() {
  // For each action and component, the number of items of the component on the longest chain to the action.
  std::vector<unsigned> chains(numActions() * numComponents);
  for (unsigned action = 0; action < numActions(); ++action) {
    auto lengths = llvm::MutableArrayRef(chains).slice(size_t(action) * numComponents, numComponents);
    for (unsigned dependence : problem.dependences[action])
      for (unsigned component = 0; component < numComponents; ++component)
        lengths[component] = std::max(lengths[component], chains[size_t(dependence) * numComponents + component]);
    unsigned item = itemOf[action];
    if (item != kNone && componentOf[at(item).kind] != kNone)
      wave[item] = lengths[componentOf[at(item).kind]]++;
  }
}

/// Finds the items that follow another one. If any item of a kind follows no other item, none of the kind does.
void Solver::findFollowers() {
  std::vector<bool> mayFollow(problem.kinds.size(), true);
  for (auto [number, item] : llvm::enumerate(problem.items)) {
    llvm::ArrayRef<unsigned> dependences = problem.dependences[item.action];
    follows[number] = dependences.size() == 1 ? itemOf[dependences.front()] : kNone;
    if (follows[number] == kNone)
      mayFollow[item.kind] = false;
  }
  for (auto [number, item] : llvm::enumerate(problem.items))
    if (mayFollow[item.kind])
      depth[number] = depth[follows[number]] + 1;
}

//===----------------------------------------------------------------------===//
// Splitting into buckets
//===----------------------------------------------------------------------===//

void Solver::add(unsigned item, bool begins, std::optional<int64_t> cap) {
  if (begins)
    solution.buckets.push_back({{}, 0, cap});
  Bucket &bucket = solution.buckets.back();
  bucket.items.push_back(item);
  bucket.bytes += at(item).bytes;
  bucketOf[item] = solution.buckets.size() - 1;
}

void Solver::splitByCap(llvm::ArrayRef<unsigned> sequence) {
  const BucketKind &kind = problem.kinds[at(sequence.front()).kind];
  int64_t cap = std::min(kind.firstCap, kind.cap);
  // Bytes from an item to the end of its unit.
  std::vector<int64_t> left(sequence.size());
  for (size_t i = sequence.size(); i-- > 0;) {
    bool isLast = i + 1 == sequence.size() || at(sequence[i]).unit != at(sequence[i + 1]).unit;
    left[i] = at(sequence[i]).bytes + (isLast ? 0 : left[i + 1]);
  }
  for (auto [number, item] : llvm::enumerate(sequence)) {
    bool begins = number == 0;
    if (!begins) {
      const Bucket &last = solution.buckets.back();
      bool hasEnough = last.bytes >= kind.enough && left[number] >= kind.enough;
      begins = hasEnough || at(last.items.back()).unit != at(item).unit || at(item).bytes > cap - last.bytes;
      cap = begins ? kind.cap : cap;
    }
    add(item, begins, cap);
  }
}

/// Splits a kind whose readers may not move. A bucket may run anywhere between the computation of its last tensor and
/// the first reader of any tensor. Adding items in the order of their computation, as many as fit, gives the fewest
/// buckets.
void Solver::splitBeforeReaders(llvm::SmallVector<unsigned> sequence) {
  std::vector<unsigned> firstReader(numActions(), kNone);
  for (unsigned action = 0; action < numActions(); ++action)
    for (unsigned dependence : problem.dependences[action])
      firstReader[dependence] = std::min(firstReader[dependence], action);
  auto ready = [&](unsigned item) {
    llvm::ArrayRef<unsigned> dependences = problem.dependences[at(item).action];
    return dependences.empty() ? 0 : *llvm::max_element(dependences) + 1;
  };
  llvm::stable_sort(sequence, [&](unsigned a, unsigned b) { return ready(a) < ready(b); });
  const BucketKind &kind = problem.kinds[at(sequence.front()).kind];
  int64_t cap = std::min(kind.firstCap, kind.cap);
  unsigned end = 0;
  for (auto [number, item] : llvm::enumerate(sequence)) {
    bool begins = number == 0;
    if (!begins) {
      const Bucket &last = solution.buckets.back();
      begins = ready(item) > end || at(last.items.back()).unit != at(item).unit || at(item).bytes > cap - last.bytes;
      cap = begins ? kind.cap : cap;
    }
    unsigned reader = firstReader[at(item).action];
    end = begins ? reader : std::min(end, reader);
    add(item, begins, cap);
  }
}

void Solver::split(llvm::ArrayRef<unsigned> sequence) {
  if (problem.kinds[at(sequence.front()).kind].mayDelay)
    splitByCap(sequence);
  else
    splitBeforeReaders(llvm::SmallVector<unsigned>(sequence));
}

/// Splits items that follow others. Items that follow those of one bucket stay together.
void Solver::splitFollowers(unsigned level) {
  std::vector<unsigned> items;
  for (unsigned item = 0; item < problem.items.size(); ++item)
    if (depth[item] == level)
      items.push_back(item);
  auto company = [&](unsigned item) {
    return std::tuple(bucketOf[follows[item]], at(item).kind, at(item).unit, wave[item]);
  };
  llvm::stable_sort(items, [&](unsigned a, unsigned b) {
    return std::tuple(company(a), -int64_t(at(a).order)) < std::tuple(company(b), -int64_t(at(b).order));
  });
  for (auto [number, item] : llvm::enumerate(items))
    add(item, number == 0 || company(items[number - 1]) != company(item), std::nullopt);
}

//===----------------------------------------------------------------------===//
// Order of the actions
//===----------------------------------------------------------------------===//

/// Keeps the order of actions, except for those that wait for a bucket. A bucket runs as early as possible.
void Solver::findOrder() {
  std::vector<unsigned> standsFor(numActions());
  for (unsigned action = 0; action < numActions(); ++action)
    standsFor[action] = action;
  for (const Bucket &bucket : solution.buckets) {
    auto actions = llvm::map_range(bucket.items, [&](unsigned item) { return at(item).action; });
    unsigned first = *std::min_element(actions.begin(), actions.end());
    for (unsigned action : actions)
      standsFor[action] = first;
  }
  std::vector<llvm::SmallVector<unsigned, 2>> readers(numActions());
  std::vector<unsigned> missing(numActions());
  for (unsigned action = 0; action < numActions(); ++action)
    for (unsigned dependence : problem.dependences[action]) {
      readers[standsFor[dependence]].push_back(standsFor[action]);
      ++missing[standsFor[action]];
    }
  std::priority_queue<unsigned, std::vector<unsigned>, std::greater<>> ready;
  for (unsigned action = 0; action < numActions(); ++action)
    if (standsFor[action] == action && missing[action] == 0)
      ready.push(action);
  while (!ready.empty()) {
    unsigned action = ready.top();
    ready.pop();
    solution.order.push_back(action);
    for (unsigned reader : readers[action])
      if (--missing[reader] == 0)
        ready.push(reader);
  }
}

BucketSolution Solver::solve() {
  findStronglyConnectedComponents();
  findWaves();
  findFollowers();
  std::vector<unsigned> leaders;
  unsigned levels = 0;
  for (unsigned item = 0; item < problem.items.size(); ++item) {
    levels = std::max(levels, depth[item]);
    if (depth[item] == 0)
      leaders.push_back(item);
  }
  auto sequence = [&](unsigned item) { return std::pair(at(item).kind, wave[item]); };
  llvm::stable_sort(leaders, [&](unsigned a, unsigned b) {
    return std::tuple(sequence(a), -int64_t(at(a).order)) < std::tuple(sequence(b), -int64_t(at(b).order));
  });
  for (llvm::ArrayRef<unsigned> left = leaders; !left.empty();) {
    auto isOther = [&](unsigned item) { return sequence(item) != sequence(left.front()); };
    size_t count = llvm::find_if(left, isOther) - left.begin();
    split(left.take_front(count));
    left = left.drop_front(count);
  }
  for (unsigned level = 1; level <= levels; ++level)
    splitFollowers(level);
  findOrder();
  return std::move(solution);
}

BucketSolution braid::findBuckets(const BucketProblem &problem) { return Solver(problem).solve(); }
