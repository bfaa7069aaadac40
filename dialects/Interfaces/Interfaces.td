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
    Reverse-mode differentiation: the op builds its own vector-Jacobian product.
    An op without an own rule is differentiated through its decomposition.
  }];
  let methods = [InterfaceMethod<
    [{Builds, at the builder's insertion point, the gradient of each operand
      from the gradients of the results.  `resultGradients[i]` is null when
      result i has no gradient (zero).  Only operands with `needed[i]` must be
      answered; null means zero.  The gradient has its operand's type.  The
      operands and results of the op may be read.}],
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
    InterfaceMethod<[{Builds the op on a shard: one value for each result.  An op
      with positional factors that are not decomposed must define it.}],
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
    InterfaceMethod<[{Builds, at the builder's insertion point, the op's only result
      with elements of the wider float type `element`, as it is before it is
      rounded.  `widen` answers an operand in that type.  Null if the op has no
      such result.  Movement of wider numbers is the same movement, and need not
      define it.}],
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
    InterfaceMethod<"Whether this op is a sum or a mean.", "bool", "isSumOrMean", (ins), [{}], [{ return true; }]>,
    InterfaceMethod<"Whether the data choose which examples count, so that batches of one size have other divisors.",
      "bool", "leavesOut", (ins), [{}], [{ return false; }]>,
    InterfaceMethod<[{Makes a mean the sum.  Returns, built at the builder's insertion point,
      the scalar that the mean divides by; null if the op was a sum already.  An example that is left out adds
      `ofLeftOut` to the scalar.}],
      "::mlir::Value", "makeSum", (ins "::mlir::OpBuilder &":$builder, "double":$ofLeftOut)>,
  ];
}

def CausalOpInterface : OpInterface<"CausalOpInterface"> {
  let cppNamespace = "::braid";
  let description = [{
    An op along a sequence in which a position may read earlier positions of some operands, and none reads later
    ones. So a sequence can be computed one position after the other, if the values that later positions read are
    kept (`tg-make-decode`).
  }];
  let methods = [
    InterfaceMethod<"Where the sequence is; none if a position reads later ones.",
      "::std::optional<::braid::SequenceDims>", "getSequenceDims", (ins)>,
    InterfaceMethod<[{Builds the results at one position, tensor<i32>.  Operands that are read at
      earlier positions are whole, with any finite numbers behind that position; of the others, and of
      the results, the dim of the sequence has this position alone.}],
      "::llvm::SmallVector<::mlir::Value>", "buildAtPosition",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$operands, "::mlir::Value":$position)>,
  ];
}

def BlockwiseOpInterface : OpInterface<"BlockwiseOpInterface"> {
  let cppNamespace = "::braid";
  let description = [{
    An op on the rank's part of a sequence that can process the sequence that it reads block by block, in any order.
    So blocks may go round the ranks (`comm-form-rings`). The methods also hold for the op in the program of a rank.
    The op has a mask (`getMask`), which may admit all positions.
  }];
  let methods = [
    InterfaceMethod<"Why it cannot; empty if it can.", "::std::string", "getReasonAgainstBlocks", (ins)>,
    InterfaceMethod<"Whether a position counts no later positions of the sequence.", "bool", "isCausal", (ins),
      [{ return $_op.getMask().getCausal(); }]>,
    InterfaceMethod<"Whether a position counts all earlier positions.", "bool", "countsAllEarlier", (ins),
      [{ return !$_op.getMask().hasWindow(); }]>,
    InterfaceMethod<"Makes each position count all positions.", "void", "countAll", (ins),
      [{ $_op.setMaskAttr($_op.getMask().get($_op->getContext())); }]>,
    InterfaceMethod<"The operands and results of which a block has a part, and the dim of each; none that cannot.",
      "::braid::BlockDims", "getBlockDims", (ins)>,
    InterfaceMethod<[{Builds the op with these in place of the operands of getBlockDims, in its order: a
      block that starts at an index, tensor<i32>, of theirs.  Returns one value for each result; those that
      a block has no part of are of this block alone.}],
      "::llvm::SmallVector<::mlir::Value>", "buildOnBlock",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$block, "::mlir::Value":$start)>,
    InterfaceMethod<[{Builds, of two sets of blocks together, the results that a block has no part of, from
      those of each set.  Floats may be wider than the op's.  The first set has the block with this rank's
      own positions.}],
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
    "Builds what the op is in inference; returns one value for each result.",
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
