//===- RowBuilder.h - the row of a rank, cell by cell -----------*- C++ -*-===//
//
// The schedules that have a name do each action of a stage on one microbatch after the other,
// so a generator says which action of which stage comes next, and no microbatch.
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
  /// A row with the stages of a rank.
  RowBuilder(std::vector<unsigned> stages, unsigned microbatches)
      : stages(std::move(stages)), next(this->stages.size()), microbatches(microbatches) {}

  /// The action of the rank's stage number `chunk` on its next microbatch; nothing, if there
  /// are no more of them.
  void add(Action action, unsigned chunk = 0) {
    unsigned microbatch = next[chunk][static_cast<int>(action)]++;
    if (microbatch < microbatches)
      row.push_back({action, stages[chunk], microbatch, static_cast<unsigned>(row.size())});
  }
  /// How often it was added.
  unsigned count(Action action, unsigned chunk = 0) const { return next[chunk][static_cast<int>(action)]; }
  Table::Row take() { return std::move(row); }

private:
  std::vector<unsigned> stages;
  std::vector<std::array<unsigned, 4>> next;
  unsigned microbatches;
  Table::Row row;
};

/// The table of a row for each rank.
inline Table tableOf(Shape shape, llvm::function_ref<Table::Row(unsigned rank)> rowOf) {
  Table table{shape.ranks * shape.chunks, shape.microbatches, {}};
  for (unsigned rank = 0; rank < shape.ranks; ++rank)
    table.rows.push_back(rowOf(rank));
  return table;
}

} // namespace braid::pipeline

#endif // BRAID_LIB_PIPELINE_ROWBUILDER_H
