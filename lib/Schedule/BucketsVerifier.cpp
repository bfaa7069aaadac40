//===- BucketsVerifier.cpp - checks buckets -------------------------------===//
//
// Shares no code with the solver. Replays the new order and checks that each action comes after all actions it needs.
//
//===----------------------------------------------------------------------===//

#include "lib/Schedule/Buckets.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

using namespace braid;
using llvm::Twine;
using Item = BucketProblem::Item;

static llvm::Error fault(const Twine &text) { return llvm::createStringError(llvm::inconvertibleErrorCode(), text); }

llvm::Error braid::check(const BucketProblem &problem) {
  for (auto [action, dependences] : llvm::enumerate(problem.dependences))
    for (unsigned dependence : dependences)
      if (dependence >= action)
        return fault("action " + Twine(action) + " needs action " + Twine(dependence) +
                     ", which does not come before it");
  for (auto [number, item] : llvm::enumerate(problem.items)) {
    if (item.action >= problem.dependences.size() || item.kind >= problem.kinds.size())
      return fault("item " + Twine(number) + " has action " + Twine(item.action) + " and kind " + Twine(item.kind) +
                   ", but there are " + Twine(problem.dependences.size()) + " actions and " +
                   Twine(problem.kinds.size()) + " kinds");
    if (number && problem.items[number - 1].action >= item.action)
      return fault("item " + Twine(number) + " does not come after the one before it");
    if (item.bytes < 0)
      return fault("item " + Twine(number) + " has " + Twine(item.bytes) + " bytes");
  }
  return llvm::Error::success();
}

namespace {

class Verifier {
public:
  Verifier(const BucketProblem &problem, const BucketSolution &solution) : problem(problem), solution(solution) {}
  llvm::Error run();

private:
  /// Checks that every item is in exactly one bucket.
  llvm::Error cover();
  llvm::Error checkAlike(unsigned bucket);
  llvm::Error size(unsigned bucket);
  /// Checks, for kinds whose readers may not move, that no reader of an item precedes the last need of the bucket in
  /// the old order.
  llvm::Error delays();
  llvm::Error order();

  /// Returns the only bucket that produces what the items send, if there is one.
  std::optional<unsigned> leader(const Bucket &bucket) const;

  const BucketProblem &problem;
  const BucketSolution &solution;
  /// The bucket of each action that is an item.
  std::vector<std::optional<unsigned>> bucketOf;
};

} // namespace

llvm::Error Verifier::cover() {
  bucketOf.resize(problem.dependences.size());
  size_t count = 0;
  for (auto [number, bucket] : llvm::enumerate(solution.buckets)) {
    if (bucket.items.empty())
      return fault("bucket " + Twine(number) + " is empty");
    for (unsigned item : bucket.items) {
      if (item >= problem.items.size())
        return fault("bucket " + Twine(number) + " holds item " + Twine(item) + " of " + Twine(problem.items.size()));
      std::optional<unsigned> &slot = bucketOf[problem.items[item].action];
      if (slot)
        return fault("item " + Twine(item) + " is in the buckets " + Twine(*slot) + " and " + Twine(number));
      slot = number;
      ++count;
    }
  }
  if (count != problem.items.size())
    return fault(Twine(problem.items.size() - count) + " items are in no bucket");
  return llvm::Error::success();
}

llvm::Error Verifier::checkAlike(unsigned number) {
  const Bucket &bucket = solution.buckets[number];
  const Item *last = nullptr;
  for (unsigned index : bucket.items) {
    const Item &item = problem.items[index];
    if (last && last->kind != item.kind)
      return fault("bucket " + Twine(number) + " holds the kinds " + Twine(last->kind) + " and " + Twine(item.kind));
    if (last && last->unit != item.unit)
      return fault("bucket " + Twine(number) + " crosses from unit " + Twine(last->unit) + " to " + Twine(item.unit));
    if (last && problem.kinds[item.kind].mayDelay && last->order < item.order)
      return fault("bucket " + Twine(number) + " takes order " + Twine(item.order) + " after " + Twine(last->order));
    last = &item;
  }
  return llvm::Error::success();
}

std::optional<unsigned> Verifier::leader(const Bucket &bucket) const {
  std::optional<unsigned> found;
  for (unsigned item : bucket.items) {
    llvm::ArrayRef<unsigned> dependences = problem.dependences[problem.items[item].action];
    std::optional<unsigned> producer = dependences.size() == 1 ? bucketOf[dependences.front()] : std::nullopt;
    if (!producer || (found && found != producer))
      return std::nullopt;
    found = producer;
  }
  return found;
}

llvm::Error Verifier::size(unsigned number) {
  const Bucket &bucket = solution.buckets[number];
  int64_t bytes = 0;
  for (unsigned item : bucket.items)
    bytes += problem.items[item].bytes;
  if (bytes != bucket.bytes)
    return fault("bucket " + Twine(number) + " holds " + Twine(bytes) + " bytes and says " + Twine(bucket.bytes));
  int64_t cap = problem.kinds[problem.items[bucket.items.front()].kind].cap;
  if (bucket.items.size() > 1 && bytes > cap && !leader(bucket))
    return fault("bucket " + Twine(number) + " holds " + Twine(bytes) + " bytes of at most " + Twine(cap));
  return llvm::Error::success();
}

llvm::Error Verifier::delays() {
  std::vector<unsigned> ready(solution.buckets.size());
  for (const Item &item : problem.items)
    for (unsigned dependence : problem.dependences[item.action]) {
      unsigned &latest = ready[*bucketOf[item.action]];
      latest = std::max(latest, dependence);
    }
  for (auto [action, dependences] : llvm::enumerate(problem.dependences))
    for (unsigned dependence : dependences) {
      std::optional<unsigned> bucket = bucketOf[dependence];
      if (!bucket || solution.buckets[*bucket].items.size() == 1 || leader(solution.buckets[*bucket]))
        continue;
      bool mayDelay = problem.kinds[problem.items[solution.buckets[*bucket].items.front()].kind].mayDelay;
      if (!mayDelay && action <= ready[*bucket])
        return fault("bucket " + Twine(*bucket) + " delays action " + Twine(action) + " behind action " +
                     Twine(ready[*bucket]));
    }
  return llvm::Error::success();
}

llvm::Error Verifier::order() {
  std::vector<bool> done(problem.dependences.size());
  auto missing = [&](unsigned action) {
    return llvm::find_if(problem.dependences[action], [&](unsigned dependence) { return !done[dependence]; });
  };
  for (unsigned first : solution.order) {
    if (first >= problem.dependences.size() || done[first])
      return fault("the order has action " + Twine(first) + " twice, or there is none");
    llvm::SmallVector<unsigned> actions{first};
    if (bucketOf[first]) {
      actions.clear();
      for (unsigned item : solution.buckets[*bucketOf[first]].items)
        actions.push_back(problem.items[item].action);
    }
    for (unsigned action : actions)
      if (auto dependence = missing(action); dependence != problem.dependences[action].end())
        return fault("action " + Twine(action) + " comes before action " + Twine(*dependence) + ", which it needs");
    for (unsigned action : actions)
      done[action] = true;
  }
  if (auto left = llvm::find(done, false); left != done.end())
    return fault("action " + Twine(left - done.begin()) + " is not in the order");
  return llvm::Error::success();
}

llvm::Error Verifier::run() {
  if (llvm::Error found = cover())
    return found;
  for (unsigned bucket = 0; bucket < solution.buckets.size(); ++bucket) {
    if (llvm::Error found = checkAlike(bucket))
      return found;
    if (llvm::Error found = size(bucket))
      return found;
  }
  if (llvm::Error found = delays())
    return found;
  return order();
}

llvm::Error braid::verify(const BucketProblem &problem, const BucketSolution &solution) {
  return Verifier(problem, solution).run();
}
