//===- TGOptimizers.td - parameter updates ---------------------*- tablegen -*-===//
#ifndef BRAID_TG_OPTIMIZERS
#define BRAID_TG_OPTIMIZERS

include "dialects/TG/TGDialect.td"

def TG_SgdOp : TG_Op<"sgd", "Optimizer", [TG_Composite, TG_Cost]> {
  let summary = "SGD: g += weight_decay p; m = momentum m + g; p -= lr (nesterov ? g + momentum m : m).";
  let description = [{
    Without momentum there is no state: p -= lr g.

    ```mlir
    %p1, %m1 = tg.sgd %p, %g, %lr, %m momentum 0.9 decay 0.0 nesterov
        : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
    %p2 = tg.sgd %p, %g, %lr momentum 0.0 decay 0.0 : (tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
    ```
  }];
  let arguments = (ins TG_Float:$param, TG_Float:$gradient, TG_Float:$lr, Optional<TG_Float>:$velocity,
                       F64Attr:$momentum, F64Attr:$weight_decay, UnitAttr:$nesterov);
  let results = (outs TG_Float:$newParam, Optional<TG_Float>:$newVelocity);
  let assemblyFormat = [{
    $param `,` $gradient `,` $lr (`,` $velocity^)? `momentum` $momentum `decay` $weight_decay
    (`nesterov` $nesterov^)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def TG_AdamOp : TG_Op<"adam", "Optimizer", [TG_Infer, TG_Composite, TG_Cost]> {
  let summary = "Adam (Kingma & Ba 2015), or AdamW (Loshchilov & Hutter 2019) when `decoupled`.";
  let description = [{
    m = beta1 m + (1-beta1) g; v = beta2 v + (1-beta2) g²;
    p -= lr (m / (1-beta1^t) / (sqrt(v / (1-beta2^t)) + eps) + decay p).  Without
    `decoupled` the decay is added to g instead.  `step` t is 1 at the first step.

    ```mlir
    %p1, %m1, %v1 = tg.adam %p, %g, %m, %v, %lr, %step beta1 0.9 beta2 0.95 eps 1.0e-8 decay 0.1 decoupled
        : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<i32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
    ```
  }];
  let arguments = (ins TG_Float:$param, TG_Float:$gradient, TG_Float:$mean, TG_Float:$variance,
                       TG_Float:$lr, TG_Int:$step, F64Attr:$beta1, F64Attr:$beta2, F64Attr:$eps,
                       F64Attr:$weight_decay, UnitAttr:$decoupled);
  let results = (outs TG_Float:$newParam, TG_Float:$newMean, TG_Float:$newVariance);
  let assemblyFormat = [{
    operands `beta1` $beta1 `beta2` $beta2 `eps` $eps `decay` $weight_decay (`decoupled` $decoupled^)?
    attr-dict `:` functional-type(operands, results)
  }];
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
