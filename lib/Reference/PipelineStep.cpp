//===- PipelineStep.cpp - the cells of a pipeline's step ------------------===//
//
// Cells run one after the other, each after the cells whose results it takes, on all ranks of its stage. The
// functions of a message's sender and receiver run together. The receiver waits in vain for a message that is
// sent to another rank.  Each rank has its own tensors of a microbatch; they are not logical tensors.
//
//===----------------------------------------------------------------------===//

#include "lib/Reference/Step.h"

using namespace mlir;
using namespace braid;
using namespace braid::reference;
using namespace braid::pipeline;

namespace {
/// Runs the cells and messages of a table. Their programs are made at their first run.
class TableRunner {
public:
  TableRunner(const PipelineTable &table, Values &values, InputOptions options, Arithmetic arithmetic)
      : table(table), schedule(table.getSchedule()), values(values), options(options), arithmetic(arithmetic),
        held(schedule.numMicrobatches()) {}

  LogicalResult run();

private:
  LogicalResult runCell(const Cell &cell);
  LogicalResult receive(const Cell &producer, const Cell &consumer);
  LogicalResult runFunctions(ArrayRef<Operation *> functions, unsigned microbatch);

  const PipelineTable &table;
  const Schedule &schedule;
  Values &values;
  InputOptions options;
  Arithmetic arithmetic;
  std::map<Operation *, Program> programs; // by the first function; only for look-ups
  std::vector<HeldTensors> held;
};
} // namespace

LogicalResult TableRunner::runFunctions(ArrayRef<Operation *> functions, unsigned microbatch) {
  auto known = programs.find(functions.front());
  if (known == programs.end()) {
    FailureOr<Program> made = Program::ofCells(functions);
    if (failed(made))
      return failure();
    known = programs.emplace(functions.front(), std::move(*made)).first;
  }
  const Program &program = known->second;
  options.microbatch = microbatch;
  llvm::Expected<Values> inputs = inputsOf(program, values, options, schedule.numMicrobatches());
  if (!inputs)
    return program.emitError(inputs.takeError());
  for (const InputSlot &slot : program.inputs)
    if (slot.kind != InputKind::Input && !slot.isOfMicrobatch)
      values.emplace(slot.name, inputs->at(slot.name));
  Results made = program.runCells(*inputs, arithmetic, held[microbatch]);
  if (failed(made))
    return failure();
  for (auto [slot, tensor] : llvm::zip_equal(program.results, *made))
    if (bool isHeld = llvm::any_of(program.inputs,
                                   [&, &result = slot](const InputSlot &input) {
                                     return input.isOfMicrobatch && input.name == result.updates;
                                   });
        !isHeld && !slot.updates.empty())
      values[slot.updates] = tensor;
  return success();
}

LogicalResult TableRunner::receive(const Cell &producer, const Cell &consumer) {
  Operation *sends = table.functionOf({WalkStep::Start, producer.action, /*isSend=*/true, producer.stage, 0});
  Operation *receives = table.functionOf({WalkStep::Start, producer.action, /*isSend=*/false, consumer.stage, 0});
  return runFunctions({sends, receives}, consumer.microbatch);
}

LogicalResult TableRunner::runCell(const Cell &cell) {
  for (Place input : schedule.inputsOf(cell))
    if (schedule.rankOf(schedule.at(input).stage) != schedule.rankOf(cell.stage) &&
        failed(receive(schedule.at(input), cell)))
      return failure();
  Operation *function = table.functionOf({WalkStep::Run, cell.action, /*isSend=*/false, cell.stage, 0});
  return runFunctions(function, cell.microbatch);
}

LogicalResult TableRunner::run() {
  LogicalResult result = success();
  schedule.walk([&](Place place) {
    if (succeeded(result))
      result = runCell(schedule.at(place));
  });
  return result;
}

LogicalResult Step::runTable(Values &values, InputOptions options, Arithmetic arithmetic) const {
  return TableRunner(*pipeline, values, options, arithmetic).run();
}

FailureOr<Program> Step::batched() const {
  if (!pipeline)
    return main;
  return Program::ofCells(pipeline->functionOf({WalkStep::Run, Action::Forward, /*isSend=*/false, 0, 0}));
}
