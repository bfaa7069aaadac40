//===- Interfaces.td - interfaces of ops for passes ------------*- tablegen -*-//
//
// Passes do not name ops, they call these interfaces. A new op implements the methods, and every pass handles it.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_INTERFACES
#define BRAID_INTERFACES

include "mlir/IR/OpBase.td"

def DifferentiableOpInterface : OpInterface<"DifferentiableOpInterface"> {
  let cppNamespace = "::braid";
  let description = [{
    Reverse-mode differentiation: the op builds its own vector-Jacobian product. An op without a rule of its own is
    differentiated through its decomposition.
  }];
  let methods = [InterfaceMethod<
    [{Builds, at the builder's insertion point, the gradient of each operand from the gradients of the results.
      `resultGradients[i]` is null when result i has no gradient (zero). Only operands with `needed[i]` need a gradient;
      null means zero. A gradient has the type of its operand. It may use the operands and results of the op.}],
    "::llvm::SmallVector<::mlir::Value>", "buildVJP",
    (ins "::mlir::OpBuilder &":$builder,
         "::llvm::ArrayRef<::mlir::Value>":$resultGradients,
         "::llvm::ArrayRef<bool>":$needed)>];
}

def DecomposableOpInterface : OpInterface<"DecomposableOpInterface"> {
  let cppNamespace = "::braid";
  let description = [{
    A composite op, defined by its decomposition into primitives, which may use other composites. The op is kept
    whole because targets have fast code for it, or because an earlier pass reads it.
  }];
  let methods = [InterfaceMethod<
    "Builds the definition of the op; returns one value for each result.",
    "::llvm::SmallVector<::mlir::Value>", "decompose",
    (ins "::mlir::OpBuilder &":$builder)>];
}

def ShardingRuleOpInterface : OpInterface<"ShardingRuleOpInterface"> {
  let cppNamespace = "::braid";
  let description = [{
    The op as an einsum over factors. A factor links dims of operands and results; the rule tells which factors are
    reduced and which must stay whole. See ShardingRule.h.
  }];
  let methods = [
    InterfaceMethod<"The op's rule.", "::braid::ShardingRule", "getShardingRule", (ins)>,
    InterfaceMethod<[{Builds the op on a shard: one value for each result. An op with positional factors that are not
      decomposed must define this method.}],
      "::llvm::SmallVector<::mlir::Value>", "buildShard",
      (ins "::mlir::OpBuilder &":$builder, "const ::braid::Shard &":$shard),
      [{}], [{ return ::braid::cloneOnShard($_op, builder, shard); }]>,
  ];
}

def CostOpInterface : OpInterface<"CostOpInterface"> {
  let cppNamespace = "::braid";
  let description = [{
    Floating-point operations and bytes moved, assuming that every operand is
    read once and every result written once.
  }];
  let methods = [
    InterfaceMethod<"Floating-point operations.", "int64_t", "getFlops", (ins),
      [{}], [{ return ::braid::defaultFlops($_op); }]>,
    InterfaceMethod<"Bytes read.", "int64_t", "getBytesRead", (ins),
      [{}], [{ return ::braid::bytesOf($_op->getOperandTypes()); }]>,
    InterfaceMethod<"Bytes written.", "int64_t", "getBytesWritten", (ins),
      [{}], [{ return ::braid::bytesOf($_op->getResultTypes()); }]>,
  ];
}

def PrecisionOpInterface : OpInterface<"PrecisionOpInterface"> {
  let cppNamespace = "::braid";
  let description = [{
    The kind of an op, by which a precision policy selects its element type. Elementwise ops of other dialects are
    recognized by their trait.
  }];
  let methods = [
    InterfaceMethod<"The op's kind, which the trait HasNumericKind states.", "::braid::NumericKind", "getNumericKind",
      (ins), [{ return $_op.getNumericKind(); }]>,
    InterfaceMethod<[{Builds the op's only result in the wider float type `element`, without the rounding to its own
      type, at the builder's insertion point. `widen` returns an operand in type `element`. Returns null if the op has
      no such result. Ops that only move data need not define this method.}],
      "::mlir::Value", "buildWide",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Type":$element,
           "::llvm::function_ref<::mlir::Value(::mlir::Value)>":$widen),
      [{}], [{ return ::braid::moveWide($_op, builder, element, widen); }]>,
  ];
}

def LossOpInterface : OpInterface<"LossOpInterface"> {
  let cppNamespace = "::braid";
  let description = [{
    An op whose first result may be the loss of a batch: the sum or the mean of the contributions of its examples,
    so that the sums of microbatches add up.
  }];
  let methods = [
    InterfaceMethod<"Whether the first result is a sum or a mean over examples.", "bool", "isSumOrMean", (ins), [{}],
      [{ return true; }]>,
    InterfaceMethod<"Whether the data choose which examples count. Batches of equal size then have different divisors.",
      "bool", "ignoresExamples", (ins), [{}], [{ return false; }]>,
    InterfaceMethod<[{Changes a mean to a sum. Returns the divisor of the mean, a scalar built at the builder's
      insertion point, or null if the op is a sum already. An example that does not count adds `ignoredWeight` to the
      divisor.}],
      "::mlir::Value", "makeSum", (ins "::mlir::OpBuilder &":$builder, "double":$ignoredWeight)>,
  ];
}

def CausalOpInterface : OpInterface<"CausalOpInterface"> {
  let cppNamespace = "::braid";
  let description = [{
    An op on a sequence in which a position may read earlier positions of some operands, but no later ones. So the
    sequence can be computed one position after the other, if the values that later positions read are kept
    (`tg-make-decode`).
  }];
  let methods = [
    InterfaceMethod<"The dims of the sequence; none if a position reads later positions.",
      "::std::optional<::braid::SequenceDims>", "getSequenceDims", (ins)>,
    InterfaceMethod<[{Builds the results at `position`, tensor<i32>. Operands that are read at earlier positions are
      whole and hold any finite numbers behind this position. In other operands and in results, the dim of the sequence
      has size 1.}],
      "::llvm::SmallVector<::mlir::Value>", "buildAtPosition",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$operands, "::mlir::Value":$position)>,
  ];
}

def BlockwiseOpInterface : OpInterface<"BlockwiseOpInterface"> {
  let cppNamespace = "::braid";
  let description = [{
    An op on the rank's part of a sequence that reads the whole sequence. It can process that sequence block by block,
    in any order, so blocks may go round the ranks (`comm-form-rings`). The methods work on global programs and on
    programs of ranks. The op has a mask (`getMask`), which may admit all positions.
  }];
  let methods = [
    InterfaceMethod<"The reason that the op cannot process blocks; empty if it can.", "::std::string",
      "getReasonAgainstBlocks", (ins)>,
    InterfaceMethod<"Whether a position counts no later positions of the sequence.", "bool", "isCausal", (ins),
      [{ return $_op.getMask().getCausal(); }]>,
    InterfaceMethod<"Whether a position counts all earlier positions.", "bool", "attendsToAllEarlier", (ins),
      [{ return !$_op.getMask().hasWindow(); }]>,
    InterfaceMethod<"Makes each position count all positions.", "void", "attendToAll", (ins),
      [{ $_op.setMaskAttr($_op.getMask().get($_op->getContext())); }]>,
    InterfaceMethod<[{The operands and results that are split into blocks, with the dim of each. Empty if the op cannot
      process blocks.}],
      "::braid::BlockDims", "getBlockDims", (ins)>,
    InterfaceMethod<[{Builds the op on one block. `block` replaces the operands of getBlockDims, in their order, and
      `start`, tensor<i32>, is the index of its first position. Returns one value for each result. Results that are not
      split into blocks count only this block.}],
      "::llvm::SmallVector<::mlir::Value>", "buildOnBlock",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$block, "::mlir::Value":$start)>,
    InterfaceMethod<[{Merges the results that are not split into blocks: `some` are the results for one set of blocks,
      `others` for another set. Floats may be wider than the op's. The first set contains the block of this rank's own
      positions.}],
      "::llvm::SmallVector<::mlir::Value>", "mergeBlocks",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$some, "::mlir::ValueRange":$others)>,
  ];
}

def TrainingOpInterface : OpInterface<"TrainingOpInterface"> {
  let cppNamespace = "::braid";
  let description = [{
    An op that differs between training and inference: dropout. In training an op without a gradient of its own is
    replaced by its definition, so that forward and backward share the values of the definition.
  }];
  let methods = [InterfaceMethod<
    "Builds the op's replacement in inference; returns one value for each result.",
    "::llvm::SmallVector<::mlir::Value>", "buildInference", (ins "::mlir::OpBuilder &":$builder)>];
}

/// The kind that PrecisionOpInterface returns: an enumerator of NumericKind.
class HasNumericKind<string kind> : ParamNativeOpTrait<"HasNumericKind", "::braid::NumericKind::" # kind> {
  let cppNamespace = "::braid";
}

/// The only result has the elements of the only operand in the same row-major order, possibly in another type, and
/// no action is attached to it. So an op that picks elements of the result may pick them from the operand.
def KeepsElements : NativeOpTrait<"KeepsElements"> {
  let cppNamespace = "::braid";
}

#endif // BRAID_INTERFACES
