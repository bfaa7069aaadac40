// A layout and a strategy: what tensor parallelism leaves of a parameter is sharded in flat
// shards, and its state and accumulator are held as it is, though no layout names them.
//
// RUN: braid-opt %s --tg-derive-facts --comm-data-parallel="axes=dp zero=3" | FileCheck %s --check-prefix=FSDP
// RUN: braid-opt %s --tg-derive-facts --comm-data-parallel="axes=dp zero=0" | FileCheck %s --check-prefix=DDP
// RUN: braid-interp %s --compare --pipeline="tg-derive-facts,comm-data-parallel{axes=dp zero=3},comm-shard,canonicalize,cse,comm-gather-units" | FileCheck %s --check-prefix=SAME
// SAME: results agree
//
// Each rank computes with its columns alone.
// RUN: braid-opt %s --tg-derive-facts --comm-data-parallel="axes=dp zero=3" --comm-shard --canonicalize --cse --comm-gather-units | FileCheck %s --check-prefix=RANK --implicit-check-not="= comm."
// RANK: comm.all_gather %{{[^ ]+}} dims [flat] over @mesh {dp} {comm.unit = ""} : (tensor<12xf32>) -> tensor<6x4xf32>
// RANK: comm.all_reduce sum %{{[^ ]+}} over @mesh {dp, tp} : (tensor<f32>)
// RANK: comm.reduce_scatter sum %{{[^ ]+}} dims [flat] over @mesh {dp} : (tensor<6x4xf32>) -> tensor<12xf32>

// FSDP: func.func @train
// FSDP-SAME: {comm.sharding = #comm.sharding<@mesh, {} {tp}, flat {dp}>, tg.param = #tg.param<"w"
// FSDP-SAME: {comm.sharding = #comm.sharding<@mesh, {} {tp}, flat {dp}, priority 1>, tg.state = #tg.state<"w.momentum_buffer"
// FSDP-SAME: {comm.sharding = #comm.sharding<@mesh, {} {tp}, flat {dp}, priority 1>, tg.state = #tg.state<"acc.w"
// DDP: func.func @train
// DDP-SAME: {comm.sharding = #comm.sharding<@mesh, {} {tp}>, tg.param = #tg.param<"w"
// DDP-SAME: {comm.sharding = #comm.sharding<@mesh, {} {tp}, priority 1>, tg.state = #tg.state<"w.momentum_buffer"
// DDP-SAME: {comm.sharding = #comm.sharding<@mesh, {} {tp}, partial sum {dp}, priority 1>, tg.state = #tg.state<"acc.w"
comm.mesh @mesh [dp = 2, tp = 2]

func.func @train(%x: tensor<4x6xf32> {tg.input = "x", tg.role = #tg.role<features>},
                 %w: tensor<6x8xf32> {comm.sharding = #comm.sharding<@mesh, {} {tp}>, tg.param = #tg.param<"w", #tg.init<normal, 0.0, 0.5>>},
                 %m: tensor<6x8xf32> {tg.state = #tg.state<"w.momentum_buffer", #tg.init<zeros>, of = "w", kind = moment>},
                 %acc: tensor<6x8xf32> {tg.state = #tg.state<"acc.w", #tg.init<zeros>, of = "w", kind = accumulator>},
                 %lr: tensor<f32> {tg.input = "lr", tg.role = #tg.role<lr>})
    -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<6x8xf32> {tg.updates = "w"},
        tensor<6x8xf32> {tg.updates = "w.momentum_buffer"}, tensor<6x8xf32> {tg.updates = "acc.w"}) {
  %y = tg.contract "bi,io->bo" %x, %w : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
  %q = arith.mulf %y, %y : tensor<4x8xf32>
  %loss = tg.reduce sum %q dims [0, 1] : tensor<4x8xf32> -> tensor<f32>
  %dw = tg.contract "bi,bo->io" %x, %y : (tensor<4x6xf32>, tensor<4x8xf32>) -> tensor<6x8xf32>
  %sum = arith.addf %acc, %dw : tensor<6x8xf32>
  %new, %velocity = tg.update "momentum" %w, %sum, %lr states %m {momentum = 9.0e-01, weight_decay = 0.0} : (tensor<6x8xf32>, tensor<6x8xf32>, tensor<f32>, tensor<6x8xf32>) -> (tensor<6x8xf32>, tensor<6x8xf32>)
  %zeros = arith.constant dense<0.0> : tensor<6x8xf32>
  return %loss, %new, %velocity, %zeros : tensor<f32>, tensor<6x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>
}
