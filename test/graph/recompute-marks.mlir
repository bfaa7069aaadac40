// `tg.kept` on an op of forward decides before the policy.
// DEFINE: %{opt} = braid-opt %s --split-input-file --tg-derive-facts
// DEFINE: %{passes} = --tg-verify-replays --tg-finish-replays
// RUN: %{opt} --tg-recompute %{passes} 2>/dev/null | FileCheck %s --check-prefixes=ALL,NONE --implicit-check-not=tg.kept
// RUN: %{opt} --tg-recompute=policy=full %{passes} 2>/dev/null | FileCheck %s --check-prefixes=ALL,FULL --implicit-check-not=tg.kept
// RUN: sed 's/%e {tg.kept = true}/%e {tg.kept = false}/' %s | not braid-opt --tg-derive-facts --tg-recompute 2>&1 | FileCheck %s --check-prefix=CANNOT
// RUN: sed 's/tg.kept = true/tg.kept = 1/' %s | not braid-opt 2>&1 | FileCheck %s --check-prefix=TYPE
// CANNOT: error: 'a/sin' of @train cannot be recomputed: another unit reads it
// TYPE: error: 'math.sin' op has 'tg.kept' = 1 : i64, which must be true or false

// exp is computed again under any policy. sin is kept, and only cos depends on the policy.
// ALL-LABEL: func.func @train
// NONE-COUNT-2: math.exp
// FULL-COUNT-2: math.exp
// ALL-NOT: math.exp
func.func @train(%x: tensor<4xf32> {tg.input = "x", tg.role = #tg.role<features>},
                 %w: tensor<4xf32> {tg.param = #tg.param<"w", #tg.init<ones>, unit = "a">},
                 %v: tensor<4xf32> {tg.param = #tg.param<"v", #tg.init<ones>, unit = "b">})
    -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<4xf32> {tg.grad_of = "w"}) {
  %a = arith.mulf %x, %w : tensor<4xf32>
  %e = math.exp %a {tg.kept = false} : tensor<4xf32>
  %s = math.sin %e {tg.kept = true} : tensor<4xf32>
  %b = arith.mulf %s, %v : tensor<4xf32>
  %l = tg.reduce sum %b dims [0] : tensor<4xf32> -> tensor<f32>
  %d = arith.mulf %e, %x : tensor<4xf32>
  %g = arith.mulf %d, %s : tensor<4xf32>
  return %l, %g : tensor<f32>, tensor<4xf32>
}
