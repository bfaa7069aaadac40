// RUN: braid-opt --mlir-print-debuginfo --mlir-print-local-scope %s | FileCheck %s

// Facts are the metadata of locations.
// CHECK: arith.addf {{.*}} loc(fused<#tg.facts<forward, unit = "h.0">>["h.0.mlp"])
// CHECK: arith.mulf {{.*}} loc(fused<#tg.facts<backward, unit = ["h.0", "h.1"], of = ["b", "w"], as = gradient>>[unknown])
// CHECK: arith.subf {{.*}} loc(fused<#tg.facts<update, of = "w", as = [parameter, moment]>>["w"])
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %a, %a : tensor<4xf32> loc(fused<#tg.facts<forward, unit = "h.0">>["h.0.mlp"])
  %1 = arith.mulf %0, %a : tensor<4xf32> loc(fused<#tg.facts<backward, unit = ["h.1", "h.0"], of = ["w", "b", "w"], as = gradient>>[unknown])
  %2 = arith.subf %1, %a : tensor<4xf32> loc(fused<#tg.facts<update, of = "w", as = [moment, parameter]>>["w"])
  return %2 : tensor<4xf32>
}
