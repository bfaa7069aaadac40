// Flat axes spread through ops that run on flat ranges, and stop at others.
//
// RUN: braid-opt %s --comm-propagate | FileCheck %s
// RUN: braid-interp %s --compare --pipeline=comm-shard

comm.mesh @mesh [dp = 4, tp = 2]

// CHECK-LABEL: func.func @update
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<8x5xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {}>}
// CHECK-SAME: %[[M:[a-z0-9]+]]: tensor<5x3xf32> {comm.sharding = #comm.sharding<@mesh, {} {}, flat {dp}>
func.func @update(%w: tensor<5x3xf32> {tg.param = #tg.param<"w", #tg.init<ones>>,
                                       comm.sharding = #comm.sharding<@mesh, {} {}, flat {dp}, priority 1>},
                  %x: tensor<8x5xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {}>},
                  %m: tensor<5x3xf32> {tg.state = #tg.state<"m", #tg.init<zeros>, of = "w", kind = moment>})
    -> (tensor<5x3xf32> {tg.updates = "w"}) {
  // CHECK: tg.contract {{.*}} {comm.shardings = [#comm.sharding<@mesh, {dp} {}>]}
  %y = tg.contract "bd,df->bf" %x, %w : (tensor<8x5xf32>, tensor<5x3xf32>) -> tensor<8x3xf32>
  // CHECK: tg.contract {{.*}} {comm.shardings = [#comm.sharding<@mesh, {} {}, flat {dp}>]}
  %g = tg.contract "bd,bf->df" %x, %y : (tensor<8x5xf32>, tensor<8x3xf32>) -> tensor<5x3xf32>
  // CHECK: arith.addf {{.*}} {comm.shardings = [#comm.sharding<@mesh, {} {}, flat {dp}>]}
  %s = arith.addf %g, %m : tensor<5x3xf32>
  // CHECK: arith.subf {{.*}} {comm.shardings = [#comm.sharding<@mesh, {} {}, flat {dp}>]}
  %n = arith.subf %w, %s : tensor<5x3xf32>
  return %n : tensor<5x3xf32>
}

// Flat ranges of what tp leaves.
// CHECK-LABEL: func.func @dims_and_flat
func.func @dims_and_flat(%w: tensor<6x4xf32> {comm.sharding = #comm.sharding<@mesh, {tp} {}, flat {dp}>}) -> tensor<6x4xf32> {
  // CHECK: math.exp {{.*}} {comm.shardings = [#comm.sharding<@mesh, {tp} {}, flat {dp}>]}
  %0 = math.exp %w : tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}

// A transpose has another flat order.
// CHECK-LABEL: func.func @transpose
func.func @transpose(%w: tensor<6x4xf32> {comm.sharding = #comm.sharding<@mesh, {} {}, flat {dp}>}) -> tensor<4x6xf32> {
  // CHECK: tg.transpose {{.*}} {comm.shardings = [#comm.sharding<@mesh, {} {}>]}
  %0 = tg.transpose %w [1, 0] : tensor<6x4xf32> -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}
