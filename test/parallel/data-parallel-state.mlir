// State that belongs to no parameter is synchronised. A running mean of the batch is
// that of the whole batch, on every rank: what it is computed from is reduced, by one
// collective for each. A counter takes none. Neither is sharded, at any stage of ZeRO: the
// forward pass reads them.
//
// RUN: braid-opt %s --tg-differentiate --tg-apply-optimizer --tg-derive-facts --comm-data-parallel="axes=dp zero=0" --comm-shard | FileCheck %s --check-prefixes=CHECK,DDP --implicit-check-not="= comm."
// RUN: braid-opt %s --tg-differentiate --tg-apply-optimizer --tg-derive-facts --comm-data-parallel="axes=dp zero=3" --comm-shard | FileCheck %s --check-prefixes=CHECK,FSDP --implicit-check-not="= comm."
// RUN: braid-interp %s --compare --set step=1 --reference-pipeline="tg-differentiate,tg-apply-optimizer" --pipeline="tg-differentiate,tg-apply-optimizer,tg-derive-facts,comm-data-parallel{axes=dp zero=0},comm-shard" | FileCheck %s --check-prefix=SAME
// RUN: braid-interp %s --compare --set step=1 --reference-pipeline="tg-differentiate,tg-apply-optimizer" --pipeline="tg-differentiate,tg-apply-optimizer,tg-derive-facts,comm-data-parallel{axes=dp zero=3},comm-shard" | FileCheck %s --check-prefix=SAME
// SAME: results agree

// CHECK: func.func @model(
// CHECK-SAME: tensor<6xf32> {tg.state = #tg.state<"running_mean"
// CHECK-SAME: tensor<i32> {tg.state = #tg.state<"batches"
// FSDP: comm.all_gather
// CHECK: comm.all_reduce mean %{{[^ ]+}} over @mesh {dp} : (tensor<f32>) -> tensor<f32>
// CHECK: comm.all_reduce mean %{{[^ ]+}} over @mesh {dp} : (tensor<6xf32>) -> tensor<6xf32>
// DDP: comm.all_reduce sum %{{[^ ]+}} over @mesh {dp} : (tensor<6xf32>) -> tensor<6xf32>
// FSDP: comm.reduce_scatter sum %{{[^ ]+}} dims [flat] over @mesh {dp} : (tensor<6xf32>) -> tensor<2xf32>
comm.mesh @mesh [dp = 4]

func.func @model(%x: tensor<8x6xf32> {tg.input = "x", tg.role = #tg.role<features>},
                 %w: tensor<6xf32> {tg.param = #tg.param<"w", #tg.init<normal, 0.0, 0.5>>},
                 %mean: tensor<6xf32> {tg.state = #tg.state<"running_mean", #tg.init<zeros>, kind = running_statistic>},
                 %batches: tensor<i32> {tg.state = #tg.state<"batches", #tg.init<zeros>, kind = running_statistic>})
    -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<6xf32> {tg.updates = "running_mean"},
        tensor<i32> {tg.updates = "batches"}) {
  %rows = tg.broadcast %mean dims [1] : tensor<6xf32> -> tensor<8x6xf32>
  %centered = arith.subf %x, %rows : tensor<8x6xf32>
  %y = tg.contract "bi,i->b" %centered, %w : (tensor<8x6xf32>, tensor<6xf32>) -> tensor<8xf32>
  %q = arith.mulf %y, %y : tensor<8xf32>
  %loss = tg.reduce mean %q dims [0] : tensor<8xf32> -> tensor<f32>
  %now = tg.reduce mean %x dims [0] : tensor<8x6xf32> -> tensor<6xf32>
  %keep = arith.constant dense<0.9> : tensor<6xf32>
  %take = arith.constant dense<0.1> : tensor<6xf32>
  %old = arith.mulf %mean, %keep : tensor<6xf32>
  %new = arith.mulf %now, %take : tensor<6xf32>
  %moved = arith.addf %old, %new : tensor<6xf32>
  %one = arith.constant dense<1> : tensor<i32>
  %count = arith.addi %batches, %one : tensor<i32>
  return %loss, %moved, %count : tensor<f32>, tensor<6xf32>, tensor<i32>
}
