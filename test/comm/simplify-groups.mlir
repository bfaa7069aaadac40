// Axes of size 1 and values that all ranks of a group hold.
// RUN: braid-opt --comm-simplify %s | FileCheck %s
// RUN: braid-interp %s --compare --pipeline=comm-simplify --seeds=3

comm.mesh @mesh [dp = 2, one = 1, tp = 4]

// CHECK-LABEL: func @group_of_one
// CHECK-NEXT: %[[FLAT:.*]] = tg.reshape %arg0 : tensor<2x4xf32> -> tensor<8xf32>
// CHECK-NEXT: return %arg0, %arg0, %arg0, %[[FLAT]], %arg0, %arg0
func.func @group_of_one(%x: tensor<2x4xf32> {comm.sharding = #comm.sharding<@mesh, {tp} {}>, comm.global = tensor<8x4xf32>})
    -> (tensor<2x4xf32> {comm.sharding = #comm.sharding<@mesh, {tp} {}>, comm.global = tensor<8x4xf32>}, tensor<2x4xf32> {comm.sharding = #comm.sharding<@mesh, {tp} {}>, comm.global = tensor<8x4xf32>}, tensor<2x4xf32> {comm.sharding = #comm.sharding<@mesh, {tp} {}>, comm.global = tensor<8x4xf32>}, tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {tp}>, comm.global = tensor<32xf32>}, tensor<2x4xf32> {comm.sharding = #comm.sharding<@mesh, {tp} {}>, comm.global = tensor<8x4xf32>},
        tensor<2x4xf32> {comm.sharding = #comm.sharding<@mesh, {tp} {}>, comm.global = tensor<8x4xf32>})
    attributes {comm.program = #comm.program<@mesh>} {
  %a = comm.all_reduce sum %x over @mesh {one} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %b = comm.all_gather %x dims [1] over @mesh {one} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %c = comm.all_to_all %x split [0] concat [1] over @mesh {one} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %d = comm.reduce_scatter max %x dims [flat] over @mesh {one} : (tensor<2x4xf32>) -> tensor<8xf32>
  %e = comm.slice %x dim 0 over @mesh {one} : tensor<2x4xf32> -> tensor<2x4xf32>
  %f = comm.assemble %x dim 0 shifts [0] over @mesh {one} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  comm.barrier over @mesh {one} : () -> ()
  return %a, %b, %c, %d, %e, %f : tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<8xf32>, tensor<2x4xf32>, tensor<2x4xf32>
}

// CHECK-LABEL: func @index_of_one
// CHECK-NEXT: %[[ZERO:.*]] = arith.constant dense<0> : tensor<i32>
// CHECK-NEXT: %[[I:.*]] = comm.axis_index over @mesh {tp}
// CHECK-NEXT: %[[T:.*]] = tg.broadcast %[[I]]
// CHECK-NEXT: return %[[ZERO]], %[[T]]
func.func @index_of_one() -> (tensor<i32> {comm.sharding = #comm.sharding<@mesh>}, tensor<1xi32> {comm.sharding = #comm.sharding<@mesh, {tp}>, comm.global = tensor<4xi32>})
    attributes {comm.program = #comm.program<@mesh>} {
  %zero = comm.axis_index over @mesh {one} : tensor<i32>
  %i = comm.axis_index over @mesh {one, tp} : tensor<i32>
  %t = tg.broadcast %i dims [] : tensor<i32> -> tensor<1xi32>
  return %zero, %t : tensor<i32>, tensor<1xi32>
}

// CHECK-LABEL: func @axis_of_one
// CHECK: comm.all_reduce sum %arg0 over @mesh {tp}
// CHECK: comm.all_gather %arg0 dims [0] over @mesh {dp, tp}
func.func @axis_of_one(%x: tensor<2x4xf32> {comm.sharding = #comm.sharding<@mesh, {dp, tp} {}>, comm.global = tensor<16x4xf32>}) -> (tensor<2x4xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {}>, comm.global = tensor<4x4xf32>}, tensor<16x4xf32> {comm.sharding = #comm.sharding<@mesh, {} {}>})
    attributes {comm.program = #comm.program<@mesh>} {
  %a = comm.all_reduce sum %x over @mesh {one, tp} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %b = comm.all_gather %x dims [0] over @mesh {dp, one, tp} : (tensor<2x4xf32>) -> tensor<16x4xf32>
  return %a, %b : tensor<2x4xf32>, tensor<16x4xf32>
}

// CHECK-LABEL: func @permutes
// CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0.0{{.*}}> : tensor<2x4xf32>
// CHECK-DAG: %[[P:.*]] = comm.permute %arg0 pairs [0 -> 0]
// CHECK: return %arg0, %[[ZERO]], %[[P]]
func.func @permutes(%x: tensor<2x4xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {}>, comm.global = tensor<4x4xf32>}) -> (tensor<2x4xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {}>, comm.global = tensor<4x4xf32>}, tensor<2x4xf32> {comm.sharding = #comm.sharding<@mesh, {} {}>}, tensor<2x4xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {}>, comm.global = tensor<4x4xf32>})
    attributes {comm.program = #comm.program<@mesh>} {
  %stay = comm.permute %x pairs [1 -> 1, 0 -> 0] over @mesh {dp} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %none = comm.permute %x pairs [] over @mesh {dp} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %half = comm.permute %x pairs [0 -> 0] over @mesh {dp} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %stay, %none, %half : tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>
}

// CHECK-LABEL: func @replicated
// CHECK-DAG: %[[FOUR:.*]] = arith.constant dense<4.0{{.*}}> : tensor<8xf32>
// CHECK-DAG: %[[IFOUR:.*]] = arith.constant dense<4> : tensor<8xi32>
// CHECK-DAG: %[[SUM:.*]] = arith.mulf %arg0, %[[FOUR]] : tensor<8xf32>
// CHECK-DAG: %[[ISUM:.*]] = arith.muli %arg1, %[[IFOUR]] : tensor<8xi32>
// CHECK: return %[[SUM]], %[[ISUM]], %arg0, %arg0, %arg1, %arg0
func.func @replicated(%x: tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {}>}, %i: tensor<8xi32> {comm.sharding = #comm.sharding<@mesh, {}>})
    -> (tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {}>}, tensor<8xi32> {comm.sharding = #comm.sharding<@mesh, {}>}, tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {}>}, tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {}>}, tensor<8xi32> {comm.sharding = #comm.sharding<@mesh, {}>}, tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {}>})
    attributes {comm.program = #comm.program<@mesh>} {
  %sum = comm.all_reduce sum %x over @mesh {tp} : (tensor<8xf32>) -> tensor<8xf32>
  %isum = comm.all_reduce sum %i over @mesh {tp} : (tensor<8xi32>) -> tensor<8xi32>
  %mean = comm.all_reduce mean %x over @mesh {tp} : (tensor<8xf32>) -> tensor<8xf32>
  %max = comm.all_reduce max %x over @mesh {dp, tp} : (tensor<8xf32>) -> tensor<8xf32>
  %min = comm.all_reduce min %i over @mesh {tp} : (tensor<8xi32>) -> tensor<8xi32>
  %root = comm.broadcast %x root 1 over @mesh {tp} : (tensor<8xf32>) -> tensor<8xf32>
  return %sum, %isum, %mean, %max, %min, %root : tensor<8xf32>, tensor<8xi32>, tensor<8xf32>, tensor<8xf32>, tensor<8xi32>, tensor<8xf32>
}

// bf16 is multiplied in f32.
// CHECK-LABEL: func @replicated_bf16
// CHECK: tg.convert %arg0
// CHECK: arith.mulf
// CHECK: tg.convert
func.func @replicated_bf16(%x: tensor<8xbf16> {comm.sharding = #comm.sharding<@mesh, {}>}) -> (tensor<8xbf16> {comm.sharding = #comm.sharding<@mesh, {}>})
    attributes {comm.program = #comm.program<@mesh>} {
  %sum = comm.all_reduce sum %x over @mesh {tp} : (tensor<8xbf16>) -> tensor<8xbf16>
  return %sum : tensor<8xbf16>
}

// Replicated along tp alone.
// CHECK-LABEL: func @replicated_along_some
// CHECK: %[[R:.*]] = comm.all_reduce sum %arg0 over @mesh {dp}
// CHECK: arith.mulf %[[R]]
func.func @replicated_along_some(%x: tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {dp}>, comm.global = tensor<16xf32>}) -> (tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {}>})
    attributes {comm.program = #comm.program<@mesh>} {
  %sum = comm.all_reduce sum %x over @mesh {dp, tp} : (tensor<8xf32>) -> tensor<8xf32>
  return %sum : tensor<8xf32>
}

// CHECK-LABEL: func @reduce_scatter_of_replicated
// CHECK: %[[S:.*]] = comm.slice %arg0 dim 0 over @mesh {tp} : tensor<8xf32> -> tensor<2xf32>
// CHECK: arith.mulf %[[S]]
func.func @reduce_scatter_of_replicated(%x: tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {}>}) -> (tensor<2xf32> {comm.sharding = #comm.sharding<@mesh, {tp}>, comm.global = tensor<8xf32>})
    attributes {comm.program = #comm.program<@mesh>} {
  %sum = comm.reduce_scatter sum %x dims [0] over @mesh {tp} : (tensor<8xf32>) -> tensor<2xf32>
  return %sum : tensor<2xf32>
}

// Computed from what is the same, through a gather and another all_reduce.
// CHECK-LABEL: func @replicated_values
// CHECK-NOT: comm.all_reduce max
// CHECK: return
func.func @replicated_values(%x: tensor<2xf32> {comm.sharding = #comm.sharding<@mesh, {tp}>, comm.global = tensor<8xf32>}, %y: tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {}, partial sum {tp}>}) -> (tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {}>})
    attributes {comm.program = #comm.program<@mesh>} {
  %g = comm.all_gather %x dims [0] over @mesh {tp} : (tensor<2xf32>) -> tensor<8xf32>
  %r = comm.all_reduce sum %y over @mesh {tp} : (tensor<8xf32>) -> tensor<8xf32>
  %z = arith.mulf %g, %r : tensor<8xf32>
  %c = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<8xf32>
  %w = arith.addf %z, %c : tensor<8xf32>
  %max = comm.all_reduce max %w over @mesh {tp} : (tensor<8xf32>) -> tensor<8xf32>
  return %max : tensor<8xf32>
}

// A collective that has started is waited for with the same values on all ranks.
// CHECK-LABEL: func @replicated_after_wait
// CHECK: %[[W:.*]] = comm.wait
// CHECK-NEXT: return %[[W]]
func.func @replicated_after_wait(%x: tensor<2xf32> {comm.sharding = #comm.sharding<@mesh, {tp}>, comm.global = tensor<8xf32>}) -> (tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {}>})
    attributes {comm.program = #comm.program<@mesh>} {
  %t = comm.start {
    %g = comm.all_gather %x dims [0] over @mesh {tp} : (tensor<2xf32>) -> tensor<8xf32>
  } : !comm.ticket<tensor<8xf32>>
  %w = comm.wait %t : !comm.ticket<tensor<8xf32>> -> tensor<8xf32>
  %max = comm.all_reduce max %w over @mesh {tp} : (tensor<8xf32>) -> tensor<8xf32>
  return %max : tensor<8xf32>
}

// Each differs between the ranks.
// CHECK-LABEL: func @different
// CHECK: comm.axis_index
// CHECK: comm.all_reduce max
// CHECK: comm.all_reduce max
// CHECK: comm.permute
// CHECK: comm.all_reduce max
// CHECK: comm.all_reduce max %arg1
func.func @different(%x: tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {}>}, %shard: tensor<2xf32> {comm.sharding = #comm.sharding<@mesh, {tp}>, comm.global = tensor<8xf32>})
    -> (tensor<i32> {comm.sharding = #comm.sharding<@mesh>}, tensor<2xf32> {comm.sharding = #comm.sharding<@mesh, {}>}, tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {}>}, tensor<2xf32> {comm.sharding = #comm.sharding<@mesh, {}>})
    attributes {comm.program = #comm.program<@mesh>} {
  %i = comm.axis_index over @mesh {tp} : tensor<i32>
  %a = comm.all_reduce max %i over @mesh {tp} : (tensor<i32>) -> tensor<i32>
  %s = comm.slice %x dim 0 over @mesh {tp} : tensor<8xf32> -> tensor<2xf32>
  %b = comm.all_reduce max %s over @mesh {tp} : (tensor<2xf32>) -> tensor<2xf32>
  %p = comm.permute %x pairs [0 -> 1] over @mesh {tp} : (tensor<8xf32>) -> tensor<8xf32>
  %c = comm.all_reduce max %p over @mesh {tp} : (tensor<8xf32>) -> tensor<8xf32>
  %d = comm.all_reduce max %shard over @mesh {tp} : (tensor<2xf32>) -> tensor<2xf32>
  return %a, %b, %c, %d : tensor<i32>, tensor<2xf32>, tensor<8xf32>, tensor<2xf32>
}
