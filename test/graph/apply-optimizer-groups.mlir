// Which parameters decay, by how they are read.
//
// RUN: braid-opt %s --tg-apply-optimizer="hyperparameters=weight_decay=0.5" | FileCheck %s --check-prefix=ALL
// RUN: braid-opt %s --tg-apply-optimizer="hyperparameters=weight_decay=0.5 decay-exclude=biases" | FileCheck %s --check-prefix=BIASES
// RUN: braid-opt %s --tg-apply-optimizer="hyperparameters=weight_decay=0.5 decay-exclude=norms" | FileCheck %s --check-prefix=NORMS
// RUN: braid-opt %s --tg-apply-optimizer="hyperparameters=weight_decay=0.5 decay-exclude=embeddings" | FileCheck %s --check-prefix=EMBEDDINGS
// RUN: braid-opt %s --tg-apply-optimizer="hyperparameters=weight_decay=0.5 decay-exclude=biases,norms,embeddings" | FileCheck %s --check-prefix=MATRICES

// In order: token table (tied), position table, norm scale, matrix, bias.
// ALL-COUNT-5: weight_decay = 5.000000e-01 : f64}
// BIASES-COUNT-4: weight_decay = 5.000000e-01 : f64}
// BIASES: weight_decay = 0.000000e+00 : f64}
// NORMS-COUNT-2: weight_decay = 5.000000e-01 : f64}
// NORMS: weight_decay = 0.000000e+00 : f64}
// NORMS-COUNT-2: weight_decay = 5.000000e-01 : f64}
// EMBEDDINGS-COUNT-2: weight_decay = 0.000000e+00 : f64}
// EMBEDDINGS-COUNT-3: weight_decay = 5.000000e-01 : f64}
// MATRICES-COUNT-3: weight_decay = 0.000000e+00 : f64}
// MATRICES: weight_decay = 5.000000e-01 : f64}
// MATRICES: weight_decay = 0.000000e+00 : f64}
comm.mesh @mesh [tp = 2]
func.func @train(%t: tensor<4xi32> {tg.input = "tokens", tg.role = #tg.role<tokens>}, %e: tensor<16x8xf32> {tg.param = #tg.param<"wte", #tg.init<ones>>},
                 %p: tensor<6x8xf32> {tg.param = #tg.param<"wpe", #tg.init<ones>>}, %g: tensor<8xf32> {tg.param = #tg.param<"norm", #tg.init<ones>>},
                 %w: tensor<8x8xbf16> {tg.param = #tg.param<"w", #tg.init<ones>>}, %b: tensor<8xf32> {tg.param = #tg.param<"b", #tg.init<ones>>})
    -> (tensor<4x16xf32>, tensor<16x8xf32> {tg.grad_of = "wte"}, tensor<6x8xf32> {tg.grad_of = "wpe"}, tensor<8xf32> {tg.grad_of = "norm"},
        tensor<8x8xbf16> {tg.grad_of = "w"}, tensor<8xf32> {tg.grad_of = "b"}) {
  %0 = tg.gather %e, %t : (tensor<16x8xf32>, tensor<4xi32>) -> tensor<4x8xf32>
  %1 = tg.slice %p dim 0 offset 0 size 4 : tensor<6x8xf32> -> tensor<4x8xf32>
  %2 = arith.addf %0, %1 : tensor<4x8xf32>
  %3:2 = tg.rms_norm %2, %g eps 1.0e-5 : (tensor<4x8xf32>, tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>)
  %4 = tg.convert %w : tensor<8x8xbf16> -> tensor<8x8xf32>
  %placed = comm.constrain %4 <@mesh, {tp} {}> : tensor<8x8xf32>
  %5 = tg.contract "sd,fd->sf" %3#0, %placed : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %6 = tg.broadcast %b dims [1] : tensor<8xf32> -> tensor<4x8xf32>
  %7 = arith.addf %5, %6 : tensor<4x8xf32>
  %8 = tg.contract "sd,vd->sv" %7, %e : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
  return %8, %e, %p, %g, %w, %b : tensor<4x16xf32>, tensor<16x8xf32>, tensor<6x8xf32>, tensor<8xf32>, tensor<8x8xbf16>, tensor<8xf32>
}
