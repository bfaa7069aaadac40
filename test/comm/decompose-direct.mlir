// Every rank sends to every other: n-1 permutes, the s-th to the rank s after.
// RUN: braid-opt --comm-decompose=algorithm=direct %s | FileCheck %s
// RUN: braid-interp %s --compare --arithmetic=f64 --pipeline="comm-decompose{algorithm=direct},cse"

comm.mesh @two [dp = 2]
comm.mesh @three [dp = 3]
comm.mesh @six [dp = 2, tp = 3]

// CHECK-LABEL: func @all_reduce
// CHECK-NEXT: %[[S0:.*]] = comm.slice %arg0 dim 0 over
// CHECK-NEXT: %[[S1:.*]] = comm.slice %arg0 dim 0 shift 1
// CHECK-NEXT: %[[P1:.*]] = comm.permute %[[S1]] pairs [0 -> 1, 1 -> 2, 2 -> 0]
// CHECK-NEXT: %[[A1:.*]] = arith.addf %[[S0]], %[[P1]]
// CHECK-NEXT: %[[S2:.*]] = comm.slice %arg0 dim 0 shift 2
// CHECK-NEXT: %[[P2:.*]] = comm.permute %[[S2]] pairs [0 -> 2, 1 -> 0, 2 -> 1]
// CHECK-NEXT: %[[A2:.*]] = arith.addf %[[A1]], %[[P2]]
// CHECK-NEXT: %[[G1:.*]] = comm.permute %[[A2]] pairs [0 -> 1, 1 -> 2, 2 -> 0]
// CHECK-NEXT: %[[G2:.*]] = comm.permute %[[A2]] pairs [0 -> 2, 1 -> 0, 2 -> 1]
// CHECK-NEXT: comm.assemble %[[A2]], %[[G1]], %[[G2]] dim 0 shifts [0, 2, 1] over @three {dp}
func.func @all_reduce(%x: tensor<6xf32> {comm.sharding = #comm.sharding<@three, {}, partial sum {dp}>}) -> (tensor<6xf32> {comm.sharding = #comm.sharding<@three, {}>})
    attributes {comm.program = #comm.program<@three>} {
  %y = comm.all_reduce sum %x over @three {dp} : (tensor<6xf32>) -> tensor<6xf32>
  return %y : tensor<6xf32>
}

// CHECK-LABEL: func @all_to_all
// CHECK-COUNT-5: comm.permute {{.*}} : (tensor<2x1xf32>) -> tensor<2x1xf32>
// CHECK-NOT: comm.permute
// CHECK: comm.assemble {{.*}} dim 0 shifts [0, 5, 4, 3, 2, 1]
func.func @all_to_all(%x: tensor<2x6xf32> {comm.sharding = #comm.sharding<@six, {tp, dp} {}>, comm.global = tensor<12x6xf32>}) -> (tensor<12x1xf32> {comm.sharding = #comm.sharding<@six, {} {tp, dp}>, comm.global = tensor<12x6xf32>})
    attributes {comm.program = #comm.program<@six>} {
  %y = comm.all_to_all %x split [1] concat [0] over @six {tp, dp} : (tensor<2x6xf32>) -> tensor<12x1xf32>
  return %y : tensor<12x1xf32>
}

// CHECK-LABEL: func @all_to_all_along_one_dim
// CHECK-COUNT-2: comm.permute
// CHECK-NOT: comm.permute
func.func @all_to_all_along_one_dim(%x: tensor<3x2xf32> {comm.sharding = #comm.sharding<@six, {tp} {dp}>, comm.global = tensor<9x4xf32>}) -> (tensor<3x2xf32> {comm.sharding = #comm.sharding<@six, {tp} {dp}>, comm.global = tensor<9x4xf32>})
    attributes {comm.program = #comm.program<@six>} {
  %y = comm.all_to_all %x split [0] concat [0] over @six {tp} : (tensor<3x2xf32>) -> tensor<3x2xf32>
  return %y : tensor<3x2xf32>
}

// CHECK-LABEL: func @kinds
// CHECK: arith.maxsi
// CHECK: arith.ori
// CHECK: arith.minsi
// CHECK: arith.andi
// CHECK: tg.convert
// CHECK: arith.addf
// CHECK: tg.convert
func.func @kinds(%x: tensor<6xi32> {comm.sharding = #comm.sharding<@three, {}, partial max {dp}>}, %t: tensor<3xi1> {comm.sharding = #comm.sharding<@three, {}, partial max {dp}>},
                 %b: tensor<5xbf16> {comm.sharding = #comm.sharding<@three, {}, partial sum {dp}>})
    -> (tensor<6xi32> {comm.sharding = #comm.sharding<@three, {}>}, tensor<3xi1> {comm.sharding = #comm.sharding<@three, {}>}, tensor<2xi32> {comm.sharding = #comm.sharding<@three, {dp}>, comm.global = tensor<6xi32>}, tensor<1xi1> {comm.sharding = #comm.sharding<@three, {dp}>, comm.global = tensor<3xi1>}, tensor<5xbf16> {comm.sharding = #comm.sharding<@three, {}>})
    attributes {comm.program = #comm.program<@three>} {
  %max:2 = comm.all_reduce max %x, %t over @three {dp} : (tensor<6xi32>, tensor<3xi1>) -> (tensor<6xi32>, tensor<3xi1>)
  %min:2 = comm.reduce_scatter min %x, %t dims [0, 0] over @three {dp} : (tensor<6xi32>, tensor<3xi1>) -> (tensor<2xi32>, tensor<1xi1>)
  %sum = comm.all_reduce sum %b over @three {dp} : (tensor<5xbf16>) -> tensor<5xbf16>
  return %max#0, %max#1, %min#0, %min#1, %sum : tensor<6xi32>, tensor<3xi1>, tensor<2xi32>, tensor<1xi1>, tensor<5xbf16>
}
