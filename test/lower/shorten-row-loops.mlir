// Found by what kernels compute: a sum of exponentials beside its maximum, a sum that is one lane
// of an operand, exponentials that are rounded to bf16.  The body means the same.
// DEFINE: %{memory} = exec-set-target{name=cuda},func.func(tg-decompose,exec-select-calls,exec-form-kernels,exec-fuse-kernels),exec-plan-memory,exec-outline-kernels
// RUN: braid-opt %s --pass-pipeline="builtin.module(%{memory},exec-shorten-row-loops)" | FileCheck %s
// RUN: braid-interp %s --compare --function=loss --pipeline="%{memory},exec-shorten-row-loops,exec-verify-plan,exec-verify-memory"

// Each can be left alone.
// RUN: braid-opt %s --pass-pipeline="builtin.module(%{memory},exec-shorten-row-loops{online=false picked=false approximate=false})" | FileCheck %s --check-prefix=NONE
// NONE-NOT: {{exec.online|exec.picked|afn}}

// On the CPU a loop for each takes less time.
// RUN: braid-opt %s --pass-pipeline="builtin.module(func.func(tg-decompose,exec-select-calls,exec-form-kernels,exec-fuse-kernels),exec-plan-memory,exec-outline-kernels,exec-shorten-row-loops)" | FileCheck %s --check-prefix=CPU
// CPU-NOT: exec.online
// CPU: exec.picked
// CPU-NOT: exec.online
// CPU: math.exp %{{[^ ]*}} fastmath<afn> : f32
// CPU-NOT: exec.online

// CHECK-LABEL: exec.kernel_def @cross_entropy space [4, 300]
// CHECK: arith.maximumf
// CHECK: math.exp %{{[^ ]*}} fastmath<afn> : f32
// CHECK: exec.dims = array<i64: 0, 1>, exec.online} {
// CHECK: exec.dims = array<i64: 0, 1>, exec.picked} {
func.func @loss(%x: tensor<4x300xf32>, %y: tensor<4xi32>) -> tensor<f32> {
  %loss, %lse = tg.cross_entropy mean %x, %y ignore -100 : (tensor<4x300xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
  return %loss : tensor<f32>
}

// Registers keep the exponentials of a short row for the division; a long one has them anew.
// CHECK-LABEL: exec.kernel_def @{{.*}} space [2, 300] layouts
// CHECK: math.exp %{{[^ ]*}} : f32
// CHECK-NOT: exec.online
// CHECK-LABEL: exec.kernel_def @{{.*}} space [2, 20000] layouts
// CHECK: math.exp %{{[^ ]*}} : f32
// CHECK: exec.online
func.func @softmax(%x: tensor<2x300xf32>) -> tensor<2x300xf32> {
  %0 = tg.softmax %x : tensor<2x300xf32>
  return %0 : tensor<2x300xf32>
}
func.func @long(%x: tensor<2x20000xf32>) -> tensor<2x20000xf32> {
  %0 = tg.softmax %x : tensor<2x20000xf32>
  return %0 : tensor<2x20000xf32>
}

// What is rounded to bf16 at the end.
// CHECK-LABEL: exec.kernel_def @{{.*}} space [2, 300] layouts
// CHECK: math.exp %{{[^ ]*}} fastmath<afn> : f32
func.func @half(%x: tensor<2x300xf32>) -> tensor<2x300xbf16> {
  %0 = tg.softmax %x : tensor<2x300xf32>
  %1 = tg.convert %0 : tensor<2x300xf32> -> tensor<2x300xbf16>
  return %1 : tensor<2x300xbf16>
}

// So is tanh, but not where something else reads it in f32.
// CHECK-LABEL: exec.kernel_def @{{.*}} space [1] flat
// CHECK: math.tanh %{{[^ ]*}} fastmath<afn> : f32
// CHECK-LABEL: exec.kernel_def @{{.*}} space [1] flat
// CHECK: math.tanh %{{[^ ]*}} : f32
func.func @half_tanh(%x: tensor<7x5xf32>) -> tensor<7x5xbf16> {
  %0 = math.tanh %x : tensor<7x5xf32>
  %1 = arith.mulf %0, %0 : tensor<7x5xf32>
  %2 = tg.convert %1 : tensor<7x5xf32> -> tensor<7x5xbf16>
  return %2 : tensor<7x5xbf16>
}
func.func @both_tanh(%x: tensor<7x9xf32>) -> (tensor<7x9xbf16>, tensor<7x9xf32>) {
  %0 = math.tanh %x : tensor<7x9xf32>
  %1 = tg.convert %0 : tensor<7x9xf32> -> tensor<7x9xbf16>
  return %1, %0 : tensor<7x9xbf16>, tensor<7x9xf32>
}

// A sum of exp(x - m) where m is the maximum of y is another sum.
// CHECK-LABEL: exec.kernel_def @{{.*}} space [1, 310] flat layouts
// CHECK-NOT: exec.online
// CHECK: exec.yield
func.func @other(%x: tensor<2x310xf32>, %y: tensor<2x310xf32>) -> tensor<2xf32> {
  %m = tg.reduce max %y dims [1] : tensor<2x310xf32> -> tensor<2xf32>
  %b = tg.broadcast %m dims [0] : tensor<2xf32> -> tensor<2x310xf32>
  %d = arith.subf %x, %b : tensor<2x310xf32>
  %e = math.exp %d : tensor<2x310xf32>
  %s = tg.reduce sum %e dims [1] : tensor<2x310xf32> -> tensor<2xf32>
  return %s : tensor<2xf32>
}
