//===- Schedule.h - a table that can be carried out -------------*- C++ -*-===//
//
// A Schedule is a table that `verify` found to be right, with an index of its cells: what
// simulates it, plans its messages and assigns its memory need not look for errors again.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_PIPELINE_SCHEDULE_H
#define BRAID_LIB_PIPELINE_SCHEDULE_H

#include "lib/Pipeline/Table.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace braid::pipeline {

/// A cell of a table, by its rank and its number in the row, idle columns not counted.
struct Place {
  unsigned rank, index;
  friend bool operator==(Place, Place) = default;
};

/// The most microbatches of stages that a rank may hold at once.
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
  /// Its B or its I.
  Place gradient(unsigned stage, unsigned microbatch) const { return gradients[number(stage, microbatch)]; }
  /// Its B or its W.
  Place release(unsigned stage, unsigned microbatch) const { return ends[number(stage, microbatch)]; }

  /// The cells that must be over before this one: at most its own forward or I, and the
  /// neighbour whose activation or gradient it takes.
  llvm::SmallVector<Place, 2> inputsOf(const Cell &cell) const;
  /// The cell of another stage that takes what this one makes.
  std::optional<Place> readerOf(const Cell &cell) const;

  /// Visits cells, each behind its inputs and behind those before it in its row.  Returns how
  /// many cells of each rank were visited: all of them, if ranks do not wait for each other.
  std::vector<unsigned> walk(llvm::function_ref<void(Place)> visit) const;

  /// Moves cells to the columns in which they are if each takes one: a cell then stands behind
  /// the columns of its inputs.
  void align();

private:
  friend class Verifier;
  unsigned number(unsigned stage, unsigned microbatch) const { return stage * table.numMicrobatches + microbatch; }

  Table table;
  std::vector<unsigned> ranks;
  std::vector<Place> forwards, gradients, ends;
};

/// Whether every stage is on one rank and does every microbatch once, forward and back, whether
/// cells stand behind their inputs, on their own rank and among ranks, and whether ranks hold
/// no more than the limit.  O(cells).
llvm::Expected<Schedule> verify(Table table, HeldLimit limit = {});

} // namespace braid::pipeline

#endif // BRAID_LIB_PIPELINE_SCHEDULE_H
