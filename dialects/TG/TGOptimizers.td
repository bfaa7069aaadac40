//===- TGOptimizers.td - parameter updates ---------------------*- tablegen -*-===//
#ifndef BRAID_TG_OPTIMIZERS
#define BRAID_TG_OPTIMIZERS

include "dialects/TG/TGDialect.td"

def TG_UpdateOp : TG_Op<"update", "Optimizer", [AttrSizedOperandSegments, TG_Infer, TG_Composite, TG_Cost]> {
  let summary = "A step of an optimizer for one parameter.";
  let description = [{
    Each file in `dialects/TG/Optimizers` describes an optimizer, or a few that are
    alike: the states that it keeps of a parameter, its hyperparameters, whether it reads
    the number of the step (1 at the first), and the formula.  An op has all of them,
    as the description says; the results are the new parameter and the new states.

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
  let assemblyFormat = [{
    $optimizer $param `,` $gradient `,` $lr (`,` $step^)? (`states` $states^)? $hyperparameters
    attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def TG_GlobalNormOp : TG_Op<"global_norm", "Optimizer", [TG_Composite, TG_Cost]> {
  let summary = "The 2-norm of several tensors taken as one vector.";
  let description = [{
    ```mlir
    %n = tg.global_norm %a, %b : (tensor<8xf32>, tensor<2x2xf32>) -> tensor<f32>
    ```
  }];
  let arguments = (ins Variadic<TG_Float>:$inputs);
  let results = (outs TG_Float:$result);
  let assemblyFormat = "$inputs attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

#endif // BRAID_TG_OPTIMIZERS
