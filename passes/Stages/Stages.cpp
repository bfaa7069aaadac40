//===- Stages.cpp - cut programs into pipeline stages ---------------------===//

#include "dialects/Comm/Programs.h"
#include "dialects/Exec/Exec.h"
#include "lib/Memory/Size.h"
#include "lib/Pipeline/Csv.h"
#include "lib/Pipeline/Generators.h"
#include "lib/Pipeline/Slots.h"
#include "lib/Schedule/Forward.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "passes/Base/Signature.h"
#include "passes/Stages/CutProgram.h"
#define GEN_PASS_DEF_STAGESPASS
#include "passes/Stages/Passes.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace braid;

namespace {
struct Stages final : braid::impl::StagesPassBase<Stages> {
  using StagesPassBase::StagesPassBase;

  void runOnOperation() final {
    if (failed(run()))
      signalPassFailure();
  }

private:
  LogicalResult run();
  LogicalResult checkArguments();
  void nameMesh();
  ArrayAttr tensorOrder();
  FailureOr<StageAxis> findAxis(func::FuncOp accumulate);
  llvm::Expected<pipeline::Schedule> makeSchedule(unsigned ranks);
  FailureOr<UnitStages> findStages(func::FuncOp accumulate, const pipeline::Schedule &schedule,
                                   std::optional<int64_t> limit);
  LogicalResult checkStates(func::FuncOp accumulate, ArrayRef<func::FuncOp> cells);
  LogicalResult cutOthers(const UnitStages &units, const StageAxis &axis, const pipeline::Schedule &schedule,
                          const Holders &holders);
  void insert(Operation *before, ArrayRef<func::FuncOp> functions);
  LogicalResult fail(llvm::Error error) {
    return emitError(UnknownLoc::get(&getContext())) << "comm-stages: " << llvm::toString(std::move(error));
  }
};
} // namespace

/// Programs without a sharding are run by all ranks of the mesh.
void Stages::nameMesh() {
  auto meshes = getOperation().getOps<comm::MeshOp>();
  if (!llvm::hasSingleElement(meshes))
    return;
  auto symbol = FlatSymbolRefAttr::get((*meshes.begin()).getSymNameAttr());
  for (auto program : getOperation().getOps<func::FuncOp>())
    if (!program->hasAttr(comm::CommDialect::kProgram))
      program->setAttr(comm::CommDialect::kProgram, comm::ProgramAttr::get(&getContext(), symbol, StringAttr(), {}));
}

/// Checks that each argument has a kind, from which its stage follows.
LogicalResult Stages::checkArguments() {
  for (auto program : getOperation().getOps<func::FuncOp>())
    for (BlockArgument argument : program.getArguments()) {
      tg::ArgumentAttrs attributes(argument);
      if (!attributes.persistent() && !attributes.input)
        return program.emitError() << "comm-stages: argument #" << argument.getArgNumber() << " of @"
                                   << program.getSymName()
                                   << " is not a parameter, state or input; give it tg.param, tg.state or tg.input";
    }
  return success();
}

FailureOr<StageAxis> Stages::findAxis(func::FuncOp accumulate) {
  auto program = accumulate->getAttrOfType<comm::ProgramAttr>(comm::CommDialect::kProgram);
  if (!program || program.getAxis())
    return accumulate.emitError() << "comm-stages needs programs that all ranks run; run comm-shard first";
  FailureOr<comm::Mesh> mesh = comm::Mesh::require(accumulate, program.getMesh());
  if (failed(mesh))
    return failure();
  auto name = StringAttr::get(&getContext(), axis);
  if (!mesh->has(name))
    return accumulate.emitError() << "comm-stages: the mesh " << mesh->str() << " has no axis '" << axis << "'";
  return StageAxis{program.getMesh(), name, unsigned(mesh->sizeOf(name))};
}

llvm::Expected<pipeline::Schedule> Stages::makeSchedule(unsigned ranks) {
  unsigned count = microbatches;
  if (const pipeline::Generator *generator = pipeline::findGenerator(schedule)) {
    unsigned each = chunks ? unsigned(chunks) : generator->defaultChunks;
    return pipeline::generate(*generator, {ranks, count, each});
  }
  if (!StringRef(schedule).contains('.') && !StringRef(schedule).contains('/')) {
    auto names = llvm::map_range(pipeline::generators(), [](const pipeline::Generator *known) { return known->name; });
    return llvm::createStringError("unknown schedule '" + schedule + "' (schedules: " + llvm::join(names, ", ") +
                                   ", or a table as FILE.csv)");
  }
  llvm::Expected<pipeline::Table> table = pipeline::readCsv(schedule);
  if (!table)
    return table.takeError();
  auto disagree = [&](const Twine &what) { return llvm::createStringError(schedule + ": " + what.str()); };
  if (table->rows.size() != ranks)
    return disagree("has " + Twine(table->rows.size()) + " rows, but '" + axis + "' has " + Twine(ranks) + " ranks");
  if (table->numMicrobatches != count)
    return disagree("is for " + Twine(pipeline::counted(table->numMicrobatches, "microbatch", "microbatches")) +
                    ", but a step has " + Twine(count));
  if (chunks && table->numStages != chunks * ranks)
    return disagree("has " + Twine(table->numStages) + " stages, but " + Twine(ranks) + " ranks with " +
                    Twine(int64_t(chunks)) + " chunks have " + Twine(chunks * ranks));
  llvm::Expected<pipeline::Schedule> verified = pipeline::verify(std::move(*table));
  if (!verified)
    return disagree(llvm::toString(verified.takeError()));
  return verified;
}

/// Returns the stages of units. `limit`, in bytes per rank, applies if stages are balanced automatically.
FailureOr<UnitStages> Stages::findStages(func::FuncOp accumulate, const pipeline::Schedule &schedule,
                                         std::optional<int64_t> limit) {
  unsigned numStages = schedule.numStages();
  if (!stages.empty())
    return readStages(accumulate, stages, numStages);
  // The stages of a rank share its memory in equal parts.
  if (limit)
    limit = *limit / (numStages / schedule.getTable().rows.size());
  FailureOr<Machine> machine = machineOf(getOperation());
  if (failed(machine))
    return failure();
  return balanceStages(accumulate, assignSlots(schedule, pipeline::SlotsOf::Stage).counts, *machine, limit);
}

/// Returns the names of tensors that persist across programs, in the order of their arguments.
ArrayAttr Stages::tensorOrder() {
  llvm::SetVector<StringRef> names;
  for (auto program : getOperation().getOps<func::FuncOp>())
    for (BlockArgument argument : program.getArguments()) {
      if (tg::ParamAttr parameter = parameterOf(argument))
        names.insert(parameter.getName());
      if (tg::StateAttr state = stateOf(argument); state && !state.isOfMicrobatch())
        names.insert(state.getName());
    }
  return Builder(&getContext()).getStrArrayAttr(names.getArrayRef());
}

void Stages::insert(Operation *before, ArrayRef<func::FuncOp> functions) {
  OpBuilder builder(before);
  for (func::FuncOp function : functions)
    builder.insert(function);
}

/// Rejects model states that one cell updates and another reads. Each microbatch needs the state of the previous one,
/// but cells of other microbatches run in between, and other ranks have no copy.
LogicalResult Stages::checkStates(func::FuncOp accumulate, ArrayRef<func::FuncOp> cells) {
  llvm::StringMap<func::FuncOp> updater;
  for (func::FuncOp cell : cells)
    for (unsigned result = 0; result < cell.getNumResults(); ++result)
      if (StringAttr name = tg::ResultAttrs(cell, result).updates)
        updater[name] = cell;
  for (func::FuncOp cell : cells)
    for (BlockArgument argument : cell.getArguments()) {
      tg::StateAttr state = stateOf(argument);
      if (!state || state.isAccumulator() || state.isOfMicrobatch())
        continue;
      if (func::FuncOp other = updater.lookup(state.getName()); other && other != cell)
        return accumulate.emitError() << "the state " << state.getName() << " is updated by @" << other.getName()
                                      << " and read by @" << cell.getName()
                                      << "; in a pipeline, only the cell that updates a state may read it";
    }
  return success();
}

/// Cuts all programs except @accumulate.
LogicalResult Stages::cutOthers(const UnitStages &units, const StageAxis &axis, const pipeline::Schedule &schedule,
                                const Holders &holders) {
  auto rankOf = [&](unsigned stage) { return schedule.rankOf(stage); };
  for (auto program : llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>())) {
    auto ranks = program->getAttrOfType<comm::ProgramAttr>(comm::CommDialect::kProgram);
    if (!ranks || ranks.getAxis())
      continue;
    FailureOr<SmallVector<func::FuncOp>> functions = failure();
    if (isTraining(program)) {
      functions = cutUpdate(program, axis, holders);
    } else {
      FailureOr<StageMap> map = StageMap::of(program, units);
      if (failed(map))
        return failure();
      functions = cutForward(program, *map, axis, rankOf);
    }
    if (failed(functions))
      return failure();
    insert(program, *functions);
    program.erase();
  }
  return success();
}

LogicalResult Stages::run() {
  FailureOr<std::optional<int64_t>> limit = memoryLimitOf(memoryLimit, getOperation().getLoc());
  if (failed(limit))
    return failure();
  nameMesh();
  auto accumulate = SymbolTable(getOperation()).lookup<func::FuncOp>("accumulate");
  if (!accumulate)
    return getOperation().emitError()
           << "comm-stages needs the program @accumulate, which runs the microbatches; run tg-accumulate first";
  FailureOr<StageAxis> axis = findAxis(accumulate);
  if (failed(axis) || failed(checkArguments()))
    return failure();
  llvm::Expected<pipeline::Schedule> made = makeSchedule(axis->size);
  if (!made)
    return fail(made.takeError());
  FailureOr<UnitStages> units = findStages(accumulate, *made, *limit);
  if (failed(units))
    return failure();
  FailureOr<StageMap> map = StageMap::of(accumulate, *units);
  if (failed(map))
    return failure();

  pipeline::Walk walk = pipeline::makeWalk(*made);
  if (llvm::Error error = pipeline::verify(*made, walk))
    return fail(std::move(error));
  auto rankOf = [&](unsigned stage) { return made->rankOf(stage); };
  FailureOr<SharedSums> shared = splitSharedGradients(accumulate, *map, rankOf);
  if (failed(shared))
    return failure();
  Cells cells = cutCells(accumulate, *map, *axis, *made, walk);
  if (failed(checkStates(accumulate, cells.functions)))
    return failure();

  std::string table;
  llvm::raw_string_ostream os(table);
  pipeline::writeCsv(made->getTable(), os);
  OpBuilder builder(accumulate);
  auto pipeline =
      builder.create<comm::PipelineOp>(accumulate.getLoc(), axis->mesh, axis->axis, builder.getStringAttr(table));
  pipeline->setAttr(comm::kTensorOrder, tensorOrder());
  SmallVector<Attribute> unitsOfStages;
  for (unsigned stage = 0; stage < made->numStages(); ++stage)
    unitsOfStages.push_back(builder.getStringAttr(units->text(stage)));
  pipeline->setAttr(comm::kStageUnits, builder.getArrayAttr(unitsOfStages));
  for (auto [name, count] : cells.slots)
    builder.create<exec::SlotsOp>(accumulate.getLoc(), name, count, IntegerAttr(), IntegerAttr());
  insert(accumulate, cells.functions);
  accumulate.erase();
  return cutOthers(*units, *axis, *made, Holders(cells.functions, *axis, std::move(*shared)));
}
