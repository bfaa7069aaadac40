// Matmuls sharded by column, by row, by both and by batch; constants; functions
// that are left alone.
//
// RUN: braid-opt %s --comm-partition | FileCheck %s
// RUN: braid-interp %s --compare --pipeline=comm-partition

comm.mesh @mesh [dp = 2, tp = 2]
comm.mesh @line [tp = 4]
comm.mesh @single [one = 1, dp = 2]

// Each rank makes its columns; nothing is communicated.
// CHECK-LABEL: func.func @by_column(
// CHECK-SAME: %arg0: tensor<4x8xf32>
// CHECK-SAME: %arg1: tensor<8x4xf32> {comm.global = tensor<8x16xf32>, comm.sharding = #comm.sharding<@line, {} {tp}>}
// CHECK-SAME: -> (tensor<4x4xf32> {comm.global = tensor<4x16xf32>, comm.sharding = #comm.sharding<@line, {} {tp}>})
// CHECK-SAME: attributes {comm.program = #comm.program<@line>}
// CHECK-NEXT: %[[V0:.*]] = tg.contract "bd,df->bf" %arg0, %arg1 : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
// CHECK-NEXT: return %[[V0]] : tensor<4x4xf32>
func.func @by_column(%x: tensor<4x8xf32> {comm.sharding = #comm.sharding<@line, {} {}>},
                     %w: tensor<8x16xf32> {comm.sharding = #comm.sharding<@line, {} {tp}>})
    -> (tensor<4x16xf32> {comm.sharding = #comm.sharding<@line, {} {tp}>}) {
  %y = tg.contract "bd,df->bf" %x, %w {comm.shardings = [#comm.sharding<@line, {} {tp}>]}
      : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  return %y : tensor<4x16xf32>
}

// Each rank makes a summand of the whole matmul.
// CHECK-LABEL: func.func @by_row(
// CHECK-NEXT: %[[V0:.*]] = tg.contract "bd,df->bf" %arg0, %arg1 : (tensor<4x2xf32>, tensor<2x16xf32>) -> tensor<4x16xf32>
// CHECK-NEXT: %[[V1:.*]] = comm.all_reduce sum %[[V0]] over @line {tp} : (tensor<4x16xf32>) -> tensor<4x16xf32>
// CHECK-NEXT: return %[[V1]] : tensor<4x16xf32>
func.func @by_row(%x: tensor<4x8xf32> {comm.sharding = #comm.sharding<@line, {} {tp}>},
                  %w: tensor<8x16xf32> {comm.sharding = #comm.sharding<@line, {tp} {}>})
    -> (tensor<4x16xf32> {comm.sharding = #comm.sharding<@line, {} {}>}) {
  %p = tg.contract "bd,df->bf" %x, %w {comm.shardings = [#comm.sharding<@line, {} {}, partial sum {tp}>]}
      : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %y = comm.reshard %p <@line, {} {}> : tensor<4x16xf32>
  return %y : tensor<4x16xf32>
}

// Columns over one axis, rows over the other; partial values pass a linear op.
// CHECK-LABEL: func.func @both(
// CHECK-NEXT: %[[V0:.*]] = tg.contract "bd,df->bf" %arg0, %arg1 : (tensor<4x4xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: %[[V1:.*]] = tg.transpose %[[V0]] [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
// CHECK-NEXT: %[[V2:.*]] = comm.all_reduce sum %[[V1]] over @mesh {tp} : (tensor<8x4xf32>) -> tensor<8x4xf32>
// CHECK-NEXT: return %[[V2]] : tensor<8x4xf32>
func.func @both(%x: tensor<4x8xf32> {comm.sharding = #comm.sharding<@mesh, {} {tp}>},
                %w: tensor<8x16xf32> {comm.sharding = #comm.sharding<@mesh, {tp} {dp}>})
    -> (tensor<16x4xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {}>}) {
  %p = tg.contract "bd,df->bf" %x, %w {comm.shardings = [#comm.sharding<@mesh, {} {dp}, partial sum {tp}>]}
      : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %t = tg.transpose %p [1, 0] {comm.shardings = [#comm.sharding<@mesh, {dp} {}, partial sum {tp}>]}
      : tensor<4x16xf32> -> tensor<16x4xf32>
  %y = comm.reshard %t <@mesh, {dp} {}> : tensor<16x4xf32>
  return %y : tensor<16x4xf32>
}

// The batch over both axes: rank (i, j) has block 2 i + j.
// CHECK-LABEL: func.func @batch(
// CHECK-NEXT: %[[V0:.*]] = tg.contract "bd,df->bf" %arg0, %arg1 : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
// CHECK-NEXT: %[[V1:.*]] = tg.reduce mean %[[V0]] dims [0, 1] : tensor<2x5xf32> -> tensor<f32>
// CHECK-NEXT: %[[V2:.*]] = comm.all_reduce mean %[[V1]] over @mesh {dp, tp} : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT: return %[[V0]], %[[V2]] : tensor<2x5xf32>, tensor<f32>
func.func @batch(%x: tensor<8x3xf32> {comm.sharding = #comm.sharding<@mesh, {dp, tp} {}>},
                 %w: tensor<3x5xf32> {comm.sharding = #comm.sharding<@mesh, {} {}>})
    -> (tensor<8x5xf32> {comm.sharding = #comm.sharding<@mesh, {dp, tp} {}>},
        tensor<f32> {comm.sharding = #comm.sharding<@mesh>, tg.role = #tg.role<loss>}) {
  %y = tg.contract "bd,df->bf" %x, %w {comm.shardings = [#comm.sharding<@mesh, {dp, tp} {}>]}
      : (tensor<8x3xf32>, tensor<3x5xf32>) -> tensor<8x5xf32>
  %m = tg.reduce mean %y dims [0, 1] {comm.shardings = [#comm.sharding<@mesh, partial mean {dp, tp}>]}
      : tensor<8x5xf32> -> tensor<f32>
  %loss = comm.reshard %m <@mesh> : tensor<f32>
  return %y, %loss : tensor<8x5xf32>, tensor<f32>
}

// One number is made in the local shape; a table is made whole and sliced.
// CHECK-LABEL: func.func @constants(
// CHECK-NEXT: %[[V0:.*]] = arith.constant dense<2.000000e+00> : tensor<1x2xf32>
// CHECK-NEXT: %[[V1:.*]] = arith.constant dense<{{\[\[}}1.000000e+00, 2.000000e+00], [3.000000e+00, 4.000000e+00], [5.000000e+00, 6.000000e+00], [7.000000e+00, 8.000000e+00]]> : tensor<4x2xf32>
// CHECK-NEXT: %[[V2:.*]] = comm.slice %[[V1]] dim 0 over @line {tp} : tensor<4x2xf32> -> tensor<1x2xf32>
// CHECK-NEXT: %[[V3:.*]] = arith.mulf %arg0, %[[V0]] : tensor<1x2xf32>
// CHECK-NEXT: %[[V4:.*]] = arith.addf %[[V3]], %[[V2]] : tensor<1x2xf32>
// CHECK-NEXT: return %[[V4]] : tensor<1x2xf32>
func.func @constants(%x: tensor<4x2xf32> {comm.sharding = #comm.sharding<@line, {tp} {}>})
    -> (tensor<4x2xf32> {comm.sharding = #comm.sharding<@line, {tp} {}>}) {
  %two = arith.constant {comm.shardings = [#comm.sharding<@line, {tp} {}>]} dense<2.0> : tensor<4x2xf32>
  %table = arith.constant {comm.shardings = [#comm.sharding<@line, {} {}>]}
      dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]> : tensor<4x2xf32>
  %rows = comm.reshard %table <@line, {tp} {}> : tensor<4x2xf32>
  %a = arith.mulf %x, %two {comm.shardings = [#comm.sharding<@line, {tp} {}>]} : tensor<4x2xf32>
  %y = arith.addf %a, %rows {comm.shardings = [#comm.sharding<@line, {tp} {}>]} : tensor<4x2xf32>
  return %y : tensor<4x2xf32>
}

// Parameters and states keep what they are.
// CHECK-LABEL: func.func @train(
// CHECK-SAME: %arg0: tensor<2x4xf32> {comm.global = tensor<8x4xf32>, comm.sharding = #comm.sharding<@line, {tp} {}>, tg.param = #tg.param<"w", #tg.init<normal, 0.000000e+00, 2.000000e-02>>}
// CHECK-SAME: %arg1: tensor<f32> {tg.input = "lr", tg.role = #tg.role<lr>}
// CHECK-SAME: -> (tensor<2x4xf32> {comm.global = tensor<8x4xf32>, comm.sharding = #comm.sharding<@line, {tp} {}>, tg.updates = "w"})
// CHECK-SAME: attributes {comm.program = #comm.program<@line>}
// CHECK-NEXT: %[[V0:.*]] = tg.broadcast %arg1 dims [] : tensor<f32> -> tensor<2x4xf32>
// CHECK-NEXT: %[[V1:.*]] = arith.mulf %arg0, %[[V0]] : tensor<2x4xf32>
// CHECK-NEXT: return %[[V1]] : tensor<2x4xf32>
func.func @train(%w: tensor<8x4xf32> {tg.param = #tg.param<"w", #tg.init<normal, 0.0, 0.02>>,
                                      comm.sharding = #comm.sharding<@line, {tp} {}>},
                 %lr: tensor<f32> {tg.input = "lr", tg.role = #tg.role<lr>, comm.sharding = #comm.sharding<@line>})
    -> (tensor<8x4xf32> {tg.updates = "w", comm.sharding = #comm.sharding<@line, {tp} {}>}) {
  %b = tg.broadcast %lr dims [] {comm.shardings = [#comm.sharding<@line, {tp} {}>]} : tensor<f32> -> tensor<8x4xf32>
  %n = arith.mulf %w, %b {comm.shardings = [#comm.sharding<@line, {tp} {}>]} : tensor<8x4xf32>
  return %n : tensor<8x4xf32>
}

// An axis of size 1 shards nothing; a partial argument is reduced like any value.  The
// priority of an annotation is of no use to a rank.
// CHECK-LABEL: func.func @one(
// CHECK-SAME: %arg0: tensor<2xf32> {comm.global = tensor<4xf32>, comm.sharding = #comm.sharding<@single, {one, dp}>}
// CHECK-SAME: %arg1: tensor<4xf32> {comm.global = tensor<4xf32>, comm.sharding = #comm.sharding<@single, {}, partial sum {dp}>}
// CHECK-SAME: -> (tensor<2xf32> {comm.global = tensor<4xf32>, comm.sharding = #comm.sharding<@single, {dp}>}, tensor<4xf32> {comm.global = tensor<4xf32>, comm.sharding = #comm.sharding<@single, {}, partial sum {dp}>})
// CHECK-SAME: attributes {comm.program = #comm.program<@single>}
// CHECK-NEXT: %[[V0:.*]] = math.exp %arg0 : tensor<2xf32>
// CHECK-NEXT: %[[V1:.*]] = comm.all_reduce sum %arg1 over @single {dp} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[V2:.*]] = comm.slice %[[V1]] dim 0 over @single {dp} : tensor<4xf32> -> tensor<2xf32>
// CHECK-NEXT: %[[V3:.*]] = arith.addf %[[V2]], %[[V0]] : tensor<2xf32>
// CHECK-NEXT: %[[V4:.*]] = arith.negf %arg1 : tensor<4xf32>
// CHECK-NEXT: return %[[V3]], %[[V4]] : tensor<2xf32>, tensor<4xf32>
func.func @one(%x: tensor<4xf32> {comm.sharding = #comm.sharding<@single, {one, dp}, priority 3>},
               %p: tensor<4xf32> {comm.sharding = #comm.sharding<@single, {}, partial sum {dp}>})
    -> (tensor<4xf32> {comm.sharding = #comm.sharding<@single, {dp}>},
        tensor<4xf32> {comm.sharding = #comm.sharding<@single, {}, partial sum {dp}>}) {
  %e = math.exp %x {comm.shardings = [#comm.sharding<@single, {one, dp}>]} : tensor<4xf32>
  %q = comm.reshard %p <@single, {dp}> : tensor<4xf32>
  %y = arith.addf %q, %e {comm.shardings = [#comm.sharding<@single, {dp}>]} : tensor<4xf32>
  %n = arith.negf %p {comm.shardings = [#comm.sharding<@single, {}, partial sum {dp}>]} : tensor<4xf32>
  return %y, %n : tensor<4xf32>, tensor<4xf32>
}

// A program of a rank stays as it is, and so does a function without shardings.
// CHECK-LABEL: func.func @local(
// CHECK-NEXT: return %arg0 : tensor<2xf32>
func.func @local(%x: tensor<2xf32> {comm.global = tensor<8xf32>, comm.sharding = #comm.sharding<@line, {tp}>})
    -> (tensor<2xf32> {comm.global = tensor<8xf32>, comm.sharding = #comm.sharding<@line, {tp}>})
    attributes {comm.program = #comm.program<@line>} {
  return %x : tensor<2xf32>
}

// CHECK-LABEL: func.func @plain(
// CHECK-SAME: %arg0: tensor<2xf32>
// CHECK-SAME: -> tensor<2xf32>
// CHECK-NEXT: return %arg0 : tensor<2xf32>
func.func @plain(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
