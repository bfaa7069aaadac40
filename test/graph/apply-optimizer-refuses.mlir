// RUN: not braid-opt %s --tg-apply-optimizer=optimizer=lion 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not braid-opt %s --tg-apply-optimizer=beta2=1.0 2>&1 | FileCheck %s --check-prefix=BETA
// RUN: not braid-opt %s --tg-apply-optimizer=eps=-1.0 2>&1 | FileCheck %s --check-prefix=EPS
// RUN: not braid-opt %s --tg-apply-optimizer=clip=nan 2>&1 | FileCheck %s --check-prefix=CLIP
// RUN: not braid-opt %s --tg-apply-optimizer=decay-exclude=bias 2>&1 | FileCheck %s --check-prefix=GROUP
// RUN: not braid-opt %s --tg-apply-optimizer="optimizer=nesterov momentum=0" 2>&1 | FileCheck %s --check-prefix=MOMENTUM
// RUN: not braid-opt %s --tg-apply-optimizer 2>&1 | FileCheck %s --check-prefix=TYPE

// NAME: error: tg-apply-optimizer: optimizer must be sgd, momentum, nesterov, adam or adamw, found 'lion'
// BETA: error: tg-apply-optimizer: beta2 must be at least 0 and below 1, found 1.0
// EPS: error: tg-apply-optimizer: eps must be at least 0, found -1.0
// CLIP: error: tg-apply-optimizer: clip must be at least 0, found nan
// GROUP: error: tg-apply-optimizer: decay-exclude must be a list of biases, norms and embeddings, found 'bias'
// MOMENTUM: error: tg-apply-optimizer: momentum must be above 0 for this optimizer; sgd has none, found 0
// TYPE: error: result #0 is the gradient of "w" but has the type 'tensor<4xf32>' instead of 'tensor<3xf32>'
func.func @train(%w: tensor<3xf32> {tg.param = #tg.param<"w", #tg.init<ones>>}, %g: tensor<4xf32> {tg.input = "g"}) -> (tensor<4xf32> {tg.grad_of = "w"}) {
  return %g : tensor<4xf32>
}
