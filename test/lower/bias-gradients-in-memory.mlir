// Gradients of biases beside those of weights compute the same, on values and in memory.
// DEFINE: %{values} = exec-set-target{name=cuda},func.func(exec-select-calls,exec-select-bias-gradients
// DEFINE: %{memory} = %{values},exec-form-kernels,exec-fuse-kernels),exec-verify-values,exec-plan-memory,exec-outline-kernels,exec-batch-launches,exec-verify-plan,exec-verify-memory
// RUN: braid-interp %s --compare --function=bucket --pipeline="%{values})"
// RUN: braid-interp %s --compare --function=bucket --pipeline="%{memory}"
// RUN: braid-interp %s --compare --function=microbatch --pipeline="%{values})"
// RUN: braid-interp %s --compare --function=microbatch --pipeline="%{memory}"
// RUN: braid-interp %s --compare --function=part --pipeline="%{values})"
// RUN: braid-interp %s --compare --function=part --pipeline="%{memory}"
// RUN: braid-interp %s --compare --function=transposed --pipeline="%{values})"
// RUN: braid-interp %s --compare --function=transposed --pipeline="%{memory}"
// RUN: braid-opt %s --pass-pipeline="builtin.module(%{memory})" | FileCheck %s

// The sum lies where it is wanted: behind the weight's gradient, in one tensor.
// CHECK-LABEL: exec.program @bucket
// CHECK:         exec.buffer @[[B:.*]] at {{.*}} bytes 576 {{.*}} name "result0"
// CHECK:         %[[DW:.*]] = exec.ref @[[B]] + 0
// CHECK:         %[[DB:.*]] = exec.ref @[[B]] + 512
// CHECK:         exec.matmul "bd,bf->fd"({{.*}}) outs(%[[DW]], %[[DB]] : {{.*}}) bias_grad rhs
// CHECK-NOT:     exec.launch
func.func @bucket(%x: tensor<4x8xf32> {tg.input = "x"}, %w: tensor<16x8xf32> {tg.input = "w"}, %dz: tensor<4x8xf32> {tg.input = "dz"}) -> tensor<144xf32> {
  %dy = tg.contract "bd,fd->bf" %dz, %w : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
  %dw = tg.contract "bd,bf->fd" %x, %dy : (tensor<4x8xf32>, tensor<4x16xf32>) -> tensor<16x8xf32>
  %db = tg.reduce sum %dy dims [0] : tensor<4x16xf32> -> tensor<16xf32>
  %flat = tg.reshape %dw : tensor<16x8xf32> -> tensor<128xf32>
  %both = tg.concat %flat, %db dim 0 : (tensor<128xf32>, tensor<16xf32>) -> tensor<144xf32>
  return %both : tensor<144xf32>
}

// In bf16, with sums in f32: the weight's adds up in the call, the bias's behind it.
// CHECK-LABEL: exec.program @microbatch
// CHECK:         exec.matmul "bsd,bsf->fd"({{.*}} acc {{.*}}) outs({{.*}}) bias_grad rhs
// CHECK:         exec.launch
func.func @microbatch(%x: tensor<2x4x8xbf16> {tg.input = "x"}, %w: tensor<16x8xbf16> {tg.input = "w"}, %dz: tensor<2x4x8xbf16> {tg.input = "dz"},
                      %sumw: tensor<16x8xf32> {tg.state = #tg.state<"sumw", #tg.init<zeros>, kind = accumulator>}, %sumb: tensor<16xf32> {tg.state = #tg.state<"sumb", #tg.init<zeros>, kind = accumulator>})
    -> (tensor<16x8xf32> {tg.updates = "sumw"}, tensor<16xf32> {tg.updates = "sumb"}) {
  %dy = tg.contract "bsd,fd->bsf" %dz, %w : (tensor<2x4x8xbf16>, tensor<16x8xbf16>) -> tensor<2x4x16xbf16>
  %dw = tg.contract "bsd,bsf->fd" %x, %dy : (tensor<2x4x8xbf16>, tensor<2x4x16xbf16>) -> tensor<16x8xf32>
  %wide = tg.convert %dy : tensor<2x4x16xbf16> -> tensor<2x4x16xf32>
  %db = tg.reduce sum %wide dims [0, 1] : tensor<2x4x16xf32> -> tensor<16xf32>
  %newb = arith.addf %sumb, %db : tensor<16xf32>
  %neww = arith.addf %sumw, %dw : tensor<16x8xf32>
  return %neww, %newb : tensor<16x8xf32>, tensor<16xf32>
}

// What is summed is also part of a larger tensor, in which its rows would be no one dim:
// the call keeps one that is whole.
// CHECK-LABEL: exec.program @part
// CHECK:         exec.matmul "bsd,bsf->fd"(%{{.*}}, %{{.*}}) outs({{.*}}) bias_grad rhs : !exec.ref<2x4x8xf32, [32, 8, 1]>, !exec.ref<2x4x16xf32, [64, 16, 1]>
func.func @part(%x: tensor<2x4x8xf32> {tg.input = "x"}, %w: tensor<16x8xf32> {tg.input = "w"}, %dz: tensor<2x4x8xf32> {tg.input = "dz"}, %other: tensor<2x1x16xf32> {tg.input = "other"})
    -> (tensor<16x8xf32>, tensor<16xf32>, tensor<2x5x16xf32>) {
  %dy = tg.contract "bsd,fd->bsf" %dz, %w : (tensor<2x4x8xf32>, tensor<16x8xf32>) -> tensor<2x4x16xf32>
  %dw = tg.contract "bsd,bsf->fd" %x, %dy : (tensor<2x4x8xf32>, tensor<2x4x16xf32>) -> tensor<16x8xf32>
  %db = tg.reduce sum %dy dims [0, 1] : tensor<2x4x16xf32> -> tensor<16xf32>
  %all = tg.concat %dy, %other dim 1 : (tensor<2x4x16xf32>, tensor<2x1x16xf32>) -> tensor<2x5x16xf32>
  return %dw, %db, %all : tensor<16x8xf32>, tensor<16xf32>, tensor<2x5x16xf32>
}

// A view whose positions stand in another order than in the matmul is one matrix to it as
// it is: made contiguous it would not be.
// CHECK-LABEL: exec.program @transposed
// CHECK-NOT:     exec.launch
// CHECK:         exec.matmul "bsd,sbf->fd"(%{{.*}}, %{{.*}}) outs({{.*}}) bias_grad rhs : !exec.ref<2x4x8xf32, [32, 8, 1]>, !exec.ref<4x2x16xf32, [16, 64, 1]>
func.func @transposed(%x: tensor<2x4x8xf32> {tg.input = "x"}, %dy: tensor<2x4x16xf32> {tg.input = "dy"}) -> (tensor<16x8xf32>, tensor<16xf32>) {
  %turned = tg.transpose %dy [1, 0, 2] : tensor<2x4x16xf32> -> tensor<4x2x16xf32>
  %dw = tg.contract "bsd,sbf->fd" %x, %turned : (tensor<2x4x8xf32>, tensor<4x2x16xf32>) -> tensor<16x8xf32>
  %db = tg.reduce sum %turned dims [0, 1] : tensor<4x2x16xf32> -> tensor<16xf32>
  return %dw, %db : tensor<16x8xf32>, tensor<16xf32>
}
