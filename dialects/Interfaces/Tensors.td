//===- Tensors.td - the tensors that ops take -------------------*- tablegen -*-===//
//
// The ops of every dialect constrain their operands and results by this class, so that
// no pass meets an extent of zero or a number of elements that overflows, in what was
// read or in what another pass made.
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
