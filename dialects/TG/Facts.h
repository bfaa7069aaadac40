//===- Facts.h - phase, unit and parameter of a tensor ----------*- C++ -*-===//
//
// The pass that makes an op knows the op's phase, the unit it works for, and the parameter
// whose gradient or new value it makes. It records them once, as `#tg.facts`. Facts are
// metadata of the op's location, which builders, rewrites and folds already copy, so later
// passes keep facts without any code. CSE, outlining and kernel deduplication ignore
// locations, so facts never change results.
//
// An op whose results have different facts (a bucket of collectives, a kernel, an
// optimizer's update) has a list: the facts of each result or, in memory form, of each
// out. A rewrite that fuses locations puts first the op whose result the new op makes. Ops
// that depend on no argument (constants, iotas) need no facts.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_DIALECTS_TG_FACTS_H
#define BRAID_DIALECTS_TG_FACTS_H

#include "dialects/TG/TG.h"

namespace braid::tg {

/// Returns the facts of a location, those of the first tensor if it lists several; null without facts.
FactsAttr factsOf(mlir::Location loc);
inline FactsAttr factsOf(mlir::Operation *op) { return factsOf(op->getLoc()); }
/// Returns the facts of tensor `index` of the `count` tensors that the op at a location
/// makes. Null without facts, or if the location lists another number of tensors.
FactsAttr factsOfTensor(mlir::Location loc, unsigned index, unsigned count);
/// Returns the facts of an op's result; null for arguments.
FactsAttr factsOfTensor(mlir::Value value);
llvm::SmallVector<FactsAttr> factsOfTensors(mlir::ValueRange values);

/// Fails with an error that suggests a fix if an op has no facts.
llvm::LogicalResult requireFacts(mlir::Operation *op);

std::optional<Phase> phaseOf(mlir::Operation *op);

/// Returns the location with these facts instead of its own.
mlir::Location withFacts(mlir::Location loc, FactsAttr facts);
/// Returns the location of an op that makes several tensors, with the facts of each.
mlir::Location withFacts(mlir::Location loc, llvm::ArrayRef<FactsAttr> ofEach);
/// Returns the location with another phase, and without a tensor's parameters and kind.
mlir::Location withPhase(mlir::Location loc, Phase phase);
/// Returns the location of an op that makes a tensor of kind `as` for the parameters `of`.
mlir::Location withTensor(mlir::Location loc, llvm::ArrayRef<mlir::StringAttr> of, TensorKind as);
/// Returns the location with the same phase and unit, and without a tensor's parameters and kind.
mlir::Location withoutTensor(mlir::Location loc);
/// Returns the location under a name, with the same facts.
mlir::Location withName(mlir::Location loc, mlir::StringAttr name);
/// Returns the location of the op that makes a value, with the facts of this value alone.
mlir::Location locationOf(mlir::Value value);
/// Returns the location of an op made from several `ops`: their fused locations, with
/// the facts of the values that its results replace.
mlir::Location fusedLocation(llvm::ArrayRef<mlir::Operation *> ops, mlir::ValueRange replaced);

/// Returns whether an op's only result has the elements of its only operand, or some of
/// them, or all of them with zeros around them.
bool movesElements(mlir::Operation *op);
/// Sets the parameters and kind of a value, and of the value that it is moved from. If that source is
/// sliced, it gets the parameters of all slices once each slice has the same kind.
void setTensor(mlir::Value value, llvm::ArrayRef<mlir::StringAttr> of, TensorKind as);
/// Replaces the results of an op by values, which take over the results' parameters and kinds.
void replaceAndTransferFacts(mlir::Operation *op, mlir::ValueRange values);

/// Return the unit and the kind of a tensor; null or no value if the facts are null or lack them.
mlir::StringAttr unitOf(FactsAttr facts);
std::optional<TensorKind> kindOf(FactsAttr facts);
/// Returns whether a tensor is a parameter of the model, or its copy in another type.
bool isParameter(FactsAttr facts);
/// Returns whether a tensor is a gradient of a parameter, or the sum of the gradients of several microbatches.
bool isGradient(FactsAttr facts);

FactsAttr getFacts(mlir::MLIRContext *context, Phase phase, mlir::StringAttr unit = {},
                   llvm::ArrayRef<mlir::StringAttr> of = {}, std::optional<TensorKind> as = {});

} // namespace braid::tg

#endif // BRAID_DIALECTS_TG_FACTS_H
