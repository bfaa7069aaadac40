//===- TGOptimizers.td - parameter updates ---------------------*- tablegen -*-===//
#ifndef BRAID_TG_OPTIMIZERS
#define BRAID_TG_OPTIMIZERS

include "dialects/TG/TGDialect.td"

def TG_UpdateOp : TG_Op<"update", "Optimizer", [AttrSizedOperandSegments, TG_Infer, TG_Composite, TG_Cost]> {
  let summary = "A step of an optimizer for one parameter";
  let description = [{
    Each file in `dialects/TG/Optimizers` describes an optimizer, or a few similar ones: the states of a parameter, the
    hyperparameters, whether the optimizer reads the number of the step (1 in the first), and the formula. An op has
    exactly the states, hyperparameters and step of this description. Its results are the new parameter and the new
    states.

    ```mlir
    %p1 = tg.update "sgd" %p, %g, %lr {weight_decay = 0.0}
        : (tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
    %p2, %m2 = tg.update "nesterov" %p, %g, %lr states %m {momentum = 0.9, weight_decay = 0.0}
        : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
    %p3, %m3, %v3 = tg.update "adamw" %p, %g, %lr, %step states %m, %v
        {beta1 = 0.9, beta2 = 0.95, eps = 1.0e-8, weight_decay = 0.1}
        : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<i32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
    ```
  }];
  let arguments = (ins StrAttr:$optimizer, TG_Float:$param, TG_Float:$gradient, TG_Float:$lr,
                       Optional<TG_Int>:$step, Variadic<TG_Float>:$states, DictionaryAttr:$hyperparameters);
  let results = (outs TG_Float:$newParam, Variadic<TG_Float>:$newStates);
  let assemblyFormat = "$optimizer $param `,` $gradient `,` $lr (`,` $step^)? (`states` $states^)? $hyperparameters " # typeList;
  let hasVerifier = 1;
}

def TG_GlobalNormOp : TG_Op<"global_norm", "Optimizer", [TG_Composite, TG_Cost]> {
  let summary = "The 2-norm of several tensors taken as one vector";
  let description = [{
    ```mlir
    %n = tg.global_norm %a, %b : (tensor<8xf32>, tensor<2x2xf32>) -> tensor<f32>
    ```
  }];
  let arguments = (ins Variadic<TG_Float>:$inputs);
  let results = (outs TG_Float:$result);
  let assemblyFormat = "$inputs " # typeList;
  let hasVerifier = 1;
}

def TG_QuantizeOp : TG_Op<"quantize", "Optimizer", [TG_Infer, TG_Composite, TG_Cost, AllTypesMatch<["input", "threshold"]>]> {
  let summary = "Numbers in 8 bits, in blocks that share a scale";
  let description = [{
    A block is `block` neighbouring numbers of a row. A code `q` from -127 to 127 stands for `sign(q) q^4` times the
    scale of its block, and 127 for the largest magnitude in the block. The relative step between codes is 3 % at the
    top and grows towards zero; code 1 stands for 4e-9 of the largest magnitude.

    `threshold`, in [0, 1), decides the rounding. A number lies at some fraction of the distance between two codes, and
    is rounded up if `threshold` is less than this fraction. A number that is not zero never gets code 0.

    ```mlir
    %codes, %scales = tg.quantize %x at %t block 64 : (tensor<16x128xf32>, tensor<16x128xf32>) -> (tensor<16x128xi8>, tensor<16x2xf32>)
    ```
    gives tensor<16x128xi8> and tensor<16x2xf32>.  A block with a NaN has a NaN for a scale.
  }];
  let arguments = (ins TG_Single:$input, TG_Single:$threshold, I64Attr:$block);
  let results = (outs TG_Codes:$codes, TG_Single:$scales);
  let assemblyFormat = "$input `at` $threshold `block` $block " # typeList;
}

def TG_DequantizeOp : TG_Op<"dequantize", "Optimizer", [TG_Infer, TG_Composite, TG_Cost]> {
  let summary = "The numbers that codes of 8 bits stand for";
  let description = [{
    The operands are the results of `tg.quantize`. A row has a whole number of blocks.

    ```mlir
    %x = tg.dequantize %codes, %scales : (tensor<16x128xi8>, tensor<16x2xf32>) -> tensor<16x128xf32>
    ```
  }];
  let arguments = (ins TG_Codes:$codes, TG_Single:$scales);
  let results = (outs TG_Single:$result);
  let assemblyFormat = "$codes `,` $scales " # typeList;
}

#endif // BRAID_TG_OPTIMIZERS
