// The same actions are given twice, before differentiation and behind it.
// RUN: braid-opt %s --pass-pipeline="builtin.module(func.func(tg-mark-units),tg-make-programs,tg-attach-hooks{at=u.exit,u.exit,u.enter.grad,param:w action=scale:0.5,norm,norm,clip:2 function=train phase=forward},tg-differentiate{function=train},func.func(tg-mark-gradients),tg-attach-hooks{at=u.exit,u.exit,u.enter.grad,param:w action=scale:0.5,norm,norm,clip:2 function=train phase=backward},tg-remove-hooks)" --mlir-print-debuginfo | FileCheck %s
// RUN: not braid-opt %s --pass-pipeline="builtin.module(func.func(tg-mark-units),tg-make-programs,tg-attach-hooks{at=param:v action=norm phase=forward},tg-differentiate{function=train},func.func(tg-mark-gradients),tg-attach-hooks{at=param:v action=norm phase=backward})" 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// UNKNOWN: error: no hook point is called "param:v"; similar: "param:w", "u.enter", "u.exit"

// What is done to the activation is differentiated: its gradient is scaled, too.  What is
// measured of a gradient belongs to backward, of a parameter's gradient to the update.
// CHECK-LABEL: func.func @train
// CHECK-SAME: tg.output = "norm:u.exit"
// CHECK-SAME: tg.output = "norm:u.enter.grad"
// CHECK: %[[Y:.*]] = arith.mulf %{{.*}}, %{{.*}} : tensor<3xf32> loc(#[[FORWARD:.*]])
// CHECK: %[[SCALED:.*]] = arith.mulf %[[Y]], %{{.*}} : tensor<3xf32> loc(#[[FORWARD]])
// CHECK: arith.mulf %[[SCALED]], %[[SCALED]] : tensor<3xf32> loc(#[[FORWARD]])
// CHECK: math.sqrt %{{.*}} : tensor<f32> loc(#[[FORWARD]])
// CHECK: %[[DY:.*]] = arith.mulf %{{.*}}, %{{.*}} : tensor<3xf32> loc(#[[BACKWARD:.*]])
// CHECK: arith.minimumf %{{.*}} loc(#[[UPDATE:.*]])
// CHECK: math.sqrt %{{.*}} : tensor<f32> loc(#[[MEASURED:.*]])

// Evaluation sees what is done to activations, but reports nothing.
// CHECK-LABEL: func.func @eval
// CHECK-NOT: tg.output
// CHECK: arith.mulf
// CHECK: arith.mulf
// CHECK-NOT: math.sqrt
// CHECK: return
// CHECK-DAG: #[[FORWARD]] = loc(fused<#tg.facts<forward, unit = "u">>
// CHECK-DAG: #[[BACKWARD]] = loc(fused<#tg.facts<backward, unit = "u">>
// CHECK-DAG: #[[UPDATE]] = loc(fused<#tg.facts<update, unit = "u">>
// CHECK-DAG: #[[MEASURED]] = loc(fused<#tg.facts<backward>>
func.func @model(%w: tensor<3xf32> {tg.param = #tg.param<"w", #tg.init<ones>, unit = "u">},
                 %x: tensor<3xf32> {tg.input = "x", tg.role = #tg.role<features>, tg.grad}) -> (tensor<f32> {tg.role = #tg.role<loss>}) {
  %y = arith.mulf %x, %w : tensor<3xf32>
  %loss = tg.reduce sum %y dims [0] : tensor<3xf32> -> tensor<f32>
  return %loss : tensor<f32>
}
