// A few annotations and one pipeline: an MLP with its first matrix by column and its
// second by row communicates once forward, and reduces only what dp makes partial.
//
// RUN: braid-opt %s --comm-shard | FileCheck %s
// RUN: braid-interp %s --compare --pipeline=comm-shard
// RUN: braid-interp %s --compare --pipeline="tg-differentiate,comm-shard" --reference-pipeline=tg-differentiate

comm.mesh @line [tp = 4]
comm.mesh @mesh [dp = 2, tp = 2]

// CHECK-LABEL: func.func @column_row(
// CHECK-NEXT: %[[V0:.*]] = tg.contract "bd,df->bf" %arg0, %arg1 : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
// CHECK-NEXT: %[[V1:.*]] = tg.broadcast %arg2 dims [1] : tensor<4xf32> -> tensor<4x4xf32>
// CHECK-NEXT: %[[V2:.*]] = arith.addf %[[V0]], %[[V1]] : tensor<4x4xf32>
// CHECK-NEXT: %[[V3:.*]] = tg.gelu tanh %[[V2]] : tensor<4x4xf32>
// CHECK-NEXT: %[[V4:.*]] = tg.contract "bf,fd->bd" %[[V3]], %arg3 : (tensor<4x4xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: %[[V5:.*]] = comm.all_reduce sum %[[V4]] over @line {tp} : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: %[[V6:.*]] = arith.addf %[[V5]], %arg0 : tensor<4x8xf32>
// CHECK-NEXT: %[[V7:.*]] = arith.mulf %[[V6]], %[[V6]] : tensor<4x8xf32>
// CHECK-NEXT: %[[V8:.*]] = tg.reduce mean %[[V7]] dims [0, 1] : tensor<4x8xf32> -> tensor<f32>
// CHECK-NEXT: return %[[V8]] : tensor<f32>
func.func @column_row(%x: tensor<4x8xf32> {tg.input = "x"},
                      %w1: tensor<8x16xf32> {tg.param = #tg.param<"w1", #tg.init<normal, 0.0, 0.3>>,
                                             comm.sharding = #comm.sharding<@line, {} {tp}>},
                      %b1: tensor<16xf32> {tg.param = #tg.param<"b1", #tg.init<normal, 0.0, 0.3>>},
                      %w2: tensor<16x8xf32> {tg.param = #tg.param<"w2", #tg.init<normal, 0.0, 0.3>>})
    -> (tensor<f32> {tg.role = #tg.role<loss>}) {
  %0 = tg.contract "bd,df->bf" %x, %w1 : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %1 = tg.broadcast %b1 dims [1] : tensor<16xf32> -> tensor<4x16xf32>
  %2 = arith.addf %0, %1 : tensor<4x16xf32>
  %3 = tg.gelu tanh %2 : tensor<4x16xf32>
  %4 = tg.contract "bf,fd->bd" %3, %w2 : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
  %5 = arith.addf %4, %x : tensor<4x8xf32>
  %6 = arith.mulf %5, %5 : tensor<4x8xf32>
  %loss = tg.reduce mean %6 dims [0, 1] : tensor<4x8xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

// CHECK-LABEL: func.func @two_axes(
// CHECK-NEXT: %[[V0:.*]] = tg.contract "bd,df->bf" %arg0, %arg1 : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
// CHECK-NEXT: %[[V1:.*]] = tg.gelu tanh %[[V0]] : tensor<2x8xf32>
// CHECK-NEXT: %[[V2:.*]] = tg.contract "bf,fd->bd" %[[V1]], %arg2 : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
// CHECK-NEXT: %[[V3:.*]] = comm.all_reduce sum %[[V2]] over @mesh {tp} : (tensor<2x8xf32>) -> tensor<2x8xf32>
// CHECK-NEXT: %[[V4:.*]] = arith.mulf %[[V3]], %[[V3]] : tensor<2x8xf32>
// CHECK-NEXT: %[[V5:.*]] = tg.reduce mean %[[V4]] dims [0, 1] : tensor<2x8xf32> -> tensor<f32>
// CHECK-NEXT: %[[V6:.*]] = comm.all_reduce mean %[[V5]] over @mesh {dp} : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT: return %[[V6]] : tensor<f32>
func.func @two_axes(%x: tensor<4x8xf32> {tg.input = "x", comm.sharding = #comm.sharding<@mesh, {dp} {}>},
                    %w1: tensor<8x16xf32> {tg.param = #tg.param<"w1", #tg.init<normal, 0.0, 0.3>>,
                                           comm.sharding = #comm.sharding<@mesh, {} {tp}>},
                    %w2: tensor<16x8xf32> {tg.param = #tg.param<"w2", #tg.init<normal, 0.0, 0.3>>})
    -> (tensor<f32> {tg.role = #tg.role<loss>}) {
  %0 = tg.contract "bd,df->bf" %x, %w1 : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %1 = tg.gelu tanh %0 : tensor<4x16xf32>
  %2 = tg.contract "bf,fd->bd" %1, %w2 : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
  %3 = arith.mulf %2, %2 : tensor<4x8xf32>
  %loss = tg.reduce mean %3 dims [0, 1] : tensor<4x8xf32> -> tensor<f32>
  return %loss : tensor<f32>
}
