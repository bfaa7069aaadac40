//===- CommOps.td - the mesh, rank actions and collectives ---------*- tablegen -*-===//
//
// Collectives are pure ops on values where every rank runs the same function. All take several tensors: such a
// bucket is one collective, and every tensor stays in its own place. In memory form operands and `outs` are
// references and there are no results; the same holds for actions of a single rank.
//
// Builders take values (one, or several for a bucket) and infer what they can:
// `b.create<AllReduceOp>(loc, Reduction::Sum, value, mesh, axes)`.
//
// Constraints carry labels (`all_gather_c1`): the verifier and the tests name
// the same ones.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_COMM_OPS
#define BRAID_COMM_OPS

include "dialects/Comm/CommDialect.td"
include "dialects/Comm/CommInterfaces.td"
include "dialects/Exec/ExecDialect.td"
include "mlir/IR/RegionKindInterface.td"

def Comm_Tensor : Braid_TensorOf<[F64, F32, BF16, I32, I64, I8, I1]>;
def Comm_Operand : AnyTypeOf<[Comm_Tensor, Exec_RefType], "tensor (on values) or !exec.ref (in memory)">;

class Comm_Op<string mnemonic, list<Trait> traits = []> : Op<Comm_Dialect, mnemonic, traits>;

//===----------------------------------------------------------------------===//
// The mesh
//===----------------------------------------------------------------------===//

def Comm_MeshOp : Comm_Op<"mesh", [Symbol]> {
  let summary = "The ranks of a job as a grid with named axes";
  let description = [{
    Ranks are numbered row-major: the last axis varies fastest.

    ```mlir
    comm.mesh @mesh [dp = 2, tp = 4]
    ```

    mesh_c1: axis names are different identifiers. mesh_c2: sizes are at least 1. mesh_c3: there is at least one axis,
    and there are at most 2^20 ranks.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrArrayAttr:$names, DenseI64ArrayAttr:$sizes);
  let assemblyFormat = "$sym_name custom<MeshAxes>($names, $sizes) attr-dict";
  let hasVerifier = 1;
}

def Comm_PipelineOp : Comm_Op<"pipeline", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "The table of a pipeline's cells; its rows are coordinates along an axis";
  let description = [{
    The table is a CSV like PyTorch's schedules (docs/Pipelines.md). A cell runs the function with its `comm.cell`,
    for each microbatch; after the table, ranks run @train.

    ```mlir
    comm.pipeline over @mesh "pp" "0F0,0F1,,0B0,,0B1\\0A,1F0,1B0,1F1,1B1"
    ```

    pipeline_c1: the mesh has the axis. pipeline_c2: a module has at most one.
  }];
  let arguments = (ins FlatSymbolRefAttr:$mesh, StrAttr:$axis, StrAttr:$table);
  let assemblyFormat = "`over` $mesh $axis $table attr-dict";
}

//===----------------------------------------------------------------------===//
// Annotations of global functions
//===----------------------------------------------------------------------===//

def Comm_ConstrainOp : Comm_Op<"constrain", [Pure, SameOperandsAndResultType,
    DeclareOpInterfaceMethods<ShardingRuleOpInterface, ["buildShard"]>,
    DeclareOpInterfaceMethods<DifferentiableOpInterface>, PrecisionOpInterface, HasNumericKind<"Movement">,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "The identity; its result has this sharding, and so has its gradient";
  let description = [{
    ```mlir
    %y = comm.constrain %x <@mesh, {dp} {tp} {}> : tensor<8x16x32xf32>
    %dx = comm.constrain %dy <@mesh, {dp} {tp} {}> yielding : tensor<8x16x32xf32>
    ```

    A `yielding` constraint yields to others of its priority if they conflict. The constraint on the gradient, which
    repeats the constraint of the value, is `yielding`.
  }];
  let arguments = (ins Comm_Tensor:$input, Comm_ShardingAttr:$sharding, UnitAttr:$yielding);
  let results = (outs Comm_Tensor:$result);
  let assemblyFormat = "$input $sharding (`yielding` $yielding^)? attr-dict `:` type($result)";
}

def Comm_ReshardOp : Comm_Op<"reshard", [Pure, SameOperandsAndResultType,
    PrecisionOpInterface, HasNumericKind<"Movement">, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "The same tensor with another sharding; becomes collectives when the function is partitioned";
  let description = [{
    ```mlir
    %y = comm.reshard %x <@mesh, {} {tp}> : tensor<16x32xf32>
    ```
  }];
  let arguments = (ins Comm_Tensor:$input, Comm_ShardingAttr:$sharding);
  let results = (outs Comm_Tensor:$result);
  let assemblyFormat = "$input $sharding attr-dict `:` type($result)";
}

//===----------------------------------------------------------------------===//
// A rank's place in the mesh: no communication
//===----------------------------------------------------------------------===//

/// An action that every rank does alone, with its number i in the group. `methods` are the optional methods of
/// ActionOpInterface that it defines.
///
/// rank_c1: operands are tensors and there is one result; or they are references
/// and there is one of `outs`.
class Comm_RankAction<string mnemonic, list<string> methods = [], list<Trait> traits = []>
    : Comm_Op<mnemonic, !listconcat(traits, [
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
        DeclareOpInterfaceMethods<SymbolUserOpInterface>,
        DeclareOpInterfaceMethods<ActionOpInterface, methods>])> {
  let extraClassDeclaration = [{
    /// On values the op stands for its result.
    operator ::mlir::Value() { return getResult(); }
    /// The type of the tensor that the op makes, in either form.
    ::mlir::RankedTensorType getType();
  }];
  let extraClassDefinition = [{
    ::mlir::RankedTensorType $cppClass::getType() {
      return exec::tensorOf(getOuts().empty() ? getResult().getType() : getOuts().front().getType());
    }
    void $cppClass::getEffects(::llvm::SmallVectorImpl<::mlir::MemoryEffects::EffectInstance> &effects) {
      exec::collectEffects(*this, effects);
    }
    ::mlir::OperandRange $cppClass::getActionIns() { return getOperation()->getOperands().drop_back(getOuts().size()); }
    ::mlir::OperandRange $cppClass::getActionOuts() { return getOuts(); }
    ::std::string $cppClass::getActionName() { return "}] # mnemonic # [{"; }
  }];
}

def Comm_AxisIndexOp : Comm_RankAction<"axis_index"> {
  let summary = "The number of this rank in its group along some axes";
  let description = [{
    ```mlir
    %i = comm.axis_index over @mesh {tp} : tensor<i32>
    ```
  }];
  let arguments = (ins Variadic<Exec_RefType>:$outs, FlatSymbolRefAttr:$mesh, Comm_AxesAttr:$axes);
  let results = (outs Optional<0DTensorOf<[I32]>>:$result);
  let assemblyFormat = "(`outs` `(` $outs^ `:` type($outs) `)`)? `over` $mesh $axes attr-dict (`:` type($result)^)?";
  let builders = [OpBuilder<(ins "::mlir::FlatSymbolRefAttr":$mesh, "AxesAttr":$axes)>];
}

def Comm_SliceOp : Comm_RankAction<"slice", ["mayReadStrided", "mayWriteStrided", "getActionCost"],
    [PrecisionOpInterface, HasNumericKind<"Movement">]> {
  let summary = "One of n equal blocks of a tensor along a dim: the one with this rank's number";
  let description = [{
    n is the size of the group and i this rank's number in it: the block has the
    number (i + shift) mod n.  With `dim flat` the tensor is read row-major and
    padded with zeros to a multiple of n; the block is a tensor of one dim.

    ```mlir
    %b = comm.slice %x dim 0 over @mesh {tp} : tensor<8x4xf32> -> tensor<2x4xf32>
    %next = comm.slice %x dim 0 shift 1 over @mesh {tp} : tensor<8x4xf32> -> tensor<2x4xf32>
    %f = comm.slice %x dim flat over @mesh {tp} : tensor<3x3xf32> -> tensor<3xf32>
    ```

    slice_c1: the dim exists.  slice_c2: n divides it.  slice_c3: the result is the
    block.
  }];
  let arguments = (ins Comm_Operand:$input, Variadic<Exec_RefType>:$outs, I64Attr:$dim,
                       DefaultValuedAttr<I64Attr, "0">:$shift, FlatSymbolRefAttr:$mesh, Comm_AxesAttr:$axes);
  let results = (outs Optional<Comm_Tensor>:$result);
  let assemblyFormat = [{
    $input (`outs` `(` $outs^ `:` type($outs) `)`)? `dim` custom<Dim>($dim) (`shift` $shift^)? `over` $mesh $axes
    attr-dict `:` type($input) (`->` type($result)^)?
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$input, "int64_t":$dim, "::mlir::FlatSymbolRefAttr":$mesh,
                                 "AxesAttr":$axes, "int64_t":$groupSize, CArg<"int64_t", "0">:$shift)>];
}

def Comm_AssembleOp : Comm_RankAction<"assemble", ["mayReadStrided", "mayWriteStrided"],
    [AttrSizedOperandSegments, PrecisionOpInterface, HasNumericKind<"Movement">]> {
  let summary = "n blocks side by side; where each goes depends on this rank's number";
  let description = [{
    Block k is put at number (i + shifts[k]) mod n along `dim`, or in the flat
    order (whose padding is dropped).  The inverse of n slices with these shifts.

    ```mlir
    %x = comm.assemble %own, %other dim 0 shifts [0, 1] over @mesh {pp}
        : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
    ```

    assemble_c1: there are n blocks of one type, and n shifts.  assemble_c2: the
    shifts are different mod n.  assemble_c3: the dim exists, and the result has the
    shape of the blocks together.
  }];
  let arguments = (ins Variadic<Comm_Operand>:$blocks, Variadic<Exec_RefType>:$outs, I64Attr:$dim,
                       DenseI64ArrayAttr:$shifts, FlatSymbolRefAttr:$mesh, Comm_AxesAttr:$axes);
  let results = (outs Optional<Comm_Tensor>:$result);
  let assemblyFormat = [{
    $blocks (`outs` `(` $outs^ `:` type($outs) `)`)? `dim` custom<Dim>($dim) `shifts` $shifts `over` $mesh $axes
    attr-dict `:` functional-type($blocks, $result)
  }];
  let builders = [OpBuilder<(ins "::mlir::ValueRange":$blocks, "int64_t":$dim, "::llvm::ArrayRef<int64_t>":$shifts,
                                 "::mlir::FlatSymbolRefAttr":$mesh, "AxesAttr":$axes, "::mlir::Type":$result)>];
}

include "dialects/Comm/CommHostCopies.td"

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

/// The row of runtime/CollectiveKinds.h with this mnemonic gives senders, receivers and data; the interface reads
/// the attributes `kind`, `root`, `peer`, `dims` and `pairs` under these names.
///
/// collective_c1: operands are all tensors, and the received tensors are results; or all are references, and the
/// received ones are `outs`. collective_c2: every op but a barrier sends or receives something. collective_c3: a
/// function with `comm.program` communicates over its own mesh.
class Comm_Collective<string mnemonic>
    : Comm_Op<mnemonic, [AttrSizedOperandSegments,
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
        DeclareOpInterfaceMethods<SymbolUserOpInterface>,
        DeclareOpInterfaceMethods<ActionOpInterface, ["isOrdered", "mayReadStrided", "mayWriteInPlace"]>,
        QueuedOpInterface, DeclareOpInterfaceMethods<CollectiveOpInterface>]> {
  let results = (outs Variadic<Comm_Tensor>:$results);
  let extraClassDefinition = [{
    const ::braid::CollectiveKind &$cppClass::getRow() { return ::braid::rowNamed("}] # mnemonic # [{"); }
    ::llvm::LogicalResult $cppClass::verifySymbolUses(::mlir::SymbolTableCollection &tables) {
      return detail::verifyCollective(*this, tables);
    }
    void $cppClass::getEffects(::llvm::SmallVectorImpl<::mlir::MemoryEffects::EffectInstance> &effects) {
      detail::collectEffects(*this, effects);
    }
    ::mlir::OperandRange $cppClass::getSent() { return getIns(); }
    ::mlir::OperandRange $cppClass::getActionIns() { return getIns(); }
    ::mlir::OperandRange $cppClass::getActionOuts() { return getOuts(); }
    ::std::string $cppClass::getActionName() { return "}] # mnemonic # [{"; }
    bool $cppClass::isOrdered() { return true; }
    bool $cppClass::mayReadStrided(unsigned, ::llvm::ArrayRef<int64_t>) { return false; }
    bool $cppClass::mayWriteInPlace(unsigned result, unsigned in) {
      return result == in && getRow().inPlace == InPlace::Same;
    }
  }];
}

/// Format of a collective: sent operands, `outs` in memory form, the op's own part, the group, the types.
class Comm_Format<string sent, string own = ""> {
  string value = sent # " (`outs` `(` $outs^ `:` type($outs) `)`)? " # own
               # " `over` $mesh $axes attr-dict `:` functional-type($ins, $results)";
}

def Comm_AllReduceOp : Comm_Collective<"all_reduce"> {
  let summary = "Every rank gets the combination of all ranks' tensors";
  let description = [{
    ```mlir
    %y = comm.all_reduce sum %x over @mesh {dp} : (tensor<4xf32>) -> tensor<4xf32>
    %a1, %b1 = comm.all_reduce mean %a, %b over @mesh {dp, tp}
        : (tensor<4xf32>, tensor<8xf32>) -> (tensor<4xf32>, tensor<8xf32>)
    ```

    all_reduce_c1: result i has the type of operand i.  all_reduce_c2: mean needs
    floats; i1 has max and min alone.
  }];
  let arguments = (ins Comm_Reduction:$kind, Variadic<Comm_Operand>:$ins, Variadic<Exec_RefType>:$outs,
                       FlatSymbolRefAttr:$mesh, Comm_AxesAttr:$axes);
  let assemblyFormat = Comm_Format<"$kind $ins">.value;
  let builders = [OpBuilder<(ins "Reduction":$kind, "::mlir::ValueRange":$ins, "::mlir::FlatSymbolRefAttr":$mesh,
                                 "AxesAttr":$axes)>];
}

def Comm_AllGatherOp : Comm_Collective<"all_gather"> {
  let summary = "Every rank gets all ranks' blocks, side by side";
  let description = [{
    `dims` gives for each tensor the dim along which its blocks lie. `flat` blocks lie in the row-major order of the
    result, whose shape they need not divide; the padding is dropped.

    ```mlir
    %w = comm.all_gather %b dims [0] over @mesh {dp} : (tensor<2x4xf32>) -> tensor<8x4xf32>
    %f = comm.all_gather %s dims [flat] over @mesh {dp} : (tensor<3xf32>) -> tensor<3x3xf32>
    ```

    all_gather_c1: `dims` has an entry for each tensor, which is a dim of it.
    all_gather_c2: the result has n times the block along the dim and its other
    sizes; a flat block has ceil(elements / n).  all_gather_c3: element types
    agree.
  }];
  let arguments = (ins Variadic<Comm_Operand>:$ins, Variadic<Exec_RefType>:$outs, DenseI64ArrayAttr:$dims,
                       FlatSymbolRefAttr:$mesh, Comm_AxesAttr:$axes);
  let assemblyFormat = Comm_Format<"$ins", "`dims` custom<Dims>($dims)">.value;
  let builders = [OpBuilder<(ins "::mlir::ValueRange":$ins, "::llvm::ArrayRef<int64_t>":$dims,
                                 "::mlir::FlatSymbolRefAttr":$mesh, "AxesAttr":$axes, "::mlir::TypeRange":$results)>];
}

def Comm_ReduceScatterOp : Comm_Collective<"reduce_scatter"> {
  let summary = "Rank i gets block i of the combination of all ranks' tensors";
  let description = [{
    ```mlir
    %b = comm.reduce_scatter sum %x dims [0] over @mesh {dp} : (tensor<8x4xf32>) -> tensor<2x4xf32>
    %f = comm.reduce_scatter sum %x dims [flat] over @mesh {dp} : (tensor<3x3xf32>) -> tensor<3xf32>
    ```

    reduce_scatter_c1: as all_gather_c1.  reduce_scatter_c2: n divides the dim and
    the result is a block; flat as all_gather_c2.  reduce_scatter_c3: element types
    agree and, as for all_reduce_c2, can be combined.
  }];
  let arguments = (ins Comm_Reduction:$kind, Variadic<Comm_Operand>:$ins, Variadic<Exec_RefType>:$outs,
                       DenseI64ArrayAttr:$dims, FlatSymbolRefAttr:$mesh, Comm_AxesAttr:$axes);
  let assemblyFormat = Comm_Format<"$kind $ins", "`dims` custom<Dims>($dims)">.value;
  let builders = [OpBuilder<(ins "Reduction":$kind, "::mlir::ValueRange":$ins, "::llvm::ArrayRef<int64_t>":$dims,
                                 "::mlir::FlatSymbolRefAttr":$mesh, "AxesAttr":$axes, "::mlir::TypeRange":$results)>];
}

def Comm_AllToAllOp : Comm_Collective<"all_to_all"> {
  let summary = "Rank i sends block j along `split` to rank j, and concatenates the received blocks along `concat`";
  let description = [{
    ```mlir
    %y = comm.all_to_all %x split [1] concat [0] over @mesh {tp} : (tensor<4x8xf32>) -> tensor<16x2xf32>
    ```

    all_to_all_c1: `split` and `concat` have an entry for each tensor, which is a
    dim of it.  all_to_all_c2: n divides the split dim, and the result has the sizes
    that follow.  all_to_all_c3: element types agree.
  }];
  let arguments = (ins Variadic<Comm_Operand>:$ins, Variadic<Exec_RefType>:$outs, DenseI64ArrayAttr:$split,
                       DenseI64ArrayAttr:$concat, FlatSymbolRefAttr:$mesh, Comm_AxesAttr:$axes);
  let assemblyFormat = Comm_Format<"$ins", "`split` $split `concat` $concat">.value;
  let builders = [OpBuilder<(ins "::mlir::ValueRange":$ins, "::llvm::ArrayRef<int64_t>":$split,
                                 "::llvm::ArrayRef<int64_t>":$concat, "::mlir::FlatSymbolRefAttr":$mesh,
                                 "AxesAttr":$axes, "int64_t":$groupSize)>];
}

def Comm_BroadcastOp : Comm_Collective<"broadcast"> {
  let summary = "Every rank gets the root's tensors";
  let description = [{
    The op has operands in a function that the root runs. In other functions it has none, so they spend no memory on
    operands.

    ```mlir
    %y = comm.broadcast %x root 0 over @mesh {dp} : (tensor<4xf32>) -> tensor<4xf32>
    %z = comm.broadcast root 0 over @mesh {dp} : () -> tensor<4xf32>
    comm.broadcast %x root 0 over @mesh {dp} : (tensor<4xf32>) -> ()
    ```

    broadcast_c1: the root is a rank of the group. broadcast_c2: result i has the type of operand i; in a function that
    only roots run the op may have no results, because roots hold the sent tensors. broadcast_c3: there are operands if
    and only if the root runs the function.
  }];
  let arguments = (ins Variadic<Comm_Operand>:$ins, Variadic<Exec_RefType>:$outs, I64Attr:$root,
                       FlatSymbolRefAttr:$mesh, Comm_AxesAttr:$axes);
  let assemblyFormat = Comm_Format<"($ins^)?", "`root` $root">.value;
}

def Comm_ReduceOp : Comm_Collective<"reduce"> {
  let summary = "The root gets the combination of all ranks' tensors; others have no result";
  let description = [{
    ```mlir
    %y = comm.reduce sum %x root 0 over @mesh {dp} : (tensor<4xf32>) -> tensor<4xf32>
    comm.reduce sum %x root 0 over @mesh {dp} : (tensor<4xf32>) -> ()
    ```

    reduce_c1: the root is a rank of the group. reduce_c2: as all_reduce_c1 and c2 where there are results. reduce_c3:
    there are results if and only if every rank that runs the function is a root. A function that both roots and other
    ranks run cannot contain the op.
  }];
  let arguments = (ins Comm_Reduction:$kind, Variadic<Comm_Operand>:$ins, Variadic<Exec_RefType>:$outs,
                       I64Attr:$root, FlatSymbolRefAttr:$mesh, Comm_AxesAttr:$axes);
  let assemblyFormat = Comm_Format<"$kind $ins", "`root` $root">.value;
}

def Comm_GatherOp : Comm_Collective<"gather"> {
  let summary = "The root gets all ranks' blocks, side by side; others have no result";
  let description = [{
    ```mlir
    %y = comm.gather %b dims [0] root 0 over @mesh {dp} : (tensor<2x4xf32>) -> tensor<8x4xf32>
    comm.gather %b dims [0] root 0 over @mesh {dp} : (tensor<2x4xf32>) -> ()
    ```

    gather_c1: the root is a rank of the group.  gather_c2: as all_gather_c1 to c3.
    gather_c3: as reduce_c3.
  }];
  let arguments = (ins Variadic<Comm_Operand>:$ins, Variadic<Exec_RefType>:$outs, DenseI64ArrayAttr:$dims,
                       I64Attr:$root, FlatSymbolRefAttr:$mesh, Comm_AxesAttr:$axes);
  let assemblyFormat = Comm_Format<"$ins", "`dims` custom<Dims>($dims) `root` $root">.value;
}

def Comm_ScatterOp : Comm_Collective<"scatter"> {
  let summary = "Rank i gets block i of the root's tensors";
  let description = [{
    ```mlir
    %b = comm.scatter %x dims [0] root 0 over @mesh {dp} : (tensor<8x4xf32>) -> tensor<2x4xf32>
    %c = comm.scatter dims [0] root 0 over @mesh {dp} : () -> tensor<2x4xf32>
    ```

    scatter_c1: the root is a rank of the group.  scatter_c2: as reduce_scatter_c1
    and c2, and element types agree.  scatter_c3: as broadcast_c3.
  }];
  let arguments = (ins Variadic<Comm_Operand>:$ins, Variadic<Exec_RefType>:$outs, DenseI64ArrayAttr:$dims,
                       I64Attr:$root, FlatSymbolRefAttr:$mesh, Comm_AxesAttr:$axes);
  let assemblyFormat = Comm_Format<"($ins^)?", "`dims` custom<Dims>($dims) `root` $root">.value;
}

def Comm_PermuteOp : Comm_Collective<"permute"> {
  let summary = "Each pair sends its source's tensors to its target; ranks that receive nothing get zeros";
  let description = [{
    ```mlir
    %y = comm.permute %x pairs [0 -> 1, 1 -> 0] over @mesh {tp} : (tensor<4xf32>) -> tensor<4xf32>
    ```

    permute_c1: sources and targets are ranks of the group.  permute_c2: a rank is
    a source at most once and a target at most once.  permute_c3: result i has the
    type of operand i.
  }];
  let arguments = (ins Variadic<Comm_Operand>:$ins, Variadic<Exec_RefType>:$outs, DenseI64ArrayAttr:$pairs,
                       FlatSymbolRefAttr:$mesh, Comm_AxesAttr:$axes);
  let assemblyFormat = Comm_Format<"$ins", "`pairs` custom<Pairs>($pairs)">.value;
  let builders = [OpBuilder<(ins "::mlir::ValueRange":$ins, "::llvm::ArrayRef<int64_t>":$pairs,
                                 "::mlir::FlatSymbolRefAttr":$mesh, "AxesAttr":$axes)>];
}

def Comm_SendOp : Comm_Collective<"send"> {
  let summary = "Sends tensors to the rank with this number in the group; pairs with its recv";
  let description = [{
    The n-th send from a to b on a communicator pairs with the n-th recv of b from
    a; it completes once both are at the heads of their queues.

    ```mlir
    comm.send %x to 1 over @mesh {pp} : (tensor<4xf32>) -> ()
    ```

    send_c1: the peer is a rank of the group, and none of those that run the
    function.  send_c2: nothing is received.
  }];
  let arguments = (ins Variadic<Comm_Operand>:$ins, Variadic<Exec_RefType>:$outs, I64Attr:$peer,
                       FlatSymbolRefAttr:$mesh, Comm_AxesAttr:$axes);
  let assemblyFormat = Comm_Format<"$ins", "`to` $peer">.value;
}

def Comm_RecvOp : Comm_Collective<"recv"> {
  let summary = "Receives tensors from the rank with this number in the group";
  let description = [{
    ```mlir
    %x = comm.recv from 0 over @mesh {pp} : () -> tensor<4xf32>
    ```

    recv_c1: as send_c1.  recv_c2: nothing is sent.
  }];
  let arguments = (ins Variadic<Comm_Operand>:$ins, Variadic<Exec_RefType>:$outs, I64Attr:$peer,
                       FlatSymbolRefAttr:$mesh, Comm_AxesAttr:$axes);
  let assemblyFormat = Comm_Format<"($ins^)?", "`from` $peer">.value;
}

def Comm_BarrierOp : Comm_Collective<"barrier"> {
  let summary = "No rank of the group continues before all have arrived";
  let description = [{
    ```mlir
    comm.barrier over @mesh {dp} : () -> ()
    ```

    barrier_c1: nothing is sent or received.
  }];
  let arguments = (ins Variadic<Comm_Operand>:$ins, Variadic<Exec_RefType>:$outs,
                       FlatSymbolRefAttr:$mesh, Comm_AxesAttr:$axes);
  let assemblyFormat = Comm_Format<"($ins^)?">.value;
}

include "dialects/Comm/CommTickets.td"

#endif // BRAID_COMM_OPS
