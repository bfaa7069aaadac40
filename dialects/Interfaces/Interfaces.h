//===- Interfaces.h - op interfaces for passes ------------------*- C++ -*-===//
#ifndef BRAID_DIALECTS_INTERFACES_INTERFACES_H
#define BRAID_DIALECTS_INTERFACES_INTERFACES_H

#include "dialects/Interfaces/ShardingRule.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <optional>

namespace braid {
/// How a precision policy treats an op.
enum class NumericKind {
  Source,      ///< Values from nothing or from integers: constants, indices, random numbers.
  Movement,    ///< The same values, moved.
  Conversion,  ///< The same values, in an element type that the graph requests.
  Contraction, ///< Sums of elementwise products.
  Attention,
  Embedding, ///< Rows of a table by index, and their gradient.
  Elementwise,
  Norm,
  Softmax,
  Reduction,
  Loss,
  Optimizer,
};

/// Returns the kind of any op; Source if the op declares none.
NumericKind numericKindOf(mlir::Operation *op);
/// Returns whether an op's results are only its operands' values, moved or rounded.
bool onlyMovesOrRounds(mlir::Operation *op);

/// Sequence dim of each operand and result of an op; no value for those without one.
struct SequenceDims {
  llvm::SmallVector<std::optional<unsigned>> operands, results;
  /// Operands of which a position also reads earlier positions, each with its role in the op, such as "key".
  llvm::SmallVector<std::pair<unsigned, llvm::StringLiteral>> past;
};

/// Operands and results of which a block of a sequence has a part, each with the sequence dim.
struct BlockDims {
  llvm::SmallVector<std::pair<unsigned, unsigned>> operands, results;
};

using Widen = llvm::function_ref<mlir::Value(mlir::Value)>;
/// Clones an op on operands with elements of type `element`, which `widen` returns.
mlir::Value cloneWide(mlir::Operation *op, mlir::OpBuilder &builder, mlir::Type element, Widen widen);
/// Clones an op of kind Movement like `cloneWide`; null for others.
mlir::Value moveWide(mlir::Operation *op, mlir::OpBuilder &builder, mlir::Type element, Widen widen);

/// Traits; see Interfaces.td.
template <NumericKind kind> struct HasNumericKind {
  template <typename ConcreteType>
  class Impl : public mlir::OpTrait::TraitBase<ConcreteType, HasNumericKind<kind>::template Impl> {
  public:
    static NumericKind getNumericKind() { return kind; }
  };
};
template <typename ConcreteType> class KeepsElements : public mlir::OpTrait::TraitBase<ConcreteType, KeepsElements> {};

/// Returns whether the result of `op` has its operand's elements, of the same type and in the same order.
bool isReshape(mlir::Operation *op);
/// Returns the value before any number of reshapes that lead to `value`.
mlir::Value stripReshapes(mlir::Value value);
bool isConversion(mlir::Operation *op);
/// Returns the operand of the conversion that makes `value`; null if no conversion makes it.
mlir::Value conversionSource(mlir::Value value);

/// Returns one operation per element of the results, which is right for elementwise ops.
int64_t defaultFlops(mlir::Operation *op);
/// Returns the bytes of tensors of these types; other types count as 0.
int64_t bytesOf(mlir::TypeRange types);
/// Returns the bytes of one element in memory (an i1 occupies one byte).
int64_t elementBytes(mlir::Type elementType);
/// Attaches gradients and costs to the elementwise ops of arith and math. Every tool
/// that differentiates calls this on its registry.
void registerUpstreamModels(mlir::DialectRegistry &registry);
} // namespace braid

#include "dialects/Interfaces/Interfaces.h.inc"

#endif // BRAID_DIALECTS_INTERFACES_INTERFACES_H
