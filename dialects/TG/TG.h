//===- TG.h - the training graph dialect ------------------------*- C++ -*-===//
#ifndef BRAID_DIALECTS_TG_TG_H
#define BRAID_DIALECTS_TG_TG_H

#include "dialects/Interfaces/Interfaces.h"
#include "dialects/TG/Attributes.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace braid::tg {
/// Fails unless an op has the result types that follow from its operands; the error lists those types.
mlir::LogicalResult verifyResultTypes(mlir::Operation *op);

template <typename ConcreteOp> struct CheckedResults : mlir::OpTrait::TraitBase<ConcreteOp, CheckedResults> {
  static mlir::LogicalResult verifyTrait(mlir::Operation *op) { return verifyResultTypes(op); }
};
} // namespace braid::tg

#define GET_OP_CLASSES
#include "dialects/TG/TGOps.h.inc"

namespace braid::tg {
// Names of argument and result attributes, by which the graph, the passes and the
// runtime identify arguments and results (see the dialect's description).
inline constexpr llvm::StringLiteral kParam = "tg.param";
inline constexpr llvm::StringLiteral kState = "tg.state";
inline constexpr llvm::StringLiteral kInput = "tg.input";
inline constexpr llvm::StringLiteral kRole = "tg.role";
inline constexpr llvm::StringLiteral kOutput = "tg.output";
inline constexpr llvm::StringLiteral kUpdates = "tg.updates";
inline constexpr llvm::StringLiteral kGradOf = "tg.grad_of";

/// Returns the name in an argument's attributes, as a parameter, state or input; null without one.
mlir::StringAttr nameOf(mlir::DictionaryAttr attributes);

/// Fails unless the `of` of each state among `attributes` names a parameter among them, and
/// each master has a working copy. The second form checks the arguments of a function.
mlir::LogicalResult verifyStates(llvm::ArrayRef<mlir::Attribute> attributes,
                                 llvm::function_ref<mlir::InFlightDiagnostic()> emitError);
mlir::LogicalResult verifyStates(mlir::FunctionOpInterface function);

/// Attaches PrecisionOpInterface to the arith ops whose trait does not suffice.
void registerPrecisionModels(mlir::DialectRegistry &registry);
} // namespace braid::tg

#endif // BRAID_DIALECTS_TG_TG_H
