//===- ExecAttention.td - attention as one call -----------------*- tablegen -*-===//
//
// Operands and results match tg.attention and tg.attention_grad. The call keeps the scores on chip, so they are
// neither in memory nor in the graph. A library computes it, or, with `tiles`, generated code by tiles
// (runtime/cpu/Attention.h, runtime/cuda/AttentionTiles.h).
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_EXEC_ATTENTION
#define BRAID_EXEC_ATTENTION

/// TG_MaskAttr, without the records of the dialect that defines it.
def Exec_Mask : Attr<CPred<"::llvm::isa<::braid::tg::MaskAttr>($_self)">, "mask of attention"> {
  let storageType = "::braid::tg::MaskAttr";
  let returnType = storageType;
  let convertFromStorage = "$_self";
}

def Exec_SumOrder : I32EnumAttr<"SumOrder", "the order in which a library call adds up gradients", [
    I32EnumAttrCase<"Any", 0, "any">, I32EnumAttrCase<"Fixed", 1, "fixed">, I32EnumAttrCase<"Serial", 2, "serial">]> {
  let cppNamespace = "::braid::exec";
}

/// Tensors are batch x sequence x heads x size. All strides but the last, which is 1, are free, so the parts of a
/// packed projection are read, and their gradients written, in place.
class Exec_AttentionCall<string mnemonic>
    : Exec_Action<mnemonic, ["mayReadStrided", "mayWriteStrided", "getWorkspaceBytes", "getLibraryNumbers", "getActionCost"],
                  [AttrSizedOperandSegments]> {
  let results = (outs Variadic<Exec_Tensor>:$results);
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::braid::AttentionSizes getSizes();
  }];
}

def Exec_AttentionOp : Exec_AttentionCall<"attention"> {
  let summary = "softmax(scale q kᵀ + mask) v as one call; the result and the row log-sum-exp";
  let description = [{
    Computes `tg.attention`. The log-sum-exp, batch x heads x sequence, is contiguous and has the accumulation type:
    f32, or f64 if all operands are f64. With `tiles` no library is called. Only then may the first query and key be
    `at` positions that are known at run time.

    ```mlir
    %o, %lse = exec.attention(%q, %k, %v) scale 0.5 causal
        : (tensor<2x8x4x8xbf16>, tensor<2x8x2x8xbf16>, tensor<2x8x2x8xbf16>) -> tensor<2x8x4x8xbf16>, tensor<2x4x8xf32>
    ```
  }];
  let arguments = (ins Exec_Operand:$query, Exec_Operand:$key, Exec_Operand:$value,
                       Optional<Exec_Operand>:$documents, Optional<Exec_Operand>:$query_start,
                       Optional<Exec_Operand>:$key_start, Variadic<Exec_RefType>:$outs, F64Attr:$scale, Exec_Mask:$mask,
                       OptionalAttr<F64Attr>:$softcap, UnitAttr:$tiles);
  let assemblyFormat = [{
    `(` $query `,` $key `,` $value (`documents` $documents^ `:` type($documents))?
    (`at` $query_start^ `,` $key_start `:` type($query_start) `,` type($key_start))? `)`
    (`outs` `(` $outs^ `:` type($outs) `)`)? custom<Scores>($scale, $mask, $softcap) (`tiles` $tiles^)? attr-dict `:`
    `(` type($query) `,` type($key) `,` type($value) `)` (`->` type($results)^)?
  }];
}

def Exec_AttentionGradOp : Exec_AttentionCall<"attention_grad"> {
  let summary = "dq, dk and dv of attention as one call";
  let description = [{
    Computes `tg.attention_grad`. `lse` is the log-sum-exp of `exec.attention`.

    Many blocks of keys add to one row of dq. `order` sets the order of the additions:

    | `order` | |
    |---|---|
    | `any` | in any order, so the last bits differ from run to run |
    | `fixed` | the same bits in every run; for this some libraries store the gradient of all scores |
    | `serial` | the same bits, without that memory: each block waits for the one before it |

    With `tiles` the order is `fixed`, without that memory.

    ```mlir
    %dq, %dk, %dv = exec.attention_grad(%q, %k, %v, %o, %lse, %do) scale 0.5 causal
        : (tensor<2x8x4x8xbf16>, tensor<2x8x2x8xbf16>, tensor<2x8x2x8xbf16>, tensor<2x8x4x8xbf16>, tensor<2x4x8xf32>, tensor<2x8x4x8xbf16>)
        -> tensor<2x8x4x8xbf16>, tensor<2x8x2x8xbf16>, tensor<2x8x2x8xbf16>
    ```
  }];
  let arguments = (ins Exec_Operand:$query, Exec_Operand:$key, Exec_Operand:$value, Exec_Operand:$output,
                       Exec_Operand:$lse, Exec_Operand:$gradient, Optional<Exec_Operand>:$documents,
                       Optional<Exec_Operand>:$query_start, Optional<Exec_Operand>:$key_start,
                       Variadic<Exec_RefType>:$outs, F64Attr:$scale, Exec_Mask:$mask, OptionalAttr<F64Attr>:$softcap,
                       UnitAttr:$tiles, DefaultValuedAttr<Exec_SumOrder, "::braid::exec::SumOrder::Fixed">:$order);
  let assemblyFormat = [{
    `(` $query `,` $key `,` $value `,` $output `,` $lse `,` $gradient (`documents` $documents^ `:` type($documents))?
    (`at` $query_start^ `,` $key_start `:` type($query_start) `,` type($key_start))? `)` (`outs` `(` $outs^ `:` type($outs) `)`)?
    custom<Scores>($scale, $mask, $softcap) (`tiles` $tiles^)? (`order` $order^)? attr-dict `:` `(` type($query) `,` type($key) `,`
    type($value) `,` type($output) `,` type($lse) `,` type($gradient) `)` (`->` type($results)^)?
  }];
}

#endif // BRAID_EXEC_ATTENTION
