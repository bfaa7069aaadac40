// A ring of n ranks and K elements: 2(n-1) permutes of ceil(K/n) elements make an
// all_reduce, n-1 an all_gather or a reduce_scatter.
// RUN: braid-opt --comm-decompose=algorithm=ring %s | FileCheck %s
// RUN: braid-interp %s --compare --arithmetic=f64 --pipeline="comm-decompose{algorithm=ring},cse"

comm.mesh @one [dp = 1]
comm.mesh @two [dp = 2]
comm.mesh @three [dp = 3]
comm.mesh @four [dp = 4]
comm.mesh @eight [dp = 2, tp = 4]

// CHECK-LABEL: func @of_one
// CHECK-NEXT: return %arg0
func.func @of_one(%x: tensor<8xf32> {comm.sharding = #comm.sharding<@one, {}>}) -> (tensor<8xf32> {comm.sharding = #comm.sharding<@one, {}>})
    attributes {comm.program = #comm.program<@one>} {
  %y = comm.all_reduce mean %x over @one {dp} : (tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// CHECK-LABEL: func @of_two
// CHECK-COUNT-2: comm.permute {{.*}} pairs [0 -> 1, 1 -> 0] over @two {dp} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NOT: comm.permute
func.func @of_two(%x: tensor<8xf32> {comm.sharding = #comm.sharding<@two, {}, partial sum {dp}>}) -> (tensor<8xf32> {comm.sharding = #comm.sharding<@two, {}>})
    attributes {comm.program = #comm.program<@two>} {
  %y = comm.all_reduce sum %x over @two {dp} : (tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// 3 does not divide 8 rows: flat blocks of ceil(16/3).
// CHECK-LABEL: func @of_three
// CHECK-COUNT-4: comm.permute {{.*}} pairs [0 -> 1, 1 -> 2, 2 -> 0] over @three {dp} : (tensor<6xf32>) -> tensor<6xf32>
// CHECK-NOT: comm.permute
// CHECK: comm.assemble {{.*}} dim flat
func.func @of_three(%x: tensor<8x2xf32> {comm.sharding = #comm.sharding<@three, {} {}, partial max {dp}>}) -> (tensor<8x2xf32> {comm.sharding = #comm.sharding<@three, {} {}>})
    attributes {comm.program = #comm.program<@three>} {
  %y = comm.all_reduce max %x over @three {dp} : (tensor<8x2xf32>) -> tensor<8x2xf32>
  return %y : tensor<8x2xf32>
}

// CHECK-LABEL: func @of_four
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<8x2xf32>
// CHECK-NEXT: %[[S3:.*]] = comm.slice %[[X]] dim 0 shift 3
// CHECK-NEXT: %[[P1:.*]] = comm.permute %[[S3]]
// CHECK-NEXT: %[[S2:.*]] = comm.slice %[[X]] dim 0 shift 2
// CHECK-NEXT: %[[A1:.*]] = arith.addf %[[P1]], %[[S2]]
// CHECK-NEXT: %[[P2:.*]] = comm.permute %[[A1]]
// CHECK-NEXT: %[[S1:.*]] = comm.slice %[[X]] dim 0 shift 1
// CHECK-NEXT: %[[A2:.*]] = arith.addf %[[P2]], %[[S1]]
// CHECK-NEXT: %[[P3:.*]] = comm.permute %[[A2]]
// CHECK-NEXT: %[[S0:.*]] = comm.slice %[[X]] dim 0 over
// CHECK-NEXT: %[[A3:.*]] = arith.addf %[[P3]], %[[S0]]
// CHECK-NEXT: %[[G1:.*]] = comm.permute %[[A3]]
// CHECK-NEXT: %[[G2:.*]] = comm.permute %[[G1]]
// CHECK-NEXT: %[[G3:.*]] = comm.permute %[[G2]]
// CHECK-NEXT: comm.assemble %[[A3]], %[[G1]], %[[G2]], %[[G3]] dim 0 shifts [0, 3, 2, 1] over @four {dp}
func.func @of_four(%x: tensor<8x2xf32> {comm.sharding = #comm.sharding<@four, {} {}, partial sum {dp}>}) -> (tensor<8x2xf32> {comm.sharding = #comm.sharding<@four, {} {}>})
    attributes {comm.program = #comm.program<@four>} {
  %y = comm.all_reduce sum %x over @four {dp} : (tensor<8x2xf32>) -> tensor<8x2xf32>
  return %y : tensor<8x2xf32>
}

// CHECK-LABEL: func @four_counted
// CHECK-COUNT-6: comm.permute {{.*}} pairs [0 -> 1, 1 -> 2, 2 -> 3, 3 -> 0] over @four {dp} : (tensor<2xf32>) -> tensor<2xf32>
// CHECK-NOT: comm.permute
func.func @four_counted(%x: tensor<8xf32> {comm.sharding = #comm.sharding<@four, {}, partial sum {dp}>}) -> (tensor<8xf32> {comm.sharding = #comm.sharding<@four, {}>})
    attributes {comm.program = #comm.program<@four>} {
  %y = comm.all_reduce sum %x over @four {dp} : (tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// CHECK-LABEL: func @four_odd
// CHECK-COUNT-6: comm.permute {{.*}} : (tensor<2xf32>) -> tensor<2xf32>
// CHECK-NOT: comm.permute
func.func @four_odd(%x: tensor<7xf32> {comm.sharding = #comm.sharding<@four, {}, partial sum {dp}>}) -> (tensor<7xf32> {comm.sharding = #comm.sharding<@four, {}>})
    attributes {comm.program = #comm.program<@four>} {
  %y = comm.all_reduce sum %x over @four {dp} : (tensor<7xf32>) -> tensor<7xf32>
  return %y : tensor<7xf32>
}

// One element: each rank sends it, or padding.
// CHECK-LABEL: func @four_scalar
// CHECK-COUNT-6: comm.permute {{.*}} : (tensor<1xf32>) -> tensor<1xf32>
// CHECK-NOT: comm.permute
func.func @four_scalar(%x: tensor<f32> {comm.sharding = #comm.sharding<@four, partial sum {dp}>}) -> (tensor<f32> {comm.sharding = #comm.sharding<@four>})
    attributes {comm.program = #comm.program<@four>} {
  %y = comm.all_reduce sum %x over @four {dp} : (tensor<f32>) -> tensor<f32>
  return %y : tensor<f32>
}

// Two axes are one ring.
// CHECK-LABEL: func @of_eight
// CHECK-COUNT-14: comm.permute {{.*}} over @eight {tp, dp} : (tensor<2xf32>) -> tensor<2xf32>
// CHECK-NOT: comm.permute
func.func @of_eight(%x: tensor<16xf32> {comm.sharding = #comm.sharding<@eight, {}, partial min {dp, tp}>}) -> (tensor<16xf32> {comm.sharding = #comm.sharding<@eight, {}>})
    attributes {comm.program = #comm.program<@eight>} {
  %y = comm.all_reduce min %x over @eight {tp, dp} : (tensor<16xf32>) -> tensor<16xf32>
  return %y : tensor<16xf32>
}

// A mean is divided once, as a block.
// CHECK-LABEL: func @reduce_scatter
// CHECK-COUNT-3: comm.permute {{.*}} : (tensor<8x1xf32>) -> tensor<8x1xf32>
// CHECK: arith.divf
// CHECK-NOT: comm.permute
func.func @reduce_scatter(%x: tensor<8x4xf32> {comm.sharding = #comm.sharding<@four, {} {}, partial mean {dp}>}) -> (tensor<8x1xf32> {comm.sharding = #comm.sharding<@four, {} {dp}>, comm.global = tensor<8x4xf32>})
    attributes {comm.program = #comm.program<@four>} {
  %y = comm.reduce_scatter mean %x dims [1] over @four {dp} : (tensor<8x4xf32>) -> tensor<8x1xf32>
  return %y : tensor<8x1xf32>
}

// CHECK-LABEL: func @reduce_scatter_of_two
// CHECK-COUNT-1: comm.permute
func.func @reduce_scatter_of_two(%x: tensor<2x2xi32> {comm.sharding = #comm.sharding<@two, {} {}, partial sum {dp}>}) -> (tensor<1x2xi32> {comm.sharding = #comm.sharding<@two, {dp} {}>, comm.global = tensor<2x2xi32>})
    attributes {comm.program = #comm.program<@two>} {
  %y = comm.reduce_scatter sum %x dims [0] over @two {dp} : (tensor<2x2xi32>) -> tensor<1x2xi32>
  return %y : tensor<1x2xi32>
}

// A bucket stays one, and what is said of it is said of each message.
// CHECK-LABEL: func @all_gather
// CHECK-COUNT-3: comm.permute {{.*}} {comm.tensors = ["x", "y"], comm.unit = "u"} : (tensor<8x1xf32>, tensor<2xi64>) -> (tensor<8x1xf32>, tensor<2xi64>)
// CHECK: comm.assemble {{.*}} dim 1
// CHECK: comm.assemble {{.*}} dim flat
// CHECK-NOT: comm.permute
func.func @all_gather(%x: tensor<8x1xf32> {comm.sharding = #comm.sharding<@four, {} {dp}>, comm.global = tensor<8x4xf32>}, %y: tensor<2xi64> {comm.sharding = #comm.sharding<@four, {}, flat {dp}>, comm.global = tensor<7xi64>})
    -> (tensor<8x4xf32> {comm.sharding = #comm.sharding<@four, {} {}>}, tensor<7xi64> {comm.sharding = #comm.sharding<@four, {}>})
    attributes {comm.program = #comm.program<@four>} {
  %z:2 = comm.all_gather %x, %y dims [1, flat] over @four {dp} {comm.tensors = ["x", "y"], comm.unit = "u"} : (tensor<8x1xf32>, tensor<2xi64>) -> (tensor<8x4xf32>, tensor<7xi64>)
  return %z#0, %z#1 : tensor<8x4xf32>, tensor<7xi64>
}
