//===- TGPrimitives.td - what the graph is made of ------------*- tablegen -*-===//
//
// Contraction, movement and reduction of tensors, random numbers, and the marks
// that differentiation reads.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_TG_PRIMITIVES
#define BRAID_TG_PRIMITIVES

include "dialects/TG/Contraction.td"

def TG_ContractOp : TG_Op<"contract", "Contraction", [TG_InferToWidth, TG_Diff, TG_Cost], [], ["buildWide"]> {
  let summary = "Contraction of two tensors, as an einsum.";
  let description = [{
    Every letter names a dimension (`#tg.contraction`).  Products of bf16 are summed in
    f32, and the result may be f32; with `wide` it always is, as the logits of a router are.

    ```mlir
    %y = tg.contract "bsd,df->bsf" %x, %w : (tensor<2x4x8xf32>, tensor<8x16xf32>) -> tensor<2x4x16xf32>
    %scores = tg.contract "bshd,bthd->bhst" %q, %k : (tensor<2x4x2x8xf32>, tensor<2x4x2x8xf32>) -> tensor<2x2x4x4xf32>
    %logits = tg.contract "bsd,ed->bse" %h, %r wide : (tensor<2x4x8xbf16>, tensor<6x8xbf16>) -> tensor<2x4x6xf32>
    ```
  }];
  let arguments = (ins TG_ContractionAttr:$contraction, TG_Float:$lhs, TG_Float:$rhs, UnitAttr:$wide);
  let results = (outs TG_Float:$result);
  let assemblyFormat = "custom<Contraction>($contraction) $lhs `,` $rhs (`wide` $wide^)? " # typeList;
  let hasCanonicalizer = 1;
}

def TG_BroadcastOp : TG_Op<"broadcast", "Movement", [TG_Diff, TG_DefaultCost]> {
  let summary = "Repeats a tensor along new dims";
  let description = [{
    Operand dim i becomes result dim `dims[i]`, and `dims` is increasing. Both dims have the same size, or the operand's
    has size 1 and is repeated.

    ```mlir
    %b = tg.broadcast %bias dims [1] : tensor<8xf32> -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins TG_Tensor:$input, DenseI64ArrayAttr:$dims);
  let results = (outs TG_Tensor:$result);
  let assemblyFormat = "$input `dims` $dims " # typeList;
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def TG_ReduceOp : TG_Op<"reduce", "Reduction",
    [TG_Infer, TG_Diff, TG_Cost, DeclareOpInterfaceMethods<LossOpInterface, ["isSumOrMean"]>], ["buildShard"],
    ["buildWide"]> {
  let summary = "Reduces dims away by sum, max or mean";
  let description = [{
    `dims` is strictly increasing; the result drops them.

    ```mlir
    %s = tg.reduce sum %x dims [1] : tensor<4x8xf32> -> tensor<4xf32>
    ```
  }];
  let arguments = (ins TG_ReduceKind:$kind, TG_Tensor:$input, DenseI64ArrayAttr:$dims);
  let results = (outs TG_Tensor:$result);
  let assemblyFormat = "$kind $input `dims` $dims " # typeList;
  let hasFolder = 1;
}

def TG_TransposeOp : TG_Op<"transpose", "Movement", [TG_Infer, TG_Diff, TG_DefaultCost]> {
  let summary = "Permutes dims: result dim i is input dim `permutation[i]`";
  let description = [{
    ```mlir
    %t = tg.transpose %x [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
    ```
  }];
  let arguments = (ins TG_Tensor:$input, DenseI64ArrayAttr:$permutation);
  let results = (outs TG_Tensor:$result);
  let assemblyFormat = "$input $permutation " # typeList;
  let hasFolder = 1;
}

def TG_ReshapeOp : TG_Op<"reshape", "Movement", [KeepsElements, TG_Diff, TG_DefaultCost]> {
  let summary = "The same elements in row-major order under another shape";
  let description = [{
    ```mlir
    %h = tg.reshape %x : tensor<2x4x8xf32> -> tensor<2x4x2x4xf32>
    ```
  }];
  let arguments = (ins TG_Tensor:$input);
  let results = (outs TG_Tensor:$result);
  let assemblyFormat = "$input " # typeList;
  let hasVerifier = 1;
  let hasFolder = 1;
}

def TG_SliceOp : TG_Op<"slice", "Movement", [TG_Infer, TG_Diff, TG_DefaultCost]> {
  let summary = "A range of one dim: `offset`, `size` and `stride` along `dim`";
  let description = [{
    ```mlir
    %q = tg.slice %qkv dim 2 offset 0 size 8 : tensor<2x4x24xf32> -> tensor<2x4x8xf32>
    %even = tg.slice %x dim 0 offset 0 size 2 stride 2 : tensor<4xf32> -> tensor<2xf32>
    ```
  }];
  let arguments = (ins TG_Tensor:$input, I64Attr:$dim, I64Attr:$offset, I64Attr:$size,
                       DefaultValuedAttr<I64Attr, "1">:$stride);
  let results = (outs TG_Tensor:$result);
  let assemblyFormat = "$input `dim` $dim `offset` $offset `size` $size (`stride` $stride^)? " # typeList;
  let hasFolder = 1;
}

def TG_ConcatOp : TG_Op<"concat", "Movement", [TG_Infer, TG_Diff, TG_DefaultCost]> {
  let summary = "Joins tensors along `dim`.";
  let description = [{
    ```mlir
    %y = tg.concat %a, %b dim 1 : (tensor<4x2xf32>, tensor<4x6xf32>) -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Variadic<TG_Tensor>:$inputs, I64Attr:$dim);
  let results = (outs TG_Tensor:$result);
  let assemblyFormat = "$inputs `dim` $dim " # typeList;
  let hasFolder = 1;
}

def TG_ReorderOp : TG_Op<"reorder", "Movement", [SameOperandsAndResultType, TG_Diff, TG_Composite, TG_DefaultCost]> {
  let summary = "Equal blocks of `dim` in another order: block i of the result is block `order[i]` of the operand";
  let description = [{
    It stays whole for passes that read the order of blocks, such as `comm-form-rings`, and becomes slices and a concat.

    ```mlir
    %y = tg.reorder %x dim 1 order [0, 3, 1, 2] : tensor<2x8xf32>
    ```
  }];
  let arguments = (ins TG_Tensor:$input, I64Attr:$dim, DenseI64ArrayAttr:$order);
  let results = (outs TG_Tensor:$result);
  let assemblyFormat = "$input `dim` $dim `order` $order " # oneType;
  let hasVerifier = 1;
}

def TG_PadOp : TG_Op<"pad", "Movement", [TG_Infer, TG_Diff, TG_DefaultCost]> {
  let summary = "Adds `low` and `high` elements of `value` at the ends of `dim`";
  let description = [{
    ```mlir
    %y = tg.pad %x dim 0 low 1 high 2 value 0.0 : tensor<5xf32> -> tensor<8xf32>
    ```
  }];
  let arguments = (ins TG_Tensor:$input, I64Attr:$dim, I64Attr:$low, I64Attr:$high, F64Attr:$value);
  let results = (outs TG_Tensor:$result);
  let assemblyFormat = "$input `dim` $dim `low` $low `high` $high `value` $value " # typeList;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def TG_GatherOp : TG_Op<"gather", "Embedding", [TG_Infer, TG_Diff, TG_DefaultCost], ["buildShard"]> {
  let summary = "Rows of a table by index: an embedding";
  let description = [{
    The shape of the result is the shape of the indices followed by the shape of a row. The caller must not pass an
    index outside the table; data are checked when they are read.

    ```mlir
    %e = tg.gather %wte, %tokens : (tensor<256x8xf32>, tensor<2x4xi32>) -> tensor<2x4x8xf32>
    ```
  }];
  let arguments = (ins TG_Tensor:$table, TG_Int:$indices);
  let results = (outs TG_Tensor:$result);
  let assemblyFormat = "$table `,` $indices " # typeList;
}

def TG_ScatterAddOp : TG_Op<"scatter_add", "Embedding", [TG_Diff, TG_DefaultCost], ["buildShard"], ["buildWide"]> {
  let summary = "Sums rows into a table of zeros by index, in index order";
  let description = [{
    ```mlir
    %g = tg.scatter_add %tokens, %dy : (tensor<2x4xi32>, tensor<2x4x8xf32>) -> tensor<256x8xf32>
    ```
  }];
  let arguments = (ins TG_Int:$indices, TG_Float:$updates);
  let results = (outs TG_Float:$result);
  let assemblyFormat = "$indices `,` $updates " # typeList;
  let hasVerifier = 1;
}

def TG_IotaOp : TG_Op<"iota", "Source", [TG_DefaultCost], ["buildShard"]> {
  let summary = "Each element is its index along `dim`";
  let description = [{
    ```mlir
    %i = tg.iota dim 1 : tensor<4x8xi32>
    ```
  }];
  let arguments = (ins I64Attr:$dim);
  let results = (outs TG_Tensor:$result);
  let assemblyFormat = "`dim` $dim " # oneType;
  let hasVerifier = 1;
}

def TG_ConvertOp : TG_Op<"convert", "Conversion",
    [KeepsElements, TG_Diff, TG_DefaultCost, SameOperandsAndResultShape], [], ["buildWide"]> {
  let summary = "Changes the element type: floats round to nearest even, ints saturate or wrap, i1 is 0 or 1";
  let description = [{
    ```mlir
    %f = tg.convert %i : tensor<4xi32> -> tensor<4xf32>
    ```

    A conversion from float to int drops the fraction. A float out of the int's range becomes the nearest int, and NaN
    becomes 0, as in JAX. A conversion from int to a narrower int keeps the low bits. A conversion to i1 gives 1 for
    every number but 0, also for NaN.
  }];
  let arguments = (ins TG_Tensor:$input);
  let results = (outs TG_Tensor:$result);
  let assemblyFormat = "$input " # typeList;
  let hasFolder = 1;
}

def TG_RandomUniformOp : TG_Op<"random_uniform", "Source", [TG_DefaultCost], ["buildShard"]> {
  let summary = "Uniform numbers in [0, 1), a function of the key and the element's index";
  let description = [{
    Philox4x32-10 (Salmon et al., SC 2011).  `key` is tensor<4xi32>: seed low,
    seed high, step, microbatch.  Element i of n takes word `e % 4` of the block
    with counter (e/4 low, e/4 high, step, stream) and key (seed low, seed high),
    where e = microbatch * n + i; the number is `(word >> 8) * 2^-24`.  It
    therefore replays identically and does not depend on sharding.

    `at (offsets) of shape` makes the block of a larger random tensor that starts at these offsets, one for each dim; i
    and n then refer to the larger tensor.

    ```mlir
    %u = tg.random_uniform %key stream 3 : tensor<4xi32> -> tensor<2x8xf32>
    %b = tg.random_uniform %key stream 3 at (%row, %column) of [8, 16] : (tensor<4xi32>, tensor<i32>, tensor<i32>) -> tensor<2x8xf32>
    ```
  }];
  let arguments = (ins TG_Key:$key, I64Attr:$stream, Variadic<TG_Offset>:$offsets,
                       OptionalAttr<DenseI64ArrayAttr>:$of);
  let results = (outs TG_Float:$result);
  let assemblyFormat = "$key `stream` $stream (`at` ` ` `(` $offsets^ `)` `of` $of)? " # typeList;
  let builders = [OpBuilder<(ins "::mlir::Type":$type, "::mlir::Value":$key, "uint64_t":$stream), [{
    build($_builder, $_state, type, key, stream, ::mlir::ValueRange(), ::mlir::DenseI64ArrayAttr());
  }]>];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The shape of the random tensor whose elements are numbered.
    ::llvm::ArrayRef<int64_t> getWholeShape() { return getOf() ? *getOf() : getType().getShape(); }
  }];
}

def TG_StopGradientOp : TG_Op<"stop_gradient", "Movement",
    [KeepsElements, TG_Diff, TG_Composite, TG_DefaultCost, SameOperandsAndResultType]> {
  let summary = "The identity; no gradient flows back";
  let description = [{
    ```mlir
    %y = tg.stop_gradient %x : tensor<4xf32>
    ```
  }];
  let arguments = (ins TG_Tensor:$input);
  let results = (outs TG_Tensor:$result);
  let assemblyFormat = "$input " # oneType;
}

def TG_HookOp : TG_Op<"hook", "Movement", [TG_Diff, TG_DefaultCost, SameOperandsAndResultType]> {
  let summary = "The identity; a named, ordered, removable point of the graph";
  let description = [{
    In the forward graph a hook named "x" gives its gradient a hook "x.grad". `tg-attach-hooks` inserts ops at a point,
    and `tg-remove-hooks` removes the points. Points with the same name run by increasing `order`.

    ```mlir
    %y = tg.hook %x "h.0.enter" order 0 : tensor<4x8xf32>
    ```
  }];
  let arguments = (ins TG_Tensor:$input, StrAttr:$name, I64Attr:$order);
  let results = (outs TG_Tensor:$result);
  let assemblyFormat = "$input $name `order` $order " # oneType;
}

def TG_CountOp : TG_Op<"count", "Source", [TG_DefaultCost, TG_Composite]> {
  let summary = "The number of targets that differ from `ignore_index`, as a float";
  let description = [{
    ```mlir
    %n = tg.count %targets ignore -100 : tensor<2x4xi32> -> tensor<f32>
    ```
    `as` sets the weight of an ignored target, 0 by default. A weight far below the last digit of 1 changes only a count
    of zero: the count can then be a divisor (`minCount`).

    ```mlir
    %n = tg.count %targets ignore -100 as 8.6736173798840355e-19 : tensor<2x4xi32> -> tensor<f32>
    ```
  }];
  let arguments = (ins TG_Int:$targets, I64Attr:$ignore_index, DefaultValuedAttr<F64Attr, "0.0">:$ignored_weight);
  let results = (outs TG_Float:$result);
  let assemblyFormat = "$targets `ignore` $ignore_index (`as` $ignored_weight^)? " # typeList;
  let hasVerifier = 1;
}

#endif // BRAID_TG_PRIMITIVES
