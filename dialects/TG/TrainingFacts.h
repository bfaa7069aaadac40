//===- TrainingFacts.h - training facts that ops do not show ----*- C++ -*-===//
//
// Facts of a training program that its ops do not show: its optimizer, the microbatches of
// a step, the valid indices of its inputs.  The module holds them as `tg.training`, so that
// the text of every level keeps them:
//
//   tg.training = {model = "gpt", optimizer = "adamw beta1=0.9", microbatches = 2,
//                  indices = {tokens = array<i64: 256, -1>},
//                  ignored = {input = "targets", index = -100, mean = true, rows = true},
//                  hash = 17, operations = "1 tg.gelu\n", options = ["--zero=1"]}
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_DIALECTS_TG_TRAININGFACTS_H
#define BRAID_DIALECTS_TG_TRAININGFACTS_H

#include "mlir/IR/BuiltinOps.h"
#include <optional>
#include <string>
#include <vector>

namespace braid::tg {
inline constexpr llvm::StringLiteral kTraining = "tg.training";

/// Valid indices of an integer input: [0, extent) and `ignored`. They come from the global graph, because a rank
/// may hold only part of the table.
struct IndexedBy {
  std::string input; ///< Name of the input.
  int64_t extent = 0, ignored = 0;
};

/// Targets that the loss ignores; passed to the runtime as br_loss.
struct IgnoredTargets {
  std::string input; ///< Name of the targets.
  int32_t index = 0;
  bool isMean = true; ///< True if the loss is the mean over the other targets, false if it is their sum.
  bool rows = true;   ///< True if a row without other targets changes nothing.
};

/// Operations of a model, passed to the runtime in br_model; 0 and empty if unknown.
struct ModelIdentity {
  uint64_t hash = 0;
  std::string operations; ///< One line per kind of operation: the count, and the operation.
};

struct TrainingFacts {
  /// Name of the model, for messages of the binary.
  std::string model = "model";
  /// Name of the optimizer, then its settings, as in br_model; empty if unknown.
  std::string optimizer = {};
  /// Number of microbatches per step.
  int64_t microbatches = 1;
  std::vector<IndexedBy> indices = {};
  /// No value if every target contributes to the loss.
  std::optional<IgnoredTargets> ignored = {};
  ModelIdentity identity = {};
  /// Candidate replays of --recompute=auto, as JSON text; empty without that option.
  std::string replays = {};
  /// Options of braidc that shaped the programs, each with its value. Only --emit=exec keeps them, because
  /// memory planning needs the same options.
  std::vector<std::string> options = {};

  void attachTo(mlir::ModuleOp module) const;
  /// Returns the facts of a module; no value if it has none, such as a module made by single passes.
  static std::optional<TrainingFacts> of(mlir::ModuleOp module);
};

/// Fails unless reading the value of `tg.training` and writing it again gives the same value.
mlir::LogicalResult verifyTraining(mlir::Operation *op, mlir::Attribute value);

} // namespace braid::tg

#endif // BRAID_DIALECTS_TG_TRAININGFACTS_H
