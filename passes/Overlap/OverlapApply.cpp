//===- OverlapApply.cpp - a function in the order of its schedule ---------===//

#include "dialects/Comm/Comm.h"
#include "passes/Overlap/OverlapReader.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace braid;

namespace {
/// Puts ops one by one before the terminator.
class Writer {
public:
  Writer(func::FuncOp function, Places &places)
      : places(places), terminator(function.getBody().front().getTerminator()), builder(terminator) {}

  void run(Operation *op);
  void start(Operation *collective);
  void wait(Operation *collective);
  void finish() { placeReads(terminator); }

private:
  void placeReads(Operation *op);

  Places &places;
  Operation *terminator;
  OpBuilder builder;
  llvm::SmallPtrSet<Operation *, 32> placed;
  llvm::DenseMap<Operation *, comm::StartOp> starts;
};
} // namespace

/// Views, concats and constants come right before their first reader.
void Writer::placeReads(Operation *op) {
  for (Value operand : op->getOperands()) {
    Operation *source = operand.getDefiningOp();
    if (!source || isa<exec::ActionOpInterface>(source) || !placed.insert(source).second)
      continue;
    placeReads(source);
    source->moveBefore(terminator);
  }
}

void Writer::run(Operation *op) {
  placeReads(op);
  op->moveBefore(terminator);
}

/// The results stay with the collective until there is a wait that has them.
void Writer::start(Operation *collective) {
  placeReads(collective);
  auto type = comm::TicketType::get(collective->getContext(), llvm::to_vector(collective->getResultTypes()));
  auto start = builder.create<comm::StartOp>(collective->getLoc(), type);
  start.getBody().emplaceBlock();
  starts[collective] = start;
}

void Writer::wait(Operation *collective) {
  comm::StartOp start = starts.lookup(collective);
  auto wait = builder.create<comm::WaitOp>(collective->getLoc(), collective->getResultTypes(), start.getTicket());
  for (auto [made, given] : llvm::zip(collective->getResults(), wait->getResults())) {
    Place place = places.places.at(made);
    places.places[given] = std::move(place);
  }
  collective->replaceAllUsesWith(wait->getResults());
  collective->moveBefore(&start.getBody().front(), start.getBody().front().end());
}

/// Dead ties would stay in front of what they read.
static void eraseDeadTies(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (!isa<exec::ActionOpInterface>(op) && isOpTriviallyDead(&op))
      op.erase();
}

void braid::applySchedule(func::FuncOp function, const OverlapProgram &program, const OverlapSchedule &schedule,
                          Places &places) {
  eraseDeadTies(function.getBody().front());
  Writer writer(function, places);
  const std::vector<OverlapStep> &steps = schedule.steps;
  for (size_t index = 0; index < steps.size(); ++index) {
    Operation *op = program.actions[steps[index].action];
    bool atOnce = steps[index].kind == OverlapStep::Start && index + 1 < steps.size() &&
                  steps[index + 1].kind == OverlapStep::Wait && steps[index + 1].action == steps[index].action;
    if (atOnce)
      ++index;
    if (atOnce || steps[index].kind == OverlapStep::Run)
      writer.run(op);
    else if (steps[index].kind == OverlapStep::Start)
      writer.start(op);
    else
      writer.wait(op);
  }
  writer.finish();
}
