// Accumulators of partial sums where tensor parallelism has sharded a gradient that nothing
// says how to keep: it is gathered, and stays partial over the batch's axis until the
// last microbatch.
//
// RUN: braid-opt %s --pass-pipeline="builtin.module(func.func(tg-rebatch{factor=2}),tg-make-programs{programs=train},tg-split-loss,tg-differentiate{function=train},tg-accumulate,func.func(tg-apply-optimizer{optimizer=sgd}),comm-annotate{layout='mesh dp = 2, tp = 2; w1: {tp} {}'},tg-derive-facts,comm-data-parallel{axes=dp},comm-shard)" | FileCheck %s
// RUN: braid-interp %s --compare --function=train --reference-pipeline="func.func(tg-rebatch{factor=2}),tg-make-programs{programs=train},tg-split-loss,tg-differentiate{function=train},tg-accumulate,func.func(tg-apply-optimizer{optimizer=sgd})" --pipeline="func.func(tg-rebatch{factor=2}),tg-make-programs{programs=train},tg-split-loss,tg-differentiate{function=train},tg-accumulate,func.func(tg-apply-optimizer{optimizer=sgd}),comm-annotate{layout='mesh dp = 2, tp = 2; w1: {tp} {}'},tg-derive-facts,comm-data-parallel{axes=dp},comm-shard"
//
// CHECK-LABEL: func.func @accumulate(
// CHECK: %[[DW2:.*]] = tg.contract {{.*}} -> tensor<3x2xf32>
// CHECK: %[[SUM:.*]] = arith.addf %{{.*}}, %[[DW2]] : tensor<3x2xf32>
// CHECK: comm.all_gather %[[SUM]] dims [1] over @mesh {tp} : (tensor<3x2xf32>) -> tensor<3x4xf32>
// CHECK-NOT: over @mesh {dp}
// CHECK: return
func.func @model(%x: tensor<8x6xf32> {tg.input = "x", tg.role = #tg.role<features>},
                 %t: tensor<8x3xf32> {tg.input = "t", tg.role = #tg.role<labels>},
                 %w1: tensor<4x6xf32> {tg.param = #tg.param<"w1", #tg.init<normal, 0.0, 0.5>>},
                 %w2: tensor<3x4xf32> {tg.param = #tg.param<"w2", #tg.init<normal, 0.0, 0.5>>})
    -> (tensor<f32> {tg.role = #tg.role<loss>}) {
  %h = tg.contract "bi,oi->bo" %x, %w1 : (tensor<8x6xf32>, tensor<4x6xf32>) -> tensor<8x4xf32>
  %y = tg.contract "bi,oi->bo" %h, %w2 : (tensor<8x4xf32>, tensor<3x4xf32>) -> tensor<8x3xf32>
  %d = arith.subf %y, %t : tensor<8x3xf32>
  %q = arith.mulf %d, %d : tensor<8x3xf32>
  %loss = tg.reduce mean %q dims [0, 1] : tensor<8x3xf32> -> tensor<f32>
  return %loss : tensor<f32>
}
