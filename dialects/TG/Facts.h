//===- Facts.h - phase, unit and parameter of a tensor ----------*- C++ -*-===//
//
// The pass that makes an op knows its phase, whose unit it works for, and which parameter
// it makes a gradient or a new value of.  It writes that down once, as `#tg.facts`, and
// every later pass hands it on without a line of code: facts are the metadata of an op's
// location, and builders, rewrites and folds pass locations on already.  CSE, outlining
// and kernel deduplication ignore locations, so facts never change what is computed.
//
// An op that makes several tensors of different facts, such as a bucket of collectives, a
// kernel or an optimizer's update, has a list: the facts of each result or, in memory, of
// each out.  Where a rewrite fuses locations, the first is that of the op whose result the
// new one makes.  What depends on no argument (constants, iotas) needs no facts.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_DIALECTS_TG_FACTS_H
#define BRAID_DIALECTS_TG_FACTS_H

#include "dialects/TG/TG.h"

namespace braid::tg {

/// The facts that a location carries, of the first tensor if it lists several; null if it
/// carries none.
FactsAttr factsOf(mlir::Location loc);
inline FactsAttr factsOf(mlir::Operation *op) { return factsOf(op->getLoc()); }
/// The facts of one of `count` tensors that the op at a location makes; null also where the
/// location lists another number of tensors.
FactsAttr factsOfTensor(mlir::Location loc, unsigned index, unsigned count);
/// The facts of an op's result; null for arguments.
FactsAttr factsOfTensor(mlir::Value value);
llvm::SmallVector<FactsAttr> factsOfTensors(mlir::ValueRange values);

/// Fails, and says what to do, if an op has no facts.
llvm::LogicalResult requireFacts(mlir::Operation *op);

std::optional<Phase> phaseOf(mlir::Operation *op);

/// The location with these facts in place of its own.
mlir::Location withFacts(mlir::Location loc, FactsAttr facts);
/// The same for an op that makes several tensors: the facts of each.
mlir::Location withFacts(mlir::Location loc, llvm::ArrayRef<FactsAttr> ofEach);
/// The location with another phase, and no longer of a tensor.
mlir::Location withPhase(mlir::Location loc, Phase phase);
/// The location of an op that makes a tensor of this kind for some parameters.
mlir::Location withTensor(mlir::Location loc, llvm::ArrayRef<mlir::StringAttr> of, TensorKind as);
/// The location with the same phase and unit, and no longer of a tensor.
mlir::Location withoutTensor(mlir::Location loc);
/// The location under a name, with the same facts.
mlir::Location withName(mlir::Location loc, mlir::StringAttr name);
/// The location of what makes a value, with the facts of this value alone.
mlir::Location locationOf(mlir::Value value);
/// The location of an op that is made from several, and whose results take the place of
/// these values: where all of `ops` are, with the facts of the values.
mlir::Location madeFrom(llvm::ArrayRef<mlir::Operation *> ops, mlir::ValueRange replaced);

/// Whether an op's only result is its only operand, element by element, or a part of it, or
/// that with zeros around it.
bool movesElements(mlir::Operation *op);
/// Says what a value is, and with it what it is moved from if nothing else reads that.  Where it is one of
/// several parts, what they are cut from belongs to the parameters of all of them, once each part is said.
void setTensor(mlir::Value value, llvm::ArrayRef<mlir::StringAttr> of, TensorKind as);
/// Replaces an op by values that stand for its results, and says of each what the result was.
void replaceHandingOnFacts(mlir::Operation *op, mlir::ValueRange values);

/// The unit, and what a tensor is; null and none where facts are null or do not say so.
mlir::StringAttr unitOf(FactsAttr facts);
std::optional<TensorKind> kindOf(FactsAttr facts);
/// Whether a tensor is a parameter of the model, or its copy in another type.
bool isParameter(FactsAttr facts);
/// Whether it is a gradient of a parameter, or the sum of several microbatches' gradients.
bool isGradient(FactsAttr facts);

FactsAttr getFacts(mlir::MLIRContext *context, Phase phase, mlir::StringAttr unit = {},
                   llvm::ArrayRef<mlir::StringAttr> of = {}, std::optional<TensorKind> as = {});

} // namespace braid::tg

#endif // BRAID_DIALECTS_TG_FACTS_H
