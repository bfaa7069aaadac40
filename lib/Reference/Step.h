//===- Step.h - training steps, with microbatches ---------------*- C++ -*-===//
//
// A step runs `accumulate` for all microbatches but the last, and then the main program
// (`train`); the next program sees the updates of the one before.  The step of a pipeline
// runs the cells of its table and then the main program.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_REFERENCE_STEP_H
#define BRAID_LIB_REFERENCE_STEP_H

#include "lib/Reference/Inputs.h"
#include "lib/Reference/Tokens.h"
#include "lib/Schedule/PipelineTable.h"
#include <optional>

namespace braid::reference {

struct Step {
  Program main;
  std::optional<Program> accumulate;
  int64_t microbatches = 1;
  std::optional<PipelineTable> pipeline = std::nullopt;

  /// Finds the program `name` of a module, and its `accumulate` if it has one.
  static mlir::FailureOr<Step> find(mlir::ModuleOp module, llvm::StringRef name);

  /// Runs one step on inputs of the whole batch. An input whose dim 0 is `microbatches`
  /// times the program's is split into microbatches. Makes inputs without a value.
  /// Returns the main program's results; `values` gets the updates.
  Results run(Values &values, InputOptions options, Arithmetic arithmetic) const;

  /// Returns the program that takes a microbatch: the last one of a step, or the first cell of a pipeline.
  mlir::FailureOr<Program> batched() const;

private:
  llvm::Error makeState(Values &values, const InputOptions &options) const;
  mlir::LogicalResult runTable(Values &values, InputOptions options, Arithmetic arithmetic) const;
};

/// Returns a program's inputs in one microbatch; makes those without a value.
llvm::Expected<Values> inputsOf(const Program &program, const Values &values, const InputOptions &options,
                                int64_t microbatches);
/// Writes the updates of a run back.
void applyUpdates(const Program &program, llvm::ArrayRef<Tensor> made, Values &values);

struct TrainingOptions {
  int64_t steps = 1;
  InputOptions inputs;
  Arithmetic arithmetic = Arithmetic::Native;
  /// Source of tokens and targets; random if null.
  const TokenFile *tokens = nullptr;
};

/// Runs steps from initial values. Prints a line for each step, with its number and its
/// scalar results; writes JSON to `log`. `values` has the parameters and states at the end.
mlir::LogicalResult train(const Step &step, const TrainingOptions &options, Values &values, llvm::raw_ostream &os,
                          llvm::raw_ostream *log);

} // namespace braid::reference

#endif // BRAID_LIB_REFERENCE_STEP_H
