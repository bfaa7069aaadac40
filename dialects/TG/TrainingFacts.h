//===- TrainingFacts.h - facts of a module beside its ops -------*- C++ -*-===//
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

/// Valid indices of an integer input, [0, extent) and `ignored`.  They come from the global graph: a rank may hold
/// only part of the table.
struct IndexedBy {
  std::string input; ///< The input's name.
  int64_t extent = 0, ignored = 0;
};

/// Targets that the loss ignores, as br_loss tells the runtime.
struct IgnoredTargets {
  std::string input; ///< The name of the targets.
  int32_t index = 0;
  bool isMean = true; ///< The loss is the mean over the other targets; else their sum.
  bool rows = true;   ///< A row without other targets changes nothing.
};

/// The operations of a model, as br_model tells the runtime; 0 and no text where they are unknown.
struct ModelIdentity {
  uint64_t hash = 0;
  std::string operations; ///< A line for each kind of operation: how many there are, and what it does.
};

struct TrainingFacts {
  /// The model's name, for messages of the binary.
  std::string model = "model";
  /// The optimizer's name, then its settings, as br_model has them; empty where they are unknown.
  std::string optimizer = {};
  /// Microbatches of a step.
  int64_t microbatches = 1;
  std::vector<IndexedBy> indices = {};
  /// No value where every target counts.
  std::optional<IgnoredTargets> ignored = {};
  ModelIdentity identity = {};
  /// The replays that --recompute=auto chose from, as JSON text; empty without it.
  std::string replays = {};
  /// The options of braidc that shaped the programs, each with its value.  Only --emit=exec keeps them: planning
  /// memory needs the same ones.
  std::vector<std::string> options = {};

  void attachTo(mlir::ModuleOp module) const;
  /// The facts of a module; no value for a module that has none, such as one that single passes made.
  static std::optional<TrainingFacts> of(mlir::ModuleOp module);
};

/// Fails where reading the value of `tg.training` and writing it again gives another one.
mlir::LogicalResult verifyTraining(mlir::Operation *op, mlir::Attribute value);

} // namespace braid::tg

#endif // BRAID_DIALECTS_TG_TRAININGFACTS_H
