//===- CommInterfaces.td - what passes ask of a collective ------*- tablegen -*-===//
#ifndef BRAID_COMM_INTERFACES
#define BRAID_COMM_INTERFACES

include "mlir/IR/OpBase.td"

def QueuedOpInterface : OpInterface<"QueuedOpInterface"> {
  let cppNamespace = "::braid::comm";
  let description = [{
    An action that can run beside computation. `comm.start` holds one.
  }];
  let methods = [
    InterfaceMethod<"The queue of the rank that runs the action.", "::braid::comm::Queue", "getQueue", (ins), [{}],
      [{ return ::braid::comm::Queue::Ranks; }]>,
  ];
}

def CollectiveOpInterface : OpInterface<"CollectiveOpInterface"> {
  let cppNamespace = "::braid::comm";
  let description = [{
    An op in which all ranks of a group take part. Each rank issues the collectives of a communicator in the same order.
    A communicator is a mesh and a list of axes.
  }];
  let methods = [
    InterfaceMethod<"The row of this kind of collective in runtime/CollectiveKinds.h.",
      "const ::braid::CollectiveKind &", "getRow", (ins)>,
    InterfaceMethod<"The mesh.", "::mlir::FlatSymbolRefAttr", "getMeshAttr", (ins)>,
    InterfaceMethod<"The axes of the group.", "::braid::comm::AxesAttr", "getAxes", (ins)>,
    InterfaceMethod<"The operands that are sent: tensors on values, references in memory.",
      "::mlir::OperandRange", "getSent", (ins)>,
    InterfaceMethod<"The reduction that combines values, or none.",
      "::std::optional<::braid::comm::Reduction>", "getReductionKind", (ins), [{}], [{
        if constexpr (requires { $_op.getKind(); })
          return $_op.getKind();
        else
          return std::nullopt;
      }]>,
    InterfaceMethod<"The root's number in the group, or none.", "::std::optional<int64_t>", "getRootRank", (ins),
      [{}], [{
        if constexpr (requires { $_op.getRoot(); })
          return $_op.getRoot();
        else
          return std::nullopt;
      }]>,
    InterfaceMethod<"The number in the group of the rank that this rank sends to or receives from, or none.",
      "::std::optional<int64_t>", "getPeerRank", (ins), [{}], [{
        if constexpr (requires { $_op.getPeer(); })
          return $_op.getPeer();
        else
          return std::nullopt;
      }]>,
    InterfaceMethod<"Source and target of each message in turn, as numbers in the group. Empty if the kind determines them.",
      "::llvm::ArrayRef<int64_t>", "getPairs", (ins), [{}], [{ return {}; }]>,
    InterfaceMethod<[{For each tensor, the dim that is split into one sent block for each rank, or kFlat. Empty if
      tensors are sent whole.}], "::llvm::ArrayRef<int64_t>", "getSentDims", (ins),
      [{}], [{
        if constexpr (requires { $_op.getSplit(); })
          return $_op.getSplit();
        else if constexpr (requires { $_op.getDims(); })
          return $_op.getRow().sent.form == Form::Blocks ? $_op.getDims() : ::llvm::ArrayRef<int64_t>();
        else
          return {};
      }]>,
    InterfaceMethod<[{For each tensor, the dim along which received blocks lie side by side, or kFlat. Empty if tensors
      are received whole.}], "::llvm::ArrayRef<int64_t>", "getReceivedDims", (ins), [{}], [{
        if constexpr (requires { $_op.getConcat(); })
          return $_op.getConcat();
        else if constexpr (requires { $_op.getDims(); })
          return $_op.getRow().received.form == Form::Blocks ? $_op.getDims() : ::llvm::ArrayRef<int64_t>();
        else
          return {};
      }]>,
    InterfaceMethod<"Bytes that the busiest rank of a group of `ranks` sends or receives, whichever is more.",
      "int64_t", "getBytesSent", (ins "int64_t":$ranks), [{}],
      [{ return detail::bytesSent($_op.getOperation(), ranks); }]>,
  ];
}

#endif // BRAID_COMM_INTERFACES
