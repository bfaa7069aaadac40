//===- Optimizer.h - what an optimizer is -----------------------*- C++ -*-===//
//
// An optimizer is one file in dialects/TG/Optimizers: its names, the states that it keeps
// of a parameter, its hyperparameters with their defaults, and its update, which
// `tg.update` decomposes into.  Passes, interpreter and command line ask this description
// and name no optimizer.
//
// A file X.cpp defines the function optimizers::X(); CMake lists the files, so nothing else
// has to.  The update is stated twice: in ops, and on the numbers of one element.  The
// interpreter computes the second, and tests compare the two.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_DIALECTS_TG_OPTIMIZER_H
#define BRAID_DIALECTS_TG_OPTIMIZER_H

#include "dialects/TG/TGBuilder.h"

namespace braid::tg {

/// The values of a hyperparameter that make sense, in words and as a check.
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
/// Parameters that are to have no weight decay get 0 for it.
inline constexpr Hyperparameter kWeightDecay{"weight_decay", 0.0, kNotNegative};

/// The values of an update's hyperparameters, by name.
struct Hyperparameters {
  mlir::DictionaryAttr values;

  double operator[](llvm::StringRef name) const {
    return mlir::cast<mlir::FloatAttr>(values.get(name)).getValueAsDouble();
  }
};

/// What an update is computed from, in a type that is wide enough to compute in.
struct UpdateValues : Hyperparameters {
  mlir::Value param, gradient;
  mlir::Value lr;   ///< A scalar of the same type.
  mlir::Value step; ///< An integer scalar, 1 at the first step; null unless the optimizer reads it.
  llvm::SmallVector<mlir::Value> states;
};

/// The same of one element.
struct UpdateNumbers : Hyperparameters {
  double param = 0, gradient = 0, lr = 0;
  int64_t step = 0;
  llvm::SmallVector<double> states = {};
};

struct Optimizer {
  llvm::StringLiteral name;
  /// What its states are called behind a parameter's name and a dot, in checkpoints: PyTorch's words.
  llvm::ArrayRef<llvm::StringLiteral> states;
  llvm::ArrayRef<Hyperparameter> hyperparameters;
  bool readsStep;
  int64_t flopsOfElement;
  /// The new parameter and the new states.
  llvm::SmallVector<mlir::Value> (*update)(TensorBuilder &, const UpdateValues &);
  /// Replaces the parameter and the states by the new ones.
  void (*updateElement)(UpdateNumbers &);
};

/// In the order of their files.
llvm::ArrayRef<const Optimizer *> allOptimizers();

using EmitError = llvm::function_ref<mlir::InFlightDiagnostic()>;
/// The optimizer of a name, or an error that lists the names.
mlir::FailureOr<const Optimizer *> findOptimizer(llvm::StringRef name, EmitError emitError);
/// That of an op that is verified.
const Optimizer &optimizerOf(UpdateOp op);
/// Fails unless `values` are those of the optimizer's hyperparameters, each in its range.
mlir::LogicalResult verifyHyperparameters(const Optimizer &optimizer, mlir::DictionaryAttr values, EmitError emitError);
/// "beta1=0.9, beta2=0.99, weight_decay=0": what the optimizer takes, and the defaults.
std::string hyperparametersText(const Optimizer &optimizer);

namespace optimizers {
#define BRAID_OPTIMIZERS(FILE) llvm::ArrayRef<Optimizer> FILE();
#include "dialects/TG/Optimizers.inc"
#undef BRAID_OPTIMIZERS
} // namespace optimizers

} // namespace braid::tg

#endif // BRAID_DIALECTS_TG_OPTIMIZER_H
