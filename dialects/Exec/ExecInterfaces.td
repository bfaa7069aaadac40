//===- ExecInterfaces.td - what scheduling and planning ask of an action -*- tablegen -*-//
#ifndef BRAID_EXEC_INTERFACES
#define BRAID_EXEC_INTERFACES

include "mlir/IR/OpBase.td"

def ActionOpInterface : OpInterface<"ActionOpInterface"> {
  let cppNamespace = "::braid::exec";
  let description = [{
    A step of the program on a queue: it reads `ins` and writes its results (on values) or `outs` (in memory). Work that
    runs beside other actions has two actions, one that begins it and one that ends it. The interface of the first
    describes all reads and writes of the work, up to the second.
  }];
  let methods = [
    InterfaceMethod<"The operands that are read.", "::mlir::OperandRange", "getActionIns", (ins)>,
    InterfaceMethod<"The references that are written; empty on values.", "::mlir::OperandRange", "getActionOuts", (ins)>,
    InterfaceMethod<[{The values that the work makes, on values: the results of this action, or of the action that ends
      the work.}], "::mlir::ResultRange", "getActionResults", (ins), [{}], [{ return $_op->getResults(); }]>,
    InterfaceMethod<"The action that begins the work: this one, or the one that this action ends.",
      "::mlir::Operation *", "getActionBegin", (ins), [{}], [{ return $_op; }]>,
    InterfaceMethod<[{The action after which the work reads and writes no more: this one, or a later one that ends the
      work.}], "::mlir::Operation *", "getActionEnd", (ins), [{}], [{ return $_op; }]>,
    InterfaceMethod<"True if other ranks see the action. Such actions keep their order among each other.", "bool",
      "isOrdered", (ins), [{}], [{ return false; }]>,
    InterfaceMethod<"A short name for reports and comments: `matmul`, `layer_norm`.", "::std::string", "getActionName", (ins)>,
    InterfaceMethod<[{The index of the operand in `ins` that must share its memory with result `result` (an
      accumulator), or -1.}], "int64_t", "getTiedIn", (ins "unsigned":$result),
      [{}], [{ return -1; }]>,
    InterfaceMethod<[{True if result `result` may be written over operand `in` when both
      have the same element type and layout.}], "bool", "mayWriteInPlace",
      (ins "unsigned":$result, "unsigned":$in), [{}], [{ return false; }]>,
    InterfaceMethod<"True if the result may be strided. The stride of the last dim is 1.",
      "bool", "mayWriteStrided", (ins "unsigned":$result, "::llvm::ArrayRef<int64_t>":$strides), [{}], [{ return false; }]>,
    InterfaceMethod<"True if operand `in` may be strided.", "bool", "mayReadStrided",
      (ins "unsigned":$in, "::llvm::ArrayRef<int64_t>":$strides), [{}], [{ return true; }]>,
    InterfaceMethod<[{True if the action processes the rows of operand `in` (its last dim) one by one and collapses no
      dims. Leading-dimension padding then costs nothing.}], "bool", "readsRows", (ins "unsigned":$in),
      [{}], [{ return false; }]>,
    InterfaceMethod<"True if the action writes the rows of result `result` one by one and collapses no dims.", "bool",
      "writesRows", (ins "unsigned":$result), [{}], [{ return false; }]>,
    InterfaceMethod<"The scratch memory in bytes that the target's rule grants to the call.", "int64_t", "getWorkspaceBytes",
      (ins "const ::braid::exec::WorkspaceRule &":$rule),
      [{}], [{ return 0; }]>,
    InterfaceMethod<[{The numbers that the library of the call holds in signed 32-bit integers: sizes of dims and, in
      some libraries, numbers of elements. They include tensors that the library keeps in its scratch memory.}],
      "::llvm::SmallVector<::braid::exec::LibraryNumber>", "getLibraryNumbers",
      (ins "const ::braid::exec::WorkspaceRule &":$rule), [{}], [{ return {}; }]>,
    InterfaceMethod<[{The work of the action. By default, each operand is read once, each result is written once, and
      nothing is computed.}],
      "::braid::exec::ActionCost", "getActionCost", (ins), [{}],
      [{ return ::braid::exec::detail::dataMovementCost($_op); }]>,
  ];
}

def ArenaRangeOpInterface : OpInterface<"ArenaRangeOpInterface"> {
  let cppNamespace = "::braid::exec";
  let description = "A named range of the arena, to which references refer.";
  let methods = [
    InterfaceMethod<"The offset of the range in the arena, in bytes.", "int64_t", "getBegin", (ins), [{}],
      [{ return $_op.getOffset(); }]>,
    InterfaceMethod<"The size of the range in bytes.", "int64_t", "getSize", (ins), [{}],
      [{ return $_op.getBytes(); }]>,
    InterfaceMethod<"Whether the range lies in the host's memory instead of the device's arena.", "bool",
      "isOnHost", (ins), [{}], [{
        if constexpr (requires { $_op.getHost(); })
          return $_op.getHost();
        else
          return false;
      }]>,
  ];
}

#endif // BRAID_EXEC_INTERFACES
