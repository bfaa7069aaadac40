// A slice of what a collective has made: less is sent.
// RUN: braid-opt --comm-simplify %s | FileCheck %s
// RUN: braid-interp %s --compare --pipeline=comm-simplify --seeds=3

comm.mesh @mesh [dp = 2, tp = 4]

// CHECK-LABEL: func @same_dim
// CHECK-NEXT: return %arg0
func.func @same_dim(%x: tensor<2x8xf32> {comm.sharding = #comm.sharding<@mesh, {tp} {}>, comm.global = tensor<8x8xf32>})
    -> (tensor<2x8xf32> {comm.sharding = #comm.sharding<@mesh, {tp} {}>, comm.global = tensor<8x8xf32>})
    attributes {comm.program = #comm.program<@mesh>} {
  %g = comm.all_gather %x dims [0] over @mesh {tp} : (tensor<2x8xf32>) -> tensor<8x8xf32>
  %y = comm.slice %g dim 0 over @mesh {tp} : tensor<8x8xf32> -> tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

// The whole is read too: the slice alone goes.
// CHECK-LABEL: func @same_dim_of_bucket
// CHECK: %[[G:.*]]:2 = comm.all_gather
// CHECK: return %arg1, %[[G]]#0
func.func @same_dim_of_bucket(%x: tensor<2x8xf32> {comm.sharding = #comm.sharding<@mesh, {tp} {}>, comm.global = tensor<8x8xf32>},
                              %y: tensor<4x2xf32> {comm.sharding = #comm.sharding<@mesh, {} {tp}>, comm.global = tensor<4x8xf32>})
    -> (tensor<4x2xf32> {comm.sharding = #comm.sharding<@mesh, {} {tp}>, comm.global = tensor<4x8xf32>}, tensor<8x8xf32> {comm.sharding = #comm.sharding<@mesh, {} {}>})
    attributes {comm.program = #comm.program<@mesh>} {
  %g:2 = comm.all_gather %x, %y dims [0, 1] over @mesh {tp} : (tensor<2x8xf32>, tensor<4x2xf32>) -> (tensor<8x8xf32>, tensor<4x8xf32>)
  %s = comm.slice %g#1 dim 1 over @mesh {tp} : tensor<4x8xf32> -> tensor<4x2xf32>
  return %s, %g#0 : tensor<4x2xf32>, tensor<8x8xf32>
}

// CHECK-LABEL: func @flat
// CHECK-NEXT: return %arg0
func.func @flat(%x: tensor<3xf32> {comm.sharding = #comm.sharding<@mesh, {} {}, flat {tp}>, comm.global = tensor<3x4xf32>})
    -> (tensor<3xf32> {comm.sharding = #comm.sharding<@mesh, {} {}, flat {tp}>, comm.global = tensor<3x4xf32>})
    attributes {comm.program = #comm.program<@mesh>} {
  %g = comm.all_gather %x dims [flat] over @mesh {tp} : (tensor<3xf32>) -> tensor<3x4xf32>
  %y = comm.slice %g dim flat over @mesh {tp} : tensor<3x4xf32> -> tensor<3xf32>
  return %y : tensor<3xf32>
}

// The padding of %x may hold anything, that of a slice is zero.
// CHECK-LABEL: func @flat_padded
// CHECK: comm.all_gather
// CHECK: comm.slice
func.func @flat_padded(%x: tensor<3xf32> {comm.sharding = #comm.sharding<@mesh, {} {}, flat {tp}>, comm.global = tensor<3x3xf32>})
    -> (tensor<3xf32> {comm.sharding = #comm.sharding<@mesh, {} {}, flat {tp}>, comm.global = tensor<3x3xf32>})
    attributes {comm.program = #comm.program<@mesh>} {
  %one = arith.constant dense<1.0> : tensor<3xf32>
  %x1 = arith.addf %x, %one : tensor<3xf32>
  %g = comm.all_gather %x1 dims [flat] over @mesh {tp} : (tensor<3xf32>) -> tensor<3x3xf32>
  %y = comm.slice %g dim flat over @mesh {tp} : tensor<3x3xf32> -> tensor<3xf32>
  return %y : tensor<3xf32>
}

// CHECK-LABEL: func @flat_sliced_here
// CHECK: %[[B:.*]] = comm.reduce_scatter
// CHECK-NEXT: return %[[B]]
func.func @flat_sliced_here(%x: tensor<3x3xf32> {comm.sharding = #comm.sharding<@mesh, {} {}, partial sum {tp}>})
    -> (tensor<3xf32> {comm.sharding = #comm.sharding<@mesh, {} {}, flat {tp}>, comm.global = tensor<3x3xf32>})
    attributes {comm.program = #comm.program<@mesh>} {
  %b = comm.reduce_scatter sum %x dims [flat] over @mesh {tp} : (tensor<3x3xf32>) -> tensor<3xf32>
  %g = comm.all_gather %b dims [flat] over @mesh {tp} : (tensor<3xf32>) -> tensor<9xf32>
  %y = comm.slice %g dim flat over @mesh {tp} : tensor<9xf32> -> tensor<3xf32>
  return %y : tensor<3xf32>
}

// The ranges were sliced from three elements, of which one is gathered.
// CHECK-LABEL: func @flat_sliced_from_more
// CHECK: comm.slice
// CHECK: comm.all_gather
// CHECK: comm.slice
func.func @flat_sliced_from_more(%x: tensor<3xf32> {comm.sharding = #comm.sharding<@mesh, {}>}) -> (tensor<1xf32> {comm.sharding = #comm.sharding<@mesh, {tp}>, comm.global = tensor<4xf32>})
    attributes {comm.program = #comm.program<@mesh>} {
  %s = comm.slice %x dim flat over @mesh {tp} : tensor<3xf32> -> tensor<1xf32>
  %g = comm.all_gather %s dims [flat] over @mesh {tp} : (tensor<1xf32>) -> tensor<1xf32>
  %y = comm.slice %g dim flat over @mesh {tp} : tensor<1xf32> -> tensor<1xf32>
  return %y : tensor<1xf32>
}

// CHECK-LABEL: func @shifted
// CHECK: comm.all_gather
// CHECK: comm.slice {{.*}} shift 1
func.func @shifted(%x: tensor<2x8xf32> {comm.sharding = #comm.sharding<@mesh, {tp} {}>, comm.global = tensor<8x8xf32>})
    -> (tensor<2x8xf32> {comm.sharding = #comm.sharding<@mesh, {tp} {}>, comm.global = tensor<8x8xf32>})
    attributes {comm.program = #comm.program<@mesh>} {
  %g = comm.all_gather %x dims [0] over @mesh {tp} : (tensor<2x8xf32>) -> tensor<8x8xf32>
  %y = comm.slice %g dim 0 shift 1 over @mesh {tp} : tensor<8x8xf32> -> tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

// Major axes that both have: only the rest is gathered, or sliced.
// CHECK-LABEL: func @prefix_gathered
// CHECK-NEXT: %[[G:.*]] = comm.all_gather %arg0 dims [0] over @mesh {tp} : (tensor<1x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: return %[[G]]
func.func @prefix_gathered(%x: tensor<1x8xf32> {comm.sharding = #comm.sharding<@mesh, {dp, tp} {}>, comm.global = tensor<8x8xf32>})
    -> (tensor<4x8xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {}>, comm.global = tensor<8x8xf32>})
    attributes {comm.program = #comm.program<@mesh>} {
  %g = comm.all_gather %x dims [0] over @mesh {dp, tp} : (tensor<1x8xf32>) -> tensor<8x8xf32>
  %y = comm.slice %g dim 0 over @mesh {dp} : tensor<8x8xf32> -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// CHECK-LABEL: func @prefix_sliced
// CHECK-NEXT: comm.slice %arg0 dim 0 over @mesh {tp} : tensor<4x8xf32> -> tensor<1x8xf32>
func.func @prefix_sliced(%x: tensor<4x8xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {}>, comm.global = tensor<8x8xf32>})
    -> (tensor<1x8xf32> {comm.sharding = #comm.sharding<@mesh, {dp, tp} {}>, comm.global = tensor<8x8xf32>})
    attributes {comm.program = #comm.program<@mesh>} {
  %g = comm.all_gather %x dims [0] over @mesh {dp} : (tensor<4x8xf32>) -> tensor<8x8xf32>
  %y = comm.slice %g dim 0 over @mesh {dp, tp} : tensor<8x8xf32> -> tensor<1x8xf32>
  return %y : tensor<1x8xf32>
}

// The minor axis is another order of blocks.
// CHECK-LABEL: func @suffix
// CHECK: comm.all_gather {{.*}} {dp, tp}
// CHECK: comm.slice {{.*}} {tp}
func.func @suffix(%x: tensor<1x8xf32> {comm.sharding = #comm.sharding<@mesh, {dp, tp} {}>, comm.global = tensor<8x8xf32>})
    -> (tensor<2x8xf32> {comm.sharding = #comm.sharding<@mesh, {tp} {}>, comm.global = tensor<8x8xf32>})
    attributes {comm.program = #comm.program<@mesh>} {
  %g = comm.all_gather %x dims [0] over @mesh {dp, tp} : (tensor<1x8xf32>) -> tensor<8x8xf32>
  %y = comm.slice %g dim 0 over @mesh {tp} : tensor<8x8xf32> -> tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

// CHECK-LABEL: func @other_axes
// CHECK: %[[S:.*]] = comm.slice %arg0 dim 1 shift 1 over @mesh {dp} : tensor<2x8xf32> -> tensor<2x4xf32>
// CHECK: comm.all_gather %[[S]] dims [0] over @mesh {tp} : (tensor<2x4xf32>) -> tensor<8x4xf32>
func.func @other_axes(%x: tensor<2x8xf32> {comm.sharding = #comm.sharding<@mesh, {tp} {}>, comm.global = tensor<8x8xf32>})
    -> (tensor<8x4xf32> {comm.sharding = #comm.sharding<@mesh, {} {dp}>, comm.global = tensor<8x8xf32>})
    attributes {comm.program = #comm.program<@mesh>} {
  %g = comm.all_gather %x dims [0] over @mesh {tp} : (tensor<2x8xf32>) -> tensor<8x8xf32>
  %y = comm.slice %g dim 1 shift 1 over @mesh {dp} : tensor<8x8xf32> -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// The whole is gathered anyway.
// CHECK-LABEL: func @other_reader
// CHECK: comm.all_gather
// CHECK: comm.slice
// CHECK: comm.slice
func.func @other_reader(%x: tensor<2x8xf32> {comm.sharding = #comm.sharding<@mesh, {tp} {}>, comm.global = tensor<8x8xf32>})
    -> (tensor<8x8xf32> {comm.sharding = #comm.sharding<@mesh, {} {}>}, tensor<8x4xf32> {comm.sharding = #comm.sharding<@mesh, {} {dp}>, comm.global = tensor<8x8xf32>}, tensor<8x2xf32> {comm.sharding = #comm.sharding<@mesh, {} {tp}>, comm.global = tensor<8x8xf32>})
    attributes {comm.program = #comm.program<@mesh>} {
  %g = comm.all_gather %x dims [0] over @mesh {tp} : (tensor<2x8xf32>) -> tensor<8x8xf32>
  %y = comm.slice %g dim 1 over @mesh {dp} : tensor<8x8xf32> -> tensor<8x4xf32>
  %z = comm.slice %g dim 1 over @mesh {tp} : tensor<8x8xf32> -> tensor<8x2xf32>
  return %g, %y, %z : tensor<8x8xf32>, tensor<8x4xf32>, tensor<8x2xf32>
}

// CHECK-LABEL: func @all_to_all
// CHECK-NEXT: comm.all_to_all %arg0 split [1] concat [0] over @mesh {tp} : (tensor<2x8xf32>) -> tensor<8x2xf32>
// CHECK-NEXT: return
func.func @all_to_all(%x: tensor<2x8xf32> {comm.sharding = #comm.sharding<@mesh, {tp} {}>, comm.global = tensor<8x8xf32>})
    -> (tensor<8x2xf32> {comm.sharding = #comm.sharding<@mesh, {} {tp}>, comm.global = tensor<8x8xf32>})
    attributes {comm.program = #comm.program<@mesh>} {
  %g = comm.all_gather %x dims [0] over @mesh {tp} : (tensor<2x8xf32>) -> tensor<8x8xf32>
  %y = comm.slice %g dim 1 over @mesh {tp} : tensor<8x8xf32> -> tensor<8x2xf32>
  return %y : tensor<8x2xf32>
}

// CHECK-LABEL: func @all_to_all_and_gathers
// CHECK-NEXT: %[[A:.*]] = comm.all_to_all %arg0 split [1] concat [0] over @mesh {tp} : (tensor<1x8xf32>) -> tensor<4x2xf32>
// CHECK-NEXT: comm.all_gather %[[A]] dims [0] over @mesh {dp} : (tensor<4x2xf32>) -> tensor<8x2xf32>
func.func @all_to_all_and_gathers(%x: tensor<1x8xf32> {comm.sharding = #comm.sharding<@mesh, {dp, tp} {}>, comm.global = tensor<8x8xf32>})
    -> (tensor<8x2xf32> {comm.sharding = #comm.sharding<@mesh, {} {tp}>, comm.global = tensor<8x8xf32>})
    attributes {comm.program = #comm.program<@mesh>} {
  %g = comm.all_gather %x dims [0] over @mesh {dp, tp} : (tensor<1x8xf32>) -> tensor<8x8xf32>
  %y = comm.slice %g dim 1 over @mesh {tp} : tensor<8x8xf32> -> tensor<8x2xf32>
  return %y : tensor<8x2xf32>
}

// CHECK-LABEL: func @all_to_all_between_slices
// CHECK-NEXT: %[[S:.*]] = comm.slice %arg0 dim 1 over @mesh {dp} : tensor<2x8xf32> -> tensor<2x4xf32>
// CHECK-NEXT: comm.all_to_all %[[S]] split [1] concat [0] over @mesh {tp} : (tensor<2x4xf32>) -> tensor<8x1xf32>
func.func @all_to_all_between_slices(%x: tensor<2x8xf32> {comm.sharding = #comm.sharding<@mesh, {tp} {}>, comm.global = tensor<8x8xf32>})
    -> (tensor<8x1xf32> {comm.sharding = #comm.sharding<@mesh, {} {dp, tp}>, comm.global = tensor<8x8xf32>})
    attributes {comm.program = #comm.program<@mesh>} {
  %g = comm.all_gather %x dims [0] over @mesh {tp} : (tensor<2x8xf32>) -> tensor<8x8xf32>
  %y = comm.slice %g dim 1 over @mesh {dp, tp} : tensor<8x8xf32> -> tensor<8x1xf32>
  return %y : tensor<8x1xf32>
}

// CHECK-LABEL: func @reduce_scatter
// CHECK-NEXT: comm.reduce_scatter max %arg0 dims [1] over @mesh {tp} : (tensor<8x8xf32>) -> tensor<8x2xf32>
// CHECK-NEXT: return
func.func @reduce_scatter(%x: tensor<8x8xf32> {comm.sharding = #comm.sharding<@mesh, {} {}, partial max {tp}>})
    -> (tensor<8x2xf32> {comm.sharding = #comm.sharding<@mesh, {} {tp}>, comm.global = tensor<8x8xf32>})
    attributes {comm.program = #comm.program<@mesh>} {
  %r = comm.all_reduce max %x over @mesh {tp} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %y = comm.slice %r dim 1 over @mesh {tp} : tensor<8x8xf32> -> tensor<8x2xf32>
  return %y : tensor<8x2xf32>
}

// Two equal slices are one reader.
// CHECK-LABEL: func @reduce_scatter_flat
// CHECK-NEXT: %[[R:.*]] = comm.reduce_scatter sum %arg0 dims [flat] over @mesh {tp} : (tensor<3x3xf32>) -> tensor<3xf32>
// CHECK-NEXT: return %[[R]], %[[R]]
func.func @reduce_scatter_flat(%x: tensor<3x3xf32> {comm.sharding = #comm.sharding<@mesh, {} {}, partial sum {tp}>})
    -> (tensor<3xf32> {comm.sharding = #comm.sharding<@mesh, {} {}, flat {tp}>, comm.global = tensor<3x3xf32>}, tensor<3xf32> {comm.sharding = #comm.sharding<@mesh, {} {}, flat {tp}>, comm.global = tensor<3x3xf32>})
    attributes {comm.program = #comm.program<@mesh>} {
  %r = comm.all_reduce sum %x over @mesh {tp} : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %y = comm.slice %r dim flat over @mesh {tp} : tensor<3x3xf32> -> tensor<3xf32>
  %z = comm.slice %r dim flat over @mesh {tp} : tensor<3x3xf32> -> tensor<3xf32>
  return %y, %z : tensor<3xf32>, tensor<3xf32>
}

// It comes where the value was reduced.
// CHECK-LABEL: func @reduce_scatter_early
// CHECK-NEXT: %[[B:.*]] = comm.reduce_scatter
// CHECK-NEXT: %[[E:.*]] = math.exp
// CHECK-NEXT: return %[[B]], %[[E]]
func.func @reduce_scatter_early(%x: tensor<8x8xf32> {comm.sharding = #comm.sharding<@mesh, {} {}, partial sum {tp}>}, %y: tensor<8x8xf32> {comm.sharding = #comm.sharding<@mesh, {} {}>})
    -> (tensor<2x8xf32> {comm.sharding = #comm.sharding<@mesh, {tp} {}>, comm.global = tensor<8x8xf32>}, tensor<8x8xf32> {comm.sharding = #comm.sharding<@mesh, {} {}>})
    attributes {comm.program = #comm.program<@mesh>} {
  %r = comm.all_reduce sum %x over @mesh {tp} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %e = math.exp %y : tensor<8x8xf32>
  %b = comm.slice %r dim 0 over @mesh {tp} : tensor<8x8xf32> -> tensor<2x8xf32>
  return %b, %e : tensor<2x8xf32>, tensor<8x8xf32>
}

// CHECK-LABEL: func @reduce_scatter_and_all_reduce
// CHECK-NEXT: %[[R:.*]] = comm.reduce_scatter sum %arg0 dims [0] over @mesh {tp} : (tensor<8x8xf32>) -> tensor<2x8xf32>
// CHECK-NEXT: comm.all_reduce sum %[[R]] over @mesh {dp} : (tensor<2x8xf32>) -> tensor<2x8xf32>
func.func @reduce_scatter_and_all_reduce(%x: tensor<8x8xf32> {comm.sharding = #comm.sharding<@mesh, {} {}, partial sum {dp, tp}>})
    -> (tensor<2x8xf32> {comm.sharding = #comm.sharding<@mesh, {tp} {}>, comm.global = tensor<8x8xf32>})
    attributes {comm.program = #comm.program<@mesh>} {
  %r = comm.all_reduce sum %x over @mesh {dp, tp} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %y = comm.slice %r dim 0 over @mesh {tp} : tensor<8x8xf32> -> tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

// CHECK-LABEL: func @all_reduce_of_block
// CHECK-NEXT: %[[S:.*]] = comm.slice %arg0 dim 0 over @mesh {dp}
// CHECK-NEXT: comm.all_reduce sum %[[S]] over @mesh {tp} : (tensor<4x8xf32>)
func.func @all_reduce_of_block(%x: tensor<8x8xf32> {comm.sharding = #comm.sharding<@mesh, {} {}, partial sum {tp}>})
    -> (tensor<4x8xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {}>, comm.global = tensor<8x8xf32>})
    attributes {comm.program = #comm.program<@mesh>} {
  %r = comm.all_reduce sum %x over @mesh {tp} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %y = comm.slice %r dim 0 over @mesh {dp} : tensor<8x8xf32> -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// CHECK-LABEL: func @slice_and_reduce_scatter
// CHECK-NEXT: %[[S:.*]] = comm.slice %arg0 dim 0 over @mesh {dp} : tensor<8x8xf32> -> tensor<4x8xf32>
// CHECK-NEXT: comm.reduce_scatter sum %[[S]] dims [0] over @mesh {tp} : (tensor<4x8xf32>) -> tensor<1x8xf32>
func.func @slice_and_reduce_scatter(%x: tensor<8x8xf32> {comm.sharding = #comm.sharding<@mesh, {} {}, partial sum {tp}>})
    -> (tensor<1x8xf32> {comm.sharding = #comm.sharding<@mesh, {dp, tp} {}>, comm.global = tensor<8x8xf32>})
    attributes {comm.program = #comm.program<@mesh>} {
  %r = comm.all_reduce sum %x over @mesh {tp} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %y = comm.slice %r dim 0 over @mesh {dp, tp} : tensor<8x8xf32> -> tensor<1x8xf32>
  return %y : tensor<1x8xf32>
}

// CHECK-LABEL: func @reduced_for_others
// CHECK: comm.all_reduce
// CHECK: comm.slice
func.func @reduced_for_others(%x: tensor<8x8xf32> {comm.sharding = #comm.sharding<@mesh, {} {}, partial sum {tp}>})
    -> (tensor<8x8xf32> {comm.sharding = #comm.sharding<@mesh, {} {}>}, tensor<2x8xf32> {comm.sharding = #comm.sharding<@mesh, {tp} {}>, comm.global = tensor<8x8xf32>})
    attributes {comm.program = #comm.program<@mesh>} {
  %r = comm.all_reduce sum %x over @mesh {tp} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %y = comm.slice %r dim 0 over @mesh {tp} : tensor<8x8xf32> -> tensor<2x8xf32>
  return %r, %y : tensor<8x8xf32>, tensor<2x8xf32>
}

// CHECK-LABEL: func @slice_of_slice
// CHECK-NEXT: comm.slice %arg0 dim 0 over @mesh {tp, dp} : tensor<8x8xf32> -> tensor<1x8xf32>
// CHECK-NEXT: return
func.func @slice_of_slice(%x: tensor<8x8xf32>)
    -> (tensor<1x8xf32> {comm.sharding = #comm.sharding<@mesh, {tp, dp} {}>, comm.global = tensor<8x8xf32>})
    attributes {comm.program = #comm.program<@mesh>} {
  %a = comm.slice %x dim 0 over @mesh {tp} : tensor<8x8xf32> -> tensor<2x8xf32>
  %b = comm.slice %a dim 0 over @mesh {dp} : tensor<2x8xf32> -> tensor<1x8xf32>
  return %b : tensor<1x8xf32>
}

// 3 is padded again to 4: not 8 ranges of 2.
// CHECK-LABEL: func @slice_of_slice_padded
// CHECK-COUNT-2: comm.slice
func.func @slice_of_slice_padded(%x: tensor<12xf32>)
    -> (tensor<2xf32> {comm.sharding = #comm.sharding<@mesh, {tp, dp}>, comm.global = tensor<16xf32>})
    attributes {comm.program = #comm.program<@mesh>} {
  %a = comm.slice %x dim flat over @mesh {tp} : tensor<12xf32> -> tensor<3xf32>
  %b = comm.slice %a dim flat over @mesh {dp} : tensor<3xf32> -> tensor<2xf32>
  return %b : tensor<2xf32>
}

// CHECK-LABEL: func @slice_of_splat
// CHECK-DAG: %[[ONE:.*]] = arith.constant dense<1.0{{.*}}> : tensor<2x8xf32>
// CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0.0{{.*}}> : tensor<3xf32>
// CHECK-DAG: %[[PADDED:.*]] = comm.slice
// CHECK: return %[[ONE]], %[[ZERO]], %[[PADDED]]
func.func @slice_of_splat()
    -> (tensor<2x8xf32> {comm.sharding = #comm.sharding<@mesh, {tp} {}>, comm.global = tensor<8x8xf32>}, tensor<3xf32> {comm.sharding = #comm.sharding<@mesh, {}, flat {tp}>, comm.global = tensor<9xf32>}, tensor<3xf32> {comm.sharding = #comm.sharding<@mesh, {}, flat {tp}>, comm.global = tensor<9xf32>})
    attributes {comm.program = #comm.program<@mesh>} {
  %one = arith.constant dense<1.0> : tensor<8x8xf32>
  %zeros = arith.constant dense<0.0> : tensor<9xf32>
  %ones = arith.constant dense<1.0> : tensor<9xf32>
  %a = comm.slice %one dim 0 over @mesh {tp} : tensor<8x8xf32> -> tensor<2x8xf32>
  %b = comm.slice %zeros dim flat over @mesh {tp} : tensor<9xf32> -> tensor<3xf32>
  %c = comm.slice %ones dim flat over @mesh {tp} : tensor<9xf32> -> tensor<3xf32>
  return %a, %b, %c : tensor<2x8xf32>, tensor<3xf32>, tensor<3xf32>
}
