//===- CommInterfaces.td - what passes ask of a collective ------*- tablegen -*-===//
#ifndef BRAID_COMM_INTERFACES
#define BRAID_COMM_INTERFACES

include "mlir/IR/OpBase.td"

def QueuedOpInterface : OpInterface<"QueuedOpInterface"> {
  let cppNamespace = "::braid::comm";
  let description = [{
    An action whose work goes on beside what computes: what a `comm.start` may hold.
  }];
  let methods = [
    InterfaceMethod<"Which of the rank's queues it is put on.", "::braid::comm::Queue", "getQueue", (ins), [{}],
      [{ return ::braid::comm::Queue::Ranks; }]>,
  ];
}

def CollectiveOpInterface : OpInterface<"CollectiveOpInterface"> {
  let cppNamespace = "::braid::comm";
  let description = [{
    An op that all ranks of a group take part in, at the same point of their
    order on the communicator.  A communicator is a mesh and a list of axes.
  }];
  let methods = [
    InterfaceMethod<"What is known of collectives of this kind (runtime/CollectiveKinds.h).",
      "const ::braid::CollectiveKind &", "getRow", (ins)>,
    InterfaceMethod<"The mesh.", "::mlir::FlatSymbolRefAttr", "getMeshAttr", (ins)>,
    InterfaceMethod<"The axes of the group.", "::braid::comm::AxesAttr", "getAxes", (ins)>,
    InterfaceMethod<"What is sent: tensors on values, references in memory.",
      "::mlir::OperandRange", "getSent", (ins)>,
    InterfaceMethod<"How values combine, or none.",
      "::std::optional<::braid::comm::Reduction>", "getReductionKind", (ins), [{}], [{
        if constexpr (requires { $_op.getKind(); })
          return $_op.getKind();
        else
          return std::nullopt;
      }]>,
    InterfaceMethod<"The number in the group of the root, or none.", "::std::optional<int64_t>", "getRootRank", (ins),
      [{}], [{
        if constexpr (requires { $_op.getRoot(); })
          return $_op.getRoot();
        else
          return std::nullopt;
      }]>,
    InterfaceMethod<"The number in the group of the one that it sends to or receives from, or none.",
      "::std::optional<int64_t>", "getPeerRank", (ins), [{}], [{
        if constexpr (requires { $_op.getPeer(); })
          return $_op.getPeer();
        else
          return std::nullopt;
      }]>,
    InterfaceMethod<"Numbers in the group, source and target of each message in turn; empty where the kind says who sends.",
      "::llvm::ArrayRef<int64_t>", "getPairs", (ins), [{}], [{ return {}; }]>,
    InterfaceMethod<[{For each tensor the dim along which what is sent is split into a
      block for each rank, or kFlat; empty where it is sent whole.}], "::llvm::ArrayRef<int64_t>", "getSentDims", (ins),
      [{}], [{
        if constexpr (requires { $_op.getSplit(); })
          return $_op.getSplit();
        else if constexpr (requires { $_op.getDims(); })
          return $_op.getRow().sent.form == Form::Blocks ? $_op.getDims() : ::llvm::ArrayRef<int64_t>();
        else
          return {};
      }]>,
    InterfaceMethod<"The same of what is received, in which blocks lie side by side.", "::llvm::ArrayRef<int64_t>",
      "getReceivedDims", (ins), [{}], [{
        if constexpr (requires { $_op.getConcat(); })
          return $_op.getConcat();
        else if constexpr (requires { $_op.getDims(); })
          return $_op.getRow().received.form == Form::Blocks ? $_op.getDims() : ::llvm::ArrayRef<int64_t>();
        else
          return {};
      }]>,
    InterfaceMethod<"Bytes that the busiest rank sends, or receives where that is more, in a group of `ranks`.",
      "int64_t", "getBytesSent", (ins "int64_t":$ranks), [{}],
      [{ return detail::bytesSent($_op.getOperation(), ranks); }]>,
  ];
}

#endif // BRAID_COMM_INTERFACES
