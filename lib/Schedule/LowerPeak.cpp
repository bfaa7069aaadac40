//===- LowerPeak.cpp - reorders actions to lower the peak -----------------===//

#include "lib/Schedule/LowerPeak.h"
#include "llvm/ADT/STLExtras.h"
#include <optional>

using namespace braid;
using Actions = llvm::SmallVector<unsigned, 8>;

/// Most actions that move together.
static constexpr unsigned kMaxMovedTogether = 8;
/// Number of the largest buffers examined at the peak, and most moves in total.
static constexpr unsigned kMaxBuffers = 64, kMaxMoves = 256;
/// Slots for an action and the actions that may move behind it.
static constexpr unsigned kSlotsPerAction = kMaxMovedTogether + 1;

namespace {
/// Moves some actions, in their order, right behind the action at a position; -1 means the beginning.
struct Move {
  Actions actions;
  int64_t position = 0;
};

class PeakOrder {
public:
  explicit PeakOrder(const PeakProblem &problem);
  /// Makes the best move. Returns whether the peak fell.
  bool improve();
  std::vector<unsigned> finalOrder() { return std::move(order); }

private:
  static unsigned slotAt(int64_t place) { return (place + 1) * kSlotsPerAction; }
  std::vector<ActionSlots> slots() const;
  std::vector<unsigned> buffersAt(unsigned place, int64_t peak) const;
  std::optional<Actions> withSuccessors(llvm::ArrayRef<unsigned> first, int64_t lastPlace) const;
  std::optional<Actions> withPredecessors(llvm::ArrayRef<unsigned> first, int64_t firstPlace) const;
  void tryLater(const LiveBuffer &buffer, unsigned peak);
  void tryEarlier(const LiveBuffer &buffer, unsigned peak);
  void attempt(const Move &move);
  void apply(const Move &move);

  const PeakProblem &problem;
  std::vector<llvm::SmallVector<unsigned, 4>> dependents;
  std::vector<unsigned> order, placeOf;
  /// State of the search for one move: the live bytes, and the best move so far.
  std::optional<LiveBytes> live;
  int64_t minPeak = 0;
  std::optional<Move> best;
};
} // namespace

PeakOrder::PeakOrder(const PeakProblem &problem) : problem(problem), dependents(problem.dependences.size()) {
  for (unsigned action = 0; action < problem.dependences.size(); ++action) {
    order.push_back(action);
    placeOf.push_back(action);
    for (unsigned dependence : problem.dependences[action])
      dependents[dependence].push_back(action);
  }
}

std::vector<ActionSlots> PeakOrder::slots() const {
  std::vector<ActionSlots> slots;
  for (unsigned place : placeOf)
    slots.push_back({slotAt(place), slotAt(place)});
  return slots;
}

/// Returns the buffers that are live at a position and worth moving, the largest first.
std::vector<unsigned> PeakOrder::buffersAt(unsigned place, int64_t peak) const {
  std::vector<unsigned> found;
  for (auto [number, buffer] : llvm::enumerate(problem.buffers)) {
    if (buffer.users.empty() || buffer.bytes < problem.minGain * peak)
      continue;
    auto places = llvm::map_range(buffer.users, [&](unsigned user) { return placeOf[user]; });
    bool hasBegun = buffer.isLiveIn || llvm::any_of(places, [&](unsigned at) { return at <= place; });
    bool hasEnded = !buffer.isLiveOut && llvm::all_of(places, [&](unsigned at) { return at < place; });
    if (hasBegun && !hasEnded)
      found.push_back(number);
  }
  llvm::stable_sort(found, [&](unsigned a, unsigned b) { return problem.buffers[a].bytes > problem.buffers[b].bytes; });
  found.resize(std::min<size_t>(found.size(), kMaxBuffers));
  return found;
}

/// Returns the given actions and all their dependents up to a position, or none if there are too many.
std::optional<Actions> PeakOrder::withSuccessors(llvm::ArrayRef<unsigned> first, int64_t lastPlace) const {
  Actions all(first.begin(), first.end());
  for (unsigned next = 0; next < all.size(); ++next) {
    if (all.size() > kMaxMovedTogether)
      return std::nullopt;
    for (unsigned dependent : dependents[all[next]])
      if (placeOf[dependent] <= lastPlace && !llvm::is_contained(all, dependent))
        all.push_back(dependent);
  }
  llvm::sort(all, [&](unsigned a, unsigned b) { return placeOf[a] < placeOf[b]; });
  return all;
}

/// Returns the given actions and all actions from a position on that they need, or none if there are too many.
std::optional<Actions> PeakOrder::withPredecessors(llvm::ArrayRef<unsigned> first, int64_t firstPlace) const {
  Actions all(first.begin(), first.end());
  for (unsigned next = 0; next < all.size(); ++next) {
    if (all.size() > kMaxMovedTogether)
      return std::nullopt;
    for (unsigned dependence : problem.dependences[all[next]])
      if (placeOf[dependence] >= firstPlace && !llvm::is_contained(all, dependence))
        all.push_back(dependence);
  }
  llvm::sort(all, [&](unsigned a, unsigned b) { return placeOf[a] < placeOf[b]; });
  return all;
}

/// Tries to let a buffer begin behind the peak: right behind it, or at increasing distances.
void PeakOrder::tryLater(const LiveBuffer &buffer, unsigned peak) {
  if (buffer.isLiveIn)
    return;
  Actions users;
  llvm::copy_if(buffer.users, std::back_inserter(users), [&](unsigned user) { return placeOf[user] <= peak; });
  for (int64_t distance = 0; peak + distance < static_cast<int64_t>(order.size()); distance = 2 * distance + 1) {
    std::optional<Actions> moved = withSuccessors(users, peak + distance);
    if (!moved)
      return;
    attempt({*moved, peak + distance});
  }
}

/// Tries to let a buffer end before the peak.
void PeakOrder::tryEarlier(const LiveBuffer &buffer, unsigned peak) {
  if (buffer.isLiveOut)
    return;
  Actions users;
  llvm::copy_if(buffer.users, std::back_inserter(users), [&](unsigned user) { return placeOf[user] >= peak; });
  for (int64_t distance = 0; distance <= peak; distance = 2 * distance + 1) {
    std::optional<Actions> moved = withPredecessors(users, peak - distance);
    if (!moved)
      return;
    attempt({*moved, peak - distance - 1});
  }
}

/// Records a move if its peak is lower than that of all moves before.
void PeakOrder::attempt(const Move &move) {
  unsigned slot = slotAt(move.position);
  for (unsigned action : move.actions) {
    ++slot;
    live->move(action, {slot, slot});
  }
  if (int64_t peak = live->peak(); peak < minPeak) {
    minPeak = peak;
    best = move;
  }
  for (unsigned action : move.actions)
    live->move(action, {slotAt(placeOf[action]), slotAt(placeOf[action])});
}

void PeakOrder::apply(const Move &move) {
  std::vector<unsigned> next;
  auto add = [&](int64_t place) {
    if (place == move.position)
      llvm::append_range(next, move.actions);
  };
  add(-1);
  for (auto [place, action] : llvm::enumerate(order)) {
    if (!llvm::is_contained(move.actions, action))
      next.push_back(action);
    add(place);
  }
  order = std::move(next);
  for (auto [place, action] : llvm::enumerate(order))
    placeOf[action] = place;
}

bool PeakOrder::improve() {
  live.emplace(problem.buffers, slots(), slotAt(order.size() + 1));
  int64_t before = live->peak();
  minPeak = before - std::max<int64_t>(1, problem.minGain * before) + 1;
  best.reset();
  // Between two actions, no more bytes are live than at one of the two.
  unsigned peak = std::max(live->peakSlot() / kSlotsPerAction, 1u) - 1;
  for (unsigned number : buffersAt(peak, before)) {
    tryLater(problem.buffers[number], peak);
    tryEarlier(problem.buffers[number], peak);
  }
  if (best)
    apply(*best);
  return best.has_value();
}

std::vector<unsigned> braid::lowerPeak(const PeakProblem &problem) {
  PeakOrder order(problem);
  for (unsigned moves = 0; moves < kMaxMoves && !problem.dependences.empty() && order.improve(); ++moves)
    ;
  return order.finalOrder();
}
