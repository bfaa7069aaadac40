// One collective where there were two; what is equal or not read goes.
// RUN: braid-opt --comm-simplify %s | FileCheck %s
// RUN: braid-interp %s --compare --pipeline=comm-simplify --seeds=3

comm.mesh @mesh [dp = 2, tp = 4]

// CHECK-LABEL: func @all_reduces
// CHECK-NEXT: comm.all_reduce sum %arg0 over @mesh {tp, dp}
// CHECK-NEXT: return
func.func @all_reduces(%x: tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {}, partial sum {dp, tp}>}) -> (tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {}>})
    attributes {comm.program = #comm.program<@mesh>} {
  %a = comm.all_reduce sum %x over @mesh {tp} : (tensor<8xf32>) -> tensor<8xf32>
  %b = comm.all_reduce sum %a over @mesh {dp} : (tensor<8xf32>) -> tensor<8xf32>
  return %b : tensor<8xf32>
}

// CHECK-LABEL: func @all_reduces_of_two_kinds
// CHECK: comm.all_reduce max
// CHECK: comm.all_reduce sum
func.func @all_reduces_of_two_kinds(%x: tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {}, partial sum {dp, tp}>}) -> (tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {}>})
    attributes {comm.program = #comm.program<@mesh>} {
  %a = comm.all_reduce max %x over @mesh {tp} : (tensor<8xf32>) -> tensor<8xf32>
  %b = comm.all_reduce sum %a over @mesh {dp} : (tensor<8xf32>) -> tensor<8xf32>
  return %b : tensor<8xf32>
}

// CHECK-LABEL: func @all_reduce_between
// CHECK-COUNT-2: comm.all_reduce sum
func.func @all_reduce_between(%x: tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {}, partial sum {dp, tp}>}) -> (tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {}>}, tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {}, partial sum {dp}>})
    attributes {comm.program = #comm.program<@mesh>} {
  %a = comm.all_reduce sum %x over @mesh {tp} : (tensor<8xf32>) -> tensor<8xf32>
  %b = comm.all_reduce sum %a over @mesh {dp} : (tensor<8xf32>) -> tensor<8xf32>
  return %b, %a : tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: func @all_gathers
// CHECK-NEXT: comm.all_gather %arg0 dims [0] over @mesh {dp, tp} : (tensor<1x2xf32>) -> tensor<8x2xf32>
// CHECK-NEXT: return
func.func @all_gathers(%x: tensor<1x2xf32> {comm.sharding = #comm.sharding<@mesh, {dp, tp} {}>, comm.global = tensor<8x2xf32>}) -> (tensor<8x2xf32> {comm.sharding = #comm.sharding<@mesh, {} {}>})
    attributes {comm.program = #comm.program<@mesh>} {
  %a = comm.all_gather %x dims [0] over @mesh {tp} : (tensor<1x2xf32>) -> tensor<4x2xf32>
  %b = comm.all_gather %a dims [0] over @mesh {dp} : (tensor<4x2xf32>) -> tensor<8x2xf32>
  return %b : tensor<8x2xf32>
}

// CHECK-LABEL: func @all_gathers_of_two_dims
// CHECK-COUNT-2: comm.all_gather
func.func @all_gathers_of_two_dims(%x: tensor<1x2xf32> {comm.sharding = #comm.sharding<@mesh, {tp} {dp}>, comm.global = tensor<4x4xf32>}) -> (tensor<4x4xf32> {comm.sharding = #comm.sharding<@mesh, {} {}>})
    attributes {comm.program = #comm.program<@mesh>} {
  %a = comm.all_gather %x dims [0] over @mesh {tp} : (tensor<1x2xf32>) -> tensor<4x2xf32>
  %b = comm.all_gather %a dims [1] over @mesh {dp} : (tensor<4x2xf32>) -> tensor<4x4xf32>
  return %b : tensor<4x4xf32>
}

// CHECK-LABEL: func @flat_all_gathers
// CHECK-NEXT: comm.all_gather %arg0 dims [flat] over @mesh {dp, tp} : (tensor<1xf32>) -> tensor<7xf32>
// CHECK-NEXT: return
func.func @flat_all_gathers(%x: tensor<1xf32> {comm.sharding = #comm.sharding<@mesh, {}, flat {dp, tp}>, comm.global = tensor<7xf32>}) -> (tensor<7xf32> {comm.sharding = #comm.sharding<@mesh, {}>})
    attributes {comm.program = #comm.program<@mesh>} {
  %a = comm.all_gather %x dims [flat] over @mesh {tp} : (tensor<1xf32>) -> tensor<4xf32>
  %b = comm.all_gather %a dims [flat] over @mesh {dp} : (tensor<4xf32>) -> tensor<7xf32>
  return %b : tensor<7xf32>
}

// The padding of the first lies between the runs of the second.
// CHECK-LABEL: func @flat_all_gathers_padded
// CHECK-COUNT-2: comm.all_gather
func.func @flat_all_gathers_padded(%x: tensor<1xf32> {comm.sharding = #comm.sharding<@mesh, {dp, tp}>, comm.global = tensor<8xf32>}) -> (tensor<6xf32> {comm.sharding = #comm.sharding<@mesh, {}>})
    attributes {comm.program = #comm.program<@mesh>} {
  %a = comm.all_gather %x dims [flat] over @mesh {tp} : (tensor<1xf32>) -> tensor<3xf32>
  %b = comm.all_gather %a dims [flat] over @mesh {dp} : (tensor<3xf32>) -> tensor<6xf32>
  return %b : tensor<6xf32>
}

// CHECK-LABEL: func @reduce_scatters
// CHECK-NEXT: comm.reduce_scatter sum %arg0 dims [0] over @mesh {tp, dp} : (tensor<8xf32>) -> tensor<1xf32>
// CHECK-NEXT: return
func.func @reduce_scatters(%x: tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {}, partial sum {dp, tp}>}) -> (tensor<1xf32> {comm.sharding = #comm.sharding<@mesh, {tp, dp}>, comm.global = tensor<8xf32>})
    attributes {comm.program = #comm.program<@mesh>} {
  %a = comm.reduce_scatter sum %x dims [0] over @mesh {tp} : (tensor<8xf32>) -> tensor<2xf32>
  %b = comm.reduce_scatter sum %a dims [0] over @mesh {dp} : (tensor<2xf32>) -> tensor<1xf32>
  return %b : tensor<1xf32>
}

// CHECK-LABEL: func @reduce_scatter_and_gather
// CHECK-NEXT: comm.all_reduce mean %arg0 over @mesh {tp} : (tensor<3x3xf32>) -> tensor<3x3xf32>
// CHECK-NEXT: return
func.func @reduce_scatter_and_gather(%x: tensor<3x3xf32> {comm.sharding = #comm.sharding<@mesh, {} {}, partial mean {tp}>}) -> (tensor<3x3xf32> {comm.sharding = #comm.sharding<@mesh, {} {}>})
    attributes {comm.program = #comm.program<@mesh>} {
  %a = comm.reduce_scatter mean %x dims [flat] over @mesh {tp} : (tensor<3x3xf32>) -> tensor<3xf32>
  %b = comm.all_gather %a dims [flat] over @mesh {tp} : (tensor<3xf32>) -> tensor<3x3xf32>
  return %b : tensor<3x3xf32>
}

// CHECK-LABEL: func @gathered_along_another_dim
// CHECK: comm.reduce_scatter
// CHECK: comm.all_gather
func.func @gathered_along_another_dim(%x: tensor<4x4xf32> {comm.sharding = #comm.sharding<@mesh, {} {}, partial sum {tp}>}) -> (tensor<1x16xf32> {comm.sharding = #comm.sharding<@mesh, {} {}>})
    attributes {comm.program = #comm.program<@mesh>} {
  %a = comm.reduce_scatter sum %x dims [0] over @mesh {tp} : (tensor<4x4xf32>) -> tensor<1x4xf32>
  %b = comm.all_gather %a dims [1] over @mesh {tp} : (tensor<1x4xf32>) -> tensor<1x16xf32>
  return %b : tensor<1x16xf32>
}

// CHECK-LABEL: func @sums
// CHECK-NEXT: %[[XY:.*]] = arith.addf %arg0, %arg1
// CHECK-NEXT: %[[XYX:.*]] = arith.subf %[[XY]], %arg2
// CHECK-NEXT: %[[R:.*]] = comm.all_reduce sum %[[XYX]] over @mesh {tp}
// CHECK-NEXT: return %[[R]]
func.func @sums(%x: tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {}, partial sum {tp}>}, %y: tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {}, partial sum {tp}>}, %z: tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {}, partial sum {tp}>})
    -> (tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {}>})
    attributes {comm.program = #comm.program<@mesh>} {
  %a = comm.all_reduce sum %x over @mesh {tp} : (tensor<8xf32>) -> tensor<8xf32>
  %b = comm.all_reduce sum %y over @mesh {tp} : (tensor<8xf32>) -> tensor<8xf32>
  %c = comm.all_reduce sum %z over @mesh {tp} : (tensor<8xf32>) -> tensor<8xf32>
  %s = arith.addf %a, %b : tensor<8xf32>
  %t = arith.subf %s, %c : tensor<8xf32>
  return %t : tensor<8xf32>
}

// CHECK-LABEL: func @sums_of_blocks
// CHECK-NEXT: %[[XY:.*]] = arith.addf %arg0, %arg1
// CHECK-NEXT: comm.reduce_scatter mean %[[XY]] dims [0] over @mesh {tp}
// CHECK-NEXT: return
func.func @sums_of_blocks(%x: tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {}, partial mean {tp}>}, %y: tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {}, partial mean {tp}>})
    -> (tensor<2xf32> {comm.sharding = #comm.sharding<@mesh, {tp}>, comm.global = tensor<8xf32>})
    attributes {comm.program = #comm.program<@mesh>} {
  %a = comm.reduce_scatter mean %x dims [0] over @mesh {tp} : (tensor<8xf32>) -> tensor<2xf32>
  %b = comm.reduce_scatter mean %y dims [0] over @mesh {tp} : (tensor<8xf32>) -> tensor<2xf32>
  %s = arith.addf %a, %b : tensor<2xf32>
  return %s : tensor<2xf32>
}

// A maximum of sums is not a sum of maxima.
// CHECK-LABEL: func @sums_of_others
// CHECK-COUNT-5: comm.all_reduce
func.func @sums_of_others(%x: tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {}, partial sum {dp, tp}>}, %y: tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {}, partial sum {dp, tp}>})
    -> (tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {}, partial sum {dp}>}, tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {}, partial sum {dp}>})
    attributes {comm.program = #comm.program<@mesh>} {
  %a = comm.all_reduce max %x over @mesh {tp} : (tensor<8xf32>) -> tensor<8xf32>
  %b = comm.all_reduce max %y over @mesh {tp} : (tensor<8xf32>) -> tensor<8xf32>
  %s = arith.addf %a, %b : tensor<8xf32>
  %c = comm.all_reduce sum %x over @mesh {tp} : (tensor<8xf32>) -> tensor<8xf32>
  %d = comm.all_reduce sum %y over @mesh {tp} : (tensor<8xf32>) -> tensor<8xf32>
  %e = comm.all_reduce sum %d over @mesh {dp} : (tensor<8xf32>) -> tensor<8xf32>
  %t = arith.addf %c, %d : tensor<8xf32>
  %u = arith.addf %t, %e : tensor<8xf32>
  return %s, %u : tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: func @duplicates
// CHECK-NEXT: %[[G:.*]] = comm.all_gather %arg0
// CHECK-NEXT: %[[M:.*]] = arith.mulf %[[G]], %[[G]]
// CHECK-NEXT: return %[[M]]
func.func @duplicates(%x: tensor<2xf32> {comm.sharding = #comm.sharding<@mesh, {tp}>, comm.global = tensor<8xf32>}) -> (tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {}>})
    attributes {comm.program = #comm.program<@mesh>} {
  %a = comm.all_gather %x dims [0] over @mesh {tp} : (tensor<2xf32>) -> tensor<8xf32>
  %b = comm.all_gather %x dims [0] over @mesh {tp} : (tensor<2xf32>) -> tensor<8xf32>
  %m = arith.mulf %a, %b : tensor<8xf32>
  return %m : tensor<8xf32>
}

// They are equal once a rule was applied.
// CHECK-LABEL: func @duplicates_after_rules
// CHECK-COUNT-1: comm.all_reduce
// CHECK-NOT: comm.all_reduce
func.func @duplicates_after_rules(%x: tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {}, partial sum {dp, tp}>}) -> (tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {}>}, tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {}>})
    attributes {comm.program = #comm.program<@mesh>} {
  %a = comm.all_reduce sum %x over @mesh {tp, dp} : (tensor<8xf32>) -> tensor<8xf32>
  %b = comm.reduce_scatter sum %x dims [0] over @mesh {tp, dp} : (tensor<8xf32>) -> tensor<1xf32>
  %c = comm.all_gather %b dims [0] over @mesh {tp, dp} : (tensor<1xf32>) -> tensor<8xf32>
  return %a, %c : tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: func @dead
// CHECK-NEXT: return %arg0
func.func @dead(%x: tensor<2xf32> {comm.sharding = #comm.sharding<@mesh, {tp}>, comm.global = tensor<8xf32>}) -> (tensor<2xf32> {comm.sharding = #comm.sharding<@mesh, {tp}>, comm.global = tensor<8xf32>})
    attributes {comm.program = #comm.program<@mesh>} {
  %a = comm.all_gather %x dims [0] over @mesh {tp} : (tensor<2xf32>) -> tensor<8xf32>
  %b = comm.slice %a dim 0 shift 1 over @mesh {tp} : tensor<8xf32> -> tensor<2xf32>
  return %x : tensor<2xf32>
}
