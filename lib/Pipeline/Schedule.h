//===- Schedule.h - verified tables with an index ---------------*- C++ -*-===//
//
// A Schedule is a table that `verify` accepted, with an index of its cells. Simulation,
// message planning and slot assignment need not check for errors again.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_PIPELINE_SCHEDULE_H
#define BRAID_LIB_PIPELINE_SCHEDULE_H

#include "lib/Pipeline/Table.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace braid::pipeline {

/// A cell of a table: its rank and its number in the row, without counting idle columns.
struct Place {
  unsigned rank, index;
  friend bool operator==(Place, Place) = default;
};

/// Limit of microbatches of stages that a rank may hold at once.
using HeldLimit = std::optional<unsigned>;

class Schedule {
public:
  const Table &getTable() const { return table; }
  unsigned numRanks() const { return table.rows.size(); }
  unsigned numStages() const { return table.numStages; }
  unsigned numMicrobatches() const { return table.numMicrobatches; }
  const Cell &at(Place place) const { return table.rows[place.rank][place.index]; }

  unsigned rankOf(unsigned stage) const { return ranks[stage]; }
  Place forward(unsigned stage, unsigned microbatch) const { return forwards[number(stage, microbatch)]; }
  /// Returns the B or I of a stage and microbatch.
  Place gradient(unsigned stage, unsigned microbatch) const { return gradients[number(stage, microbatch)]; }
  /// Returns the B or W of a stage and microbatch.
  Place release(unsigned stage, unsigned microbatch) const { return ends[number(stage, microbatch)]; }

  /// Returns the cells that must end before this one: at most its own forward or I, and
  /// the neighbor's cell whose activation or gradient it consumes.
  llvm::SmallVector<Place, 2> inputsOf(const Cell &cell) const;
  /// Returns the cell of another stage that consumes this cell's result.
  std::optional<Place> readerOf(const Cell &cell) const;

  /// Visits cells, each after its inputs and after the cells before it in its row. Returns
  /// how many cells of each rank were visited: all of them, if ranks do not deadlock.
  std::vector<unsigned> walk(llvm::function_ref<void(Place)> visit) const;

  /// Moves each cell to its column if every cell takes one column: after the columns of its inputs.
  void align();

private:
  friend class Verifier;
  unsigned number(unsigned stage, unsigned microbatch) const { return stage * table.numMicrobatches + microbatch; }

  Table table;
  std::vector<unsigned> ranks;
  std::vector<Place> forwards, gradients, ends;
};

/// Fails unless every stage is on one rank and runs every microbatch once, forward and back, cells
/// follow their inputs on their own rank and across ranks, and ranks hold at most the limit. O(cells).
llvm::Expected<Schedule> verify(Table table, HeldLimit limit = {});

} // namespace braid::pipeline

#endif // BRAID_LIB_PIPELINE_SCHEDULE_H
