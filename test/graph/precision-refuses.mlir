// What passes of precision refuse.
//
// RUN: split-file %s %t
// RUN: not braid-opt %t/order.mlir --tg-mixed-precision 2>&1 | FileCheck %s --check-prefix=ORDER
// RUN: not braid-opt %t/order.mlir --tg-mixed-precision=keep-f32=matmuls 2>&1 | FileCheck %s --check-prefix=KIND
// RUN: not braid-opt %t/order.mlir --tg-gradient-precision=type=f16 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not braid-opt %t/order.mlir --comm-reduce-precision=type=f16 2>&1 | FileCheck %s --check-prefix=REDUCE
// RUN: not braid-opt %t/master.mlir --tg-working-copies 2>&1 | FileCheck %s --check-prefix=MASTER
//
// ORDER: error: result #0 is a gradient already; run tg-mixed-precision before tg-differentiate
// KIND: error: tg-mixed-precision: unknown kind of op 'matmuls' in keep-f32 (kinds: sources, movement, conversions, contractions, attention, embeddings, elementwise, norms, softmax, reductions, losses, optimizers
// TYPE: error: option 'type' of pass: 'f16' is not valid, expected f32 or bf16
// REDUCE: error: option 'type' of pass: 'f16' is not valid, expected f32 or bf16
// MASTER: error: reads "w" as 'tensor<2xf32>', but another op reads it as 'tensor<2xbf16>', and no program updates it, so it has no master to copy from; run tg-working-copies after tg-apply-optimizer

//--- order.mlir
func.func @f(%w: tensor<2xf32> {tg.param = #tg.param<"w", #tg.init<ones>>}) -> (tensor<2xf32> {tg.grad_of = "w"}) {
  return %w : tensor<2xf32>
}

//--- master.mlir
func.func @f(%w: tensor<2xf32> {tg.param = #tg.param<"w", #tg.init<ones>>}) -> (tensor<2xbf16>, tensor<2xf32>) {
  %n = tg.convert %w : tensor<2xf32> -> tensor<2xbf16>
  %m = arith.mulf %w, %w : tensor<2xf32>
  return %n, %m : tensor<2xbf16>, tensor<2xf32>
}
