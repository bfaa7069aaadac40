//===- Table.h - a pipeline's schedule as data ------------------*- C++ -*-===//
//
// A model is cut into stages, which lie on ranks; a step of training sends microbatches
// through them, forward and back.  Which rank does what when is a table, as in PyTorch's CSV
// (torch.distributed.pipelining): a row is a rank, a cell an action of a stage on a
// microbatch.
//
//   F   forward: takes the activation of the stage before, makes its own
//   B   whole backward: takes the gradient of the stage behind, makes that of the stage
//       before, and the gradients of the stage's weights
//   I   the first half of B: the gradient of the stage's input, which the stage before takes
//   W   the second half: the gradients of weights, for which nobody waits
//
// A microbatch is held by a stage from its F to its B or W.  A rank does its cells in their
// order, each as soon as what it takes is there: columns say nothing of time.
//
// Nothing in this folder knows of MLIR's operations.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_PIPELINE_TABLE_H
#define BRAID_LIB_PIPELINE_TABLE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>
#include <vector>

namespace braid::pipeline {

enum class Action : uint8_t { Forward, Backward, InputGradient, WeightGradient };

/// F, B, I or W.
char letterOf(Action action);
/// Whether the stage before waits for it.
inline bool makesGradient(Action action) { return action == Action::Backward || action == Action::InputGradient; }
/// Whether the stage holds the microbatch no longer.
inline bool releases(Action action) { return action == Action::Backward || action == Action::WeightGradient; }

struct Cell {
  Action action;
  /// The number of the stage in the whole model: PyTorch's stage index.
  unsigned stage;
  unsigned microbatch;
  /// The column in which it stands; columns between are idle.
  unsigned step;

  /// As in a CSV: 2W1 is the weights' gradient of stage 2 for microbatch 1.
  std::string str() const;
};

/// The most pairs of a stage and a microbatch, so that nothing overflows and all that is done
/// with a table takes seconds.
inline constexpr uint64_t kMaxStageMicrobatches = 1 << 20;

struct Table {
  using Row = std::vector<Cell>;
  unsigned numStages = 0, numMicrobatches = 0;
  /// A row for each rank, without idle columns; steps grow along a row.
  std::vector<Row> rows;
};

/// Refuses what has more than kMaxStageMicrobatches.
llvm::Error checkSize(uint64_t stages, uint64_t microbatches);

/// `1 microbatch`, `2 microbatches`
std::string counted(uint64_t number, llvm::StringRef noun, llvm::StringRef plural = "");

} // namespace braid::pipeline

#endif // BRAID_LIB_PIPELINE_TABLE_H
