// RUN: not braid-opt %s --tg-apply-optimizer=optimizer=magic 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not braid-opt %s --tg-apply-optimizer=hyperparameters=beta2=1.0 2>&1 | FileCheck %s --check-prefix=BETA
// RUN: not braid-opt %s --tg-apply-optimizer=hyperparameters=eps=-1.0 2>&1 | FileCheck %s --check-prefix=EPS
// RUN: not braid-opt %s --tg-apply-optimizer=clip=nan 2>&1 | FileCheck %s --check-prefix=CLIP
// RUN: not braid-opt %s --tg-apply-optimizer=decay-exclude=bias 2>&1 | FileCheck %s --check-prefix=GROUP
// RUN: not braid-opt %s --tg-apply-optimizer="optimizer=nesterov hyperparameters=momentum=0" 2>&1 | FileCheck %s --check-prefix=MOMENTUM
// RUN: not braid-opt %s --tg-apply-optimizer="hyperparameters=eps=1e-6,momentum=0.9" 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: not braid-opt %s --tg-apply-optimizer="hyperparameters=eps=1e-6,eps=1e-7" 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not braid-opt %s --tg-apply-optimizer="hyperparameters=eps" 2>&1 | FileCheck %s --check-prefix=FORM
// RUN: not braid-opt %s --tg-apply-optimizer="hyperparameters=eps=small" 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: not braid-opt %s --tg-apply-optimizer 2>&1 | FileCheck %s --check-prefix=TYPE

// NAME: error: tg-apply-optimizer: unknown optimizer 'magic' (optimizers: adam, adamw, lion, sgd, momentum, nesterov)
// BETA: error: tg-apply-optimizer: beta2 of adamw must be at least 0 and below 1, found 1.0
// EPS: error: tg-apply-optimizer: eps of adamw must be at least 0, found -1.0
// CLIP: error: option 'clip' of pass: 'nan' is not valid, expected a number of at least 0
// GROUP: error: tg-apply-optimizer: decay-exclude takes biases (except of norms), norms (with their biases) and embeddings, found 'bias'
// MOMENTUM: error: tg-apply-optimizer: momentum of nesterov must be above 0 and below 1 (sgd has no momentum), found 0
// OTHER: error: tg-apply-optimizer: adamw has no hyperparameter 'momentum' (it has beta1=0.9, beta2=0.999, eps=1e-08, weight_decay=0)
// TWICE: error: tg-apply-optimizer: the hyperparameter eps is given twice; leave one of them out
// FORM: error: tg-apply-optimizer: expected a hyperparameter as NAME=NUMBER, such as beta1=0.9, found 'eps'
// NUMBER: error: tg-apply-optimizer: expected a hyperparameter as NAME=NUMBER, such as beta1=0.9, found 'eps=small'
// TYPE: error: result #0 is the gradient of "w" but has the type 'tensor<4xf32>' instead of 'tensor<3xf32>'
func.func @train(%w: tensor<3xf32> {tg.param = #tg.param<"w", #tg.init<ones>>}, %g: tensor<4xf32> {tg.input = "g"}) -> (tensor<4xf32> {tg.grad_of = "w"}) {
  return %g : tensor<4xf32>
}
