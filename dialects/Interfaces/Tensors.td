//===- Tensors.td - tensor types of operands and results -------------------*- tablegen -*-===//
//
// The ops of every dialect constrain their operands and results by this class. So no pass meets an extent of zero
// or a number of elements that overflows, neither in input text nor in results of other passes.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_TENSORS
#define BRAID_TENSORS

include "mlir/IR/CommonTypeConstraints.td"

def Braid_SupportedShape : CPred<"::braid::hasSupportedShape($_self)">;

class Braid_TensorOf<list<Type> types>
    : RankedTensorOf<types, [Braid_SupportedShape],
                     "statically shaped tensor (extents of 1 and more, at most 2^53 elements)"> {
  /// The names of `types` in IR.
  string elements = !interleave(!foreach(type, types, !tolower(!cast<string>(type))), " ");
}

#endif // BRAID_TENSORS
