// Meshes, groups of ranks, and parts that a rank takes without communicating.
// RUN: braid-opt %s --split-input-file --verify-diagnostics

// mesh_c1
// expected-error @below {{names the axis 'dp' twice}}
comm.mesh @mesh [dp = 2, dp = 4]

// -----

// mesh_c1
// expected-error @below {{names an axis 'data parallel', which is not an identifier}}
"comm.mesh"() {sym_name = "mesh", names = ["data parallel"], sizes = array<i64: 2>} : () -> ()

// -----

// mesh_c1
// expected-error @below {{names an axis '', which is not an identifier}}
"comm.mesh"() {sym_name = "mesh", names = [""], sizes = array<i64: 2>} : () -> ()

// -----

// mesh_c2
// expected-error @below {{gives the axis 'dp' the size 0; it must be at least 1}}
comm.mesh @mesh [dp = 0]

// -----

// mesh_c2, before a function asks how many blocks that are
// expected-error @below {{gives the axis 'dp' the size 0; it must be at least 1}}
comm.mesh @mesh [dp = 0]
func.func private @f(tensor<4xf32> {comm.sharding = #comm.sharding<@mesh, {dp}>})

// -----

// mesh_c3
// expected-error @below {{has no axis; for one rank write [x = 1]}}
comm.mesh @mesh []

// -----

// mesh_c3
// expected-error @below {{has more than 1048576 ranks, the limit of a job; make its axes smaller}}
comm.mesh @mesh [dp = 65536, tp = 65536]

// -----

// mesh_c3
// expected-error @below {{has more than 1048576 ranks, the limit of a job; make its axes smaller}}
comm.mesh @mesh [dp = 9223372036854775807, tp = 9223372036854775807]

// -----

// expected-error @below {{has 1 names for 2 sizes}}
"comm.mesh"() {sym_name = "mesh", names = ["dp"], sizes = array<i64: 2, 2>} : () -> ()

// -----

// expected-note @below {{@mesh is defined here}}
comm.mesh @mesh [dp = 2]
func.func @f() {
  // expected-error @below {{unknown comm.mesh @grid}}
  %0 = comm.axis_index over @grid {dp} : tensor<i32>
  return
}

// -----

comm.mesh @mesh [dp = 2]
func.func @f() {
  // expected-error @below {{unknown mesh axis 'tp' (mesh: {dp = 2})}}
  %0 = comm.axis_index over @mesh {tp} : tensor<i32>
  return
}

// -----

comm.mesh @mesh [dp = 2]
func.func @f() {
  // expected-error @below {{axis 'dp' is used twice in {dp, dp}}}
  %0 = comm.axis_index over @mesh {dp, dp} : tensor<i32>
  return
}

// -----

comm.mesh @mesh [dp = 2]
func.func @f() {
  // expected-error @below {{names the open axes {dp, ?}, which belong in annotations; drop the '?'}}
  %0 = comm.axis_index over @mesh {dp, ?} : tensor<i32>
  return
}

// -----

comm.mesh @mesh [dp = 2]
comm.mesh @other [dp = 2]
// expected-note @below {{the function}}
func.func @f() attributes {comm.program = #comm.program<@mesh>} {
  // expected-error @below {{is over @other, but its function is a program on @mesh}}
  %0 = comm.axis_index over @other {dp} : tensor<i32>
  return
}

// -----

comm.mesh @mesh [tp = 4]
func.func @f(%x: tensor<8x4xf32>) {
  // slice_c1
  // expected-error @below {{slices dim 2, but 'tensor<8x4xf32>' has 2 dims}}
  %0 = comm.slice %x dim 2 over @mesh {tp} : tensor<8x4xf32> -> tensor<2x4xf32>
  return
}

// -----

comm.mesh @mesh [tp = 4]
func.func @f(%x: tensor<6x4xf32>) {
  // slice_c2
  // expected-error @below {{slices dim 0 of size 6, which does not divide into 4 equal blocks; pad it with tg.pad, or slice it flat}}
  %0 = comm.slice %x dim 0 over @mesh {tp} : tensor<6x4xf32> -> tensor<2x4xf32>
  return
}

// -----

comm.mesh @mesh [tp = 4]
func.func @f(%x: tensor<8x4xf32>) {
  // slice_c3
  // expected-error @below {{gives 'tensor<4x4xf32>', but one of 4 blocks of 'tensor<8x4xf32>' is 'tensor<2x4xf32>'}}
  %0 = comm.slice %x dim 0 over @mesh {tp} : tensor<8x4xf32> -> tensor<4x4xf32>
  return
}

// -----

comm.mesh @mesh [tp = 4]
func.func @f(%x: tensor<3x3xf32>) {
  // slice_c3
  // expected-error @below {{gives 'tensor<2xf32>', but one of 4 blocks of 'tensor<3x3xf32>' is 'tensor<3xf32>'}}
  %0 = comm.slice %x dim flat over @mesh {tp} : tensor<3x3xf32> -> tensor<2xf32>
  return
}

// -----

comm.mesh @mesh [tp = 4]
func.func @f(%x: tensor<8xf32>) {
  // slice_c3
  // expected-error @below {{gives 'tensor<2xbf16>', but one of 4 blocks of 'tensor<8xf32>' is 'tensor<2xf32>'}}
  %0 = comm.slice %x dim 0 over @mesh {tp} : tensor<8xf32> -> tensor<2xbf16>
  return
}

// -----

comm.mesh @mesh [tp = 4]
func.func @f(%x: tensor<8xf32>) {
  // expected-error @below {{expected a dim or flat, found -2}}
  %0 = comm.slice %x dim -2 over @mesh {tp} : tensor<8xf32> -> tensor<2xf32>
  return
}

// -----

comm.mesh @mesh [tp = 2]
func.func @f(%x: tensor<4xf32>) {
  // assemble_c1
  // expected-error @below {{has 3 blocks and 2 shifts; the group {tp} has 2 ranks and needs one block and one shift for each}}
  %0 = comm.assemble %x, %x, %x dim 0 shifts [0, 1] over @mesh {tp}
      : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<12xf32>
  return
}

// -----

comm.mesh @mesh [tp = 2]
func.func @f(%x: tensor<4xf32>) {
  // assemble_c1
  // expected-error @below {{has 2 blocks and 1 shifts; the group {tp} has 2 ranks and needs one block and one shift for each}}
  %0 = comm.assemble %x, %x dim 0 shifts [0] over @mesh {tp} : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

comm.mesh @mesh [tp = 2]
func.func @f(%x: tensor<4xf32>, %y: tensor<5xf32>) {
  // assemble_c1
  // expected-error @below {{has blocks of different types; give all blocks one type}}
  %0 = comm.assemble %x, %y dim 0 shifts [0, 1] over @mesh {tp} : (tensor<4xf32>, tensor<5xf32>) -> tensor<9xf32>
  return
}

// -----

comm.mesh @mesh [tp = 2]
func.func @f(%x: tensor<4xf32>) {
  // assemble_c2
  // expected-error @below {{puts two blocks in one place: shift -1 occurs twice modulo 2}}
  %0 = comm.assemble %x, %x dim 0 shifts [1, -1] over @mesh {tp} : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

comm.mesh @mesh [tp = 2]
func.func @f(%x: tensor<4xf32>) {
  // assemble_c3
  // expected-error @below {{joins along dim 1, but 'tensor<4xf32>' has 1 dims}}
  %0 = comm.assemble %x, %x dim 1 shifts [0, 1] over @mesh {tp} : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

comm.mesh @mesh [tp = 2]
func.func @f(%x: tensor<4xf32>) {
  // assemble_c3
  // expected-error @below {{gives 'tensor<9xf32>', but 2 blocks 'tensor<4xf32>' along dim 0 are 'tensor<8xf32>'}}
  %0 = comm.assemble %x, %x dim 0 shifts [0, 1] over @mesh {tp} : (tensor<4xf32>, tensor<4xf32>) -> tensor<9xf32>
  return
}

// -----

comm.mesh @mesh [tp = 2]
func.func @f(%x: tensor<4xf32>) {
  // assemble_c3
  // expected-error @below {{gives 'tensor<3x3xf32>', whose flat range on each of 2 ranks is 'tensor<5xf32>', but the blocks are 'tensor<4xf32>'}}
  %0 = comm.assemble %x, %x dim flat shifts [0, 1] over @mesh {tp} : (tensor<4xf32>, tensor<4xf32>) -> tensor<3x3xf32>
  return
}

// -----

comm.mesh @mesh [tp = 2]
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{has open axes in #comm.sharding<@mesh, {?}>, but a reshard needs the final sharding; drop the '?'}}
  %0 = comm.reshard %x <@mesh, {?}> : tensor<4xf32>
  return
}
