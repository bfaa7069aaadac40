//===- ExecOps.td - when, and where -----------------------------*- tablegen -*-===//
//
// The program of a rank as a fixed list of actions. An action has two forms. *On values*: operands and results are
// tensors, and block order is the schedule. *In memory*: operands and `outs` are references into the arena, and there
// are no results. `exec-plan-memory` turns the first form into the second.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_EXEC_OPS
#define BRAID_EXEC_OPS

include "dialects/Exec/ExecDialect.td"

/// TG_ContractionAttr, without the records of the dialect that defines it.
def Exec_Contraction : Attr<CPred<"::llvm::isa<::braid::tg::ContractionAttr>($_self)">, "einsum of two tensors"> {
  let storageType = "::braid::tg::ContractionAttr";
  let returnType = storageType;
  let convertFromStorage = "$_self";
}

def Exec_Epilogue : I32EnumAttr<"Epilogue", "what a matmul does to its result", [
    I32EnumAttrCase<"None", 0, "none">, I32EnumAttrCase<"GeluTanh", 1, "gelu_tanh">,
    I32EnumAttrCase<"GeluErf", 2, "gelu_erf">, I32EnumAttrCase<"Silu", 3, "silu">,
    I32EnumAttrCase<"GeluTanhGrad", 4, "gelu_tanh_grad">]> {
  let cppNamespace = "::braid::exec";
}

def Exec_Side : I32EnumAttr<"Side", "an operand of a matmul",
                            [I32EnumAttrCase<"Lhs", 0, "lhs">, I32EnumAttrCase<"Rhs", 1, "rhs">]> {
  let cppNamespace = "::braid::exec";
}

/// In the order of reports.
def Exec_Category : I32EnumAttr<"Category", "what memory is for", [
    I32EnumAttrCase<"Parameters", 0, "parameters">, I32EnumAttrCase<"Gradients", 1, "gradients">,
    I32EnumAttrCase<"OptimizerState", 2, "optimizer_state">, I32EnumAttrCase<"Activations", 3, "activations">,
    I32EnumAttrCase<"Buckets", 4, "buckets">, I32EnumAttrCase<"Gathered", 5, "gathered">,
    I32EnumAttrCase<"Workspace", 6, "workspace">, I32EnumAttrCase<"Inputs", 7, "inputs">,
    I32EnumAttrCase<"Caches", 8, "caches">]> {
  let cppNamespace = "::braid::exec";
}

class Exec_Op<string mnemonic, list<Trait> traits = []> : Op<Exec_Dialect, mnemonic, traits>;

/// An action has operands `ins`, and either references `outs` (in memory form) or results (on values). `methods` are
/// the optional interface methods that the op defines.
class Exec_Action<string mnemonic, list<string> methods = [], list<Trait> traits = []>
    : Exec_Op<mnemonic, !listconcat(traits, [
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
        DeclareOpInterfaceMethods<ActionOpInterface, methods>])>;

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

def Exec_KernelOp : Exec_Action<"kernel", ["mayWriteInPlace", "mayWriteStrided", "readsRows", "writesRows", "getActionCost"], [AttrSizedOperandSegments, IsolatedFromAbove, SingleBlock]> {
  let summary = "One generated kernel: generics over one iteration space";
  let description = [{
    `space` gives the sizes of the iteration space; its last dim is the lanes (innermost, unit stride), the others are
    rows. The body holds `linalg.generic`s on whole tensors (with `tensor.empty`, `linalg.fill` for their inits, and
    constants). `exec.dims` of a generic maps each of its loops to a dim of the space. A generic may

    * be parallel over any subset of dims (none: one value for the launch),
    * reduce over the lanes, which are then its last loop (a row value),
    * reduce over row dims, with one partial for each index of the leading dims that stay parallel. These leading
      dims are the blocks, the same for all such generics of a kernel. The loops of such a generic are all dims of
      the space in order. The result is not read inside the kernel.

    A generic has one result. A reduction starts from a `linalg.fill`; its body yields `combine(x, out)` where `combine`
    is one of `addf addi maximumf maxsi` and `out` is used by nothing else. Its indexing maps are projected
    permutations, and a value made in the body is read at the row and lane where it was made, or repeated.

    Scalar bodies hold `arith` and `math`, `linalg.index` (read only by `arith.index_cast`, `exec.random_uniform` and
    `tensor.extract`), `exec.random_uniform`, constants, and `tensor.extract %table[%row, %lane]`. The last one reads an
    element of a kernel operand that is read in no other way. The row is a number cast to an index, and the lane is a
    `linalg.index` of the lanes.

    ```mlir
    %y = exec.kernel "scale"(%x, %s) space [4, 8] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32> {
    ^bb0(%a: tensor<4x8xf32>, %b: tensor<f32>):
      %e = tensor.empty() : tensor<4x8xf32>
      %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>, affine_map<(i, j) -> (i, j)>],
                           iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
          ins(%a, %b : tensor<4x8xf32>, tensor<f32>) outs(%e : tensor<4x8xf32>) {
      ^bb0(%u: f32, %v: f32, %o: f32):
        %m = arith.mulf %u, %v : f32
        linalg.yield %m : f32
      } -> tensor<4x8xf32>
      exec.yield %r : tensor<4x8xf32>
    }
    ```
  }];
  let arguments = (ins StrAttr:$name, Variadic<Exec_Operand>:$ins, Variadic<Exec_RefType>:$outs,
                       DenseI64ArrayAttr:$space);
  let results = (outs Variadic<Exec_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $name `(` $ins `)` (`outs` `(` $outs^ `:` type($outs) `)`)? `space` $space attr-dict
    `:` functional-type($ins, $results) $body
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Block *getBlock() { return &getBody().front(); }
  }];
}

def Exec_YieldOp : Exec_Op<"yield", [Pure, Terminator, ReturnLike]> {
  let summary = "The results of a kernel body";
  let description = [{
    ```mlir
    exec.yield %r : tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Variadic<Exec_Tensor>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange()); }]>];
}

def Exec_RandomUniformOp : Exec_Op<"random_uniform", [Pure, AttrSizedOperandSegments]> {
  let summary = "One number of tg.random_uniform, in the body of a generic";
  let description = [{
    The element with linear index Σ indices_d strides[d] of a random tensor of `count` elements (see tg.random_uniform
    for the formula). `key` is a whole operand of the kernel; `indices` are `linalg.index` of the generic. `at` gives
    the offsets where a block of a larger tensor starts, as scalars that are constant over the space. Each offset adds
    offsets_k steps[k] to the index.

    ```mlir
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %u = exec.random_uniform %key[%i, %j] strides [8, 1] count 32 stream 3 : tensor<4xi32>, f32
    %b = exec.random_uniform %key[%i, %j] strides [8, 1] at %row steps [8] count 32 stream 3 : tensor<4xi32>, f32
    ```
  }];
  let arguments = (ins Braid_TensorOf<[I32]>:$key, Variadic<Index>:$indices, Variadic<I32>:$offsets,
                       DenseI64ArrayAttr:$strides, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$steps,
                       I64Attr:$count, I64Attr:$stream);
  let results = (outs AnyFloat:$result);
  let assemblyFormat = [{
    $key `[` $indices `]` `strides` $strides (`at` $offsets^ `steps` $steps)? `count` $count `stream` $stream attr-dict `:` type($key) `,` type($result)
  }];
  let hasVerifier = 1;
}

def Exec_KernelDefOp : Exec_Op<"kernel_def", [IsolatedFromAbove, SingleBlock, Symbol]> {
  let summary = "A kernel that several launches share";
  let description = [{
    Made by `exec-outline-kernels` from equal kernels in memory form. `layouts` holds the reference type of each
    operand, then of each out. With `flat` all operands are contiguous vectors, or rows of lanes, or scalars. The
    number of elements, or of rows, is then a parameter of the launch: dim 0 is 1 here and stands for any size.
    `ties` gives, for each out, the operand that is the same reference in every launch, or -1.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, DenseI64ArrayAttr:$space, TypeArrayAttr:$layouts,
                       DenseI64ArrayAttr:$ties, UnitAttr:$flat);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name `space` $space (`flat` $flat^)? `layouts` $layouts `ties` $ties attr-dict-with-keyword $body";
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Block *getBlock() { return &getBody().front(); }
    unsigned getNumIns() { return getBlock()->getNumArguments(); }
  }];
}

def Exec_LaunchOp : Exec_Action<"launch", ["mayWriteInPlace", "mayWriteStrided", "getActionCost"], [AttrSizedOperandSegments, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Runs a kernel on `batch` tuples of operands, in memory";
  let description = [{
    `ins` and `outs` hold the tuples one after another: the operands of the
    first, of the second, and so on.  An out may be the same reference as an
    operand of its tuple (in place).

    ```mlir
    exec.launch @adam batch 2 (%p0, %g0, %p1, %g1) outs(%p0, %p1) : ...
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, I64Attr:$batch, Variadic<Exec_RefType>:$ins, Variadic<Exec_RefType>:$outs);
  let results = (outs Variadic<Exec_Tensor>:$results);
  let assemblyFormat = [{
    $kernel `batch` $batch `(` $ins `)` `outs` `(` $outs `)` attr-dict `:` custom<LaunchTypes>(type($ins), type($outs))
    (`->` type($results)^)?
  }];
}

//===----------------------------------------------------------------------===//
// Library calls
//===----------------------------------------------------------------------===//

def Exec_MatmulOp : Exec_Action<"matmul", ["getTiedIn", "mayWriteInPlace", "mayWriteStrided", "mayReadStrided", "readsRows", "writesRows", "getWorkspaceBytes", "getLibraryNumbers", "getActionCost"], [AttrSizedOperandSegments]> {
  let summary = "Contraction by the target's GEMM library";
  let description = [{
    The einsum as in `tg.contract`.  `bias` (one dim: the result's last) is added,
    then the epilogue is applied.  `accumulator` has the result's type; it is
    tied to the result: result = accumulator + lhs x rhs.

    ```mlir
    %y = exec.matmul "bsd,df->bsf" (%x, %w bias %b : tensor<2x4x8xf32>, tensor<8x16xf32>, tensor<16xf32>) epilogue gelu_tanh -> tensor<2x4x16xf32>
    ```

    For training, `gelu_tanh` may keep its input as a second result (in memory, a second
    out); `gelu_tanh_grad` multiplies the result of the matmul by the derivative of GELU at
    this input, which is the operand `aux`.

    ```mlir
    %y, %h = exec.matmul "bsd,df->bsf" (%x, %w bias %b : tensor<16xf32>) epilogue gelu_tanh : tensor<2x4x8xf32>, tensor<8x16xf32> -> tensor<2x4x16xf32>, tensor<2x4x16xf32>
    %dh = exec.matmul "bsd,fd->bsf" (%dy, %v aux %h : tensor<2x4x16xf32>) epilogue gelu_tanh_grad : tensor<2x4x8xf32>, tensor<16x8xf32> -> tensor<2x4x16xf32>
    ```

    The matmul that computes a weight gradient may compute the bias gradient as well:
    `bias_grad` names the operand that is the gradient of the layer's result.  The sum of
    this operand over the contracted dims, in the result's type, is the second result (in
    memory, the second out).  The operand has one dim that is not contracted, which is the
    dim of the sum.  `bias_grad` allows no other optional operand or epilogue except `acc`,
    which applies only to the first result.

    ```mlir
    %dw, %db = exec.matmul "bsd,bsf->fd" (%x, %dh acc %sum : tensor<16x8xf32>) bias_grad rhs : tensor<2x4x8xf32>, tensor<2x4x16xf32> -> tensor<16x8xf32>, tensor<16xf32>
    ```

    `addend` has the result's type, too: result = addend + lhs x rhs + bias. The call reads `addend` and writes its
    result elsewhere, or over `addend` if nothing reads that later. It allows a bias, and no other optional operand or
    epilogue.

    ```mlir
    %z = exec.matmul "bsf,fd->bsd" (%y, %p bias %c : tensor<8xf32> addend %x : tensor<2x4x8xf32>) : tensor<2x4x16xf32>, tensor<16x8xf32> -> tensor<2x4x8xf32>
    ```
  }];
  let arguments = (ins Exec_Contraction:$contraction, Exec_Operand:$lhs, Exec_Operand:$rhs, Optional<Exec_Operand>:$bias,
                       Optional<Exec_Operand>:$accumulator, Optional<Exec_Operand>:$aux, Optional<Exec_Operand>:$addend,
                       Variadic<Exec_RefType>:$outs,
                       DefaultValuedAttr<Exec_Epilogue, "::braid::exec::Epilogue::None">:$epilogue,
                       OptionalAttr<Exec_Side>:$bias_grad);
  let results = (outs Variadic<Exec_Tensor>:$written);
  let assemblyFormat = [{
    custom<Contraction>($contraction) `(` $lhs `,` $rhs (`bias` $bias^ `:` type($bias))? (`acc` $accumulator^ `:` type($accumulator))?
    (`aux` $aux^ `:` type($aux))? (`addend` $addend^ `:` type($addend))? `)` (`outs` `(` $outs^ `:` type($outs) `)`)? (`epilogue` $epilogue^)?
    (`bias_grad` $bias_grad^)? attr-dict `:` type($lhs) `,` type($rhs) (`->` type($written)^)?
  }];
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::braid::tg::ContractionAttr":$contraction, "::mlir::Value":$lhs, "::mlir::Value":$rhs,
      "::mlir::Value":$bias, "::mlir::Value":$accumulator, "::mlir::ValueRange":$outs, "::braid::exec::Epilogue":$epilogue)>];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// On values; null in memory.
    ::mlir::Value getResult() { return getWritten().empty() ? ::mlir::Value() : getWritten().front(); }
    /// Whether the epilogue's input is written as well: the second result or out.
    bool keepsInput() { return getWritten().size() + getOuts().size() == 2 && !getBiasGrad(); }
    /// Whether the call computes only the product of two matrices, possibly added to an accumulator.
    bool isPlain() {
      return !getBias() && !getAux() && !getAddend() && !getBiasGrad() && getEpilogue() == Epilogue::None && !keepsInput();
    }
    /// The operand whose sum over the contracted dims is the second result or out; or null.
    ::mlir::Value getSummed() { return !getBiasGrad() ? ::mlir::Value() : *getBiasGrad() == Side::Lhs ? getLhs() : getRhs(); }
  }];
}

def Exec_GatherOp : Exec_Action<"gather", ["mayReadStrided", "getActionCost"]> {
  let summary = "Rows of a table by index";
  let description = [{
    ```mlir
    %e = exec.gather(%wte, %tokens) : (tensor<256x8xf32>, tensor<2x4xi32>) -> tensor<2x4x8xf32>
    ```
  }];
  let arguments = (ins Exec_Operand:$table, Exec_Operand:$indices, Variadic<Exec_RefType>:$outs);
  let results = (outs Optional<Exec_Tensor>:$result);
  let assemblyFormat = [{
    `(` $table `,` $indices `)` (`outs` `(` $outs^ `:` type($outs) `)`)? attr-dict
    `:` `(` type($table) `,` type($indices) `)` (`->` type($result)^)?
  }];
  let hasVerifier = 1;
}

def Exec_ScatterAddOp : Exec_Action<"scatter_add", ["getTiedIn", "mayReadStrided", "getWorkspaceBytes", "getActionCost"], [AttrSizedOperandSegments]> {
  let summary = "Sums rows into a table by index, in index order; from zero, or into `accumulator` (tied)";
  let description = [{
    Rows of bf16 may be summed into a table of f32 (`supportsF32Scatter` of the target).

    ```mlir
    %g = exec.scatter_add(%tokens, %dy) : (tensor<2x4xi32>, tensor<2x4x8xf32>) -> tensor<256x8xf32>
    ```
  }];
  let arguments = (ins Exec_Operand:$indices, Exec_Operand:$updates, Optional<Exec_Operand>:$accumulator,
                       Variadic<Exec_RefType>:$outs);
  let results = (outs Optional<Exec_Tensor>:$result);
  let assemblyFormat = [{
    `(` $indices `,` $updates (`acc` $accumulator^ `:` type($accumulator))? `)` (`outs` `(` $outs^ `:` type($outs) `)`)?
    attr-dict `:` `(` type($indices) `,` type($updates) `)` (`->` type($result)^)?
  }];
  let hasVerifier = 1;
}

include "dialects/Exec/ExecAttention.td"

//===----------------------------------------------------------------------===//
// Ties on values: no action, only a statement about memory
//===----------------------------------------------------------------------===//

def Exec_ViewOp : Exec_Op<"view", [Pure]> {
  let summary = "Other coordinates for the same elements: slice, transpose, reshape, broadcast";
  let description = [{
    Element (i0, i1, …) of the result is element `offset + Σ i_d strides[d]` of
    the source taken in row-major order.  The source is never a view itself
    (`exec.view` of `exec.view` folds), so it is contiguous in memory.

    ```mlir
    %q = exec.view %qkv offset 8 strides [96, 24, 1] : tensor<2x4x24xf32> -> tensor<2x4x8xf32>
    ```
  }];
  let arguments = (ins Exec_Tensor:$source, I64Attr:$offset, DenseI64ArrayAttr:$strides);
  let results = (outs Exec_Tensor:$result);
  let assemblyFormat = "$source `offset` $offset `strides` $strides attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Exec_ConcatOp : Exec_Op<"concat", [Pure]> {
  let summary = "Tensors side by side along `dim`; the planner lets their actions write in place, or copies";
  let description = [{
    ```mlir
    %dqkv = exec.concat %dq, %dk, %dv dim 2 : (tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x24xf32>
    ```
  }];
  let arguments = (ins Variadic<Exec_Tensor>:$inputs, I64Attr:$dim);
  let results = (outs Exec_Tensor:$result);
  let assemblyFormat = "$inputs `dim` $dim attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// An offset or a size in the arena. The sum of two does not overflow.
def Exec_Bytes : ConfinedAttr<I64Attr, [IntNonNegative, AttrConstraint<
    CPred<"::llvm::cast<::mlir::IntegerAttr>($_self).getInt() <= (int64_t(1) << 62)">, "and at most 2^62">]>;

def Exec_TensorType : ConfinedAttr<TypeAttr, [AttrConstraint<
    CPred<"::braid::hasSupportedShape(::llvm::cast<::mlir::TypeAttr>($_self).getValue())">,
    "of a statically shaped tensor (extents of 1 and more, at most 2^53 elements)">]>;

def Exec_TensorOp : Exec_Op<"tensor", [Symbol, ArenaRangeOpInterface]> {
  let summary = "A tensor that lives across programs and steps, at a fixed place in the arena";
  let description = [{
    At module level.  `value` is the `#tg.param` or `#tg.state` it came from; the
    category is parameters, gradients (their sums over microbatches) or
    optimizer_state.

    ```mlir
    exec.tensor @wte at 0 bytes 1024 category parameters : tensor<32x8xf32> = #tg.param<"wte", #tg.init<zeros>>
    ```

    A tensor with `host` lies in the memory of the device's host, where offsets start from 0. Only `comm.copy` reads and
    writes it.

    ```mlir
    exec.tensor @wte.exp_avg at 0 bytes 1024 host category optimizer_state : tensor<32x8xf32>
        = #tg.state<"wte.exp_avg", #tg.init<zeros>, of = "wte", kind = moment>
    ```

    A tensor in `slots` exists once in each slot; `at` is its offset in the first slot.

    ```mlir
    exec.slots @saved.1 3 at 4096 bytes 1024
    exec.tensor @h.0.rstd at 4096 bytes 64 slots @saved.1 category activations : tensor<16xf32>
        = #tg.state<"h.0.rstd", #tg.init<zeros>, kind = saved>
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Exec_Bytes:$offset, Exec_Bytes:$bytes, UnitAttr:$host,
                       OptionalAttr<FlatSymbolRefAttr>:$slots, Exec_Category:$category, Exec_TensorType:$type,
                       AnyAttr:$value);
  let assemblyFormat = [{
    $sym_name `at` $offset `bytes` $bytes (`host` $host^)? (`slots` $slots^)? `category` $category `:` $type `=` $value
    attr-dict
  }];
  let builders = [OpBuilder<(ins "::llvm::StringRef":$sym_name, "uint64_t":$offset, "uint64_t":$bytes,
                                 "Category":$category, "::mlir::Type":$type, "::mlir::Attribute":$value)>];
  let hasVerifier = 1;
}

def Exec_SlotsOp : Exec_Op<"slots", [Symbol]> {
  let summary = "Consecutive ranges of equal size in the arena, one for each microbatch in flight";
  let description = [{
    At module level. A run of a program reads and writes one slot, which the caller chooses. On values the op has only
    the number of slots, and `exec.slots` on an argument names the op. In memory form the first slot is `at` an offset,
    and each slot has `bytes` bytes.

    ```mlir
    exec.slots @saved.0 3
    exec.slots @saved.1 3 at 4096 bytes 1024
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, I64Attr:$count, OptionalAttr<Exec_Bytes>:$offset,
                       OptionalAttr<Exec_Bytes>:$bytes);
  let assemblyFormat = "$sym_name $count (`at` $offset^ `bytes` $bytes)? attr-dict";
  let hasVerifier = 1;
}

def Exec_PackOp : Exec_Op<"pack", [Symbol, DeclareOpInterfaceMethods<SymbolUserOpInterface>, ArenaRangeOpInterface]> {
  let summary = "Tensors that lie side by side in the arena and form one range";
  let description = [{
    At module level.  Every reference to one of its tensors, and to their concatenation
    along dim 0, is a reference to the pack.

    ```mlir
    exec.pack @attn.qkv at 0 bytes 768 of [@attn.q, @attn.k, @attn.v]
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Exec_Bytes:$offset, Exec_Bytes:$bytes,
                       TypedArrayAttrBase<FlatSymbolRefAttr, "symbols of tensors">:$tensors);
  let assemblyFormat = "$sym_name `at` $offset `bytes` $bytes `of` $tensors attr-dict";
}

def Exec_ProgramOp : Exec_Op<"program", [Symbol, SymbolTable, IsolatedFromAbove, SingleBlock, NoTerminator, NoRegionArguments]> {
  let summary = "An entry point in memory form: buffers, references, actions in order";
  let arguments = (ins SymbolNameAttr:$sym_name, Exec_Bytes:$arena_bytes);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name `arena` $arena_bytes attr-dict-with-keyword $body";
  let extraClassDeclaration = [{
    /// The end of the program's buffers in the host's memory; 0 without such buffers.
    int64_t getHostBytes();
  }];
}

def Exec_BufferOp : Exec_Op<"buffer", [Symbol, ArenaRangeOpInterface]> {
  let summary = "A transient range of the arena and the actions between which it is live";
  let description = [{
    `first` and `last` number the program's actions from 0; -1 is before the first (inputs), and the number of actions
    is after the last (results). `name` is the tensor's name in reports. `role` marks inputs and results of the program
    (`io` is "input" or "result"). `padding` is how many of its bytes are leading-dimension padding. `scratch` is the
    memory that library calls work in; no reference names it. A buffer with `host` lies in the memory of the device's
    host, behind the tensors there; only `comm.copy` reads and writes it.

    ```mlir
    exec.buffer @b3 at 4096 bytes 1024 live 3 to 17 category activations name "h.0.ln_1"
    exec.buffer @b4 at 5120 bytes 2048 live 4 to 17 category activations name "lm_head" padding 112
    exec.buffer @workspace at 7168 bytes 8388608 live 0 to 16 category workspace name "workspace" scratch
    exec.buffer @b5 at 0 bytes 1024 host live 4 to 15 category activations name "h.0.ln_1"
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Exec_Bytes:$offset, Exec_Bytes:$bytes, UnitAttr:$host, I64Attr:$first,
                       I64Attr:$last, Exec_Category:$category, StrAttr:$name, OptionalAttr<StrAttr>:$io, OptionalAttr<StrAttr>:$role,
                       OptionalAttr<Exec_TensorType>:$type, OptionalAttr<Exec_Bytes>:$padding, UnitAttr:$scratch);
  let assemblyFormat = [{
    $sym_name `at` $offset `bytes` $bytes (`host` $host^)? `live` $first `to` $last `category` $category `name` $name (`padding` $padding^)? (`scratch` $scratch^)?
    ($io^ `role` $role `:` $type)? attr-dict
  }];
}

def Exec_RefOp : Exec_Op<"ref", [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "A reference to (part of) a buffer or persistent tensor";
  let description = [{
    `offset` counts bytes from the start of the buffer.

    ```mlir
    %r = exec.ref @b3 + 64 : !exec.ref<4x8xf32, [8, 1]>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$buffer, Exec_Bytes:$offset);
  let results = (outs Exec_RefType:$result);
  let assemblyFormat = "$buffer `+` $offset attr-dict `:` type($result)";
}

#endif // BRAID_EXEC_OPS
