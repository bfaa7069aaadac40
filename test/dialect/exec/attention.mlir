// RUN: braid-opt %s | braid-opt | FileCheck %s

// CHECK-LABEL: func @values
// CHECK: %[[O:.*]]:2 = exec.attention(%{{.*}}, %{{.*}}, %{{.*}}) scale 2.500000e-01 causal : (tensor<2x8x4x8xbf16>, tensor<2x8x2x8xbf16>, tensor<2x8x2x8xbf16>) -> tensor<2x8x4x8xbf16>, tensor<2x4x8xf32>
// CHECK: exec.attention_grad(%{{.*}}, %{{.*}}, %{{.*}}, %[[O]]#0, %[[O]]#1, %{{.*}}) scale 2.500000e-01 causal
// CHECK-SAME: -> tensor<2x8x4x8xbf16>, tensor<2x8x2x8xbf16>, tensor<2x8x2x8xbf16>
func.func @values(%q: tensor<2x8x4x8xbf16>, %k: tensor<2x8x2x8xbf16>, %v: tensor<2x8x2x8xbf16>, %do: tensor<2x8x4x8xbf16>)
    -> tensor<2x8x4x8xbf16> {
  %o, %lse = exec.attention(%q, %k, %v) scale 0.25 causal
      : (tensor<2x8x4x8xbf16>, tensor<2x8x2x8xbf16>, tensor<2x8x2x8xbf16>) -> tensor<2x8x4x8xbf16>, tensor<2x4x8xf32>
  %dq, %dk, %dv = exec.attention_grad(%q, %k, %v, %o, %lse, %do) scale 0.25 causal
      : (tensor<2x8x4x8xbf16>, tensor<2x8x2x8xbf16>, tensor<2x8x2x8xbf16>, tensor<2x8x4x8xbf16>, tensor<2x4x8xf32>, tensor<2x8x4x8xbf16>)
      -> tensor<2x8x4x8xbf16>, tensor<2x8x2x8xbf16>, tensor<2x8x2x8xbf16>
  return %dq : tensor<2x8x4x8xbf16>
}

// CHECK-LABEL: func @orders
// CHECK: exec.attention_grad({{.*}}) scale 2.500000e-01 causal :
// CHECK: exec.attention_grad({{.*}}) scale 2.500000e-01 causal order any :
// CHECK: exec.attention_grad({{.*}}) scale 2.500000e-01 order serial :
// CHECK: exec.attention_grad({{.*}}) scale 2.500000e-01 causal tiles :
func.func @orders(%q: tensor<2x8x4x8xbf16>, %lse: tensor<2x4x8xf32>) {
  %0:3 = exec.attention_grad(%q, %q, %q, %q, %lse, %q) scale 0.25 causal order fixed
      : (tensor<2x8x4x8xbf16>, tensor<2x8x4x8xbf16>, tensor<2x8x4x8xbf16>, tensor<2x8x4x8xbf16>, tensor<2x4x8xf32>, tensor<2x8x4x8xbf16>)
      -> tensor<2x8x4x8xbf16>, tensor<2x8x4x8xbf16>, tensor<2x8x4x8xbf16>
  %1:3 = exec.attention_grad(%q, %q, %q, %q, %lse, %q) scale 0.25 causal order any
      : (tensor<2x8x4x8xbf16>, tensor<2x8x4x8xbf16>, tensor<2x8x4x8xbf16>, tensor<2x8x4x8xbf16>, tensor<2x4x8xf32>, tensor<2x8x4x8xbf16>)
      -> tensor<2x8x4x8xbf16>, tensor<2x8x4x8xbf16>, tensor<2x8x4x8xbf16>
  %2:3 = exec.attention_grad(%q, %q, %q, %q, %lse, %q) scale 0.25 order serial
      : (tensor<2x8x4x8xbf16>, tensor<2x8x4x8xbf16>, tensor<2x8x4x8xbf16>, tensor<2x8x4x8xbf16>, tensor<2x4x8xf32>, tensor<2x8x4x8xbf16>)
      -> tensor<2x8x4x8xbf16>, tensor<2x8x4x8xbf16>, tensor<2x8x4x8xbf16>
  %3:3 = exec.attention_grad(%q, %q, %q, %q, %lse, %q) scale 0.25 causal tiles order fixed
      : (tensor<2x8x4x8xbf16>, tensor<2x8x4x8xbf16>, tensor<2x8x4x8xbf16>, tensor<2x8x4x8xbf16>, tensor<2x4x8xf32>, tensor<2x8x4x8xbf16>)
      -> tensor<2x8x4x8xbf16>, tensor<2x8x4x8xbf16>, tensor<2x8x4x8xbf16>
  return
}

// CHECK-LABEL: exec.program @memory
// CHECK: exec.attention(%{{.*}}, %{{.*}}, %{{.*}}) outs(%{{.*}}, %{{.*}} : !exec.ref<1x2x1x8xbf16, [16, 8, 8, 1]>, !exec.ref<1x1x2xf32, [2, 2, 1]>) scale 1.000000e+00 :
exec.program @memory arena 512 {
  exec.buffer @x at 0 bytes 64 live -1 to 0 category inputs name "x" "input" role "x" : tensor<1x2x1x8xbf16>
  exec.buffer @o at 64 bytes 64 live 0 to 1 category activations name "o"
  exec.buffer @lse at 128 bytes 64 live 0 to 1 category activations name "lse"
  %x = exec.ref @x + 0 : !exec.ref<1x2x1x8xbf16, [16, 8, 8, 1]>
  %o = exec.ref @o + 0 : !exec.ref<1x2x1x8xbf16, [16, 8, 8, 1]>
  %lse = exec.ref @lse + 0 : !exec.ref<1x1x2xf32, [2, 2, 1]>
  exec.attention(%x, %x, %x) outs(%o, %lse : !exec.ref<1x2x1x8xbf16, [16, 8, 8, 1]>, !exec.ref<1x1x2xf32, [2, 2, 1]>) scale 1.0
      : (!exec.ref<1x2x1x8xbf16, [16, 8, 8, 1]>, !exec.ref<1x2x1x8xbf16, [16, 8, 8, 1]>, !exec.ref<1x2x1x8xbf16, [16, 8, 8, 1]>)
}
