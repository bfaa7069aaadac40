//===- Indexing.td - which operands of an op are indices -------*- tablegen -*-//
#ifndef BRAID_INDEXING
#define BRAID_INDEXING

include "mlir/IR/OpBase.td"

def IndexingOpInterface : OpInterface<"IndexingOpInterface"> {
  let cppNamespace = "::braid";
  let description = [{
    An op that uses integers as indices. The op defines the valid range; its result for any other index is undefined. So
    the training binary checks its data against this range before the first step.
  }];
  let methods = [InterfaceMethod<
    "The range of valid indices in this operand; none if the operand holds no indices.",
    "::std::optional<::braid::IndexRange>", "getIndexRange", (ins "::mlir::OpOperand &":$operand)>];
}

#endif // BRAID_INDEXING
