//===- CommHostCopies.td - between a device and its host --------*- tablegen -*-===//
//
// Included by CommOps.td, which has the classes.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_COMM_HOST_COPIES
#define BRAID_COMM_HOST_COPIES

def Comm_CopyOp : Comm_Op<"copy", [AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<ActionOpInterface, ["mayReadStrided"]>,
    DeclareOpInterfaceMethods<QueuedOpInterface, ["getQueue"]>]> {
  let summary = "Tensors from the host's memory to the device's, or back";
  let description = [{
    Beside its arena a device may keep tensors in the memory of its host (`exec.host` of an argument, `host` of an
    `exec.tensor`). Only this op reads and writes them. Like a collective it is one action for several tensors, and may
    be started and waited for. There is a queue for each direction.

    ```mlir
    %d = comm.copy %m to device : (tensor<4xf32>) -> tensor<4xf32>
    %h = comm.copy %d to host : (tensor<4xf32>) -> tensor<4xf32>
    ```

    copy_c1: operands are all tensors, and there are results; or all are references, and there are `outs`. copy_c2:
    there is at least one operand, and result i has the type of operand i.
  }];
  let arguments = (ins Variadic<Comm_Operand>:$ins, Variadic<Exec_RefType>:$outs, Comm_Memory:$to);
  let results = (outs Variadic<Comm_Tensor>:$results);
  let assemblyFormat = [{
    $ins (`outs` `(` $outs^ `:` type($outs) `)`)? `to` $to attr-dict `:` functional-type($ins, $results)
  }];
  let builders = [OpBuilder<(ins "::mlir::ValueRange":$ins, "Memory":$to)>];
  let hasVerifier = 1;
}

#endif // BRAID_COMM_HOST_COPIES
