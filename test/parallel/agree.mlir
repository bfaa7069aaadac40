// What the ranks of a training binary agree on: one all_reduce for each.
//
// RUN: braid-opt %s --comm-agree --tg-derive-facts --comm-data-parallel="axes=dp zero=1" --comm-shard | FileCheck %s --implicit-check-not="= comm."
// RUN: braid-interp %s --function=train --compare --reference-pipeline=comm-agree --pipeline="comm-agree,tg-derive-facts,comm-data-parallel{axes=dp zero=1},comm-shard" | FileCheck %s --check-prefix=SAME
// RUN: braid-interp %s --function=agree --compare --reference-pipeline=comm-agree --pipeline="comm-agree,tg-derive-facts,comm-data-parallel{axes=dp zero=1},comm-shard" | FileCheck %s --check-prefix=SAME
// SAME: results agree

// CHECK: func.func @train(
// CHECK-SAME: %[[STOP:[^ ]+]]: tensor<f32> {comm.global = tensor<f32>, comm.sharding = #comm.sharding<@mesh, partial sum {dp, tp}>, tg.input = "stop", tg.role = #tg.role<stop>}
// CHECK-SAME: tensor<f32> {tg.role = #tg.role<stop>}
// CHECK: %[[STOPPED:[^ ]+]] = comm.all_reduce sum %[[STOP]] over @mesh {dp, tp} : (tensor<f32>) -> tensor<f32>
// CHECK: comm.all_reduce sum %{{[^ ]+}} over @mesh {dp}
// CHECK: return %{{.*}}, %[[STOPPED]]
comm.mesh @mesh [dp = 2, tp = 2]

func.func @train(%x: tensor<4x8xf32> {tg.input = "x", tg.role = #tg.role<features>}) -> (tensor<f32> {tg.role = #tg.role<loss>}) {
  %loss = tg.reduce sum %x dims [0, 1] : tensor<4x8xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// CHECK: func.func @agree(%[[VALUES:.*]]: tensor<8xi32> {
// CHECK-SAME: -> (tensor<8xi32> {tg.role = #tg.role<values>})
// CHECK: %[[MOST:[^ ]+]] = comm.all_reduce max %[[VALUES]] over @mesh {dp, tp} : (tensor<8xi32>) -> tensor<8xi32>
// CHECK: return %[[MOST]]
