// RUN: braid-opt --mlir-print-debuginfo --mlir-print-local-scope %s | FileCheck %s

// Facts are the metadata of locations.
// CHECK: arith.addf {{.*}} loc(fused<#tg.facts<forward, unit = "h.0">>["h.0.mlp"])
// CHECK: arith.mulf {{.*}} loc(fused<#tg.facts<backward, unit = "h.1", of = ["b", "w"], as = gradient>>[unknown])
// CHECK: tg.rms_norm {{.*}} loc(fused<[#tg.facts<forward>, #tg.facts<update, of = "w", as = moment>]>["w"])
func.func @f(%a: tensor<4xf32>, %x: tensor<2x4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %a, %a : tensor<4xf32> loc(fused<#tg.facts<forward, unit = "h.0">>["h.0.mlp"])
  %1 = arith.mulf %0, %a : tensor<4xf32> loc(fused<#tg.facts<backward, unit = "h.1", of = ["w", "b", "w"], as = gradient>>[unknown])
  %y, %r = tg.rms_norm %x, %a eps 1.0e-5 : (tensor<2x4xf32>, tensor<4xf32>) -> (tensor<2x4xf32>, tensor<2xf32>) loc(fused<[#tg.facts<forward>, #tg.facts<update, of = "w", as = moment>]>["w"])
  return %1 : tensor<4xf32>
}
