//===- CommTickets.td - start and wait --------------------------*- tablegen -*-===//
//
// Included by CommOps.td, which has the classes.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_COMM_TICKETS
#define BRAID_COMM_TICKETS

def Comm_StartOp : Comm_Op<"start", [SingleBlock, NoTerminator, NoRegionArguments,
    DeclareOpInterfaceMethods<ActionOpInterface,
        ["getActionResults", "getActionEnd", "isOrdered", "mayWriteInPlace", "mayReadStrided"]>,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Puts one collective, or a copy from or to the host, on its queue without waiting";
  let description = [{
    A queue works in the order of starts. From start to wait the operands stay live and unwritten, and the results'
    memory belongs to the started op.

    ```mlir
    %t = comm.start {
      %g = comm.all_gather %w dims [0] over @mesh {dp} : (tensor<2x4xf32>) -> tensor<8x4xf32>
    } : !comm.ticket<tensor<8x4xf32>>
    %full = comm.wait %t : !comm.ticket<tensor<8x4xf32>> -> tensor<8x4xf32>
    ```

    start_c1: the body is one collective or `comm.copy`.  start_c2: the ticket holds its result
    types.  start_c3: the ticket is waited for exactly once, later in the block of
    the start, and used for nothing else.
  }];
  let results = (outs Comm_TicketType:$ticket);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$body attr-dict `:` qualified(type($ticket))";
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// The collective or copy that the op starts.
    QueuedOpInterface getWork() { return ::llvm::cast<QueuedOpInterface>(getBody().front().front()); }
    /// The started collective; null for a copy.
    CollectiveOpInterface getCollective() {
      return ::llvm::dyn_cast<CollectiveOpInterface>(getBody().front().front());
    }
    WaitOp getWait();
  }];
}

def Comm_WaitOp : Comm_Op<"wait", [
    DeclareOpInterfaceMethods<ActionOpInterface, ["getActionResults", "getActionBegin", "isOrdered"]>,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Waits for the collective or copy of a ticket and returns its results";
  let description = [{
    wait_c1: the results have the types of the ticket. wait_c2: a comm.start makes the ticket.
  }];
  let arguments = (ins Comm_TicketType:$ticket);
  let results = (outs Variadic<Comm_Tensor>:$results);
  let assemblyFormat = "$ticket attr-dict `:` qualified(type($ticket)) (`->` type($results)^)?";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    StartOp getStart() { return getTicket().getDefiningOp<StartOp>(); }
  }];
}

#endif // BRAID_COMM_TICKETS
