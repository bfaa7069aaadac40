// In training a GELU's input is needed again: the library keeps it beside the
// activation, and takes the gradient there, where the target has both.
// RUN: braid-opt %s --exec-set-target=name=cuda --exec-select-epilogues | FileCheck %s
// RUN: braid-opt %s --exec-select-epilogues | FileCheck %s --check-prefix=CPU
// RUN: braid-interp %s --compare --function=mlp --pipeline="exec-set-target{name=cuda},func.func(exec-select-epilogues)"
// RUN: braid-interp %s --compare --function=mlp --pipeline="exec-set-target{name=cuda},func.func(exec-select-epilogues,tg-decompose,exec-select-calls,exec-form-kernels,exec-fuse-kernels),exec-verify-values,exec-plan-memory,exec-outline-kernels,exec-batch-launches,exec-verify-plan,exec-verify-memory"

// CHECK-LABEL: @mlp
// CHECK:         %[[Y:.*]]:2 = exec.matmul "bsd,fd->bsf"(%arg0, %arg1 bias %arg2 : tensor<16xf32>) epilogue gelu_tanh : {{.*}} -> tensor<2x4x16xf32>, tensor<2x4x16xf32>
// CHECK-NOT:     tg.gelu
// CHECK:         %[[D:.*]] = exec.matmul "bsd,df->bsf"(%arg4, %arg3 aux %[[Y]]#1 : tensor<2x4x16xf32>) epilogue gelu_tanh_grad
// CHECK-NOT:     tg.gelu_grad
// CHECK:         return %[[Y]]#0, %[[D]]
// CPU-LABEL: @mlp
// CPU-NOT:     exec.matmul
// CPU:         tg.gelu_grad
func.func @mlp(%x: tensor<2x4x8xf32>, %w: tensor<16x8xf32>, %b: tensor<16xf32>, %v: tensor<8x16xf32>, %dz: tensor<2x4x8xf32>)
    -> (tensor<2x4x16xf32>, tensor<2x4x16xf32>) {
  %h = tg.contract "bsd,fd->bsf" %x, %w : (tensor<2x4x8xf32>, tensor<16x8xf32>) -> tensor<2x4x16xf32>
  %r = tg.broadcast %b dims [2] : tensor<16xf32> -> tensor<2x4x16xf32>
  %s = arith.addf %h, %r : tensor<2x4x16xf32>
  %y = tg.gelu tanh %s : tensor<2x4x16xf32>
  %dy = tg.contract "bsd,df->bsf" %dz, %v : (tensor<2x4x8xf32>, tensor<8x16xf32>) -> tensor<2x4x16xf32>
  %ds = tg.gelu_grad tanh %s, %dy : tensor<2x4x16xf32>
  return %y, %ds : tensor<2x4x16xf32>, tensor<2x4x16xf32>
}

// The gradient before it is read twice: GELU alone.
// CHECK-LABEL: @shared
// CHECK:         %[[Y:.*]]:2 = exec.matmul
// CHECK:         %[[DY:.*]] = tg.contract
// CHECK:         tg.gelu_grad tanh %[[Y]]#1, %[[DY]]
func.func @shared(%x: tensor<4x8xf32>, %w: tensor<16x8xf32>, %v: tensor<8x16xf32>, %dz: tensor<4x8xf32>)
    -> (tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x16xf32>) {
  %s = tg.contract "bd,fd->bf" %x, %w : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
  %y = tg.gelu tanh %s : tensor<4x16xf32>
  %dy = tg.contract "bd,df->bf" %dz, %v : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %ds = tg.gelu_grad tanh %s, %dy : tensor<4x16xf32>
  return %y, %dy, %ds : tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x16xf32>
}

// Not in the library: another form of GELU, rows of 12 elements, a batch of GEMMs.
// CHECK-LABEL: @others
// CHECK-NOT:     exec.matmul
// CHECK:         tg.gelu erf
// CHECK-NOT:     exec.matmul
// CHECK:         tg.gelu tanh
// CHECK-NOT:     exec.matmul
// CHECK:         tg.gelu tanh
func.func @others(%x: tensor<4x8xf32>, %w: tensor<16x8xf32>, %u: tensor<12x8xf32>, %p: tensor<3x4x8xf32>, %q: tensor<3x16x8xf32>)
    -> (tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x12xf32>, tensor<4x12xf32>, tensor<3x4x16xf32>, tensor<3x4x16xf32>) {
  %h0 = tg.contract "bd,fd->bf" %x, %w : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
  %y0 = tg.gelu erf %h0 : tensor<4x16xf32>
  %h1 = tg.contract "bd,fd->bf" %x, %u : (tensor<4x8xf32>, tensor<12x8xf32>) -> tensor<4x12xf32>
  %y1 = tg.gelu tanh %h1 : tensor<4x12xf32>
  %h2 = tg.contract "ebd,efd->ebf" %p, %q : (tensor<3x4x8xf32>, tensor<3x16x8xf32>) -> tensor<3x4x16xf32>
  %y2 = tg.gelu tanh %h2 : tensor<3x4x16xf32>
  return %h0, %y0, %h1, %y1, %h2, %y2 : tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x12xf32>, tensor<4x12xf32>, tensor<3x4x16xf32>, tensor<3x4x16xf32>
}
