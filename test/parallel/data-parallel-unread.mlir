// A parameter that the loss does not depend on has no gradient: it is part of no
// reduction, not of the norm, of no accumulator and of no unit, and nothing updates it. From
// ZeRO-1 on it lies in shards all the same.
//
// RUN: braid-opt %s --tg-differentiate --tg-apply-optimizer="hyperparameters=weight_decay=0.1 clip=0.1" --tg-derive-facts --comm-data-parallel="axes=dp zero=0" --comm-shard 2>/dev/null | FileCheck %s --check-prefixes=ALL,WHOLE --implicit-check-not="= comm.all" --implicit-check-not="tg.update {{.*}} : (tensor<32xf32>"
// RUN: braid-opt %s --tg-differentiate --tg-apply-optimizer="hyperparameters=weight_decay=0.1 clip=0.1" --tg-derive-facts --comm-data-parallel="axes=dp zero=1" --comm-shard 2>/dev/null | FileCheck %s --check-prefixes=ALL,CUT --implicit-check-not="(tensor<8xf32>)" --implicit-check-not="= comm.reduce" --implicit-check-not="tg.update {{.*}} : (tensor<8xf32>"
// RUN: braid-opt %s --tg-differentiate --tg-apply-optimizer="hyperparameters=weight_decay=0.1 clip=0.1" --tg-derive-facts --comm-data-parallel="axes=dp zero=2" --comm-shard 2>/dev/null | FileCheck %s --check-prefixes=ALL,CUT --implicit-check-not="(tensor<8xf32>)" --implicit-check-not="= comm.reduce" --implicit-check-not="tg.update {{.*}} : (tensor<8xf32>"
// RUN: braid-opt %s --tg-differentiate --tg-apply-optimizer="hyperparameters=weight_decay=0.1 clip=0.1" --tg-derive-facts --comm-data-parallel="axes=dp zero=3" --comm-shard 2>/dev/null | FileCheck %s --check-prefixes=ALL,CUT --implicit-check-not="(tensor<8xf32>)" --implicit-check-not="= comm.reduce" --implicit-check-not="tg.update {{.*}} : (tensor<8xf32>"
// RUN: braid-interp %s --compare --set step=1 --reference-pipeline="tg-differentiate,tg-apply-optimizer{hyperparameters=weight_decay=0.1 clip=0.1}" --pipeline="tg-differentiate,tg-apply-optimizer{hyperparameters=weight_decay=0.1 clip=0.1},tg-derive-facts,comm-data-parallel{axes=dp zero=2},comm-shard" | FileCheck %s --check-prefix=SAME
// RUN: braid-interp %s --compare --set step=1 --reference-pipeline="tg-differentiate,tg-apply-optimizer{hyperparameters=weight_decay=0.1 clip=0.1}" --pipeline="tg-differentiate,tg-apply-optimizer{hyperparameters=weight_decay=0.1 clip=0.1},tg-derive-facts,comm-data-parallel{axes=dp zero=3},comm-shard,comm-gather-units" | FileCheck %s --check-prefix=SAME
// SAME: results agree

// ALL: func.func @model(
// WHOLE-SAME: tensor<32xf32> {tg.param = #tg.param<"unread"
// CUT-SAME: tensor<8xf32> {comm.global = tensor<32xf32>, comm.sharding = #comm.sharding<@mesh, {}, flat {dp}>, tg.param = #tg.param<"unread"
// WHOLE: comm.all_reduce mean %{{[^ ]+}} over @mesh {dp} : (tensor<f32>)
// WHOLE: comm.all_reduce sum %{{[^ ]+}} over @mesh {dp} : (tensor<6xf32>)
// CUT: comm.reduce_scatter sum %{{[^ ]+}} dims [flat] over @mesh {dp} : (tensor<6xf32>)
// ALL: return
comm.mesh @mesh [dp = 4]

func.func @model(%x: tensor<4x6xf32> {tg.input = "x", tg.role = #tg.role<features>},
                 %unread: tensor<32xf32> {tg.param = #tg.param<"unread", #tg.init<normal, 0.0, 0.5>, unit = "1">},
                 %w: tensor<6xf32> {tg.param = #tg.param<"w", #tg.init<normal, 0.0, 0.5>, unit = "1">})
    -> (tensor<f32> {tg.role = #tg.role<loss>}) {
  %y = tg.contract "bi,i->b" %x, %w : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4xf32>
  %q = arith.mulf %y, %y : tensor<4xf32>
  %loss = tg.reduce mean %q dims [0] : tensor<4xf32> -> tensor<f32>
  return %loss : tensor<f32>
}
