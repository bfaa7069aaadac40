//===- Table.h - a pipeline's schedule as data ------------------*- C++ -*-===//
//
// A model is cut into stages, which are on ranks. A training step sends microbatches through them,
// forward and back. A table says which rank does what and when, like PyTorch's CSV
// (torch.distributed.pipelining): a row is a rank; a cell is an action of a stage on a microbatch.
//
//   F   forward: consumes the previous stage's activation, makes its own
//   B   whole backward: consumes the next stage's gradient, makes the gradient for the
//       previous stage, and the gradients of the stage's weights
//   I   the first half of B: the gradient of the stage's input, for the previous stage
//   W   the second half: the gradients of weights, for which no other stage waits
//
// A stage holds a microbatch from its F to its B or W. A rank runs its cells in order, each
// as soon as its inputs are there: columns have no meaning in time.
//
// This folder does not depend on MLIR's operations.
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

/// Returns F, B, I or W.
char letterOf(Action action);
/// Returns whether the previous stage waits for the action.
inline bool makesGradient(Action action) { return action == Action::Backward || action == Action::InputGradient; }
/// Returns whether the action ends the stage's hold of the microbatch.
inline bool releases(Action action) { return action == Action::Backward || action == Action::WeightGradient; }

struct Cell {
  Action action;
  /// Number of the stage in the whole model: PyTorch's stage index.
  unsigned stage;
  unsigned microbatch;
  /// Column of the cell; columns between cells are idle.
  unsigned step;

  /// Returns the cell as in a CSV: 2W1 is the weights' gradient of stage 2 for microbatch 1.
  std::string str() const;
};

/// Upper limit of pairs of a stage and a microbatch. It prevents overflow, and everything
/// done with a table takes at most seconds.
inline constexpr uint64_t kMaxStageMicrobatches = 1 << 20;

struct Table {
  using Row = std::vector<Cell>;
  unsigned numStages = 0, numMicrobatches = 0;
  /// A row per rank, without idle columns; steps grow along a row.
  std::vector<Row> rows;
};

/// Fails above kMaxStageMicrobatches.
llvm::Error checkSize(uint64_t stages, uint64_t microbatches);

/// Returns `1 microbatch`, `2 microbatches`.
std::string counted(uint64_t number, llvm::StringRef noun, llvm::StringRef plural = "");

} // namespace braid::pipeline

#endif // BRAID_LIB_PIPELINE_TABLE_H
