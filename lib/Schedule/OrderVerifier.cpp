//===- OrderVerifier.cpp - what a standstill is to the user ---------------===//

#include "lib/Schedule/OrderVerifier.h"
#include "lib/Schedule/Agreement.h"
#include "lib/Schedule/RankPrograms.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

namespace {

/// Says why the ranks of a program wait for ever.
class Reporter {
public:
  explicit Reporter(const OrderProblem &problem) : problem(problem) {}
  LogicalResult report(const Standstill &found);

private:
  const OrderProblem::Class &classOf(const RankState &state) const { return problem.classes[state.classNumber]; }
  /// What the rank is at; it has not ended.
  RankAt at(const RankState &state) const;
  std::string waitsFor(const RankState &state, const RankState &other) const;
  void noteWait(InFlightDiagnostic &diagnostic, const RankState &state) const;

  LogicalResult reportCycle(ArrayRef<RankState> ranks);
  LogicalResult reportUnpaired(const RankState &rank, const RankState &other);
  LogicalResult reportDisagreement(const RankState &a, const RankState &b);

  const OrderProblem &problem;
};

} // namespace

static RankAt rankAt(const RankState &state, const OrderProblem::Communication &communication, unsigned number) {
  return {state.rank, cast<CollectiveOpInterface>(communication.op), number,
          communication.meeting != OrderProblem::Meeting::Group};
}

RankAt Reporter::at(const RankState &state) const {
  return rankAt(state, classOf(state).communications[*state.head()], *state.head());
}

std::string Reporter::waitsFor(const RankState &state, const RankState &other) const {
  RankAt mine = at(state), theirs = at(other);
  return ("rank " + Twine(state.rank) + " waits for " + mine.strBeside(theirs) + " while rank " + Twine(other.rank) +
          " is at " + theirs.strBeside(mine))
      .str();
}

/// Where computing has stopped, if that is not at the head of the queue itself.
void Reporter::noteWait(InFlightDiagnostic &diagnostic, const RankState &state) const {
  const OrderProblem::Step &step = classOf(state).steps[state.step];
  if (step.communication == *state.head())
    return;
  RankAt waited = rankAt(state, classOf(state).communications[step.communication], step.communication);
  diagnostic.attachNote(step.op->getLoc()) << "rank " << state.rank << " is here and waits for " << waited.str()
                                           << ", which is queued behind " << at(state).str();
}

LogicalResult Reporter::reportCycle(ArrayRef<RankState> ranks) {
  InFlightDiagnostic diagnostic = at(ranks.front()).op->emitOpError() << "never ends: ";
  for (auto [index, rank] : llvm::enumerate(ranks)) {
    std::string waits = waitsFor(rank, ranks[(index + 1) % ranks.size()]);
    if (index == 0)
      diagnostic << waits << "; all ranks must start what they share in one order";
    else
      diagnostic.attachNote(at(rank).op->getLoc()) << waits;
    noteWait(diagnostic, rank);
  }
  return diagnostic;
}

/// A send or recv that the other side lacks, or a collective.
LogicalResult Reporter::reportUnpaired(const RankState &rank, const RankState &other) {
  using Meeting = OrderProblem::Meeting;
  RankAt waiting = at(rank);
  InFlightDiagnostic diagnostic = waiting.op->emitOpError();
  diagnostic << "never ends: rank " << rank.rank << " waits for " << waiting.str() << ", but rank " << other.rank
             << " has no ";
  switch (classOf(rank).communications[waiting.number].meeting) {
  case Meeting::Group:
    diagnostic << "collective over " << textOf(waiting.op.getAxes()) << " left";
    break;
  case Meeting::Send:
    diagnostic << "recv from rank " << rank.rank << " over " << textOf(waiting.op.getAxes()) << " left";
    break;
  case Meeting::Recv:
    diagnostic << "send to rank " << rank.rank << " over " << textOf(waiting.op.getAxes()) << " left";
    break;
  }
  noteWait(diagnostic, rank);
  diagnostic.attachNote(classOf(other).op->getLoc()) << "rank " << other.rank << " runs this";
  return diagnostic;
}

LogicalResult Reporter::reportDisagreement(const RankState &a, const RankState &b) {
  InFlightDiagnostic diagnostic = at(a).op->emitOpError();
  diagnostic << "is a collective over ranks that disagree: " << describeDifference(at(a), at(b));
  diagnostic.attachNote(at(b).op->getLoc()) << "rank " << b.rank << " is at " << at(b).str() << " here";
  return diagnostic;
}

LogicalResult Reporter::report(const Standstill &found) {
  switch (found.kind) {
  case Standstill::Cycle:
    return reportCycle(found.ranks);
  case Standstill::Unpaired:
    return reportUnpaired(found.ranks[0], found.ranks[1]);
  case Standstill::Disagreement:
    return reportDisagreement(found.ranks[0], found.ranks[1]);
  }
  llvm_unreachable("all kinds are handled");
}

LogicalResult braid::verifyOrder(ModuleOp module) {
  FailureOr<std::vector<RankProgram>> programs = collectRankPrograms(module);
  if (failed(programs))
    return failure();
  for (const RankProgram &program : *programs) {
    FailureOr<OrderProblem> problem = readOrder(program);
    if (failed(problem))
      return failure();
    if (std::optional<Standstill> found = findStandstill(*problem))
      return Reporter(*problem).report(*found);
  }
  return success();
}
