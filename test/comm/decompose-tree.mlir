// Binomial trees: ceil(log2 n) permutes of the whole tensor to rank 0, as many back.
// RUN: braid-opt --comm-decompose=algorithm=tree %s | FileCheck %s
// RUN: braid-interp %s --compare --arithmetic=f64 --pipeline="comm-decompose{algorithm=tree},cse"

comm.mesh @two [dp = 2]
comm.mesh @three [dp = 3]
comm.mesh @six [dp = 2, tp = 3]
comm.mesh @eight [dp = 8]

// CHECK-LABEL: func @of_two
// CHECK-COUNT-1: comm.permute {{.*}} pairs [1 -> 0]
// CHECK-COUNT-1: comm.permute {{.*}} pairs [0 -> 1]
// CHECK-NOT: comm.permute
func.func @of_two(%x: tensor<8xf32> {comm.sharding = #comm.sharding<@two, {}, partial sum {dp}>}) -> (tensor<8xf32> {comm.sharding = #comm.sharding<@two, {}>})
    attributes {comm.program = #comm.program<@two>} {
  %y = comm.all_reduce sum %x over @two {dp} : (tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// Rank 2 has no partner in the first step and keeps what it has.
// CHECK-LABEL: func @of_three
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<f32>
// CHECK: %[[I:.*]] = comm.axis_index over @three {dp}
// CHECK: %[[P:.*]] = comm.permute %[[X]] pairs [1 -> 0] over @three {dp} : (tensor<f32>) -> tensor<f32>
// CHECK: %[[S:.*]] = arith.maximumf %[[X]], %[[P]]
// CHECK: %[[FULL:.*]] = arith.cmpi slt, %[[I]]
// CHECK: %[[FIRST:.*]] = arith.andi {{.*}}, %[[FULL]]
// CHECK: %[[K:.*]] = arith.select %[[FIRST]], %[[S]], %[[X]]
// CHECK: comm.permute %[[K]] pairs [2 -> 0]
// CHECK: comm.permute {{.*}} pairs [0 -> 1]
// CHECK: comm.permute {{.*}} pairs [0 -> 2]
// CHECK-NOT: comm.permute
func.func @of_three(%x: tensor<f32> {comm.sharding = #comm.sharding<@three, partial max {dp}>}) -> (tensor<f32> {comm.sharding = #comm.sharding<@three>})
    attributes {comm.program = #comm.program<@three>} {
  %y = comm.all_reduce max %x over @three {dp} : (tensor<f32>) -> tensor<f32>
  return %y : tensor<f32>
}

// CHECK-LABEL: func @of_six
// CHECK: comm.permute {{.*}} pairs [1 -> 0, 3 -> 2, 5 -> 4]
// CHECK: comm.permute {{.*}} pairs [2 -> 0]
// CHECK: comm.permute {{.*}} pairs [4 -> 0]
// CHECK: arith.divf
// CHECK: comm.permute {{.*}} pairs [0 -> 1]
// CHECK: comm.permute {{.*}} pairs [0 -> 2, 1 -> 3]
// CHECK: comm.permute {{.*}} pairs [0 -> 4, 1 -> 5]
// CHECK-NOT: comm.permute
func.func @of_six(%x: tensor<3x5xf32> {comm.sharding = #comm.sharding<@six, {} {}, partial mean {dp, tp}>}) -> (tensor<3x5xf32> {comm.sharding = #comm.sharding<@six, {} {}>})
    attributes {comm.program = #comm.program<@six>} {
  %y = comm.all_reduce mean %x over @six {dp, tp} : (tensor<3x5xf32>) -> tensor<3x5xf32>
  return %y : tensor<3x5xf32>
}

// One group for each coordinate along dp.
// CHECK-LABEL: func @rows_of_six
// CHECK-COUNT-4: comm.permute {{.*}} over @six {tp}
// CHECK-NOT: comm.permute
func.func @rows_of_six(%x: tensor<4xi32> {comm.sharding = #comm.sharding<@six, {dp}, partial min {tp}>, comm.global = tensor<8xi32>}) -> (tensor<4xi32> {comm.sharding = #comm.sharding<@six, {dp}>, comm.global = tensor<8xi32>})
    attributes {comm.program = #comm.program<@six>} {
  %y = comm.all_reduce min %x over @six {tp} : (tensor<4xi32>) -> tensor<4xi32>
  return %y : tensor<4xi32>
}

// CHECK-LABEL: func @of_eight
// CHECK-COUNT-6: comm.permute {{.*}} : (tensor<5xf32>) -> tensor<5xf32>
// CHECK-NOT: comm.permute
func.func @of_eight(%x: tensor<5xf32> {comm.sharding = #comm.sharding<@eight, {}, partial sum {dp}>}) -> (tensor<5xf32> {comm.sharding = #comm.sharding<@eight, {}>})
    attributes {comm.program = #comm.program<@eight>} {
  %y = comm.all_reduce sum %x over @eight {dp} : (tensor<5xf32>) -> tensor<5xf32>
  return %y : tensor<5xf32>
}

// From another root: numbers are counted from it.
// CHECK-LABEL: func @broadcast
// CHECK: comm.permute {{.*}} pairs [4 -> 5]
// CHECK: comm.permute {{.*}} pairs [4 -> 0, 5 -> 1]
// CHECK: comm.permute {{.*}} pairs [4 -> 2, 5 -> 3]
// CHECK-NOT: comm.permute
func.func @broadcast(%x: tensor<4xf32> {comm.sharding = #comm.sharding<@six, {dp, tp}>, comm.global = tensor<24xf32>}) -> (tensor<4xf32> {comm.sharding = #comm.sharding<@six, {}>})
    attributes {comm.program = #comm.program<@six>} {
  %y = comm.broadcast %x root 4 over @six {dp, tp} : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
