//===- Choices.h - replays by names of units and values ---------*- C++ -*-===//
#ifndef BRAID_PASSES_RECOMPUTE_CHOICES_H
#define BRAID_PASSES_RECOMPUTE_CHOICES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Recompute/ForwardValues.h"
#include "passes/Recompute/Policy.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/GlobPattern.h"

namespace braid {

/// Returns the name of a forward op: its unit, a slash, and the name of its result or, without one, the kind of op.
std::string nameOfForward(mlir::Operation *op);

/// Returns the ops of the values that forward computes in every training program, in forward order, by their names
/// without units. Equal units share names.
llvm::MapVector<mlir::StringAttr, llvm::SmallVector<mlir::Operation *>> valuesByName(mlir::ModuleOp module);

/// Statements about units (`h.[0-5]: full`) and values (`h.0/gelu: keep`). The first statement with a matching pattern
/// applies. A statement about a value takes precedence over one about its unit.
class ReplayChoices {
public:
  /// `file` is the source of the text, for errors.
  static mlir::FailureOr<ReplayChoices> parse(std::string text, llvm::StringRef file, mlir::MLIRContext *context);

  bool isEmpty() const { return choices.empty(); }
  /// Returns whether the op's value must be kept (true) or replayed (false), if a statement or `tg.kept` says so.
  std::optional<bool> isKept(mlir::Operation *op) const;
  /// Returns the policy for the op's unit, if a statement gives one.
  std::optional<RecomputePolicy> policyOf(mlir::Operation *op) const;

  /// Fails if a statement matches nothing that forward computes, or if it or `tg.kept` demands a replay of an op that
  /// must not be replayed.
  mlir::LogicalResult check(mlir::func::FuncOp program, const ForwardValues &values) const;

private:
  struct Choice {
    llvm::StringRef pattern;
    llvm::GlobPattern glob;
    mlir::Location loc;
    /// Exactly one of the two is set.
    std::optional<RecomputePolicy> policy;
    std::optional<bool> keep;

    bool appliesTo(mlir::Operation *op) const;
  };

  /// Returns the statement about the op's value, or the end.
  const Choice *choiceOf(mlir::Operation *op) const;
  mlir::LogicalResult add(llvm::StringRef text, mlir::Location loc);

  std::shared_ptr<const std::string> text; ///< Storage that patterns point into.
  llvm::SmallVector<Choice, 0> choices;
};

} // namespace braid

#endif // BRAID_PASSES_RECOMPUTE_CHOICES_H
