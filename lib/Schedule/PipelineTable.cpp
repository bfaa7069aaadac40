//===- PipelineTable.cpp - pipeline tables with their functions -----------===//

#include "lib/Schedule/PipelineTable.h"
#include "dialects/Exec/Exec.h"
#include "lib/Pipeline/Csv.h"

using namespace mlir;
using namespace braid;
using namespace braid::pipeline;

/// Names of buffers, in the order of the enum.
static constexpr StringLiteral kBuffers[] = {"saved", "activation_in", "activation_out", "gradient_in", "gradient_out"};

std::string braid::slotsName(unsigned stage, Buffer buffer) {
  return ("stage" + Twine(stage) + "_" + kBuffers[static_cast<unsigned>(buffer)]).str();
}

comm::CellKind braid::cellKindOf(pipeline::Action action) {
  switch (action) {
  case pipeline::Action::Forward:
    return comm::CellKind::Forward;
  case pipeline::Action::Backward:
    return comm::CellKind::Backward;
  case pipeline::Action::InputGradient:
    return comm::CellKind::InputGradient;
  case pipeline::Action::WeightGradient:
    return comm::CellKind::WeightGradient;
  }
  llvm_unreachable("an action without a kind of cell");
}

static comm::CellKind kindOf(const WalkStep &step) {
  if (step.kind == WalkStep::Run)
    return cellKindOf(step.action);
  bool isForward = step.action == pipeline::Action::Forward;
  if (step.isSend)
    return isForward ? comm::CellKind::SendActivation : comm::CellKind::SendGradient;
  return isForward ? comm::CellKind::ReceiveActivation : comm::CellKind::ReceiveGradient;
}

static comm::CellAttr cellOf(Operation *function) {
  return function->getAttrOfType<comm::CellAttr>(comm::CommDialect::kCell);
}

bool braid::isPipelineMessage(Operation *function) {
  comm::CellAttr cell = cellOf(function);
  return cell && cell.getKind() >= comm::CellKind::SendActivation;
}

PipelineTable::PipelineTable(comm::PipelineOp op, Schedule schedule)
    : op(op), context(op.getContext()), schedule(std::move(schedule)), walk(makeWalk(this->schedule)) {}

Operation *PipelineTable::functionOf(const WalkStep &step) const {
  return functions.lookup(comm::CellAttr::get(context, kindOf(step), step.stage));
}

const BufferSlots *PipelineTable::slotsOf(StringAttr symbol) const {
  for (unsigned stage = 0; stage < schedule.numStages(); ++stage)
    for (unsigned buffer = 0; buffer < kNumBuffers; ++buffer)
      if (slotsName(stage, Buffer(buffer)) == symbol.getValue())
        return &walk.slots(stage, Buffer(buffer));
  return nullptr;
}

LogicalResult PipelineTable::findFunctions(ModuleOp module) {
  for (Operation &function : *module.getBody())
    if (comm::CellAttr cell = cellOf(&function))
      functions[cell] = &function;
  for (ArrayRef<WalkStep> steps : walk.ranks)
    for (const WalkStep &step : steps)
      if (!functionOf(step))
        return op.emitOpError() << "has '" << step.str() << "' in its table, but no function runs it; add one with "
                                << "comm.cell = " << comm::CellAttr::get(op.getContext(), kindOf(step), step.stage);
  return success();
}

LogicalResult PipelineTable::checkSlots(ModuleOp module) const {
  for (auto slots : module.getOps<exec::SlotsOp>()) {
    const BufferSlots *needed = slotsOf(slots.getSymNameAttr());
    if (!needed)
      return slots.emitOpError() << "'" << slots.getSymName() << "' belongs to no stage of the table, which has "
                                 << schedule.numStages();
    if (slots.getCount() < needed->count)
      return slots.emitOpError() << "'" << slots.getSymName() << "' has " << slots.getCount()
                                 << ", but the table needs " << needed->count;
  }
  return success();
}

FailureOr<std::optional<PipelineTable>> PipelineTable::of(ModuleOp module) {
  auto ops = module.getOps<comm::PipelineOp>();
  if (ops.empty())
    return std::optional<PipelineTable>();
  comm::PipelineOp op = *ops.begin();
  llvm::Expected<Table> table = parseCsv(op.getTable(), "the table");
  llvm::Expected<Schedule> schedule = table ? pipeline::verify(std::move(*table)) : table.takeError();
  if (!schedule)
    return op.emitOpError() << llvm::toString(schedule.takeError());
  PipelineTable found(op, std::move(*schedule));
  if (llvm::Error error = pipeline::verify(found.schedule, found.walk))
    return op.emitOpError() << llvm::toString(std::move(error));
  if (failed(found.findFunctions(module)) || failed(found.checkSlots(module)))
    return failure();
  return std::optional<PipelineTable>(std::move(found));
}
