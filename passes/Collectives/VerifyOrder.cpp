//===- VerifyOrder.cpp - check that ranks do not deadlock -----------------===//

#include "dialects/Comm/MovedValues.h"
#include "dialects/TG/Facts.h"
#include "lib/Schedule/Agreement.h"
#include "lib/Schedule/RankPrograms.h"
#define GEN_PASS_DEF_VERIFYORDER
#include "passes/Collectives/Passes.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

namespace {

/// Reports why the ranks of a program deadlock.
class Reporter {
public:
  explicit Reporter(const OrderProblem &problem) : problem(problem) {}
  LogicalResult report(const Deadlock &found);

private:
  const OrderProblem::Class &classOf(const RankState &state) const { return problem.classes[state.classNumber]; }
  /// Returns the unfinished communication that the rank waits for.
  RankAt at(const RankState &state) const;
  std::string waitsFor(const RankState &state, const RankState &other) const;
  void noteWait(InFlightDiagnostic &diagnostic, const RankState &state) const;

  LogicalResult reportCycle(ArrayRef<RankState> ranks);
  LogicalResult reportUnmatched(const RankState &rank, const RankState &other);
  LogicalResult reportMismatch(const RankState &a, const RankState &b);

  const OrderProblem &problem;
};

} // namespace

static RankAt rankAt(const RankState &state, const OrderProblem::Communication &communication, unsigned number) {
  return {state.rank, cast<CollectiveOpInterface>(communication.op), number,
          communication.kind != OrderProblem::CommunicationKind::Group};
}

RankAt Reporter::at(const RankState &state) const {
  return rankAt(state, classOf(state).communications[*state.head()], *state.head());
}

std::string Reporter::waitsFor(const RankState &state, const RankState &other) const {
  RankAt mine = at(state), theirs = at(other);
  return ("rank " + Twine(state.rank) + " waits for " + mine.strRelativeTo(theirs) + " while rank " +
          Twine(other.rank) + " is at " + theirs.strRelativeTo(mine))
      .str();
}

/// Adds a note with the op at which computation waits, if it is not the head of the queue.
void Reporter::noteWait(InFlightDiagnostic &diagnostic, const RankState &state) const {
  const OrderProblem::Step &step = classOf(state).steps[state.step];
  if (step.communication == *state.head())
    return;
  RankAt waited = rankAt(state, classOf(state).communications[step.communication], step.communication);
  diagnostic.attachNote(step.op->getLoc()) << "rank " << state.rank << " is here and waits for " << waited.str()
                                           << ", which is queued behind " << at(state).str();
}

LogicalResult Reporter::reportCycle(ArrayRef<RankState> ranks) {
  InFlightDiagnostic diagnostic = at(ranks.front()).op->emitOpError() << "deadlocks: ";
  for (auto [index, rank] : llvm::enumerate(ranks)) {
    std::string waits = waitsFor(rank, ranks[(index + 1) % ranks.size()]);
    if (index == 0)
      diagnostic << waits << "; all ranks must issue the collectives that they share in the same order";
    else
      diagnostic.attachNote(at(rank).op->getLoc()) << waits;
    noteWait(diagnostic, rank);
  }
  return diagnostic;
}

/// Reports a send, recv or collective that has no match on the other side.
LogicalResult Reporter::reportUnmatched(const RankState &rank, const RankState &other) {
  using CommunicationKind = OrderProblem::CommunicationKind;
  RankAt waiting = at(rank);
  InFlightDiagnostic diagnostic = waiting.op->emitOpError();
  diagnostic << "deadlocks: rank " << rank.rank << " waits for " << waiting.str() << ", but rank " << other.rank
             << " has no ";
  switch (classOf(rank).communications[waiting.number].kind) {
  case CommunicationKind::Group:
    diagnostic << "collective over " << textOf(waiting.op.getAxes()) << " left";
    break;
  case CommunicationKind::Send:
    diagnostic << "recv from rank " << rank.rank << " over " << textOf(waiting.op.getAxes()) << " left";
    break;
  case CommunicationKind::Recv:
    diagnostic << "send to rank " << rank.rank << " over " << textOf(waiting.op.getAxes()) << " left";
    break;
  }
  noteWait(diagnostic, rank);
  diagnostic.attachNote(classOf(other).op->getLoc()) << "rank " << other.rank << " runs this";
  return diagnostic;
}

LogicalResult Reporter::reportMismatch(const RankState &a, const RankState &b) {
  InFlightDiagnostic diagnostic = at(a).op->emitOpError();
  diagnostic << "is not the same collective on ranks " << a.rank << " and " << b.rank << ": "
             << describeDifference(at(a), at(b));
  diagnostic.attachNote(at(b).op->getLoc()) << "rank " << b.rank << " is at " << at(b).str() << " here";
  return diagnostic;
}

LogicalResult Reporter::report(const Deadlock &found) {
  switch (found.kind) {
  case Deadlock::Cycle:
    return reportCycle(found.ranks);
  case Deadlock::Unmatched:
    return reportUnmatched(found.ranks[0], found.ranks[1]);
  case Deadlock::Mismatch:
    return reportMismatch(found.ranks[0], found.ranks[1]);
  }
  llvm_unreachable("all kinds are handled");
}

/// Checks that the operands of a collective match the tensors in its attributes and facts. A reduced operand
/// may be another kind of tensor, but not one of another parameter.
static LogicalResult verifySent(CollectiveOpInterface op) {
  auto fail = [&](Value value, const auto &recorded, const auto &actual) -> LogicalResult {
    InFlightDiagnostic diagnostic = op->emitOpError();
    diagnostic << "moves " << recorded << " by its attributes and facts, but sends " << actual;
    diagnostic.attachNote(value.getLoc()) << "this is sent";
    return diagnostic;
  };
  OperandRange sent = op.getSent();
  ArrayAttr moved = movedValuesOf(op);
  auto function = op->getParentOfType<func::FuncOp>();
  bool isCell = function->hasAttr(CommDialect::kCell);
  for (auto [index, value] : llvm::enumerate(sent)) {
    if (auto argument = dyn_cast<BlockArgument>(value); argument && !isCell) {
      StringAttr name = tg::nameOf(function.getArgAttrDict(argument.getArgNumber()));
      auto recorded = dyn_cast<StringAttr>(moved[index]);
      // Each rank's part of a sum is named NAME.stageN.
      StringRef rest = name ? name.getValue() : StringRef();
      bool isPart = recorded && rest.consume_front(recorded.getValue()) && rest.consume_front(".stage") &&
                    !rest.empty() && llvm::all_of(rest, llvm::isDigit);
      if (recorded && name && recorded != name && !isPart)
        return fail(value, recorded, name);
      continue;
    }
    tg::FactsAttr recorded = tg::factsOfTensor(op.getLoc(), index, sent.size());
    tg::FactsAttr actual = isa<BlockArgument>(value) ? tg::factsOf(value.getLoc()) : tg::factsOfTensor(value);
    bool isOfAnother = recorded && actual && !recorded.getOf().empty() && !actual.getOf().empty() &&
                       recorded.getOf() != actual.getOf();
    if (op.getReductionKind() ? isOfAnother : recorded && actual && recorded != actual)
      return fail(value, recorded, actual);
    // A collective that a pass puts where the value is made keeps its location.
    if (!recorded || !actual || op.getReductionKind() || !isa<OpResult>(value) || sent.size() != 1 ||
        op.getLoc() == tg::withFacts(function.getLoc(), recorded))
      continue;
    if (op.getLoc() != tg::locationOf(value))
      return fail(value, "what is made elsewhere", value.getDefiningOp()->getName());
  }
  return success();
}

/// Verifies collectives that span functions, before they are lowered to memory form.
static LogicalResult verifyMoved(Operation *function) {
  if (!isa<func::FuncOp>(function))
    return success();
  auto result = function->walk([](CollectiveOpInterface op) {
    return movedValuesOf(op) && failed(verifySent(op)) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// Emits an error if the ranks of a program deadlock: they wait for one another, lack a matching communication,
/// or issue different ones.
static LogicalResult verifyOrder(ModuleOp module) {
  FailureOr<std::vector<RankProgram>> programs = collectRankPrograms(module);
  if (failed(programs))
    return failure();
  for (const RankProgram &program : *programs) {
    FailureOr<OrderProblem> problem = readOrder(program); // rejects functions with several blocks
    if (failed(problem))
      return failure();
    for (Operation *function : program.functions)
      if (failed(verifyMoved(function)))
        return failure();
    if (std::optional<Deadlock> found = findDeadlock(*problem))
      return Reporter(*problem).report(*found);
  }
  return success();
}

namespace {
struct VerifyOrder : braid::impl::VerifyOrderBase<VerifyOrder> {
  void runOnOperation() final {
    if (failed(verifyOrder(getOperation())))
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
