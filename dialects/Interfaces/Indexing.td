//===- Indexing.td - which operands of an op are indices -------*- tablegen -*-//
#ifndef BRAID_INDEXING
#define BRAID_INDEXING

include "mlir/IR/OpBase.td"

def IndexingOpInterface : OpInterface<"IndexingOpInterface"> {
  let cppNamespace = "::braid";
  let description = [{
    An op that uses integers as indices.  What an index may be, only the op knows, and
    what it does with another one is undefined: the training binary checks its data
    against this range before the first step.
  }];
  let methods = [InterfaceMethod<
    "The indices that this operand may hold; none if its numbers are no indices.",
    "::std::optional<::braid::IndexRange>", "getIndexRange", (ins "::mlir::OpOperand &":$operand)>];
}

#endif // BRAID_INDEXING
