// Backward computes again what forward would save in more bytes, where a call is between them.
// RUN: braid-opt %s --tg-decompose --exec-select-calls --exec-form-kernels --exec-fuse-kernels --exec-verify-values | FileCheck %s

// CHECK-LABEL: @train
// CHECK: %[[SUM:.*]]:2 = exec.kernel {{.*}}(%arg0, %arg1) {{.*}} -> (tensor<4x8xbf16>, tensor<4x8xbf16>)
// CHECK: %[[DY:.*]] = exec.matmul
// CHECK: exec.kernel {{.*}}({{.*}}%[[SUM]]#0{{.*}}
// CHECK-NOT: exec.kernel
func.func @train(%x: tensor<4x8xbf16>, %r: tensor<4x8xbf16>, %w: tensor<8x8xbf16>) -> tensor<4x8xf32> {
  %h = arith.addf %x, %r : tensor<4x8xbf16> loc(#forward)
  %y = math.tanh %h : tensor<4x8xbf16> loc(#forward)
  %dy = tg.contract "bi,oi->bo" %y, %w : (tensor<4x8xbf16>, tensor<8x8xbf16>) -> tensor<4x8xf32> loc(#forward)
  %wide = tg.convert %h : tensor<4x8xbf16> -> tensor<4x8xf32> loc(#backward)
  %e = math.exp %wide : tensor<4x8xf32> loc(#backward)
  %dx = arith.mulf %e, %dy : tensor<4x8xf32> loc(#backward)
  return %dx : tensor<4x8xf32>
}
#forward = loc(fused<#tg.facts<forward>>["layer"])
#backward = loc(fused<#tg.facts<backward>>["layer"])
