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
/// Fails, and says which types follow from the operands, where an op has other result types.
mlir::LogicalResult verifyResultTypes(mlir::Operation *op);

template <typename ConcreteOp> struct CheckedResults : mlir::OpTrait::TraitBase<ConcreteOp, CheckedResults> {
  static mlir::LogicalResult verifyTrait(mlir::Operation *op) { return verifyResultTypes(op); }
};
} // namespace braid::tg

#define GET_OP_CLASSES
#include "dialects/TG/TGOps.h.inc"

namespace braid::tg {
// Names of argument and result attributes: the contract between the graph, the
// passes and the runtime (see the dialect's description).
inline constexpr llvm::StringLiteral kParam = "tg.param";
inline constexpr llvm::StringLiteral kState = "tg.state";
inline constexpr llvm::StringLiteral kInput = "tg.input";
inline constexpr llvm::StringLiteral kRole = "tg.role";
inline constexpr llvm::StringLiteral kOutput = "tg.output";
inline constexpr llvm::StringLiteral kUpdates = "tg.updates";
inline constexpr llvm::StringLiteral kGradOf = "tg.grad_of";

/// The name that an argument's attributes give it, as a parameter, state or input;
/// null when they give none.
mlir::StringAttr nameOf(mlir::DictionaryAttr attributes);

/// Fails where the `of` of a state among `attributes` names no parameter among them, or
/// a master has no working copy.  Of a function: of those on its arguments.
mlir::LogicalResult verifyStates(llvm::ArrayRef<mlir::Attribute> attributes,
                                 llvm::function_ref<mlir::InFlightDiagnostic()> emitError);
mlir::LogicalResult verifyStates(mlir::FunctionOpInterface function);

/// Gives ops of arith what PrecisionOpInterface asks beyond their trait.
void registerPrecisionModels(mlir::DialectRegistry &registry);
} // namespace braid::tg

#endif // BRAID_DIALECTS_TG_TG_H
