//===- PipelineTables.cpp - pipeline slots and cells as tables ------------===//

#include "compiler/Codegen/PipelineTables.h"
#include "compiler/Codegen/CppText.h"
#include "compiler/Codegen/Initializer.h"

using namespace mlir;
using namespace braid;
using namespace braid::codegen;

FailureOr<PipelineTables> PipelineTables::create(ModuleOp module) {
  FailureOr<std::optional<PipelineTable>> table = PipelineTable::of(module);
  if (failed(table))
    return failure();
  PipelineTables tables(std::move(*table));
  for (auto slots : module.getOps<exec::SlotsOp>()) {
    if (!slots.getBytes())
      return slots.emitOpError() << "'" << slots.getSymName() << "' has no place in memory";
    tables.numbers[slots.getSymNameAttr()] = tables.slotBytes.size();
    tables.slotBytes.push_back(*slots.getBytes());
  }
  return tables;
}

std::string PipelineTables::arraysText() const {
  if (!table)
    return "";
  std::string lists, rows;
  unsigned microbatches = table->getSchedule().numMicrobatches();
  for (auto [symbol, number] : numbers) {
    const pipeline::BufferSlots *slots = table->slotsOf(symbol);
    std::string list = "slots_" + std::to_string(number);
    lists += "static const int32_t " + list + "[] = " +
             listText(slots ? SmallVector<int64_t>(slots->slotOf.begin(), slots->slotOf.end())
                            : SmallVector<int64_t>(microbatches, 0)) +
             ";\n";
    rows += "    " +
            Initializer()
                .always("bytes", slotBytes[number])
                .rows("of_microbatch", list, "n_microbatches", microbatches)
                .text(4) +
            ", // " + std::to_string(number) + ": " + commentText(symbol.getValue()) + "\n";
  }
  return "// the slot of each microbatch\n" + lists + "static const br_slots slots[] = {\n" + rows + "};\n\n";
}

/// Returns the cells of one kind of ranks, in the order of a step.
std::string PipelineTables::arraysText(const RankKind &kind, unsigned number) const {
  if (!table)
    return "";
  std::string rows;
  for (const pipeline::WalkStep &step : table->stepsOf(kind.ranks.getCoordinates().front())) {
    Operation *function = table->functionOf(step);
    auto add = [&](StringRef what, unsigned index) {
      rows +=
          ("    {" + what + ", " + Twine(index) + ", " + Twine(step.microbatch) + "}, // " + step.str() + "\n").str();
    };
    if (step.kind == pipeline::WalkStep::Run)
      add("BR_CELL_RUN", llvm::find(kind.programs, function) - kind.programs.begin());
    else
      for (unsigned collective : collectives.lookup(function))
        add(step.kind == pipeline::WalkStep::Start ? "BR_CELL_START" : "BR_CELL_WAIT", collective);
  }
  return "// a step, cell after cell\nstatic const br_cell cells" + suffixOf(number) + "[] = {\n" + rows + "};\n\n";
}

void PipelineTables::addArrays(unsigned number, Initializer &model) const {
  if (!table)
    return;
  std::string cells = "cells" + suffixOf(number);
  model.newLine().always("slots", "slots").always("n_slots", numbers.size());
  model.newLine().always("cells", cells).always("n_cells", "sizeof " + cells + " / sizeof *" + cells);
}
