// Ops whose values depend on where they are get the rank's offset, which is made
// once for each group and size.
//
// RUN: braid-opt %s --comm-partition | FileCheck %s
// RUN: braid-interp %s --compare --pipeline=comm-partition

comm.mesh @mesh [dp = 2, tp = 2]

// CHECK-LABEL: func.func @iota(
// CHECK-NEXT: %[[V0:.*]] = tg.iota dim 0 : tensor<2x6xi32>
// CHECK-NEXT: %[[V1:.*]] = comm.axis_index over @mesh {dp, tp} : tensor<i32>
// CHECK-NEXT: %[[V2:.*]] = arith.constant dense<2> : tensor<i32>
// CHECK-NEXT: %[[V3:.*]] = arith.muli %[[V1]], %[[V2]] : tensor<i32>
// CHECK-NEXT: %[[V4:.*]] = tg.broadcast %[[V3]] dims [] : tensor<i32> -> tensor<2x6xi32>
// CHECK-NEXT: %[[V5:.*]] = arith.addi %[[V0]], %[[V4]] : tensor<2x6xi32>
// CHECK-NEXT: %[[V6:.*]] = tg.iota dim 1 : tensor<4x6xi32>
// CHECK-NEXT: return %[[V5]], %[[V6]] : tensor<2x6xi32>, tensor<4x6xi32>
func.func @iota() -> (tensor<8x6xi32> {comm.sharding = #comm.sharding<@mesh, {dp, tp} {}>},
                      tensor<8x6xi32> {comm.sharding = #comm.sharding<@mesh, {dp} {}>}) {
  %a = tg.iota dim 0 {comm.shardings = [#comm.sharding<@mesh, {dp, tp} {}>]} : tensor<8x6xi32>
  %b = tg.iota dim 1 {comm.shardings = [#comm.sharding<@mesh, {dp} {}>]} : tensor<8x6xi32>
  return %a, %b : tensor<8x6xi32>, tensor<8x6xi32>
}

// The rank has some rows of the table: it gathers those and adds zeros for others.
// CHECK-LABEL: func.func @embedding(
// CHECK: %[[NUMBER:.*]] = comm.axis_index over @mesh {tp}
// CHECK: %[[ROWS:.*]] = arith.constant dense<8> : tensor<i32>
// CHECK: %[[FIRST:.*]] = arith.muli %[[NUMBER]], %[[ROWS]]
// CHECK: tg.broadcast %[[FIRST]] dims [] : tensor<i32> -> tensor<2x3xi32>
// CHECK: %[[HERE:.*]] = tg.gather %arg0, %{{.*}} : (tensor<8x4xf32>, tensor<2x3xi32>) -> tensor<2x3x4xf32>
// CHECK: %[[P:.*]] = arith.select %{{.*}}, %[[HERE]], %{{.*}} : tensor<2x3x4xi1>, tensor<2x3x4xf32>
// CHECK: comm.all_reduce sum %[[P]] over @mesh {tp}
// CHECK-NOT: axis_index
// CHECK: tg.broadcast %[[FIRST]] dims [] : tensor<i32> -> tensor<2x3xi32>
// CHECK: %[[Q:.*]] = tg.scatter_add %{{.*}}, %{{.*}} : (tensor<2x3xi32>, tensor<2x3x4xf32>) -> tensor<8x4xf32>
// CHECK: comm.all_reduce sum %[[Q]] over @mesh {dp}
func.func @embedding(%table: tensor<16x4xf32> {comm.sharding = #comm.sharding<@mesh, {tp} {}>},
                     %tokens: tensor<4x3xi32> {tg.input = "tokens", tg.role = #tg.role<tokens>,
                                               comm.sharding = #comm.sharding<@mesh, {dp} {}>},
                     %dy: tensor<4x3x4xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {} {}>})
    -> (tensor<4x3x4xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {} {}>},
        tensor<16x4xf32> {comm.sharding = #comm.sharding<@mesh, {tp} {}>}) {
  %p = tg.gather %table, %tokens {comm.shardings = [#comm.sharding<@mesh, {dp} {} {}, partial sum {tp}>]}
      : (tensor<16x4xf32>, tensor<4x3xi32>) -> tensor<4x3x4xf32>
  %y = comm.reshard %p <@mesh, {dp} {} {}> : tensor<4x3x4xf32>
  %q = tg.scatter_add %tokens, %dy {comm.shardings = [#comm.sharding<@mesh, {tp} {}, partial sum {dp}>]}
      : (tensor<4x3xi32>, tensor<4x3x4xf32>) -> tensor<16x4xf32>
  %dtable = comm.reshard %q <@mesh, {tp} {}> : tensor<16x4xf32>
  return %y, %dtable : tensor<4x3x4xf32>, tensor<16x4xf32>
}

// Random numbers do not depend on how they are held.
// CHECK-LABEL: func.func @random(
// CHECK-NEXT: %[[V0:.*]] = arith.constant dense<0> : tensor<i32>
// CHECK-NEXT: %[[V1:.*]] = comm.axis_index over @mesh {dp} : tensor<i32>
// CHECK-NEXT: %[[V2:.*]] = arith.constant dense<2> : tensor<i32>
// CHECK-NEXT: %[[V3:.*]] = arith.muli %[[V1]], %[[V2]] : tensor<i32>
// CHECK-NEXT: %[[V4:.*]] = comm.axis_index over @mesh {tp} : tensor<i32>
// CHECK-NEXT: %[[V5:.*]] = arith.constant dense<3> : tensor<i32>
// CHECK-NEXT: %[[V6:.*]] = arith.muli %[[V4]], %[[V5]] : tensor<i32>
// CHECK-NEXT: %[[V7:.*]] = tg.random_uniform %arg0 stream 3 at (%[[V3]], %[[V6]]) of [4, 6] : (tensor<4xi32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
// CHECK-NEXT: return %[[V7]] : tensor<2x3xf32>
func.func @random(%key: tensor<4xi32> {tg.input = "key", tg.role = #tg.role<key>, comm.sharding = #comm.sharding<@mesh, {}>})
    -> (tensor<4x6xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {tp}>}) {
  %u = tg.random_uniform %key stream 3 {comm.shardings = [#comm.sharding<@mesh, {dp} {tp}>]}
      : tensor<4xi32> -> tensor<4x6xf32>
  return %u : tensor<4x6xf32>
}
