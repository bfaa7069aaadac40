// RUN: braid-opt %s --tg-differentiate --tg-mark-gradients | FileCheck %s --check-prefix=BACK
// RUN: braid-opt %s --tg-differentiate --tg-mark-gradients --tg-attach-hooks="at=x.grad,x.grad,x.grad action=scale:0.5,norm,clip:1.0" --tg-attach-hooks="at=param:w action=keep" | FileCheck %s --check-prefix=ATTACH
// RUN: braid-opt %s --tg-remove-hooks | FileCheck %s --check-prefix=NONE
// RUN: braid-opt %s --tg-differentiate --tg-mark-gradients --tg-remove-hooks="at=x.grad" | FileCheck %s --check-prefix=SOME
// RUN: not braid-opt %s --tg-attach-hooks="at=y action=norm" 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not braid-opt %s --tg-remove-hooks="at=y" 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not braid-opt %s --tg-remove-hooks --tg-remove-hooks="at=y" 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: not braid-opt %s --tg-attach-hooks="at=x action=double" 2>&1 | FileCheck %s --check-prefix=ACTION
// RUN: not braid-opt %s --tg-attach-hooks="at=x action=clip:-1" 2>&1 | FileCheck %s --check-prefix=ACTION
// RUN: not braid-opt %s --tg-attach-hooks="at=x action=norm,keep" 2>&1 | FileCheck %s --check-prefix=PAIRS

// RUN: not braid-opt %s --tg-attach-hooks="at=x action=norm phase=update" 2>&1 | FileCheck %s --check-prefix=PHASE

// PHASE: error: option 'phase' of pass: 'update' is not valid, expected all, forward or backward
// UNKNOWN: error: no hook point is called "y"; similar: "x"
// EMPTY: error: no hook point is called "y"; the module has no hook points
// ACTION: error: unknown action '{{double|clip:-1}}' at "x"; expected scale:F, clip:F with F above 0, norm or keep
// PAIRS: error: at= names 1 points but action= gives 2 actions; each point needs one

// BACK: tg.hook %{{.*}} "x" order 0
// BACK: tg.hook %{{.*}} "x.grad" order 0
// BACK: tg.hook %{{.*}} "param:w" order 0

// The actions at a point follow one another: the norm is that of the scaled
// gradient, before it is clipped.
// ATTACH: func.func @f
// ATTACH-SAME: tensor<f32> {tg.output = "norm:x.grad"}, tensor<3xf32> {tg.output = "keep:param:w"})
// ATTACH: tg.hook %{{.*}} "x" order 0
// ATTACH: %[[ADDED:.*]] = arith.addf
// ATTACH: %[[SCALED:.*]] = arith.mulf %[[ADDED]], %{{.*}} : tensor<3xf32>
// ATTACH-NEXT: %[[SQUARES:.*]] = arith.mulf %[[SCALED]], %[[SCALED]]
// ATTACH: %[[NORM:.*]] = math.sqrt
// ATTACH: arith.mulf %[[SCALED]], %[[SCALED]]
// ATTACH: %[[FACTOR:.*]] = arith.minimumf
// ATTACH: %[[SPREAD:.*]] = tg.broadcast %[[FACTOR]] dims []
// ATTACH: %[[CLIPPED:.*]] = arith.mulf %[[SCALED]], %[[SPREAD]]
// ATTACH: tg.hook %[[CLIPPED]] "x.grad" order 0
// ATTACH: return %{{.*}}, %{{.*}}, %[[NORM]], %{{.*}} :

// NONE-NOT: tg.hook

// SOME: tg.hook %{{.*}} "x" order 0
// SOME-NOT: x.grad
// SOME: tg.hook %{{.*}} "param:w" order 0
func.func @f(%w: tensor<3xf32> {tg.param = #tg.param<"w", #tg.init<zeros>>}) -> (tensor<f32> {tg.role = #tg.role<loss>}) {
  %x = tg.hook %w "x" order 0 : tensor<3xf32>
  %y = arith.mulf %x, %x : tensor<3xf32>
  %loss = tg.reduce sum %y dims [0] : tensor<3xf32> -> tensor<f32>
  return %loss : tensor<f32>
}
