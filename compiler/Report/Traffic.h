//===- Traffic.h - communication of a module in memory form -----*- C++ -*-===//
//
// The bytes of a collective count its whole tensors. Its moved bytes are sent by one rank in a ring, as counted by
// `CollectiveOpInterface::getBytesSent`. Seconds are predictions of the overlap pass (`comm.timing`), if it ran.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_COMPILER_REPORT_TRAFFIC_H
#define BRAID_COMPILER_REPORT_TRAFFIC_H

#include "mlir/IR/BuiltinOps.h"
#include <optional>
#include <string>
#include <vector>

namespace braid {

struct CollectiveTraffic {
  std::string op;        // reduce_scatter
  std::string reduction; // sum, or empty
  std::vector<std::string> axes;
  int64_t ranks; // ranks in its group
  std::string dtype;
  int64_t bytes, movedBytes;
  /// Whether it only combines or gathers scalars, such as a loss, a norm or a stop flag.
  bool hasOnlyScalars;
  std::optional<double> predictedSeconds, exposedSeconds;
  std::string waitsFor;
  /// The unit whose parameters the collective gathers, if any.
  std::optional<std::string> unit;
  /// Names of the sent values, in the order of the tensors: the parameter or state of each tensor, and the meaning of
  /// each scalar.
  std::vector<std::string> tensors;
  /// Actions of its start and its wait, numbered as in `exec.buffer`.
  int64_t start, wait;
};

struct ProgramTraffic {
  std::string name;
  std::vector<CollectiveTraffic> collectives;
  int64_t movedBytes = 0;
  /// Seconds on the link, for all collectives together.
  double linkSeconds = 0;
  /// Seconds of the whole program, and seconds that it stalls for collectives.
  std::optional<double> predictedSeconds, exposedSeconds;
};

/// Accumulated gradients of microbatches. They are either partial sums, reduced once per step, or reduced for each
/// microbatch into the rank's shard. `other` values are the bytes that the alternative would hold and move.
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
  /// Axes of the mesh; empty for one rank, which has no communication.
  std::vector<Axis> mesh;
  int64_t ranks = 1, microbatches = 1;
  std::vector<ProgramTraffic> programs;
  /// Totals of a step: `accumulate` for all microbatches but the last, then `train`.
  int64_t movedBytes = 0;
  double linkSeconds = 0;
  std::optional<double> predictedSeconds, exposedSeconds;
  std::optional<AccumulatorTraffic> accumulators;

  const ProgramTraffic *program(llvm::StringRef name) const;
};

/// Reads a module in memory form whose step has `microbatches` microbatches.
Traffic readTraffic(mlir::ModuleOp module, int64_t microbatches);

} // namespace braid

#endif // BRAID_COMPILER_REPORT_TRAFFIC_H
