//===- FillWaits.cpp - fills waits for collectives ------------------------===//

#include "lib/Schedule/FillWaits.h"
#include "lib/Schedule/Timeline.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallBitVector.h"
#include <algorithm>
#include <numeric>

using namespace braid;
using Action = OverlapProblem::Action;
using Kind = OverlapProblem::Kind;

/// Largest number of actions examined on each side of a wait.
static constexpr unsigned kMaxWindow = 128;
/// Shorter waits, in seconds, do not justify another order.
static constexpr double kMinWait = 1e-6;

namespace {
class Filler {
public:
  Filler(const OverlapProblem &problem, Filling filling)
      : actions(problem.actions), filling(filling), order(actions.size()), readers(actions.size()) {
    std::iota(order.begin(), order.end(), 0);
    for (auto [number, action] : llvm::enumerate(actions))
      for (const auto *before : {&action.dependences, &action.antiDependences})
        for (unsigned other : *before)
          readers[other].push_back(number);
  }

  std::vector<unsigned> run();

private:
  /// Returns the position of the first action that waits for the one at `place`. Returns none if this action is an
  /// update, because the scheduler moves updates itself.
  std::optional<unsigned> firstReader(unsigned place) const;
  bool dependsOn(unsigned action, const std::vector<bool> &others) const;
  bool mayMove(unsigned action) const;
  double waitOf(unsigned place, unsigned reader) const;
  unsigned windowBefore(unsigned place) const;
  void delay(unsigned &place, unsigned reader, double &wanted);
  void hoist(unsigned reader, double &wanted);

  const std::vector<Action> &actions;
  Filling filling;
  std::vector<unsigned> order;
  std::vector<llvm::SmallVector<unsigned, 4>> readers;
};
} // namespace

std::optional<unsigned> Filler::firstReader(unsigned place) const {
  const llvm::SmallVector<unsigned, 4> &of = readers[order[place]];
  for (unsigned next = place + 1; next < order.size(); ++next)
    if (llvm::is_contained(of, order[next]))
      return actions[order[next]].kind == Kind::Update ? std::nullopt : std::optional(next);
  return std::nullopt;
}

bool Filler::dependsOn(unsigned action, const std::vector<bool> &others) const {
  auto isOther = [&](unsigned before) { return others[before]; };
  return llvm::any_of(actions[action].dependences, isOther) || llvm::any_of(actions[action].antiDependences, isOther);
}

/// Returns whether the action may move. Readers of gathered parameters stay, because units are gathered in the order of
/// their first uses.
bool Filler::mayMove(unsigned action) const {
  auto isGather = [&](unsigned dependence) { return actions[dependence].kind == Kind::Gather; };
  return actions[action].kind == Kind::Compute && llvm::none_of(actions[action].dependences, isGather);
}

/// Returns the seconds that the reader waits for the action at `place`, if all actions start as early as possible.
double Filler::waitOf(unsigned place, unsigned reader) const {
  std::vector<double> ends(actions.size(), 0);
  double now = 0, link = 0;
  for (unsigned next = 0; next < reader; ++next) {
    const Action &action = actions[order[next]];
    for (unsigned dependence : action.dependences)
      now = std::max(now, ends[dependence]);
    if (action.queue == OverlapProblem::kRanks && action.communicates())
      ends[order[next]] = link = std::max(link, now) + action.seconds;
    else if (!action.communicates())
      ends[order[next]] = now += action.seconds;
  }
  return ends[order[place]] - now;
}

/// Returns the first position whose actions may be delayed. It lies after the computation that overlaps with an earlier
/// communication, which ends before the one at `place` starts.
unsigned Filler::windowBefore(unsigned place) const {
  unsigned begin = place;
  for (; begin > 0 && place - begin < kMaxWindow; --begin) {
    if (!actions[order[begin - 1]].communicates())
      continue;
    if (std::optional<unsigned> reader = firstReader(begin - 1); !reader || *reader < place)
      return reader ? *reader : begin;
  }
  return begin;
}

/// Moves actions from before the collective at `place` behind it, the nearest first.
void Filler::delay(unsigned &place, unsigned reader, double &wanted) {
  unsigned begin = windowBefore(place);
  std::vector<unsigned> remaining, moved;
  // Actions that are needed by the collective or by an action that stays before it.
  std::vector<bool> needed(actions.size());
  auto require = [&](unsigned action) {
    for (unsigned before : actions[action].dependences)
      needed[before] = true;
    for (unsigned before : actions[action].antiDependences)
      needed[before] = true;
  };
  require(order[place]);
  for (unsigned next = place; next-- > begin;) {
    unsigned action = order[next];
    bool isMoved = wanted > 0 && !needed[action] && mayMove(action);
    (isMoved ? moved : remaining).push_back(action);
    if (isMoved)
      wanted -= actions[action].seconds;
    else
      require(action);
  }
  auto to = std::copy(remaining.rbegin(), remaining.rend(), order.begin() + begin);
  *to = order[place];
  unsigned numMoved = moved.size();
  std::copy(moved.rbegin(), moved.rend(), to + 1);
  place -= numMoved;
}

/// Moves actions from behind the reader before it, the nearest first. Leaves out actions that are computed during
/// another wait.
void Filler::hoist(unsigned reader, double &wanted) {
  unsigned end = std::min<size_t>(order.size(), reader + kMaxWindow);
  std::vector<unsigned> remaining, moved;
  std::vector<bool> behind(actions.size());
  unsigned waitEnds = reader + 1;
  for (unsigned next = reader; next < end; ++next) {
    unsigned action = order[next];
    if (actions[action].communicates())
      waitEnds = std::max(waitEnds, firstReader(next).value_or(next));
    bool isMoved = wanted > 0 && next >= waitEnds && mayMove(action) && !dependsOn(action, behind);
    (isMoved ? moved : remaining).push_back(action);
    if (isMoved)
      wanted -= actions[action].seconds;
    else
      behind[action] = true;
  }
  std::copy(remaining.begin(), remaining.end(), std::copy(moved.begin(), moved.end(), order.begin() + reader));
}

std::vector<unsigned> Filler::run() {
  for (unsigned number = 0; number < actions.size(); ++number) {
    const Action &collective = actions[number];
    if (collective.kind != Kind::Collective || collective.queue != OverlapProblem::kRanks)
      continue;
    unsigned place = llvm::find(order, number) - order.begin();
    std::optional<unsigned> reader = firstReader(place);
    if (!reader)
      continue;
    double wanted = waitOf(place, *reader);
    if (wanted < kMinWait)
      continue;
    delay(place, *reader, wanted);
    if (filling == Filling::DelayAndHoist && wanted > 0)
      hoist(*reader, wanted);
  }
  return std::move(order);
}

OverlapProblem braid::inOrder(const OverlapProblem &problem, llvm::ArrayRef<unsigned> order) {
  std::vector<unsigned> places(order.size());
  for (auto [place, action] : llvm::enumerate(order))
    places[action] = place;
  OverlapProblem other = problem;
  for (auto [place, action] : llvm::enumerate(order)) {
    Action &moved = other.actions[place] = problem.actions[action];
    for (auto *before : {&moved.dependences, &moved.antiDependences}) {
      for (unsigned &number : *before)
        number = places[number];
      llvm::sort(*before);
    }
  }
  return other;
}

std::vector<unsigned> braid::fillWaits(const OverlapProblem &problem, Filling filling) {
  std::vector<unsigned> order = Filler(problem, filling).run();
  auto seconds = [](const OverlapProblem &made) { return simulate(made, solve(made)).seconds; };
  // An action that hides one wait no longer hides another at its old position, so the total may be worse.
  if (!llvm::is_sorted(order) && seconds(inOrder(problem, order)) >= seconds(problem))
    std::iota(order.begin(), order.end(), 0);
  return order;
}
