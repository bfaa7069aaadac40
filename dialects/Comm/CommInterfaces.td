//===- CommInterfaces.td - what passes ask of a collective ------*- tablegen -*-===//
#ifndef BRAID_COMM_INTERFACES
#define BRAID_COMM_INTERFACES

include "mlir/IR/OpBase.td"

def CollectiveOpInterface : OpInterface<"CollectiveOpInterface"> {
  let cppNamespace = "::braid::comm";
  let description = [{
    An op that all ranks of a group take part in, at the same point of their
    order on the communicator.  A communicator is a mesh and a list of axes.
  }];
  let methods = [
    InterfaceMethod<"The mesh.", "::mlir::FlatSymbolRefAttr", "getMeshAttr", (ins)>,
    InterfaceMethod<"The axes of the group.", "::braid::comm::AxesAttr", "getAxes", (ins)>,
    InterfaceMethod<"What is sent: tensors on values, references in memory.",
      "::mlir::OperandRange", "getSent", (ins)>,
    InterfaceMethod<"How values combine, or none.",
      "::std::optional<::braid::comm::Reduction>", "getReductionKind", (ins), [{}], [{ return std::nullopt; }]>,
    InterfaceMethod<"Whether all ranks of the group get the same results.", "bool", "resultsAgree", (ins),
      [{}], [{ return false; }]>,
    InterfaceMethod<"Whether it is made of messages between pairs alone, or of none: no algorithm makes it of less.",
      "bool", "isTransfer", (ins), [{}], [{ return false; }]>,
    InterfaceMethod<"The number in the group of the root, or none.", "::std::optional<int64_t>", "getRootRank", (ins),
      [{}], [{ return std::nullopt; }]>,
    InterfaceMethod<[{For each tensor the dim along which what is sent is split into a
      block for each rank, or kFlat; empty where it is sent whole.}], "::llvm::ArrayRef<int64_t>", "getSentDims", (ins),
      [{}], [{ return {}; }]>,
    InterfaceMethod<"The same of what is received, in which blocks lie side by side.", "::llvm::ArrayRef<int64_t>",
      "getReceivedDims", (ins), [{}], [{ return {}; }]>,
    InterfaceMethod<"Numbers in the group, source and target of each message in turn; empty where the kind says who sends.",
      "::llvm::ArrayRef<int64_t>", "getPairs", (ins), [{}], [{ return {}; }]>,
    InterfaceMethod<"The number in the group of the one that it sends to or receives from, or none.",
      "::std::optional<int64_t>", "getPeerRank", (ins), [{}], [{ return std::nullopt; }]>,
    InterfaceMethod<[{Bytes that the busiest rank sends (receives, where that is
      more) in the best known algorithm for long messages in a group of `ranks`
      (Thakur, Rabenseifner & Gropp 2005): all_reduce of K bytes 2 K (n-1)/n,
      all_gather and reduce_scatter (n-1)/n of the full tensor.}],
      "int64_t", "getBytesSent", (ins "int64_t":$ranks)>,
    InterfaceMethod<[{Messages, one after another, of a rank in that algorithm when it
      goes round a ring: one in a transfer and a barrier, n-1 in a phase; all_reduce,
      reduce and broadcast have two phases.}],
      "int64_t", "getMessagesSent", (ins "int64_t":$ranks), [{}],
      [{ return $_op.isTransfer() ? 1 : ranks - 1; }]>,
    InterfaceMethod<[{Checks the numbered constraints of the op.  Called once the
      mesh is known to have the axes, and collective_c1 to c3 to hold.}],
      "::llvm::LogicalResult", "verifyGroup", (ins "const ::braid::comm::Mesh &":$mesh)>,
  ];
}

#endif // BRAID_COMM_INTERFACES
