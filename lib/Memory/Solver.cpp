//===- Solver.cpp - offsets by best fit in several orders -----------------===//
//
// Buffers are placed one by one.  Each takes the smallest gap between the buffers that
// are placed already and live at the same time. If there is none, it goes on top. The
// order decides the result: a few orders are tried. Then the search moves buffers that
// exceed the lower bound to the front of the best order, until the bound is met or the
// budget is spent. It draws from a fixed sequence, so that a problem has one answer.
//
// Placing n buffers scans the placed ones in offset order, n²/2 steps of a few
// instructions: 20,000 buffers take some tenths of a second per order.  The budget is
// about as much, so large problems get one order and small ones a search.
//
//===----------------------------------------------------------------------===//

#include "lib/Memory/Placement.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <algorithm>
#include <limits>
#include <random>

using namespace braid;

namespace {

using Order = std::vector<uint32_t>;

class Solver {
public:
  explicit Solver(const PlacementProblem &problem);
  Placement run();

private:
  struct Placed {
    int64_t offset, end;
    int64_t first, last;
  };

  int64_t size(uint32_t i) const { return problem.padded(problem.buffers[i].bytes); }
  /// Returns the buffers that are not fixed, sorted by `before`.
  Order sorted(llvm::function_ref<bool(uint32_t, uint32_t)> before) const;
  /// Places all buffers in this order; keeps the result if it is the best. Returns the buffers
  /// that end above the bound in `high`. With `stopsEarly`, stops once the result cannot be the best
  /// any more; `high` is then undefined.
  void attempt(const Order &order, Order &high, bool stopsEarly = false);
  /// Searches around the best order.
  void improve();
  bool done() const { return best.bytes == bound || steps <= 0; }

  const PlacementProblem &problem;
  int64_t bound;
  Placement best;
  Order bestOrder, bestHigh;
  /// Remaining budget of scanning steps.
  int64_t steps = 40'000'000;
};

} // namespace

Solver::Solver(const PlacementProblem &problem) : problem(problem), bound(liveBound(problem).bytes) {
  best.bytes = std::numeric_limits<int64_t>::max();
}

Order Solver::sorted(llvm::function_ref<bool(uint32_t, uint32_t)> before) const {
  Order order;
  for (uint32_t i = 0; i < problem.buffers.size(); ++i)
    if (!problem.buffers[i].fixed)
      order.push_back(i);
  llvm::stable_sort(order, before);
  return order;
}

void Solver::attempt(const Order &order, Order &high, bool stopsEarly) {
  std::vector<Placed> placed;
  placed.reserve(problem.buffers.size());
  Placement result;
  result.offsets.resize(problem.buffers.size());
  high.clear();

  auto put = [&](uint32_t i, int64_t offset) {
    const PlacementBuffer &buffer = problem.buffers[i];
    result.offsets[i] = offset;
    if (buffer.bytes == 0)
      return;
    Placed entry{offset, offset + size(i), buffer.first, buffer.last};
    auto above = std::upper_bound(placed.begin(), placed.end(), entry,
                                  [](const Placed &a, const Placed &b) { return a.offset < b.offset; });
    placed.insert(above, entry);
    result.bytes = std::max(result.bytes, entry.end);
    if (entry.end > bound)
      high.push_back(i);
  };

  for (uint32_t i = 0; i < problem.buffers.size(); ++i)
    if (problem.buffers[i].fixed)
      put(i, *problem.buffers[i].fixed);
  for (uint32_t i : order) {
    const PlacementBuffer &buffer = problem.buffers[i];
    int64_t bytes = size(i), end = 0, offset = -1, smallest = std::numeric_limits<int64_t>::max();
    for (const Placed &other : placed) {
      if ((other.first > buffer.last) | (other.last < buffer.first))
        continue;
      int64_t gap = other.offset - end;
      if (gap >= bytes && gap < smallest) {
        smallest = gap;
        offset = end;
        if (gap == bytes)
          break; // no gap is smaller
      }
      end = std::max(end, other.end);
    }
    put(i, offset < 0 ? end : offset);
    if (stopsEarly && result.bytes > best.bytes)
      break;
  }
  // An attempt that gave up counts in full, so that the length of the search does not depend on it.
  steps -= order.size() * problem.buffers.size() / 2 + 1;
  // Equal results are kept too: walking along a plateau leads off it.
  if (result.bytes <= best.bytes) {
    best = std::move(result);
    bestOrder = order;
    bestHigh = high;
  }
}

void Solver::improve() {
  // First, move all buffers that exceed the bound to the front, a few times.
  Order order = bestOrder, high = bestHigh;
  for (unsigned round = 0; round < 16 && !done(); ++round) {
    std::vector<bool> sticksOut(problem.buffers.size());
    for (uint32_t i : high)
      sticksOut[i] = true;
    std::stable_partition(order.begin(), order.end(), [&](uint32_t i) { return sticksOut[i]; });
    attempt(order, high);
  }
  // Then move one of them before a random other buffer.
  std::minstd_rand random;
  while (!done() && !bestHigh.empty()) {
    order = bestOrder;
    steps -= order.size() + 1;
    auto from = llvm::find(order, bestHigh[random() % bestHigh.size()]);
    // A fixed buffer that exceeds the bound is not in the order.
    if (from == order.end() || from == order.begin())
      continue;
    auto to = order.begin() + random() % (from - order.begin());
    std::rotate(to, from, from + 1);
    attempt(order, high, /*stopsEarly=*/true);
  }
}

Placement Solver::run() {
  const auto &buffers = problem.buffers;
  int64_t peak = liveBound(problem).time;
  auto atPeak = [&](uint32_t i) { return buffers[i].first <= peak && peak <= buffers[i].last; };
  auto length = [&](uint32_t i) { return buffers[i].last - buffers[i].first + 1; };
  auto area = [&](uint32_t i) { return static_cast<double>(size(i)) * length(i); };
  // Buffers that must fit together at the peak come first. Long-lived buffers go low,
  // so that short-lived ones stack above them. This suits activations, which die in the
  // reverse of the order in which they were made.
  Order orders[] = {
      sorted([&](uint32_t a, uint32_t b) { return std::pair(atPeak(b), length(b)) < std::pair(atPeak(a), length(a)); }),
      sorted([&](uint32_t a, uint32_t b) { return std::pair(size(b), length(b)) < std::pair(size(a), length(a)); }),
      sorted([&](uint32_t a, uint32_t b) { return area(b) < area(a); }),
      sorted([&](uint32_t a, uint32_t b) { return std::pair(length(b), size(b)) < std::pair(length(a), size(a)); }),
  };
  Order high;
  for (const Order &order : orders)
    if (best.offsets.empty() || !done())
      attempt(order, high);
  improve();
  return best;
}

Placement braid::solve(const PlacementProblem &problem) {
  if (problem.buffers.empty())
    return {};
  return Solver(problem).run();
}
