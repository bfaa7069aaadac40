//===- HostTrips.cpp - chooses tensors that wait in host memory -----------===//

#include "lib/Schedule/HostTrips.h"
#include "lib/Pipeline/Failure.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace braid;
using pipeline::failure;
using Tensor = HostTripsProblem::Tensor;

llvm::Error braid::check(const HostTripsProblem &problem) {
  size_t actions = problem.begins.empty() ? 0 : problem.begins.size() - 1;
  if (!llvm::is_sorted(problem.begins))
    return failure("an action begins before the one before it");
  if (problem.turn > actions)
    return failure("the program turns at action {0} of {1}", problem.turn, actions);
  for (auto [number, tensor] : llvm::enumerate(problem.tensors)) {
    if (tensor.made >= tensor.use || tensor.use >= actions)
      return failure("tensor {0} is made by action {1} and read again by action {2} of {3}", number, tensor.made,
                     tensor.use, actions);
    if (!(tensor.seconds >= 0) || tensor.bytes < 0)
      return failure("tensor {0} has {1} bytes, which are copied in {2} seconds", number, tensor.bytes, tensor.seconds);
  }
  for (auto [number, fetch] : llvm::enumerate(problem.others))
    if (fetch.use >= actions || !(fetch.seconds >= 0))
      return failure("fetch {0} is for action {1} of {2} and takes {3} seconds", number, fetch.use, actions,
                     fetch.seconds);
  return llvm::Error::success();
}

/// Returns the indices of the offloaded tensors, sorted by a key.
template <typename Key>
static std::vector<unsigned> tensorsInOrder(const HostTripsProblem &problem, const std::vector<bool> &isOffloaded,
                                            Key key) {
  std::vector<unsigned> numbers;
  for (unsigned number = 0; number < problem.tensors.size(); ++number)
    if (isOffloaded[number])
      numbers.push_back(number);
  llvm::stable_sort(numbers, [&](unsigned a, unsigned b) { return key(a) < key(b); });
  return numbers;
}

/// Simulates the copies to the host. A copy starts when its tensor is computed and the previous copy has ended.
static void simulateOffloads(const HostTripsProblem &problem, const std::vector<bool> &isOffloaded,
                             std::vector<HostTrip> &trips) {
  double end = 0;
  for (unsigned number :
       tensorsInOrder(problem, isOffloaded, [&](unsigned tensor) { return problem.tensors[tensor].made; })) {
    const Tensor &tensor = problem.tensors[number];
    end = std::max(end, problem.begins[tensor.made + 1]) + tensor.seconds;
    double latestEnd = end + (problem.contention - 1) * tensor.seconds + problem.slack;
    trips[number].offloadDelay = std::max(0.0, latestEnd - problem.begins[problem.turn]);
  }
}

namespace {
/// A fetch; `tensor` is -1 for fetches of other data.
struct PendingFetch {
  unsigned use;
  double seconds;
  int64_t tensor;
};
} // namespace

/// Simulates the fetches. They start after the turn, one after another. A fetch starts no earlier than the use that
/// comes `ahead` uses before its own.
static void simulateFetches(const HostTripsProblem &problem, const std::vector<bool> &isOffloaded,
                            std::vector<HostTrip> &trips) {
  std::vector<PendingFetch> fetches;
  for (const HostTripsProblem::Fetch &other : problem.others)
    fetches.push_back({other.use, other.seconds, -1});
  for (unsigned number = 0; number < problem.tensors.size(); ++number)
    if (isOffloaded[number])
      fetches.push_back({problem.tensors[number].use, problem.tensors[number].seconds, number});
  llvm::stable_sort(fetches, [](const PendingFetch &a, const PendingFetch &b) { return a.use < b.use; });
  double end = problem.begins[problem.turn];
  for (size_t index = 0; index < fetches.size(); ++index) {
    const PendingFetch &fetch = fetches[index];
    if (index >= problem.ahead)
      end = std::max(end, problem.begins[fetches[index - problem.ahead].use]);
    end += problem.contention * fetch.seconds;
    if (fetch.tensor >= 0)
      trips[fetch.tensor].fetchDelay = std::max(0.0, end + problem.slack - problem.begins[fetch.use]);
  }
}

std::vector<HostTrip> braid::simulate(const HostTripsProblem &problem, const std::vector<bool> &isOffloaded) {
  std::vector<HostTrip> trips(problem.tensors.size());
  if (problem.tensors.empty())
    return trips;
  simulateOffloads(problem, isOffloaded, trips);
  simulateFetches(problem, isOffloaded, trips);
  return trips;
}

static bool areHidden(const std::vector<HostTrip> &trips) {
  return llvm::all_of(trips, [](const HostTrip &trip) { return trip.isHidden(); });
}

HostTrips braid::solve(const HostTripsProblem &problem) {
  HostTrips answer{std::vector<bool>(problem.tensors.size()), std::vector<HostTrip>(problem.tensors.size())};
  std::vector<bool> all(problem.tensors.size(), true);
  for (unsigned number :
       tensorsInOrder(problem, all, [&](unsigned tensor) { return -problem.tensors[tensor].bytes; })) {
    answer.isOffloaded[number] = true;
    std::vector<HostTrip> trips = simulate(problem, answer.isOffloaded);
    answer.isOffloaded[number] = areHidden(trips);
    answer.trips[number] = trips[number];
    if (answer.isOffloaded[number] || !trips[number].isHidden())
      continue;
    // The tensor makes others late: reports the largest of their delays.
    for (const HostTrip &other : trips)
      answer.trips[number].fetchDelay =
          std::max({answer.trips[number].fetchDelay, other.offloadDelay, other.fetchDelay});
  }
  return answer;
}

llvm::Error braid::verify(const HostTripsProblem &problem, const HostTrips &answer) {
  if (answer.isOffloaded.size() != problem.tensors.size())
    return failure("{0} choices for {1} tensors", answer.isOffloaded.size(), problem.tensors.size());
  for (auto [number, trip] : llvm::enumerate(simulate(problem, answer.isOffloaded)))
    if (!trip.isHidden())
      return failure("tensor {0} is {1} s late on its way to the host and {2} s on its way back", number,
                     trip.offloadDelay, trip.fetchDelay);
  return llvm::Error::success();
}
