//===- TGComposites.td - ops that targets have fast code for --*- tablegen -*-===//
//
// Each is defined by its decomposition into primitives.  Forward ops return what
// backward needs; `*_grad` ops are their vector-Jacobian products.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_TG_COMPOSITES
#define BRAID_TG_COMPOSITES

include "dialects/TG/Mask.td"
include "dialects/TG/RopeScaling.td"
include "dialects/TG/TGDialect.td"

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

class TG_Activation<string mnemonic, string kind, list<Trait> traits = []>
    : TG_Op<mnemonic, kind, !listconcat(traits, [SameOperandsAndResultType, TG_Composite, TG_Cost])>;

/// A composite that computes each element of its result from the same element of its operands. This decides its
/// sharding rule and, with the operations of one element, its cost. A call such as exp or tanh is one operation.
class TG_Elementwise<string mnemonic, int flops, list<Trait> traits = []>
    : TG_Activation<mnemonic, "Elementwise", traits> {
  let extraClassDefinition = [{
    ::braid::ShardingRule $cppClass::getShardingRule() { return ::braid::elementwiseRule(*this); }
    int64_t $cppClass::getFlops() { return }] # flops # [{ * ::braid::defaultFlops(*this); }
  }];
}

def TG_GeluOp : TG_Elementwise<"gelu", 8, [TG_Diff]> {
  let summary = "GELU: x Φ(x) with erf, or its tanh approximation (Hendrycks & Gimpel 2016)";
  let description = [{
    ```mlir
    %y = tg.gelu tanh %x : tensor<4x8xf32>
    ```
  }];
  let arguments = (ins TG_GeluKind:$kind, TG_Float:$input);
  let results = (outs TG_Float:$result);
  let assemblyFormat = "$kind $input " # oneType;
}

def TG_GeluGradOp : TG_Elementwise<"gelu_grad", 14> {
  let summary = "dx of GELU from x and dy";
  let description = [{
    ```mlir
    %dx = tg.gelu_grad tanh %x, %dy : tensor<4x8xf32>
    ```
  }];
  let arguments = (ins TG_GeluKind:$kind, TG_Float:$input, TG_Float:$gradient);
  let results = (outs TG_Float:$result);
  let assemblyFormat = "$kind $input `,` $gradient " # oneType;
}

def TG_SiluOp : TG_Elementwise<"silu", 4, [TG_Diff]> {
  let summary = "SiLU: x / (1 + exp(-x))";
  let description = [{
    ```mlir
    %y = tg.silu %x : tensor<4x8xf32>
    ```
  }];
  let arguments = (ins TG_Float:$input);
  let results = (outs TG_Float:$result);
  let assemblyFormat = "$input " # oneType;
}

def TG_SiluGradOp : TG_Elementwise<"silu_grad", 8> {
  let summary = "dx of SiLU from x and dy";
  let description = [{
    ```mlir
    %dx = tg.silu_grad %x, %dy : tensor<4x8xf32>
    ```
  }];
  let arguments = (ins TG_Float:$input, TG_Float:$gradient);
  let results = (outs TG_Float:$result);
  let assemblyFormat = "$input `,` $gradient " # oneType;
}

def TG_ReluOp : TG_Elementwise<"relu", 1> {
  let summary = "ReLU: x, and 0 where x is negative; the gradient at 0 is 0";
  let description = [{
    ```mlir
    %y = tg.relu %x : tensor<4x8xf32>
    ```
  }];
  let arguments = (ins TG_Float:$input);
  let results = (outs TG_Float:$result);
  let assemblyFormat = "$input " # oneType;
}

def TG_DropoutOp : TG_Op<"dropout", "Elementwise", [TG_Diff, TG_Composite, TG_Cost, TG_Training]> {
  let summary = "Zeroes elements with probability `rate`, scales the rest by 1/(1-rate)";
  let description = [{
    Element i is kept when `random_uniform(key, stream)[i] >= rate`. Backward applies the same op to the gradient, so no
    mask is saved.

    ```mlir
    %y = tg.dropout %x, %key rate 0.1 stream 3 : (tensor<4x8xf32>, tensor<4xi32>) -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins TG_Float:$input, TG_Key:$key, F64Attr:$rate, I64Attr:$stream);
  let results = (outs TG_Float:$result);
  let assemblyFormat = "$input `,` $key `rate` $rate `stream` $stream " # typeList;
  let hasVerifier = 1;
  let hasFolder = 1;
}

def TG_InTrainingOp
    : TG_Op<"in_training", "Movement", [TG_Composite, TG_DefaultCost, TG_Training, SameOperandsAndResultType]> {
  let summary = "The first operand in training, and the second in inference";
  let description = [{
    A batch norm, for example, divides by the deviation of the batch in training, and by a running one in inference.

    ```mlir
    %mean = tg.in_training %of_batch, %running : tensor<8xf32>
    ```
  }];
  let arguments = (ins TG_Tensor:$training, TG_Tensor:$inference);
  let results = (outs TG_Tensor:$result);
  let assemblyFormat = "$training `,` $inference " # oneType;
  let extraClassDefinition = [{
    ::braid::ShardingRule $cppClass::getShardingRule() { return ::braid::elementwiseRule(*this); }
    ::llvm::SmallVector<::mlir::Value> $cppClass::buildInference(::mlir::OpBuilder &) { return {getInference()}; }
    ::llvm::SmallVector<::mlir::Value> $cppClass::decompose(::mlir::OpBuilder &) { return {getTraining()}; }
  }];
}

//===----------------------------------------------------------------------===//
// Softmax and norms, over the last dim
//===----------------------------------------------------------------------===//

def TG_SoftmaxOp : TG_Activation<"softmax", "Softmax", [TG_Diff]> {
  let summary = "Softmax over the last dim";
  let description = [{
    ```mlir
    %y = tg.softmax %x : tensor<4x8xf32>
    ```
  }];
  let arguments = (ins TG_Float:$input);
  let results = (outs TG_Float:$result);
  let assemblyFormat = "$input " # oneType;
}

def TG_SoftmaxGradOp : TG_Activation<"softmax_grad", "Softmax"> {
  let summary = "dx of softmax from its result y and dy: y (dy - sum(y dy))";
  let description = [{
    ```mlir
    %dx = tg.softmax_grad %y, %dy : tensor<4x8xf32>
    ```
  }];
  let arguments = (ins TG_Float:$output, TG_Float:$gradient);
  let results = (outs TG_Float:$result);
  let assemblyFormat = "$output `,` $gradient " # oneType;
}

def TG_LayerNormOp : TG_Op<"layer_norm", "Norm", [TG_Infer, TG_Diff, TG_Composite, TG_Cost]> {
  let summary = "Layer norm over the last dim (Ba et al. 2016); returns y, mean and 1/std";
  let description = [{
    ```mlir
    %y, %mean, %rstd = tg.layer_norm %x, %weight, %bias eps 1.0e-5
        : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>)
    ```
  }];
  let arguments = (ins TG_Float:$input, TG_Float:$weight, Optional<TG_Float>:$bias, F64Attr:$eps);
  let results = (outs TG_Float:$result, TG_Float:$mean, TG_Float:$rstd);
  let assemblyFormat = "$input `,` $weight (`,` $bias^)? `eps` $eps " # typeList;
}

def TG_LayerNormGradOp : TG_Op<"layer_norm_grad", "Norm", [TG_Infer, TG_Composite, TG_Cost]> {
  let summary = "dx, dweight and dbias of layer norm";
  let description = [{
    ```mlir
    %dx, %dw, %db = tg.layer_norm_grad %x, %weight, %mean, %rstd, %dy
        : (tensor<4x8xf32>, tensor<8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>)
    ```
  }];
  let arguments = (ins TG_Float:$input, TG_Float:$weight, TG_Float:$mean, TG_Float:$rstd, TG_Float:$gradient);
  let results = (outs TG_Float:$dinput, TG_Float:$dweight, TG_Float:$dbias);
  let assemblyFormat = "$input `,` $weight `,` $mean `,` $rstd `,` $gradient " # typeList;
}

/// Number that is added to the weight of a norm.
def TG_NormOffset : DefaultValuedAttr<F64Attr, "0.0">;

def TG_RmsNormOp : TG_Op<"rms_norm", "Norm", [TG_Infer, TG_Diff, TG_Composite, TG_Cost]> {
  let summary = "RMS norm over the last dim (Zhang & Sennrich 2019); returns y and 1/rms";
  let description = [{
    `offset 1.0` multiplies by 1 + weight, in the type that the op computes in: a weight in bf16 keeps
    its own precision (Gemma Team 2024).

    ```mlir
    %y, %rrms = tg.rms_norm %x, %weight eps 1.0e-5 : (tensor<4x8xf32>, tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>)
    ```
  }];
  let arguments = (ins TG_Float:$input, TG_Float:$weight, F64Attr:$eps, TG_NormOffset:$offset);
  let results = (outs TG_Float:$result, TG_Float:$rrms);
  let assemblyFormat = "$input `,` $weight `eps` $eps (`offset` $offset^)? " # typeList;
}

def TG_RmsNormGradOp : TG_Op<"rms_norm_grad", "Norm", [TG_Infer, TG_Composite, TG_Cost]> {
  let summary = "dx and dweight of RMS norm";
  let description = [{
    ```mlir
    %dx, %dw = tg.rms_norm_grad %x, %weight, %rrms, %dy
        : (tensor<4x8xf32>, tensor<8xf32>, tensor<4xf32>, tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<8xf32>)
    ```
  }];
  let arguments = (ins TG_Float:$input, TG_Float:$weight, TG_Float:$rrms, TG_Float:$gradient, TG_NormOffset:$offset);
  let results = (outs TG_Float:$dinput, TG_Float:$dweight);
  let assemblyFormat = "$input `,` $weight `,` $rrms `,` $gradient (`offset` $offset^)? " # typeList;
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// The bound of soft-capped scores.
def TG_Softcap : OptionalAttr<ConfinedAttr<F64Attr, [AttrConstraint<
    CPred<"::llvm::cast<::mlir::FloatAttr>($_self).getValue().isFiniteNonZero() && "
          "!::llvm::cast<::mlir::FloatAttr>($_self).getValue().isNegative()">, "a finite number above 0">]>>;

def TG_AttentionOp : TG_Op<"attention", "Attention", [AttrSizedOperandSegments, TG_Infer, TG_Diff, TG_Composite, TG_Cost,
                           TG_Causal, TG_Blockwise], ["buildShard"]> {
  let summary = "softmax(scale q kᵀ + mask) v; returns the output and the row log-sum-exp";
  let description = [{
    Layout: q is batch x sequence x heads x size, k and v have kv heads, which divide heads: query head h reads kv head
    `h / (heads / kv_heads)`. The mask says which keys a query counts (`#tg.mask`): `causal`, `causal window 4`, `causal
    offset 6`. With `softcap c` scores s become c tanh(s / c) before the mask (Gemma Team 2024). The optional operand
    `documents` keeps documents in the same row apart.

    If a rank has a part of the sequence, `at` gives the positions of the first query and of the first key, tensor<i32>.
    The mask then compares positions, and `documents` has a number for each position of the sequence. A query that
    counts no key has the result 0 and the log-sum-exp -inf.

    ```mlir
    %o, %lse = tg.attention %q, %k, %v scale 0.5 causal
        : (tensor<2x8x4x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>) -> (tensor<2x8x4x4xf32>, tensor<2x4x8xf32>)
    %o2, %lse2 = tg.attention %q, %k, %v, %documents scale 0.5 causal
        : (tensor<2x8x4x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8xi32>) -> (tensor<2x8x4x4xf32>, tensor<2x4x8xf32>)
    %o3, %lse3 = tg.attention %half, %k, %v at %first, %zero scale 0.5 causal
        : (tensor<2x4x4x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<i32>, tensor<i32>) -> (tensor<2x4x4x4xf32>, tensor<2x4x4xf32>)
    ```
  }];
  let arguments = (ins TG_Float:$query, TG_Float:$key, TG_Float:$value, Optional<TG_Int>:$documents,
                       Optional<TG_Offset>:$query_start, Optional<TG_Offset>:$key_start, F64Attr:$scale,
                       TG_MaskAttr:$mask, TG_Softcap:$softcap);
  let results = (outs TG_Float:$result, TG_Float:$lse);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`,` $documents^)? (`at` $query_start^ `,` $key_start)?
    custom<Scores>($scale, $mask, $softcap)
  }] # typeList;
}

def TG_DropoutAttentionOp : TG_Op<"dropout_attention", "Attention", [TG_Infer, TG_Composite, TG_Cost, TG_Training,
                                  TG_Blockwise]> {
  let summary = "Attention with dropout on its weights: softmax(scale q kᵀ + mask), then dropout, then times v";
  let description = [{
    Operands and mask are as for `tg.attention`; in inference the op becomes `tg.attention`. Rate and stream are as
    for `tg.dropout`, on weights in the order batch x heads x queries x keys.

    ```mlir
    %o = tg.dropout_attention %q, %k, %v, %random scale 0.5 causal rate 0.1 stream 3
        : (tensor<2x8x4x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<4xi32>) -> tensor<2x8x4x4xf32>
    ```
  }];
  let arguments = (ins TG_Float:$query, TG_Float:$key, TG_Float:$value, TG_Key:$random, Optional<TG_Int>:$documents,
                       F64Attr:$scale, TG_MaskAttr:$mask, TG_Softcap:$softcap, F64Attr:$rate, I64Attr:$stream);
  let results = (outs TG_Float:$result);
  let assemblyFormat = [{
    $query `,` $key `,` $value `,` $random (`,` $documents^)? custom<Scores>($scale, $mask, $softcap) `rate` $rate `stream` $stream
  }] # typeList;
  let hasVerifier = 1;
}

def TG_AttentionGradOp : TG_Op<"attention_grad", "Attention", [AttrSizedOperandSegments, TG_Infer, TG_Composite, TG_Cost,
                               TG_Blockwise], ["buildShard"]> {
  let summary = "dq, dk and dv of attention, from its operands, result and log-sum-exp (Dao et al. 2022)";
  let description = [{
    ```mlir
    %dq, %dk, %dv = tg.attention_grad %q, %k, %v, %o, %lse, %do scale 0.5 causal
        : (tensor<2x8x4x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x4x4xf32>, tensor<2x4x8xf32>, tensor<2x8x4x4xf32>)
        -> (tensor<2x8x4x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>)
    ```
  }];
  let arguments = (ins TG_Float:$query, TG_Float:$key, TG_Float:$value, TG_Float:$output,
                       TG_Float:$lse, TG_Float:$gradient, Optional<TG_Int>:$documents,
                       Optional<TG_Offset>:$query_start, Optional<TG_Offset>:$key_start, F64Attr:$scale,
                       TG_MaskAttr:$mask, TG_Softcap:$softcap);
  let results = (outs TG_Float:$dquery, TG_Float:$dkey, TG_Float:$dvalue);
  let assemblyFormat = [{
    $query `,` $key `,` $value `,` $output `,` $lse `,` $gradient (`,` $documents^)? (`at` $query_start^ `,` $key_start)?
    custom<Scores>($scale, $mask, $softcap)
  }] # typeList;
}

def TG_RopeOp : TG_Op<"rope", "Elementwise", [SameOperandsAndResultType, TG_Diff, TG_Composite, TG_Cost]> {
  let summary = "Rotary position embedding (Su et al. 2021), halves rotated together";
  let description = [{
    x is batch x sequence x heads x size; with half = size/2 and the angle a = s * theta^(-i/half), (x[i], x[i+half])
    turns by a, or by -a when `inverse`. With `dims n` only the first n numbers of a head turn, and half is n/2. The
    frequencies theta^(-i/half) may be lowered (`#tg.rope_scaling`).

    ```mlir
    %y = tg.rope %x theta 1.0e4 : tensor<2x8x4x4xf32>
    %z = tg.rope %x theta 5.0e5 dims 2 llama3 8.0 low 1.0 high 4.0 positions 8192 : tensor<2x8x4x4xf32>
    ```
  }];
  let arguments = (ins TG_Float:$input, F64Attr:$theta, OptionalAttr<I64Attr>:$dims,
                       OptionalAttr<TG_RopeScalingAttr>:$scaling, UnitAttr:$inverse);
  let results = (outs TG_Float:$result);
  let assemblyFormat = "$input `theta` $theta (`dims` $dims^)? (custom<RopeScaling>($scaling)^)? (`inverse` $inverse^)? " # oneType;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Number of elements of a head that turn.
    int64_t getTurned() { return getDims().value_or(getType().getDimSize(3)); }
  }];
}

//===----------------------------------------------------------------------===//
// Loss
//===----------------------------------------------------------------------===//

def TG_CrossEntropyOp : TG_Op<"cross_entropy", "Loss", [TG_Infer, TG_Diff, TG_Composite, TG_Cost, TG_Loss]> {
  let summary = "Softmax cross entropy with class indices; returns the loss and the row log-sum-exp";
  let description = [{
    Rows whose target is `ignore_index` count neither in the sum nor in the mean's
    divisor.

    ```mlir
    %loss, %lse = tg.cross_entropy mean %logits, %targets ignore -100
        : (tensor<2x4x8xf32>, tensor<2x4xi32>) -> (tensor<f32>, tensor<2x4xf32>)
    ```
  }];
  let arguments = (ins TG_LossReduction:$reduction, TG_Float:$logits, TG_Int:$targets, I64Attr:$ignore_index);
  let results = (outs TG_Float:$loss, TG_Float:$lse);
  let assemblyFormat = "$reduction $logits `,` $targets `ignore` $ignore_index " # typeList;
}

def TG_CrossEntropyGradOp : TG_Op<"cross_entropy_grad", "Loss", [TG_Infer, TG_Composite, TG_Cost]> {
  let summary = "dlogits of cross entropy from logits, targets, log-sum-exp and dloss";
  let description = [{
    ```mlir
    %dlogits = tg.cross_entropy_grad mean %logits, %targets, %lse, %dloss ignore -100
        : (tensor<2x4x8xf32>, tensor<2x4xi32>, tensor<2x4xf32>, tensor<f32>) -> tensor<2x4x8xf32>
    ```
  }];
  let arguments = (ins TG_LossReduction:$reduction, TG_Float:$logits, TG_Int:$targets, TG_Float:$lse,
                       TG_Float:$gradient, I64Attr:$ignore_index);
  let results = (outs TG_Float:$result);
  let assemblyFormat = "$reduction $logits `,` $targets `,` $lse `,` $gradient `ignore` $ignore_index " # typeList;
}

#endif // BRAID_TG_COMPOSITES
