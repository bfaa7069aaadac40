// The norm of all gradients, as a result and as what clips them.
//
// RUN: braid-opt %s --tg-apply-optimizer="optimizer=sgd clip=0.5" | FileCheck %s --check-prefixes=BOTH,CLIP
// RUN: braid-opt %s --tg-apply-optimizer="optimizer=sgd report-norm" | FileCheck %s --check-prefixes=BOTH,REPORT
// RUN: braid-opt %s --tg-apply-optimizer="optimizer=sgd" | FileCheck %s --check-prefix=NEITHER
// RUN: braid-interp %s --pipeline-before="func.func(tg-apply-optimizer{optimizer=sgd clip=3.0e-6})" --function=train --arithmetic=f64 \
// RUN:     --set v=0 --set w=0 --set gv=3e-6 --set gw=4e-6 --set lr=1 | FileCheck %s --check-prefix=VALUES
// RUN: braid-interp %s --pipeline-before="func.func(tg-apply-optimizer{optimizer=sgd clip=6})" --function=train --arithmetic=f64 \
// RUN:     --set v=0 --set w=0 --set gv=3 --set gw=4 --set lr=1 | FileCheck %s --check-prefix=SMALL

// BOTH: -> (tensor<f32> {tg.role = #tg.role<grad_norm>}, tensor<1xf32> {tg.updates = "v"}, tensor<1xf32> {tg.updates = "w"})
// BOTH: %[[N:.*]] = tg.global_norm %{{.*}}, %{{.*}} : (tensor<1xf32>, tensor<1xf32>) -> tensor<f32>
// CLIP: arith.divf
// CLIP: arith.minimumf
// CLIP-COUNT-2: arith.mulf
// REPORT-NOT: arith.mulf
// BOTH: return %[[N]],
// NEITHER-NOT: tg.global_norm

// clip / (norm + 1e-6) is a half
// VALUES: grad_norm: tensor<f32> = 5e-06
// VALUES: v: tensor<1xf32> = [-1.5e-06]
// VALUES: w: tensor<1xf32> = [-2e-06]
// SMALL: grad_norm: tensor<f32> = 5
// SMALL: v: tensor<1xf32> = [-3]
// SMALL: w: tensor<1xf32> = [-4]
func.func @train(%v: tensor<1xf32> {tg.param = #tg.param<"v", #tg.init<zeros>>}, %w: tensor<1xf32> {tg.param = #tg.param<"w", #tg.init<zeros>>},
                 %gv: tensor<1xf32> {tg.input = "gv"}, %gw: tensor<1xf32> {tg.input = "gw"})
    -> (tensor<1xf32> {tg.grad_of = "v"}, tensor<1xf32> {tg.grad_of = "w"}) {
  return %gv, %gw : tensor<1xf32>, tensor<1xf32>
}
