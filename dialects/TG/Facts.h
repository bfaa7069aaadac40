//===- Facts.h - phase, unit and parameter of an op -------------*- C++ -*-===//
//
// The pass that makes an op knows its phase, whose unit it works for, and which parameter
// it makes a gradient or a new value of.  It writes that down once, as `#tg.facts`, and
// every later pass hands it on without a line of code: facts are the metadata of an op's
// location, and builders, rewrites and folds pass locations on already.  CSE, outlining
// and kernel deduplication ignore locations, so facts never change what is computed.
//
// An op made from several has the union of their units and parameters and their earliest
// phase; its fused location lists them.  What depends on no argument (constants, iotas)
// needs no facts.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_DIALECTS_TG_FACTS_H
#define BRAID_DIALECTS_TG_FACTS_H

#include "dialects/TG/TG.h"

namespace braid::tg {

/// The facts that a location carries, joined where it is fused from several; null if it
/// carries none.
FactsAttr factsOf(mlir::Location loc);
inline FactsAttr factsOf(mlir::Operation *op) { return factsOf(op->getLoc()); }
/// The facts of each part of a fused location; one element, or none, for others.
llvm::SmallVector<FactsAttr> memberFacts(mlir::Location loc);

/// Fails, and says what to do, if an op has no facts.
llvm::LogicalResult requireFacts(mlir::Operation *op);

std::optional<Phase> phaseOf(mlir::Operation *op);
/// The latest phase of what an op is made from; equal to its phase unless phases are mixed.
std::optional<Phase> latestPhaseOf(mlir::Operation *op);
/// The only parameter that an op makes a tensor of this kind for; null if there is none or
/// are several.
mlir::StringAttr parameterFor(mlir::Operation *op, TensorKind kind);
bool makes(mlir::Operation *op, TensorKind kind);

/// The location with these facts in place of its own.
mlir::Location withFacts(mlir::Location loc, FactsAttr facts);
/// The location with another phase, and no longer of a tensor.
mlir::Location withPhase(mlir::Location loc, Phase phase);
/// The location of an op that makes tensors of one kind for some parameters.
mlir::Location withTensor(mlir::Location loc, llvm::ArrayRef<mlir::StringAttr> of, TensorKind as);
/// The location under a name, with the same facts.
mlir::Location withName(mlir::Location loc, mlir::StringAttr name);
/// The location of an op that is made from several: that of the first, with the facts of all;
/// where their phases differ it lists them.
mlir::Location madeFrom(llvm::ArrayRef<mlir::Operation *> ops);

FactsAttr getFacts(mlir::MLIRContext *context, Phase phase, llvm::ArrayRef<mlir::StringAttr> units,
                   llvm::ArrayRef<mlir::StringAttr> of = {}, llvm::ArrayRef<TensorKind> as = {});

} // namespace braid::tg

#endif // BRAID_DIALECTS_TG_FACTS_H
