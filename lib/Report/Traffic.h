//===- Traffic.h - what a module in memory form communicates ----*- C++ -*-===//
//
// Bytes of a collective are those of its whole tensors; moved bytes those that a
// rank sends in a ring, as `CollectiveOpInterface::getBytesSent` counts them.
// Seconds are what the overlap pass predicted (`comm.timing`), where it ran.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_REPORT_TRAFFIC_H
#define BRAID_LIB_REPORT_TRAFFIC_H

#include "mlir/IR/BuiltinOps.h"
#include <optional>
#include <string>
#include <vector>

namespace braid {

struct CollectiveTraffic {
  std::string op;        // reduce_scatter
  std::string reduction; // sum, or empty
  std::vector<std::string> axes;
  int64_t ranks; // of its group
  std::string dtype;
  int64_t bytes, movedBytes;
  /// Whether it combines or gathers numbers alone: a loss, a norm, a stop flag.
  bool isOfNumbers;
  std::optional<double> predictedSeconds, exposedSeconds;
  std::string waitsFor;
  /// The unit whose parameters it gathers; none if it gathers none.
  std::optional<std::string> unit;
  /// What it sends: the parameters and states that the tensors are of, in the order of
  /// the tensors, and what numbers are.
  std::vector<std::string> tensors;
  /// The actions of its start and its wait, numbered as in `exec.buffer`.
  int64_t start, wait;
};

struct ProgramTraffic {
  std::string name;
  std::vector<CollectiveTraffic> collectives;
  int64_t movedBytes = 0;
  /// On the link, all together.
  double linkSeconds = 0;
  /// Seconds of the whole program, and seconds that it stalls for collectives.
  std::optional<double> predictedSeconds, exposedSeconds;
};

/// Gradients of microbatches that are added up: as they are (partial sums, reduced
/// once a step), or reduced each time into the rank's shard.  A step the other way
/// around holds and moves other bytes.
struct AccumulatorTraffic {
  bool areSharded;
  int64_t heldBytes, movedBytes;
  int64_t otherHeldBytes, otherMovedBytes;
};

struct Traffic {
  struct Axis {
    std::string name;
    int64_t size;
  };
  /// None: one rank, and nothing to say.
  std::vector<Axis> mesh;
  int64_t ranks = 1, microbatches = 1;
  std::vector<ProgramTraffic> programs;
  /// Of a step: `accumulate` for all microbatches but the last, then `train`.
  int64_t movedBytes = 0;
  double linkSeconds = 0;
  std::optional<double> predictedSeconds, exposedSeconds;
  std::optional<AccumulatorTraffic> accumulators;

  const ProgramTraffic *program(llvm::StringRef name) const;
};

/// Reads a module in memory form that makes a step of `microbatches`.
Traffic readTraffic(mlir::ModuleOp module, int64_t microbatches);

} // namespace braid

#endif // BRAID_LIB_REPORT_TRAFFIC_H
