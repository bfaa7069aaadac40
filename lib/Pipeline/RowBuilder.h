//===- RowBuilder.h - the row of a rank, cell by cell -----------*- C++ -*-===//
//
// The named schedules run each action of a stage on one microbatch after the other. So a
// generator names only the next action and its stage; the microbatch follows.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_PIPELINE_ROWBUILDER_H
#define BRAID_LIB_PIPELINE_ROWBUILDER_H

#include "lib/Pipeline/Generators.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <array>

namespace braid::pipeline {

class RowBuilder {
public:
  /// Starts a row for the stages of a rank.
  RowBuilder(std::vector<unsigned> stages, unsigned microbatches)
      : stages(std::move(stages)), next(this->stages.size()), microbatches(microbatches) {}

  /// Adds the action of the rank's stage number `chunk` on its next microbatch. Adds nothing if no microbatch is left.
  void add(Action action, unsigned chunk = 0) {
    unsigned microbatch = next[chunk][static_cast<int>(action)]++;
    if (microbatch < microbatches)
      row.push_back({action, stages[chunk], microbatch, static_cast<unsigned>(row.size())});
  }
  /// Returns how often an action was added.
  unsigned count(Action action, unsigned chunk = 0) const { return next[chunk][static_cast<int>(action)]; }
  Table::Row finishRow() { return std::move(row); }

private:
  std::vector<unsigned> stages;
  std::vector<std::array<unsigned, 4>> next;
  unsigned microbatches;
  Table::Row row;
};

/// Returns the table with a row for each rank.
inline Table tableOf(Shape shape, llvm::function_ref<Table::Row(unsigned rank)> rowOf) {
  Table table{shape.ranks * shape.chunks, shape.microbatches, {}};
  for (unsigned rank = 0; rank < shape.ranks; ++rank)
    table.rows.push_back(rowOf(rank));
  return table;
}

} // namespace braid::pipeline

#endif // BRAID_LIB_PIPELINE_ROWBUILDER_H
