//===- Optimizer.h - description of an optimizer ----------------*- C++ -*-===//
//
// Each optimizer is one file in dialects/TG/Optimizers. It defines the optimizer's names, its
// states per parameter, its hyperparameters with defaults, and the update that `tg.update`
// decomposes into. Passes, interpreter and command line use this description and name no optimizer.
//
// A file X.cpp defines the function optimizers::X(). CMake generates the list of files, so
// an optimizer is registered nowhere else. Each update is written twice: as ops, and as
// arithmetic on one element. The interpreter runs the second, and tests compare the two.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_DIALECTS_TG_OPTIMIZER_H
#define BRAID_DIALECTS_TG_OPTIMIZER_H

#include "dialects/TG/TGBuilder.h"

namespace braid::tg {

/// Valid values of a hyperparameter, in words and as a check.
struct Range {
  llvm::StringLiteral words;
  bool (*contains)(double);
};
inline constexpr Range kFraction{"at least 0 and below 1", [](double x) { return x >= 0 && x < 1; }};
inline constexpr Range kNotNegative{"at least 0", [](double x) { return x >= 0; }};

struct Hyperparameter {
  llvm::StringLiteral name;
  double fallback;
  Range range;
};
/// Weight decay; parameters without weight decay get 0.
inline constexpr Hyperparameter kWeightDecay{"weight_decay", 0.0, kNotNegative};

/// Values of an update's hyperparameters, by name.
struct Hyperparameters {
  mlir::DictionaryAttr values;

  double operator[](llvm::StringRef name) const {
    return mlir::cast<mlir::FloatAttr>(values.get(name)).getValueAsDouble();
  }
};

/// Inputs of an update, converted to a type that is wide enough to compute in.
struct UpdateValues : Hyperparameters {
  mlir::Value param, gradient;
  mlir::Value lr;   ///< Scalar of the same type.
  mlir::Value step; ///< Integer scalar, 1 at the first step; null unless the optimizer reads it.
  llvm::SmallVector<mlir::Value> states;
};

/// Inputs of the update of one element.
struct UpdateNumbers : Hyperparameters {
  double param = 0, gradient = 0, lr = 0;
  int64_t step = 0;
  llvm::SmallVector<double> states = {};
};

struct Optimizer {
  llvm::StringLiteral name;
  /// Suffixes of the states' names in checkpoints, after the parameter's name and a dot; the same as PyTorch's.
  llvm::ArrayRef<llvm::StringLiteral> states;
  llvm::ArrayRef<Hyperparameter> hyperparameters;
  bool readsStep;
  int64_t flopsOfElement;
  /// Builds the update; returns the new parameter and the new states.
  llvm::SmallVector<mlir::Value> (*update)(TensorBuilder &, const UpdateValues &);
  /// Updates the parameter and the states of one element in place.
  void (*updateElement)(UpdateNumbers &);
};

/// Returns all optimizers, in the order of their files.
llvm::ArrayRef<const Optimizer *> allOptimizers();

using EmitError = llvm::function_ref<mlir::InFlightDiagnostic()>;
/// Returns the optimizer with this name, or an error that lists the names.
mlir::FailureOr<const Optimizer *> findOptimizer(llvm::StringRef name, EmitError emitError);
/// Returns the optimizer of a verified op.
const Optimizer &optimizerOf(UpdateOp op);
/// Fails unless `values` holds exactly the optimizer's hyperparameters, each in its range.
mlir::LogicalResult verifyHyperparameters(const Optimizer &optimizer, mlir::DictionaryAttr values, EmitError emitError);
/// Returns the hyperparameters with their defaults: "beta1=0.9, beta2=0.99, weight_decay=0".
std::string hyperparametersText(const Optimizer &optimizer);

namespace optimizers {
#define BRAID_OPTIMIZERS(FILE) llvm::ArrayRef<Optimizer> FILE();
#include "dialects/TG/Optimizers.inc"
#undef BRAID_OPTIMIZERS
} // namespace optimizers

} // namespace braid::tg

#endif // BRAID_DIALECTS_TG_OPTIMIZER_H
