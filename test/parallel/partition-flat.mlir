// Flat shards: a parameter is gathered to be used, its update touches no other rank,
// and a norm over it does not see the padding (15 elements in 4 ranges of 4).
//
// RUN: braid-opt %s --comm-partition | FileCheck %s
// RUN: braid-interp %s --compare --pipeline=comm-partition

comm.mesh @mesh [dp = 4]

// CHECK-LABEL: func.func @gathered(
// CHECK-SAME: %arg0: tensor<1x5xf32> {comm.global = tensor<4x5xf32>, comm.sharding = #comm.sharding<@mesh, {dp} {}>}
// CHECK-SAME: %arg1: tensor<4xf32> {comm.global = tensor<5x3xf32>, comm.sharding = #comm.sharding<@mesh, {} {}, flat {dp}>, tg.param = #tg.param<"w", #tg.init<normal, 0.000000e+00, 2.000000e-02>>}
// CHECK-SAME: -> (tensor<1x3xf32> {comm.global = tensor<4x3xf32>, comm.sharding = #comm.sharding<@mesh, {dp} {}>})
// CHECK-SAME: attributes {comm.program = #comm.program<@mesh>}
// CHECK-NEXT: %[[V0:.*]] = comm.all_gather %arg1 dims [flat] over @mesh {dp} : (tensor<4xf32>) -> tensor<5x3xf32>
// CHECK-NEXT: %[[V1:.*]] = tg.contract "bd,df->bf" %arg0, %[[V0]] : (tensor<1x5xf32>, tensor<5x3xf32>) -> tensor<1x3xf32>
// CHECK-NEXT: return %[[V1]] : tensor<1x3xf32>
func.func @gathered(%x: tensor<4x5xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {}>},
                    %w: tensor<5x3xf32> {tg.param = #tg.param<"w", #tg.init<normal, 0.0, 0.02>>,
                                         comm.sharding = #comm.sharding<@mesh, {} {}, flat {dp}>})
    -> (tensor<4x3xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {}>}) {
  %whole = comm.reshard %w <@mesh, {} {}> : tensor<5x3xf32>
  %y = tg.contract "bd,df->bf" %x, %whole {comm.shardings = [#comm.sharding<@mesh, {dp} {}>]}
      : (tensor<4x5xf32>, tensor<5x3xf32>) -> tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}

// CHECK-LABEL: func.func @update(
// CHECK-NEXT: %[[V0:.*]] = tg.contract "bd,bf->df" %arg0, %arg1 : (tensor<1x5xf32>, tensor<1x3xf32>) -> tensor<5x3xf32>
// CHECK-NEXT: %[[V1:.*]] = comm.all_reduce sum %[[V0]] over @mesh {dp} : (tensor<5x3xf32>) -> tensor<5x3xf32>
// CHECK-NEXT: %[[V2:.*]] = comm.slice %[[V1]] dim flat over @mesh {dp} : tensor<5x3xf32> -> tensor<4xf32>
// CHECK-NEXT: %[[V3:.*]] = tg.broadcast %arg3 dims [] : tensor<f32> -> tensor<4xf32>
// CHECK-NEXT: %[[V4:.*]] = arith.mulf %[[V2]], %[[V3]] : tensor<4xf32>
// CHECK-NEXT: %[[V5:.*]] = arith.subf %arg2, %[[V4]] : tensor<4xf32>
// CHECK-NEXT: %[[V6:.*]] = math.exp %[[V2]] : tensor<4xf32>
// CHECK-NEXT: %[[V7:.*]] = comm.axis_index over @mesh {dp} : tensor<i32>
// CHECK-NEXT: %[[V8:.*]] = arith.constant dense<3> : tensor<i32>
// CHECK-NEXT: %[[V9:.*]] = arith.constant dense<1> : tensor<i32>
// CHECK-NEXT: %[[V10:.*]] = arith.constant dense<-1> : tensor<i32>
// CHECK-NEXT: %[[V11:.*]] = arith.subi %[[V8]], %[[V7]] : tensor<i32>
// CHECK-NEXT: %[[V12:.*]] = arith.minsi %[[V11]], %[[V9]] : tensor<i32>
// CHECK-NEXT: %[[V13:.*]] = arith.maxsi %[[V12]], %[[V10]] : tensor<i32>
// CHECK-NEXT: %[[V14:.*]] = arith.constant dense<4> : tensor<i32>
// CHECK-NEXT: %[[V15:.*]] = arith.constant dense<3> : tensor<i32>
// CHECK-NEXT: %[[V16:.*]] = arith.muli %[[V13]], %[[V14]] : tensor<i32>
// CHECK-NEXT: %[[V17:.*]] = arith.addi %[[V16]], %[[V15]] : tensor<i32>
// CHECK-NEXT: %[[V18:.*]] = tg.iota dim 0 : tensor<4xi32>
// CHECK-NEXT: %[[V19:.*]] = tg.broadcast %[[V17]] dims [] : tensor<i32> -> tensor<4xi32>
// CHECK-NEXT: %[[V20:.*]] = arith.cmpi slt, %[[V18]], %[[V19]] : tensor<4xi32>
// CHECK-NEXT: %[[V21:.*]] = arith.constant dense<0.000000e+00> : tensor<4xf32>
// CHECK-NEXT: %[[V22:.*]] = arith.select %[[V20]], %[[V6]], %[[V21]] : tensor<4xi1>, tensor<4xf32>
// CHECK-NEXT: %[[V23:.*]] = tg.reduce sum %[[V22]] dims [0] : tensor<4xf32> -> tensor<f32>
// CHECK-NEXT: %[[V24:.*]] = comm.all_reduce sum %[[V23]] over @mesh {dp} : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT: return %[[V5]], %[[V24]] : tensor<4xf32>, tensor<f32>
func.func @update(%x: tensor<4x5xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {}>},
                  %dy: tensor<4x3xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {}>},
                  %w: tensor<5x3xf32> {tg.param = #tg.param<"w", #tg.init<normal, 0.0, 0.02>>,
                                       comm.sharding = #comm.sharding<@mesh, {} {}, flat {dp}>},
                  %lr: tensor<f32> {tg.input = "lr", tg.role = #tg.role<lr>, comm.sharding = #comm.sharding<@mesh>})
    -> (tensor<5x3xf32> {tg.updates = "w", comm.sharding = #comm.sharding<@mesh, {} {}, flat {dp}>},
        tensor<f32> {comm.sharding = #comm.sharding<@mesh>, tg.role = #tg.role<grad_norm>}) {
  %p = tg.contract "bd,bf->df" %x, %dy {comm.shardings = [#comm.sharding<@mesh, {} {}, partial sum {dp}>]}
      : (tensor<4x5xf32>, tensor<4x3xf32>) -> tensor<5x3xf32>
  %dw = comm.reshard %p <@mesh, {} {}, flat {dp}> : tensor<5x3xf32>
  %rate = tg.broadcast %lr dims [] {comm.shardings = [#comm.sharding<@mesh, {} {}, flat {dp}>]}
      : tensor<f32> -> tensor<5x3xf32>
  %step = arith.mulf %dw, %rate {comm.shardings = [#comm.sharding<@mesh, {} {}, flat {dp}>]} : tensor<5x3xf32>
  %new = arith.subf %w, %step {comm.shardings = [#comm.sharding<@mesh, {} {}, flat {dp}>]} : tensor<5x3xf32>
  // exp(0) = 1 is in the padding.
  %e = math.exp %dw {comm.shardings = [#comm.sharding<@mesh, {} {}, flat {dp}>]} : tensor<5x3xf32>
  %s = tg.reduce sum %e dims [0, 1] {comm.shardings = [#comm.sharding<@mesh, partial sum {dp}>]}
      : tensor<5x3xf32> -> tensor<f32>
  %norm = comm.reshard %s <@mesh> : tensor<f32>
  return %new, %norm : tensor<5x3xf32>, tensor<f32>
}

// Without padding there is no mask; a reshape of flat ranges does nothing.
// CHECK-LABEL: func.func @divides(
// CHECK-NEXT: %[[V0:.*]] = tg.reshape %arg0 : tensor<8xf32> -> tensor<8xf32>
// CHECK-NEXT: %[[V1:.*]] = tg.reduce max %[[V0]] dims [0] : tensor<8xf32> -> tensor<f32>
// CHECK-NEXT: %[[V2:.*]] = comm.all_reduce max %[[V1]] over @mesh {dp} : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT: return %[[V2]] : tensor<f32>
func.func @divides(%x: tensor<4x8xf32> {comm.sharding = #comm.sharding<@mesh, {} {}, flat {dp}>})
    -> (tensor<f32> {comm.sharding = #comm.sharding<@mesh>}) {
  %r = tg.reshape %x {comm.shardings = [#comm.sharding<@mesh, {}, flat {dp}>]} : tensor<4x8xf32> -> tensor<32xf32>
  %p = tg.reduce max %r dims [0] {comm.shardings = [#comm.sharding<@mesh, partial max {dp}>]}
      : tensor<32xf32> -> tensor<f32>
  %m = comm.reshard %p <@mesh> : tensor<f32>
  return %m : tensor<f32>
}

// 5 elements in ranges of 2: rank 2 has one, rank 3 has none.
// CHECK-LABEL: func.func @empty_range(
// CHECK-NEXT: %[[V0:.*]] = math.exp %arg0 : tensor<2xf32>
// CHECK-NEXT: %[[V1:.*]] = comm.axis_index over @mesh {dp} : tensor<i32>
// CHECK-NEXT: %[[V2:.*]] = arith.constant dense<2> : tensor<i32>
// CHECK-NEXT: %[[V3:.*]] = arith.constant dense<1> : tensor<i32>
// CHECK-NEXT: %[[V4:.*]] = arith.constant dense<-1> : tensor<i32>
// CHECK-NEXT: %[[V5:.*]] = arith.subi %[[V2]], %[[V1]] : tensor<i32>
// CHECK-NEXT: %[[V6:.*]] = arith.minsi %[[V5]], %[[V3]] : tensor<i32>
// CHECK-NEXT: %[[V7:.*]] = arith.maxsi %[[V6]], %[[V4]] : tensor<i32>
// CHECK-NEXT: %[[V8:.*]] = arith.constant dense<2> : tensor<i32>
// CHECK-NEXT: %[[V9:.*]] = arith.constant dense<1> : tensor<i32>
// CHECK-NEXT: %[[V10:.*]] = arith.muli %[[V7]], %[[V8]] : tensor<i32>
// CHECK-NEXT: %[[V11:.*]] = arith.addi %[[V10]], %[[V9]] : tensor<i32>
// CHECK-NEXT: %[[V12:.*]] = tg.iota dim 0 : tensor<2xi32>
// CHECK-NEXT: %[[V13:.*]] = tg.broadcast %[[V11]] dims [] : tensor<i32> -> tensor<2xi32>
// CHECK-NEXT: %[[V14:.*]] = arith.cmpi slt, %[[V12]], %[[V13]] : tensor<2xi32>
// CHECK-NEXT: %[[V15:.*]] = arith.constant dense<0xFF800000> : tensor<2xf32>
// CHECK-NEXT: %[[V16:.*]] = arith.select %[[V14]], %[[V0]], %[[V15]] : tensor<2xi1>, tensor<2xf32>
// CHECK-NEXT: %[[V17:.*]] = tg.reduce max %[[V16]] dims [0] : tensor<2xf32> -> tensor<f32>
// CHECK-NEXT: %[[V18:.*]] = comm.all_reduce max %[[V17]] over @mesh {dp} : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT: return %[[V18]] : tensor<f32>
func.func @empty_range(%x: tensor<5xf32> {comm.sharding = #comm.sharding<@mesh, {}, flat {dp}>})
    -> (tensor<f32> {comm.sharding = #comm.sharding<@mesh>}) {
  %e = math.exp %x {comm.shardings = [#comm.sharding<@mesh, {}, flat {dp}>]} : tensor<5xf32>
  %p = tg.reduce max %e dims [0] {comm.shardings = [#comm.sharding<@mesh, partial max {dp}>]}
      : tensor<5xf32> -> tensor<f32>
  %m = comm.reshard %p <@mesh> : tensor<f32>
  return %m : tensor<f32>
}
