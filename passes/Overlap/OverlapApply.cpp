//===- OverlapApply.cpp - apply a schedule to a function ------------------===//

#include "dialects/Comm/Comm.h"
#include "lib/Actions/ReorderActions.h"
#include "passes/Overlap/OverlapReader.h"

using namespace mlir;
using namespace braid;

namespace {
/// Splits communication into starts and waits, and lists the ops in their new order.
class Splitter {
public:
  Splitter(func::FuncOp function, Places &places)
      : places(places), builder(function.getBody().front().getTerminator()) {}

  void start(Operation *collective);
  void wait(Operation *collective);

  SmallVector<Operation *> order;

private:
  Places &places;
  OpBuilder builder;
  llvm::DenseMap<Operation *, comm::StartOp> starts;
};
} // namespace

/// The collective keeps its results until its wait is built.
void Splitter::start(Operation *collective) {
  auto type = comm::TicketType::get(collective->getContext(), llvm::to_vector(collective->getResultTypes()));
  auto start = builder.create<comm::StartOp>(collective->getLoc(), type);
  Block &body = start.getBody().emplaceBlock();
  collective->moveBefore(&body, body.end());
  starts[collective] = start;
  order.push_back(start);
}

void Splitter::wait(Operation *collective) {
  comm::StartOp start = starts.lookup(collective);
  auto wait = builder.create<comm::WaitOp>(collective->getLoc(), collective->getResultTypes(), start.getTicket());
  for (auto [made, given] : llvm::zip(collective->getResults(), wait->getResults())) {
    Place place = places.places.at(made);
    places.places[given] = std::move(place);
  }
  collective->replaceAllUsesWith(wait->getResults());
  order.push_back(wait);
}

/// Erases views and concats without readers.
static void eraseDeadTies(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (!isa<exec::ActionOpInterface>(op) && isOpTriviallyDead(&op))
      op.erase();
}

void braid::applySchedule(func::FuncOp function, const OverlapProgram &program, const OverlapSchedule &schedule,
                          Places &places) {
  Block &block = function.getBody().front();
  eraseDeadTies(block);
  Splitter splitter(function, places);
  const std::vector<OverlapStep> &steps = schedule.steps;
  for (size_t index = 0; index < steps.size(); ++index) {
    Operation *op = program.actions[steps[index].action];
    bool atOnce = steps[index].kind == OverlapStep::Start && index + 1 < steps.size() &&
                  steps[index + 1].kind == OverlapStep::Wait && steps[index + 1].action == steps[index].action;
    if (atOnce)
      ++index;
    if (atOnce || steps[index].kind == OverlapStep::Run)
      splitter.order.push_back(op);
    else if (steps[index].kind == OverlapStep::Start)
      splitter.start(op);
    else
      splitter.wait(op);
  }
  splitter.order.push_back(block.getTerminator());
  reorderActions(block, splitter.order);
}
