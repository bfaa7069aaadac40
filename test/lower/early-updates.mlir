// An update runs behind the last action that makes its gradient or reads what it overwrites.
// RUN: braid-opt %s --tg-derive-facts --exec-select-calls --exec-form-kernels --exec-early-updates --split-input-file | FileCheck %s
// RUN: braid-interp %s --compare --pipeline=tg-derive-facts,exec-select-calls,exec-form-kernels,exec-early-updates --rtol=0 --seeds=2

// The weight v is read for dy after its gradient is there.
// CHECK-LABEL: @weights
// CHECK: %[[Y:.*]] = exec.matmul {{.*}}(%arg0, %arg1)
// CHECK: %[[Z:.*]] = exec.matmul {{.*}}(%[[Y]], %arg2)
// CHECK: %[[DV:.*]] = exec.matmul {{.*}}(%[[Y]], %[[Z]])
// CHECK-NEXT: %[[DY:.*]] = exec.matmul {{.*}}(%[[Z]], %arg2)
// CHECK-NEXT: exec.kernel {{.*}}(%arg2, %[[DV]])
// CHECK: %[[DW:.*]] = exec.matmul {{.*}}(%arg0, %[[DY]])
// CHECK-NEXT: exec.kernel {{.*}}(%arg1, %[[DW]])
func.func @weights(%x: tensor<4x512xf32> {tg.input = "x"},
                   %w: tensor<512x512xf32> {tg.param = #tg.param<"w", #tg.init<ones>>},
                   %v: tensor<512x512xf32> {tg.param = #tg.param<"v", #tg.init<ones>>})
    -> (tensor<4x512xf32> {tg.role = #tg.role<loss>}, tensor<512x512xf32> {tg.updates = "w"}, tensor<512x512xf32> {tg.updates = "v"}) {
  %y = tg.contract "bk,kn->bn" %x, %w : (tensor<4x512xf32>, tensor<512x512xf32>) -> tensor<4x512xf32>
  %z = tg.contract "bk,kn->bn" %y, %v : (tensor<4x512xf32>, tensor<512x512xf32>) -> tensor<4x512xf32>
  %dv = tg.contract "bk,bn->kn" %y, %z : (tensor<4x512xf32>, tensor<4x512xf32>) -> tensor<512x512xf32>
  %dy = tg.contract "bn,kn->bk" %z, %v : (tensor<4x512xf32>, tensor<512x512xf32>) -> tensor<4x512xf32>
  %dw = tg.contract "bk,bn->kn" %x, %dy : (tensor<4x512xf32>, tensor<4x512xf32>) -> tensor<512x512xf32>
  %w1 = arith.subf %w, %dw : tensor<512x512xf32>
  %v1 = arith.subf %v, %dv : tensor<512x512xf32>
  return %z, %w1, %v1 : tensor<4x512xf32>, tensor<512x512xf32>, tensor<512x512xf32>
}

// -----

// Clipping needs the norm of both: nothing runs before the last matmul.
// CHECK-LABEL: @clipped
// CHECK-NOT: exec.kernel
// CHECK: exec.matmul "bn,kn->bk"
// CHECK-NOT: exec.kernel
// CHECK: exec.matmul "bk,bn->kn"
// CHECK: exec.kernel
func.func @clipped(%x: tensor<4x512xf32> {tg.input = "x"},
                   %w: tensor<512x512xf32> {tg.param = #tg.param<"w", #tg.init<ones>>},
                   %v: tensor<512x512xf32> {tg.param = #tg.param<"v", #tg.init<ones>>})
    -> (tensor<4x512xf32> {tg.role = #tg.role<loss>}, tensor<512x512xf32> {tg.updates = "w"}, tensor<512x512xf32> {tg.updates = "v"}) {
  %y = tg.contract "bk,kn->bn" %x, %w : (tensor<4x512xf32>, tensor<512x512xf32>) -> tensor<4x512xf32>
  %z = tg.contract "bk,kn->bn" %y, %v : (tensor<4x512xf32>, tensor<512x512xf32>) -> tensor<4x512xf32>
  %dv = tg.contract "bk,bn->kn" %y, %z : (tensor<4x512xf32>, tensor<4x512xf32>) -> tensor<512x512xf32>
  %dy = tg.contract "bn,kn->bk" %z, %v : (tensor<4x512xf32>, tensor<512x512xf32>) -> tensor<4x512xf32>
  %dw = tg.contract "bk,bn->kn" %x, %dy : (tensor<4x512xf32>, tensor<4x512xf32>) -> tensor<512x512xf32>
  %sw = arith.mulf %dw, %dw : tensor<512x512xf32>
  %sv = arith.mulf %dv, %dv : tensor<512x512xf32>
  %nw = tg.reduce sum %sw dims [0, 1] : tensor<512x512xf32> -> tensor<f32>
  %nv = tg.reduce sum %sv dims [0, 1] : tensor<512x512xf32> -> tensor<f32>
  %n = arith.addf %nw, %nv : tensor<f32>
  %scale = tg.broadcast %n dims [] : tensor<f32> -> tensor<512x512xf32>
  %cw = arith.divf %dw, %scale : tensor<512x512xf32>
  %cv = arith.divf %dv, %scale : tensor<512x512xf32>
  %w1 = arith.subf %w, %cw : tensor<512x512xf32>
  %v1 = arith.subf %v, %cv : tensor<512x512xf32>
  return %z, %w1, %v1 : tensor<4x512xf32>, tensor<512x512xf32>, tensor<512x512xf32>
}

// -----

// What takes less time than a launch waits for the end of backward.
// CHECK-LABEL: @small
// CHECK: %[[DV:.*]] = exec.matmul "bk,bn->kn"
// CHECK-NEXT: exec.matmul
// CHECK-NEXT: exec.matmul
// CHECK-NEXT: exec.kernel
// CHECK: exec.kernel
func.func @small(%x: tensor<4x16xf32> {tg.input = "x"},
                 %w: tensor<16x16xf32> {tg.param = #tg.param<"w", #tg.init<ones>>},
                 %v: tensor<16x16xf32> {tg.param = #tg.param<"v", #tg.init<ones>>})
    -> (tensor<4x16xf32> {tg.role = #tg.role<loss>}, tensor<16x16xf32> {tg.updates = "w"}, tensor<16x16xf32> {tg.updates = "v"}) {
  %y = tg.contract "bk,kn->bn" %x, %w : (tensor<4x16xf32>, tensor<16x16xf32>) -> tensor<4x16xf32>
  %z = tg.contract "bk,kn->bn" %y, %v : (tensor<4x16xf32>, tensor<16x16xf32>) -> tensor<4x16xf32>
  %dv = tg.contract "bk,bn->kn" %y, %z : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<16x16xf32>
  %dy = tg.contract "bn,kn->bk" %z, %v : (tensor<4x16xf32>, tensor<16x16xf32>) -> tensor<4x16xf32>
  %dw = tg.contract "bk,bn->kn" %x, %dy : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<16x16xf32>
  %w1 = arith.subf %w, %dw : tensor<16x16xf32>
  %v1 = arith.subf %v, %dv : tensor<16x16xf32>
  return %z, %w1, %v1 : tensor<4x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
}
