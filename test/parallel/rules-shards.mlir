// What ops do on a shard where that is not simply themselves.
//
// RUN: braid-opt %s --comm-propagate --comm-insert-reshards --comm-partition | FileCheck %s
// RUN: braid-interp %s --compare --pipeline=comm-propagate,comm-insert-reshards,comm-partition --seeds=2

comm.mesh @mesh [dp = 2, tp = 3]
comm.mesh @five [dp = 5]
comm.mesh @four [dp = 4]

// Positions are counted in i32 and then converted, so that bf16 rounds once.
// CHECK-LABEL: @positions
// CHECK: %[[I:.*]] = tg.iota dim 0 : tensor<300x4xi32>
// CHECK: %[[NUMBER:.*]] = comm.axis_index over @mesh {dp}
// CHECK: %[[START:.*]] = arith.muli %[[NUMBER]], %{{.*}} : tensor<i32>
// CHECK: %[[S:.*]] = tg.broadcast %[[START]] dims [] : tensor<i32> -> tensor<300x4xi32>
// CHECK: %[[P:.*]] = arith.addi %[[I]], %[[S]]
// CHECK: tg.convert %[[P]] : tensor<300x4xi32> -> tensor<300x4xbf16>
func.func @positions() -> (tensor<600x4xbf16> {comm.sharding = #comm.sharding<@mesh, {dp} {}>}) {
  %i = tg.iota dim 0 : tensor<600x4xbf16>
  return %i : tensor<600x4xbf16>
}

// A dim that is whole needs no offset, even where others are sharded.
// CHECK-LABEL: @other_dim
// CHECK-NEXT: %[[I:.*]] = tg.iota dim 1 : tensor<3x4xi32>
// CHECK-NEXT: return %[[I]]
func.func @other_dim() -> (tensor<6x4xi32> {comm.sharding = #comm.sharding<@mesh, {dp} {}>}) {
  %i = tg.iota dim 1 : tensor<6x4xi32>
  return %i : tensor<6x4xi32>
}

// A block of a block: offsets add up, and the numbers are those of the largest.
// CHECK-LABEL: @random
// CHECK-SAME: %[[KEY:.*]]: tensor<4xi32>, %{{.*}}: tensor<i32>
// CHECK: %[[O:.*]] = arith.subi
// CHECK: %[[ROW:.*]] = arith.addi %[[O]], %{{.*}} : tensor<i32>
// CHECK: tg.random_uniform %[[KEY]] stream 1 at (%[[ROW]], %[[O]]) of [20, 10] : (tensor<4xi32>, tensor<i32>, tensor<i32>) -> tensor<3x6xf32>
func.func @random(%key: tensor<4xi32>, %o: tensor<i32>) -> (tensor<6x6xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {}>}) {
  %zero = arith.subi %o, %o : tensor<i32>
  %u = tg.random_uniform %key stream 1 at (%zero, %zero) of [20, 10] : (tensor<4xi32>, tensor<i32>, tensor<i32>) -> tensor<6x6xf32>
  return %u : tensor<6x6xf32>
}

// A rank looks up the rows it has and counts zeros for others; i64 indices.
// CHECK-LABEL: @rows
// CHECK-SAME: %[[TABLE:.*]]: tensor<4x8xf32>
// CHECK: %[[ROWS:.*]] = tg.gather %[[TABLE]], %{{.*}} : (tensor<4x8xf32>, tensor<6x2xi64>)
// CHECK: %[[PART:.*]] = arith.select %{{.*}}, %[[ROWS]], %{{.*}} : tensor<6x2x8xi1>, tensor<6x2x8xf32>
// CHECK: comm.all_reduce sum %[[PART]] over @mesh {tp}
func.func @rows(%table: tensor<12x8xf32> {comm.sharding = #comm.sharding<@mesh, {tp} {}>}, %i: tensor<6x2xi64> {tg.input = "i", tg.role = #tg.role<tokens>})
    -> tensor<6x2x8xf32> {
  %y = tg.gather %table, %i : (tensor<12x8xf32>, tensor<6x2xi64>) -> tensor<6x2x8xf32>
  return %y : tensor<6x2x8xf32>
}

// The padding of a flat range is in no sum and no maximum.
// CHECK-LABEL: @flat
// CHECK: arith.select {{.*}} : tensor<5xi1>, tensor<5xf32>
// CHECK: tg.reduce sum %{{.*}} dims [0] : tensor<5xf32> -> tensor<f32>
// CHECK: dense<0xFF800000> : tensor<5xf32>
// CHECK: tg.reduce max %{{.*}} dims [0] : tensor<5xf32> -> tensor<f32>
// CHECK: comm.all_reduce
func.func @flat(%x: tensor<3x7xf32> {comm.sharding = #comm.sharding<@five, {} {}, flat {dp}>}) -> (tensor<f32>, tensor<f32>, tensor<f32>) {
  %five = arith.constant dense<5.0> : tensor<3x7xf32>
  %square = arith.mulf %x, %x : tensor<3x7xf32>
  %above = arith.addf %square, %five : tensor<3x7xf32>
  %below = arith.negf %above : tensor<3x7xf32>
  %sum = tg.reduce sum %above dims [0, 1] : tensor<3x7xf32> -> tensor<f32>
  %max = tg.reduce max %below dims [0, 1] : tensor<3x7xf32> -> tensor<f32>
  %mean = tg.reduce mean %above dims [0, 1] : tensor<3x7xf32> -> tensor<f32>
  return %sum, %max, %mean : tensor<f32>, tensor<f32>, tensor<f32>
}

// Ranges that hold whole blocks: a rank quantizes its own.
// CHECK-LABEL: @blocks
// CHECK-NEXT: %[[C:.*]], %[[S:.*]] = tg.quantize %arg0 at %arg1 block 4 : (tensor<20xf32>, tensor<20xf32>) -> (tensor<20xi8>, tensor<5xf32>)
// CHECK-NEXT: %[[X:.*]] = tg.dequantize %[[C]], %[[S]] : (tensor<20xi8>, tensor<5xf32>) -> tensor<20xf32>
// CHECK-NEXT: return %[[C]], %[[S]], %[[X]]
func.func @blocks(%x: tensor<10x8xf32> {comm.sharding = #comm.sharding<@four, {} {}, flat {dp}>},
                  %t: tensor<10x8xf32> {comm.sharding = #comm.sharding<@four, {} {}, flat {dp}>})
    -> (tensor<10x8xi8> {comm.sharding = #comm.sharding<@four, {} {}, flat {dp}>},
        tensor<10x2xf32> {comm.sharding = #comm.sharding<@four, {} {}, flat {dp}>},
        tensor<10x8xf32> {comm.sharding = #comm.sharding<@four, {} {}, flat {dp}>}) {
  %c, %s = tg.quantize %x at %t block 4 : (tensor<10x8xf32>, tensor<10x8xf32>) -> (tensor<10x8xi8>, tensor<10x2xf32>)
  %y = tg.dequantize %c, %s : (tensor<10x8xi8>, tensor<10x2xf32>) -> tensor<10x8xf32>
  return %c, %s, %y : tensor<10x8xi8>, tensor<10x2xf32>, tensor<10x8xf32>
}

// Ranges of 12 elements that cut blocks of 8: the tensor is gathered.
// CHECK-LABEL: @cut_blocks
// CHECK: comm.all_gather %arg0 dims [flat] over @four {dp} : (tensor<12xf32>) -> tensor<6x8xf32>
// CHECK: tg.quantize %{{.*}} block 8 : (tensor<6x8xf32>, tensor<6x8xf32>) -> (tensor<6x8xi8>, tensor<6x1xf32>)
func.func @cut_blocks(%x: tensor<6x8xf32> {comm.sharding = #comm.sharding<@four, {} {}, flat {dp}>},
                      %t: tensor<6x8xf32> {comm.sharding = #comm.sharding<@four, {} {}, flat {dp}>})
    -> (tensor<6x8xi8> {comm.sharding = #comm.sharding<@four, {} {}, flat {dp}>},
        tensor<6x1xf32> {comm.sharding = #comm.sharding<@four, {} {}, flat {dp}>}) {
  %c, %s = tg.quantize %x at %t block 8 : (tensor<6x8xf32>, tensor<6x8xf32>) -> (tensor<6x8xi8>, tensor<6x1xf32>)
  return %c, %s : tensor<6x8xi8>, tensor<6x1xf32>
}

// Columns of whole blocks need no scale of another rank.
// CHECK-LABEL: @columns
// CHECK-NEXT: tg.quantize %arg0 at %arg1 block 4 : (tensor<10x12xf32>, tensor<10x12xf32>) -> (tensor<10x12xi8>, tensor<10x3xf32>)
// CHECK-NEXT: return
func.func @columns(%x: tensor<10x24xf32> {comm.sharding = #comm.sharding<@mesh, {} {dp}>},
                   %t: tensor<10x24xf32> {comm.sharding = #comm.sharding<@mesh, {} {dp}>})
    -> (tensor<10x24xi8> {comm.sharding = #comm.sharding<@mesh, {} {dp}>},
        tensor<10x6xf32> {comm.sharding = #comm.sharding<@mesh, {} {dp}>}) {
  %c, %s = tg.quantize %x at %t block 4 : (tensor<10x24xf32>, tensor<10x24xf32>) -> (tensor<10x24xi8>, tensor<10x6xf32>)
  return %c, %s : tensor<10x24xi8>, tensor<10x6xf32>
}

// The norm of flat shards: one number travels.
// CHECK-LABEL: @norm
// CHECK-NOT: comm.all_gather
// CHECK: %[[SUM:.*]] = comm.all_reduce sum %{{.*}} over @five {dp} : (tensor<f32>) -> tensor<f32>
// CHECK: math.sqrt %[[SUM]] : tensor<f32>
func.func @norm(%a: tensor<4x6xf32> {comm.sharding = #comm.sharding<@five, {} {}, flat {dp}>},
                %b: tensor<3xf32> {comm.sharding = #comm.sharding<@five, {}, flat {dp}>}) -> tensor<f32> {
  %n = tg.global_norm %a, %b : (tensor<4x6xf32>, tensor<3xf32>) -> tensor<f32>
  return %n : tensor<f32>
}
