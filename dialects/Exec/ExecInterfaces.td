//===- ExecInterfaces.td - what scheduling and planning ask of an action -*- tablegen -*-//
#ifndef BRAID_EXEC_INTERFACES
#define BRAID_EXEC_INTERFACES

include "mlir/IR/OpBase.td"

def ActionOpInterface : OpInterface<"ActionOpInterface"> {
  let cppNamespace = "::braid::exec";
  let description = [{
    A step of the program on a queue: it reads `ins` and writes its results (on
    values) or `outs` (in memory).
  }];
  let methods = [
    InterfaceMethod<"The operands that are read.", "::mlir::OperandRange", "getActionIns", (ins)>,
    InterfaceMethod<"The references that are written; empty on values.", "::mlir::OperandRange", "getActionOuts", (ins)>,
    InterfaceMethod<"A short name for reports and comments: `matmul`, `layer_norm`.", "::std::string", "getActionName", (ins)>,
    InterfaceMethod<[{The number of the `ins` operand whose memory result `result`
      must share (an accumulator), or -1.}], "int64_t", "getTiedIn", (ins "unsigned":$result),
      [{}], [{ return -1; }]>,
    InterfaceMethod<[{True if result `result` may be written where operand `in`
      is, when both have the same element type and layout.}], "bool", "mayWriteInPlace",
      (ins "unsigned":$result, "unsigned":$in), [{}], [{ return false; }]>,
    InterfaceMethod<"True if the result may be written with strides other than contiguous (last dim unit).",
      "bool", "mayWriteStrided", (ins "unsigned":$result, "::llvm::ArrayRef<int64_t>":$strides), [{}], [{ return false; }]>,
    InterfaceMethod<"Bytes of scratch memory the call wants at most, given the target's cap.", "int64_t", "getWorkspaceBytes", (ins "int64_t":$cap),
      [{}], [{ return 0; }]>,
  ];
}

#endif // BRAID_EXEC_INTERFACES
