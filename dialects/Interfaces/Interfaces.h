//===- Interfaces.h - what passes may ask of an op --------------*- C++ -*-===//
#ifndef BRAID_DIALECTS_INTERFACES_INTERFACES_H
#define BRAID_DIALECTS_INTERFACES_INTERFACES_H

#include "dialects/Interfaces/ShardingRule.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <optional>

namespace braid {
/// What an op is to a policy of precision.
enum class NumericKind {
  Source,      ///< Numbers from nothing, or from integers: constants, indices, random numbers.
  Movement,    ///< The same numbers elsewhere.
  Conversion,  ///< The same numbers in a type that the graph asks for.
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

/// The kind of any op; Source for one that says nothing of itself.
NumericKind numericKindOf(mlir::Operation *op);
/// Whether an op's results are nothing but its operands' numbers, elsewhere or rounded.
bool handsOnNumbers(mlir::Operation *op);

/// The dim of the sequence in each operand and result of an op; none in those without one.
struct SequenceDims {
  llvm::SmallVector<std::optional<unsigned>> operands, results;
  /// The operands that a position reads at earlier ones too, and what each is to the op: "key".
  llvm::SmallVector<std::pair<unsigned, llvm::StringLiteral>> past;
};

/// The operands and results of an op of which a block of a sequence has a part, and the dim of each.
struct BlockDims {
  llvm::SmallVector<std::pair<unsigned, unsigned>> operands, results;
};

using Widen = llvm::function_ref<mlir::Value(mlir::Value)>;
/// The same op on operands with elements of `element`, as `widen` answers them.
mlir::Value cloneWide(mlir::Operation *op, mlir::OpBuilder &builder, mlir::Type element, Widen widen);
/// That of an op of Movement; null for others.
mlir::Value moveWide(mlir::Operation *op, mlir::OpBuilder &builder, mlir::Type element, Widen widen);

/// Traits: see Interfaces.td.
template <NumericKind kind> struct HasNumericKind {
  template <typename ConcreteType>
  class Impl : public mlir::OpTrait::TraitBase<ConcreteType, HasNumericKind<kind>::template Impl> {
  public:
    static NumericKind getNumericKind() { return kind; }
  };
};
template <typename ConcreteType> class KeepsElements : public mlir::OpTrait::TraitBase<ConcreteType, KeepsElements> {};

/// Whether the result of `op` has its operand's elements, of the same type and in the same order.
bool isReshape(mlir::Operation *op);
/// What `value` is a reshape of, in any number of steps.
mlir::Value beforeReshapes(mlir::Value value);
bool isConversion(mlir::Operation *op);
/// What `value` is converted from; null if no conversion makes it.
mlir::Value convertedFrom(mlir::Value value);

/// One operation for each element of the results: right for elementwise ops.
int64_t defaultFlops(mlir::Operation *op);
/// The bytes of tensors of these types; other types count nothing.
int64_t bytesOf(mlir::TypeRange types);
/// The bytes one element takes in memory (i1 takes a byte).
int64_t elementBytes(mlir::Type elementType);
/// Gives the elementwise ops of arith and math their interfaces (gradients,
/// cost): every tool that differentiates calls this on its registry.
void registerUpstreamModels(mlir::DialectRegistry &registry);
} // namespace braid

#include "dialects/Interfaces/Interfaces.h.inc"

#endif // BRAID_DIALECTS_INTERFACES_INTERFACES_H
