//===- Choices.h - replays by the names of units and values ------*- C++ -*-===//
#ifndef BRAID_PASSES_RECOMPUTE_CHOICES_H
#define BRAID_PASSES_RECOMPUTE_CHOICES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Recompute/ForwardValues.h"
#include "passes/Recompute/Policy.h"
#include "llvm/Support/GlobPattern.h"

namespace braid {

/// What an op of forward is called: its unit, a slash, and the name of its result; without a
/// name, what kind of op it is.
std::string nameOfForward(mlir::Operation *op);

/// What a list says of units (`h.[0-5]: full`) and of values (`h.0/gelu: keep`).  The first
/// statement with a pattern that matches counts; one about a value comes before one about its
/// unit.
class ReplayChoices {
public:
  /// `file` is where the text stands, for errors.
  static mlir::FailureOr<ReplayChoices> parse(std::string text, llvm::StringRef file, mlir::MLIRContext *context);

  bool isEmpty() const { return choices.empty(); }
  /// Whether the value that the op makes is to be kept (true) or replayed (false).
  std::optional<bool> isKept(mlir::Operation *op) const;
  /// What replays of the op's unit are to cost.
  std::optional<RecomputePolicy> policyOf(mlir::Operation *op) const;

  /// Fails if a statement is about nothing that the program computes in forward, or asks for a
  /// replay of what must not be replayed.
  mlir::LogicalResult check(mlir::func::FuncOp program, const ForwardValues &values) const;

private:
  struct Choice {
    llvm::StringRef pattern;
    llvm::GlobPattern glob;
    mlir::Location loc;
    /// One of the two.
    std::optional<RecomputePolicy> policy;
    std::optional<bool> keep;

    bool isAbout(mlir::Operation *op) const;
  };

  mlir::LogicalResult add(llvm::StringRef text, mlir::Location loc);

  std::shared_ptr<const std::string> text; ///< What patterns refer to.
  llvm::SmallVector<Choice, 0> choices;
};

} // namespace braid

#endif // BRAID_PASSES_RECOMPUTE_CHOICES_H
