//===- ExecInterfaces.td - what scheduling and planning ask of an action -*- tablegen -*-//
#ifndef BRAID_EXEC_INTERFACES
#define BRAID_EXEC_INTERFACES

include "mlir/IR/OpBase.td"

def ActionOpInterface : OpInterface<"ActionOpInterface"> {
  let cppNamespace = "::braid::exec";
  let description = [{
    A step of the program on a queue: it reads `ins` and writes its results (on
    values) or `outs` (in memory).  Where the work goes on beside others, its begin
    and its end are two actions: the one that begins it answers for what is read
    and written, until the other.
  }];
  let methods = [
    InterfaceMethod<"The operands that are read.", "::mlir::OperandRange", "getActionIns", (ins)>,
    InterfaceMethod<"The references that are written; empty on values.", "::mlir::OperandRange", "getActionOuts", (ins)>,
    InterfaceMethod<[{The values that it makes, on values: its own results, or those
      that its end gives.}], "::mlir::ResultRange", "getActionResults", (ins), [{}], [{ return $_op->getResults(); }]>,
    InterfaceMethod<"The action that begins this one's work: itself, or that whose end it is.", "::mlir::Operation *",
      "getActionBegin", (ins), [{}], [{ return $_op; }]>,
    InterfaceMethod<[{The action at which its reading and writing are over: itself, or
      its end further down.}], "::mlir::Operation *", "getActionEnd", (ins), [{}], [{ return $_op; }]>,
    InterfaceMethod<"True if it keeps its order among all actions for which this is true: other ranks see it.", "bool",
      "isOrdered", (ins), [{}], [{ return false; }]>,
    InterfaceMethod<"A short name for reports and comments: `matmul`, `layer_norm`.", "::std::string", "getActionName", (ins)>,
    InterfaceMethod<[{The number of the `ins` operand whose memory result `result`
      must share (an accumulator), or -1.}], "int64_t", "getTiedIn", (ins "unsigned":$result),
      [{}], [{ return -1; }]>,
    InterfaceMethod<[{True if result `result` may be written over operand `in` when both
      have the same element type and layout.}], "bool", "mayWriteInPlace",
      (ins "unsigned":$result, "unsigned":$in), [{}], [{ return false; }]>,
    InterfaceMethod<"True if the result may be written with strides other than contiguous (last dim unit).",
      "bool", "mayWriteStrided", (ins "unsigned":$result, "::llvm::ArrayRef<int64_t>":$strides), [{}], [{ return false; }]>,
    InterfaceMethod<"True if operand `in` may be read with strides other than contiguous.", "bool", "mayReadStrided",
      (ins "unsigned":$in, "::llvm::ArrayRef<int64_t>":$strides), [{}], [{ return true; }]>,
    InterfaceMethod<[{True if it processes the rows of operand `in` (its last dim) one by
      one, and does not collapse several dims into one: then leading-dimension padding
      costs it nothing.}], "bool", "readsRows", (ins "unsigned":$in),
      [{}], [{ return false; }]>,
    InterfaceMethod<"The same for result `result`.", "bool", "writesRows", (ins "unsigned":$result),
      [{}], [{ return false; }]>,
    InterfaceMethod<"The bytes of scratch memory that the call may use, by the target's rule.", "int64_t", "getWorkspaceBytes",
      (ins "const ::braid::exec::WorkspaceRule &":$rule),
      [{}], [{ return 0; }]>,
    InterfaceMethod<[{The numbers that the library of the call holds in 32 bits, with signs: sizes
      and, where it counts elements like this, elements; also of what it keeps in the scratch
      memory that the target's rule gives it.}],
      "::llvm::SmallVector<::braid::exec::LibraryNumber>", "getLibraryNumbers",
      (ins "const ::braid::exec::WorkspaceRule &":$rule), [{}], [{ return {}; }]>,
    InterfaceMethod<[{The work it does.  Unless it says otherwise: every operand is
      read once, every result written once, and nothing is computed.}],
      "::braid::exec::ActionCost", "getActionCost", (ins), [{}],
      [{ return ::braid::exec::detail::costOfMoving($_op); }]>,
  ];
}

def ArenaRangeOpInterface : OpInterface<"ArenaRangeOpInterface"> {
  let cppNamespace = "::braid::exec";
  let description = "A range of the arena that references name.";
  let methods = [
    InterfaceMethod<"Its first byte.", "int64_t", "getBegin", (ins), [{}], [{ return $_op.getOffset(); }]>,
    InterfaceMethod<"Its bytes.", "int64_t", "getSize", (ins), [{}], [{ return $_op.getBytes(); }]>,
    InterfaceMethod<"Whether it is of the host's memory beside a device's arena, and so are its bytes.", "bool",
      "isOnHost", (ins), [{}], [{
        if constexpr (requires { $_op.getHost(); })
          return $_op.getHost();
        else
          return false;
      }]>,
  ];
}

#endif // BRAID_EXEC_INTERFACES
