// Each change of sharding as plain steps.
//
// RUN: braid-opt %s --comm-partition | FileCheck %s
// RUN: braid-interp %s --compare --pipeline=comm-partition

comm.mesh @mesh [dp = 2, tp = 2]

// CHECK-LABEL: func.func @gather(
// CHECK-NEXT: %[[V0:.*]] = comm.all_gather %arg0 dims [0] over @mesh {tp} : (tensor<2x4xf32>) -> tensor<4x4xf32>
// CHECK-NEXT: %[[V1:.*]] = comm.all_gather %arg0 dims [0] over @mesh {dp, tp} : (tensor<2x4xf32>) -> tensor<8x4xf32>
// CHECK-NEXT: return %[[V0]], %[[V1]] : tensor<4x4xf32>, tensor<8x4xf32>
func.func @gather(%x: tensor<8x4xf32> {comm.sharding = #comm.sharding<@mesh, {dp, tp} {}>})
    -> (tensor<8x4xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {}>},
        tensor<8x4xf32> {comm.sharding = #comm.sharding<@mesh, {} {}>}) {
  %a = comm.reshard %x <@mesh, {dp} {}> : tensor<8x4xf32>
  %b = comm.reshard %x <@mesh, {} {}> : tensor<8x4xf32>
  return %a, %b : tensor<8x4xf32>, tensor<8x4xf32>
}

// CHECK-LABEL: func.func @slice(
// CHECK-NEXT: %[[V0:.*]] = comm.slice %arg0 dim 0 over @mesh {tp} : tensor<4x4xf32> -> tensor<2x4xf32>
// CHECK-NEXT: %[[V1:.*]] = comm.slice %arg0 dim 1 over @mesh {tp} : tensor<4x4xf32> -> tensor<4x2xf32>
// CHECK-NEXT: return %[[V0]], %[[V1]] : tensor<2x4xf32>, tensor<4x2xf32>
func.func @slice(%x: tensor<8x4xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {}>})
    -> (tensor<8x4xf32> {comm.sharding = #comm.sharding<@mesh, {dp, tp} {}>},
        tensor<8x4xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {tp}>}) {
  %a = comm.reshard %x <@mesh, {dp, tp} {}> : tensor<8x4xf32>
  %b = comm.reshard %x <@mesh, {dp} {tp}> : tensor<8x4xf32>
  return %a, %b : tensor<8x4xf32>, tensor<8x4xf32>
}

// A dim whose axes change places goes through the whole dim.
// CHECK-LABEL: func.func @exchange(
// CHECK-NEXT: %[[V0:.*]] = comm.all_gather %arg0 dims [0] over @mesh {dp, tp} : (tensor<2x4xf32>) -> tensor<8x4xf32>
// CHECK-NEXT: %[[V1:.*]] = comm.slice %[[V0]] dim 0 over @mesh {tp, dp} : tensor<8x4xf32> -> tensor<2x4xf32>
// CHECK-NEXT: return %[[V1]] : tensor<2x4xf32>
func.func @exchange(%x: tensor<8x4xf32> {comm.sharding = #comm.sharding<@mesh, {dp, tp} {}>})
    -> (tensor<8x4xf32> {comm.sharding = #comm.sharding<@mesh, {tp, dp} {}>}) {
  %a = comm.reshard %x <@mesh, {tp, dp} {}> : tensor<8x4xf32>
  return %a : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @move(
// CHECK-NEXT: %[[V0:.*]] = comm.all_gather %arg0 dims [0] over @mesh {tp} : (tensor<4x4xf32>) -> tensor<8x4xf32>
// CHECK-NEXT: %[[V1:.*]] = comm.slice %[[V0]] dim 1 over @mesh {tp} : tensor<8x4xf32> -> tensor<8x2xf32>
// CHECK-NEXT: return %[[V1]] : tensor<8x2xf32>
func.func @move(%x: tensor<8x4xf32> {comm.sharding = #comm.sharding<@mesh, {tp} {}>})
    -> (tensor<8x4xf32> {comm.sharding = #comm.sharding<@mesh, {} {tp}>}) {
  %a = comm.reshard %x <@mesh, {} {tp}> : tensor<8x4xf32>
  return %a : tensor<8x4xf32>
}

// An axis that was not used comes first: what is gathered is smaller.
// CHECK-LABEL: func.func @slice_first(
// CHECK-NEXT: %[[V0:.*]] = comm.slice %arg0 dim 1 over @mesh {dp} : tensor<4x4xf32> -> tensor<4x2xf32>
// CHECK-NEXT: %[[V1:.*]] = comm.all_gather %[[V0]] dims [0] over @mesh {tp} : (tensor<4x2xf32>) -> tensor<8x2xf32>
// CHECK-NEXT: return %[[V1]] : tensor<8x2xf32>
func.func @slice_first(%x: tensor<8x4xf32> {comm.sharding = #comm.sharding<@mesh, {tp} {}>})
    -> (tensor<8x4xf32> {comm.sharding = #comm.sharding<@mesh, {} {dp}>}) {
  %a = comm.reshard %x <@mesh, {} {dp}> : tensor<8x4xf32>
  return %a : tensor<8x4xf32>
}

// Some axes of a partial sum can stay; those that are wanted are reduced and sliced
// first.
// CHECK-LABEL: func.func @partial(
// CHECK-NEXT: %[[V0:.*]] = tg.reduce sum %arg0 dims [1] : tensor<4x2xf32> -> tensor<4xf32>
// CHECK-NEXT: %[[V1:.*]] = tg.reduce max %arg0 dims [1] : tensor<4x2xf32> -> tensor<4xf32>
// CHECK-NEXT: %[[V2:.*]] = comm.all_reduce sum %[[V0]] over @mesh {dp, tp} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[V3:.*]] = comm.all_reduce sum %[[V0]] over @mesh {tp} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[V4:.*]] = comm.slice %[[V3]] dim 0 over @mesh {tp} : tensor<4xf32> -> tensor<2xf32>
// CHECK-NEXT: %[[V5:.*]] = comm.all_reduce sum %[[V4]] over @mesh {dp} : (tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT: %[[V6:.*]] = comm.all_reduce max %[[V1]] over @mesh {tp} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: return %[[V2]], %[[V5]], %[[V6]] : tensor<4xf32>, tensor<2xf32>, tensor<4xf32>
func.func @partial(%x: tensor<4x8xf32> {comm.sharding = #comm.sharding<@mesh, {} {dp, tp}>})
    -> (tensor<4xf32> {comm.sharding = #comm.sharding<@mesh, {}>},
        tensor<4xf32> {comm.sharding = #comm.sharding<@mesh, {tp}>},
        tensor<4xf32> {comm.sharding = #comm.sharding<@mesh, {}, partial max {dp}>}) {
  %s = tg.reduce sum %x dims [1] {comm.shardings = [#comm.sharding<@mesh, {}, partial sum {dp, tp}>]}
      : tensor<4x8xf32> -> tensor<4xf32>
  %m = tg.reduce max %x dims [1] {comm.shardings = [#comm.sharding<@mesh, {}, partial max {dp, tp}>]}
      : tensor<4x8xf32> -> tensor<4xf32>
  %a = comm.reshard %s <@mesh, {}> : tensor<4xf32>
  %b = comm.reshard %s <@mesh, {tp}> : tensor<4xf32>
  %c = comm.reshard %m <@mesh, {}, partial max {dp}> : tensor<4xf32>
  return %a, %b, %c : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// Flat ranges are of what the dims leave; where padding does not come between, a
// range is made of smaller ones.
// CHECK-LABEL: func.func @flat(
// CHECK-NEXT: %[[V0:.*]] = comm.all_gather %arg0 dims [flat] over @mesh {dp} : (tensor<5xf32>) -> tensor<3x3xf32>
// CHECK-NEXT: %[[V1:.*]] = comm.all_gather %arg0 dims [flat] over @mesh {dp} : (tensor<5xf32>) -> tensor<3x3xf32>
// CHECK-NEXT: %[[V2:.*]] = comm.all_gather %[[V1]] dims [1] over @mesh {tp} : (tensor<3x3xf32>) -> tensor<3x6xf32>
// CHECK-NEXT: %[[V3:.*]] = comm.slice %[[V2]] dim flat over @mesh {dp, tp} : tensor<3x6xf32> -> tensor<5xf32>
// CHECK-NEXT: %[[V4:.*]] = comm.all_gather %arg1 dims [0] over @mesh {tp} : (tensor<2xf32>) -> tensor<4xf32>
// CHECK-NEXT: return %[[V0]], %[[V3]], %[[V4]] : tensor<3x3xf32>, tensor<5xf32>, tensor<4xf32>
func.func @flat(%x: tensor<3x6xf32> {comm.sharding = #comm.sharding<@mesh, {} {tp}, flat {dp}>},
                %z: tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {}, flat {dp, tp}>})
    -> (tensor<3x6xf32> {comm.sharding = #comm.sharding<@mesh, {} {tp}>},
        tensor<3x6xf32> {comm.sharding = #comm.sharding<@mesh, {} {}, flat {dp, tp}>},
        tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {}, flat {dp}>}) {
  %a = comm.reshard %x <@mesh, {} {tp}> : tensor<3x6xf32>
  %b = comm.reshard %x <@mesh, {} {}, flat {dp, tp}> : tensor<3x6xf32>
  %c = comm.reshard %z <@mesh, {}, flat {dp}> : tensor<8xf32>
  return %a, %b, %c : tensor<3x6xf32>, tensor<3x6xf32>, tensor<8xf32>
}

// CHECK-LABEL: func.func @nothing(
// CHECK-NEXT: return %arg0 : tensor<4x4xf32>
func.func @nothing(%x: tensor<8x4xf32> {comm.sharding = #comm.sharding<@mesh, {tp} {}>})
    -> (tensor<8x4xf32> {comm.sharding = #comm.sharding<@mesh, {tp} {}>}) {
  %a = comm.reshard %x <@mesh, {tp} {}> : tensor<8x4xf32>
  return %a : tensor<8x4xf32>
}
