// Positions in zigzag: arguments and results are in order, and a rank takes two blocks of them, one from either end.
// What depends on where they are is made for both.
//
// DEFINE: %{shard} = func.func(comm-propagate,comm-insert-reshards),comm-partition
// RUN: braid-opt %s --pass-pipeline="builtin.module(%{shard},canonicalize)" | FileCheck %s
// RUN: braid-interp %s --compare --pipeline="%{shard}"
// RUN: braid-interp %s --compare --pipeline="comm-shard"
// RUN: sed 's/cp = 2, tp = 2/cp = 4, tp = 2/' %s > %t.mlir
// RUN: braid-interp %t.mlir --compare --pipeline="comm-shard"
module attributes {comm.zigzag = #comm<axes{cp}>} {
  comm.mesh @mesh [dp = 2, cp = 2, tp = 2]

  // Of the blocks 0, 1, 2, 3 rank 0 takes 0 and 3, rank 1 takes 1 and 2.  An iota counts from two places.
  // CHECK-LABEL: func.func @iota(
  // CHECK-SAME: %[[TOKENS:.*]]: tensor<2x16xi32> {comm.global = tensor<4x16xi32>, comm.sharding = #comm.sharding<@mesh, {dp} {}>
  // CHECK-SAME: -> (tensor<2x16xi32> {comm.global = tensor<4x16xi32>, comm.sharding = #comm.sharding<@mesh, {dp} {}>
  // CHECK: %[[HELD:.*]] = tg.reorder %[[TOKENS]] dim 1 order [0, 3, 1, 2]
  // CHECK-NEXT: %[[OWN:.*]] = comm.slice %[[HELD]] dim 1 over @mesh {cp} : tensor<2x16xi32> -> tensor<2x8xi32>
  // CHECK: %[[RANK:.*]] = comm.axis_index over @mesh {cp}
  // CHECK: %[[FIRST:.*]] = arith.muli %[[RANK]], %{{.*}}
  // CHECK: %[[SECOND:.*]] = arith.subi %{{.*}}, %[[FIRST]]
  // CHECK: tg.broadcast %[[FIRST]] dims []
  // CHECK: %[[SHIFTED:.*]] = arith.subi %[[SECOND]], %{{.*}}
  // CHECK: tg.broadcast %[[SHIFTED]] dims []
  // CHECK: %[[POSITIONS:.*]] = arith.select %{{.*}} : tensor<2x8xi1>, tensor<2x8xi32>
  // CHECK: %[[SUM:.*]] = arith.addi %[[OWN]], %[[POSITIONS]]
  // CHECK: %[[ALL:.*]] = comm.all_gather %[[SUM]] dims [1] over @mesh {cp}
  // CHECK: tg.reorder %[[ALL]] dim 1 order [0, 2, 3, 1]
  // CHECK: return
  func.func @iota(%tokens: tensor<4x16xi32> {tg.role = #tg.role<tokens>, comm.sharding = #comm.sharding<@mesh, {dp} {cp}>})
      -> (tensor<4x16xi32> {comm.sharding = #comm.sharding<@mesh, {dp} {cp}>}) {
    %positions = tg.iota dim 1 : tensor<4x16xi32>
    %sum = arith.addi %tokens, %positions : tensor<4x16xi32>
    return %sum : tensor<4x16xi32>
  }

  // Random numbers are those of the whole: from two places, too.
  // CHECK-LABEL: func.func @random(
  // CHECK: tg.random_uniform %{{.*}} stream 3 at (%{{.*}}, %[[FIRST:.*]]) of [4, 16] : (tensor<4xi32>, tensor<i32>, tensor<i32>) -> tensor<2x8xf32>
  // CHECK: tg.random_uniform %{{.*}} stream 3 at (%{{.*}}, %[[SECOND:.*]]) of [4, 16] : (tensor<4xi32>, tensor<i32>, tensor<i32>) -> tensor<2x8xf32>
  // CHECK: arith.select
  func.func @random(%x: tensor<4x16xf32> {tg.role = #tg.role<tokens>, comm.sharding = #comm.sharding<@mesh, {dp} {cp}>},
                    %key: tensor<4xi32> {tg.input = "key", tg.role = #tg.role<key>}) -> tensor<4x16xf32> {
    %u = tg.random_uniform %key stream 3 : tensor<4xi32> -> tensor<4x16xf32>
    %y = arith.mulf %x, %u : tensor<4x16xf32>
    return %y : tensor<4x16xf32>
  }

  // A rank has rows of the table from two places: it gathers those of each.
  // CHECK-LABEL: func.func @table(
  // CHECK-COUNT-2: tg.gather %{{.*}} : (tensor<4x4xf32>, tensor<2x3xi32>) -> tensor<2x3x4xf32>
  // CHECK: comm.all_reduce sum
  // CHECK-COUNT-2: tg.scatter_add %{{.*}} : (tensor<2x3xi32>, tensor<2x3x4xf32>) -> tensor<4x4xf32>
  // CHECK: tg.concat
  func.func @table(%row: tensor<1x16x4xf32> {tg.role = #tg.role<tokens>, comm.sharding = #comm.sharding<@mesh, {} {cp} {}>},
                   %index: tensor<2x3xi32>, %dy: tensor<2x3x4xf32>)
      -> (tensor<2x3x4xf32>, tensor<16x4xf32> {comm.sharding = #comm.sharding<@mesh, {cp} {}>}) {
    %table = tg.reshape %row : tensor<1x16x4xf32> -> tensor<16x4xf32>
    %held = comm.constrain %table <@mesh, {cp} {}> : tensor<16x4xf32>
    %y = tg.gather %held, %index : (tensor<16x4xf32>, tensor<2x3xi32>) -> tensor<2x3x4xf32>
    %d = tg.scatter_add %index, %dy : (tensor<2x3xi32>, tensor<2x3x4xf32>) -> tensor<16x4xf32>
    %sum = arith.addf %held, %d : tensor<16x4xf32>
    return %y, %sum : tensor<2x3x4xf32>, tensor<16x4xf32>
  }

  // Where examples are apart on ranks already, positions of all are in one dim.
  // CHECK-LABEL: func.func @rows(
  // CHECK: tg.reshape %{{.*}} : tensor<1x8x4xf32> -> tensor<8x4xf32>
  // CHECK: tg.iota
  func.func @rows(%x: tensor<2x16x4xf32> {tg.role = #tg.role<tokens>, comm.sharding = #comm.sharding<@mesh, {dp} {cp} {}>})
      -> (tensor<32x4xf32> {comm.sharding = #comm.sharding<@mesh, {dp, cp} {}>}) {
    %rows = tg.reshape %x : tensor<2x16x4xf32> -> tensor<32x4xf32>
    %place = tg.iota dim 0 : tensor<32x4xf32>
    %y = arith.mulf %rows, %place : tensor<32x4xf32>
    return %y : tensor<32x4xf32>
  }

  // Other axes share out a rank's blocks, and have a part of one of them.
  // CHECK-LABEL: func.func @behind(
  // CHECK: %[[FIRST:.*]] = arith.cmpi slt
  // CHECK: arith.select %[[FIRST]], %{{.*}} : tensor<i1>, tensor<i32>
  // CHECK: tg.iota dim 1 : tensor<4x4xi32>
  // CHECK: tg.reorder
  func.func @behind(%x: tensor<4x16xf32> {tg.role = #tg.role<tokens>, comm.sharding = #comm.sharding<@mesh, {} {cp, tp}>}) -> tensor<4x16xf32> {
    %place = tg.iota dim 1 : tensor<4x16xf32>
    %y = arith.mulf %x, %place : tensor<4x16xf32>
    return %y : tensor<4x16xf32>
  }

  // Dims that change places do so in one collective, with positions put in order behind it or out of it before.
  // CHECK-LABEL: func.func @heads(
  // CHECK: comm.all_gather %{{.*}} dims [1] over @mesh {cp}
  // CHECK-NEXT: comm.slice %{{.*}} dim 2 over @mesh {cp}
  // CHECK: tg.reorder %{{.*}} dim 1 order [0, 2, 3, 1]
  // CHECK: math.exp
  // CHECK: %[[BACK:.*]] = tg.reorder %{{.*}} dim 1 order [0, 3, 1, 2]
  // CHECK-NEXT: %[[HEADS:.*]] = comm.all_gather %[[BACK]] dims [2] over @mesh {cp}
  // CHECK-NEXT: comm.slice %[[HEADS]] dim 1 over @mesh {cp}
  func.func @heads(%x: tensor<4x16x8xf32> {tg.role = #tg.role<tokens>, comm.sharding = #comm.sharding<@mesh, {dp} {cp} {}>}) -> tensor<4x16x8xf32> {
    %heads = comm.constrain %x <@mesh, {dp} {} {cp}> : tensor<4x16x8xf32>
    %y = math.exp %heads : tensor<4x16x8xf32>
    %z = comm.constrain %y <@mesh, {dp} {cp} {}> : tensor<4x16x8xf32>
    %sum = arith.addf %x, %z : tensor<4x16x8xf32>
    return %sum : tensor<4x16x8xf32>
  }

  // Flat ranges are in order, and so are dims that are not of positions.
  // CHECK-LABEL: func.func @others(
  // CHECK-SAME: %{{.*}}: tensor<2x16xf32>
  // CHECK-SAME: %[[W:.*]]: tensor<4x4xf32> {comm.global = tensor<8x4xf32>, comm.sharding = #comm.sharding<@mesh, {cp} {}>}
  // CHECK: math.exp %[[W]]
  func.func @others(%x: tensor<4x16xf32> {tg.role = #tg.role<tokens>, comm.sharding = #comm.sharding<@mesh, {dp} {cp}>},
                    %w: tensor<8x4xf32> {comm.sharding = #comm.sharding<@mesh, {cp} {}>})
      -> (tensor<16xf32> {comm.sharding = #comm.sharding<@mesh, {}, flat {dp, cp}>}, tensor<8x4xf32> {comm.sharding = #comm.sharding<@mesh, {cp} {}>}) {
    %sum = tg.reduce sum %x dims [0] : tensor<4x16xf32> -> tensor<16xf32>
    %e = math.exp %w : tensor<8x4xf32>
    return %sum, %e : tensor<16xf32>, tensor<8x4xf32>
  }
}
