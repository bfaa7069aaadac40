// Collectives that every rank of the group takes part in alike.
// RUN: braid-opt %s --split-input-file --verify-diagnostics

comm.mesh @mesh [dp = 4]
func.func @f(%x: tensor<4xf32>, %r: !exec.ref<4xf32, [1]>) {
  // collective_c1
  // expected-error @below {{sends both tensors and references; give tensors only (on values) or references only (in memory)}}
  %0:2 = comm.all_reduce sum %x, %r over @mesh {dp} : (tensor<4xf32>, !exec.ref<4xf32, [1]>) -> (tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

comm.mesh @mesh [dp = 4]
func.func @f(%x: tensor<4xf32>, %r: !exec.ref<4xf32, [1]>) {
  // collective_c1
  // expected-error @below {{sends tensors but writes into references; tensors are received as results}}
  comm.all_reduce sum %x outs(%r : !exec.ref<4xf32, [1]>) over @mesh {dp} : (tensor<4xf32>) -> ()
  return
}

// -----

comm.mesh @mesh [dp = 4]
func.func @f(%r: !exec.ref<4xf32, [1]>) {
  // collective_c1
  // expected-error @below {{has results, but sends references; an op in memory writes outs: give the references as outs}}
  %0 = comm.all_reduce sum %r over @mesh {dp} : (!exec.ref<4xf32, [1]>) -> tensor<4xf32>
  return
}

// -----

comm.mesh @mesh [dp = 4]
func.func @f() {
  // collective_c2
  // expected-error @below {{sends nothing and receives nothing; use comm.barrier to wait}}
  comm.permute pairs [] over @mesh {dp} : () -> ()
  return
}

// -----

comm.mesh @mesh [dp = 4]
comm.mesh @other [dp = 4]
// expected-note @below {{the function}}
func.func @f(%x: tensor<4xf32>) attributes {comm.program = #comm.program<@mesh>} {
  // collective_c3
  // expected-error @below {{is over @other, but its function is a program on @mesh}}
  %0 = comm.all_reduce sum %x over @other {dp} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

comm.mesh @mesh [dp = 4]
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{unknown mesh axis 'tp' (mesh: {dp = 4})}}
  %0 = comm.all_reduce sum %x over @mesh {tp} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

comm.mesh @mesh [dp = 4]
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{axis 'dp' is used twice in {dp, dp}}}
  %0 = comm.all_reduce sum %x over @mesh {dp, dp} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{unknown comm.mesh @mesh}}
  %0 = comm.all_reduce sum %x over @mesh {dp} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

comm.mesh @mesh [dp = 4]
func.func @f(%x: tensor<4xf32>) {
  // all_reduce_c1
  // expected-error @below {{result #0 is 'tensor<8xf32>', but operand #0 is 'tensor<4xf32>'; they must be the same}}
  %0 = comm.all_reduce sum %x over @mesh {dp} : (tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

comm.mesh @mesh [dp = 4]
func.func @f(%x: tensor<4xf32>) {
  // all_reduce_c1
  // expected-error @below {{has 1 results for 2 operands; each operand needs one result}}
  %0 = comm.all_reduce sum %x, %x over @mesh {dp} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

comm.mesh @mesh [dp = 4]
func.func @f(%x: !exec.ref<4xf32, [1]>, %y: !exec.ref<2x2xf32, [2, 1]>) {
  // all_reduce_c1, in memory
  // expected-error @below {{result #0 is 'tensor<2x2xf32>', but operand #0 is 'tensor<4xf32>'; they must be the same}}
  comm.all_reduce sum %x outs(%y : !exec.ref<2x2xf32, [2, 1]>) over @mesh {dp} : (!exec.ref<4xf32, [1]>) -> ()
  return
}

// -----

comm.mesh @mesh [dp = 4]
func.func @f(%x: tensor<4xi32>) {
  // all_reduce_c2
  // expected-error @below {{operand #0 has elements 'i32', which have no mean; convert them to floats, or take the sum}}
  %0 = comm.all_reduce mean %x over @mesh {dp} : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

comm.mesh @mesh [dp = 4]
func.func @f(%x: tensor<4xi1>) {
  // all_reduce_c2
  // expected-error @below {{operand #0 has elements i1, which have no sum; take max (or) or min (and)}}
  %0 = comm.all_reduce sum %x over @mesh {dp} : (tensor<4xi1>) -> tensor<4xi1>
  return
}

// -----

comm.mesh @mesh [dp = 4]
func.func @f(%x: tensor<2x4xf32>) {
  // all_gather_c1
  // expected-error @below {{'dims' has 2 entries for 1 tensors; each needs one}}
  %0 = comm.all_gather %x dims [0, 1] over @mesh {dp} : (tensor<2x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

comm.mesh @mesh [dp = 4]
func.func @f(%x: tensor<2x4xf32>) {
  // all_gather_c1
  // expected-error @below {{'dims' names dim 2 of operand #0, but 'tensor<2x4xf32>' has 2 dims}}
  %0 = comm.all_gather %x dims [2] over @mesh {dp} : (tensor<2x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

comm.mesh @mesh [dp = 4]
func.func @f(%x: tensor<2x4xf32>) {
  // all_gather_c2
  // expected-error @below {{result #0 is 'tensor<8x5xf32>', which is not 4 blocks of operand #0, 'tensor<2x4xf32>', along dim 0}}
  %0 = comm.all_gather %x dims [0] over @mesh {dp} : (tensor<2x4xf32>) -> tensor<8x5xf32>
  return
}

// -----

comm.mesh @mesh [dp = 4]
func.func @f(%x: tensor<2x4xf32>) {
  // all_gather_c2
  // expected-error @below {{result #0 is 'tensor<8xf32>', which is not 4 blocks of operand #0, 'tensor<2x4xf32>', along dim 1}}
  %0 = comm.all_gather %x dims [1] over @mesh {dp} : (tensor<2x4xf32>) -> tensor<8xf32>
  return
}

// -----

comm.mesh @mesh [dp = 4]
func.func @f(%x: tensor<4xf32>) {
  // all_gather_c2
  // expected-error @below {{the flat range of 'tensor<3x3xf32>' on each of 4 ranks is 'tensor<3xf32>', but operand #0 is 'tensor<4xf32>'}}
  %0 = comm.all_gather %x dims [flat] over @mesh {dp} : (tensor<4xf32>) -> tensor<3x3xf32>
  return
}

// -----

comm.mesh @mesh [dp = 4]
func.func @f(%x: tensor<2x4xf32>) {
  // all_gather_c2
  // expected-error @below {{has 2 results for 1 operands; each operand needs one result}}
  %0:2 = comm.all_gather %x dims [0] over @mesh {dp} : (tensor<2x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>)
  return
}

// -----

comm.mesh @mesh [dp = 4]
func.func @f(%x: !exec.ref<2x4xf32, [4, 1]>, %y: !exec.ref<4x4xf32, [4, 1]>) {
  // all_gather_c2, in memory
  // expected-error @below {{result #0 is 'tensor<4x4xf32>', which is not 4 blocks of operand #0, 'tensor<2x4xf32>', along dim 0}}
  comm.all_gather %x outs(%y : !exec.ref<4x4xf32, [4, 1]>) dims [0] over @mesh {dp} : (!exec.ref<2x4xf32, [4, 1]>) -> ()
  return
}

// -----

comm.mesh @mesh [dp = 4]
func.func @f(%x: tensor<2x4xbf16>) {
  // all_gather_c3
  // expected-error @below {{result #0 has elements 'f32', but operand #0 has 'bf16'}}
  %0 = comm.all_gather %x dims [0] over @mesh {dp} : (tensor<2x4xbf16>) -> tensor<8x4xf32>
  return
}

// -----

comm.mesh @mesh [dp = 4]
func.func @f(%x: tensor<8x4xf32>) {
  // reduce_scatter_c1
  // expected-error @below {{'dims' names dim 3 of operand #0, but 'tensor<8x4xf32>' has 2 dims}}
  %0 = comm.reduce_scatter sum %x dims [3] over @mesh {dp} : (tensor<8x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

comm.mesh @mesh [dp = 4]
func.func @f(%x: tensor<6x4xf32>) {
  // reduce_scatter_c2
  // expected-error @below {{dim 0 of operand #0 has size 6, which does not divide into 4 equal blocks; pad it with tg.pad, or split it flat}}
  %0 = comm.reduce_scatter sum %x dims [0] over @mesh {dp} : (tensor<6x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

comm.mesh @mesh [dp = 4]
func.func @f(%x: tensor<8x4xf32>) {
  // reduce_scatter_c2
  // expected-error @below {{operand #0 is 'tensor<8x4xf32>', which is not 4 blocks of result #0, 'tensor<4x4xf32>', along dim 0}}
  %0 = comm.reduce_scatter sum %x dims [0] over @mesh {dp} : (tensor<8x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

comm.mesh @mesh [dp = 4]
func.func @f(%x: tensor<3x3xf32>) {
  // reduce_scatter_c2
  // expected-error @below {{the flat range of 'tensor<3x3xf32>' on each of 4 ranks is 'tensor<3xf32>', but result #0 is 'tensor<2xf32>'}}
  %0 = comm.reduce_scatter sum %x dims [flat] over @mesh {dp} : (tensor<3x3xf32>) -> tensor<2xf32>
  return
}

// -----

comm.mesh @mesh [dp = 4]
func.func @f(%x: tensor<8x4xf32>) {
  // reduce_scatter_c3
  // expected-error @below {{operand #0 has elements 'f32', but result #0 has 'bf16'}}
  %0 = comm.reduce_scatter sum %x dims [0] over @mesh {dp} : (tensor<8x4xf32>) -> tensor<2x4xbf16>
  return
}

// -----

comm.mesh @mesh [dp = 4]
func.func @f(%x: tensor<8x4xi64>) {
  // reduce_scatter_c3
  // expected-error @below {{operand #0 has elements 'i64', which have no mean}}
  %0 = comm.reduce_scatter mean %x dims [0] over @mesh {dp} : (tensor<8x4xi64>) -> tensor<2x4xi64>
  return
}

// -----

comm.mesh @mesh [tp = 4]
func.func @f(%x: tensor<4x8xf32>) {
  // all_to_all_c1
  // expected-error @below {{'split' has 0 entries for 1 tensors; each needs one}}
  %0 = comm.all_to_all %x split [] concat [0] over @mesh {tp} : (tensor<4x8xf32>) -> tensor<16x2xf32>
  return
}

// -----

comm.mesh @mesh [tp = 4]
func.func @f(%x: tensor<4x8xf32>) {
  // all_to_all_c1
  // expected-error @below {{'concat' names dim -1 of operand #0, but 'tensor<4x8xf32>' has 2 dims}}
  %0 = comm.all_to_all %x split [1] concat [-1] over @mesh {tp} : (tensor<4x8xf32>) -> tensor<16x2xf32>
  return
}

// -----

comm.mesh @mesh [tp = 4]
func.func @f(%x: tensor<4x6xf32>) {
  // all_to_all_c2
  // expected-error @below {{dim 1 of operand #0 has size 6, which is not 4 equal blocks; pad it with tg.pad}}
  %0 = comm.all_to_all %x split [1] concat [0] over @mesh {tp} : (tensor<4x6xf32>) -> tensor<16x2xf32>
  return
}

// -----

comm.mesh @mesh [tp = 4]
func.func @f(%x: tensor<4x8xf32>) {
  // all_to_all_c2
  // expected-error @below {{result #0 is 'tensor<2x16xf32>', but 4 blocks of operand #0 along dim 1, side by side along dim 0, are 'tensor<16x2xf32>'}}
  %0 = comm.all_to_all %x split [1] concat [0] over @mesh {tp} : (tensor<4x8xf32>) -> tensor<2x16xf32>
  return
}

// -----

comm.mesh @mesh [tp = 4]
func.func @f(%x: tensor<4x8xf32>) {
  // all_to_all_c3
  // expected-error @below {{result #0 has elements 'f64', but operand #0 has 'f32'}}
  %0 = comm.all_to_all %x split [1] concat [0] over @mesh {tp} : (tensor<4x8xf32>) -> tensor<16x2xf64>
  return
}

// -----

comm.mesh @mesh [tp = 4]
func.func @f(%x: tensor<4xf32>) {
  // permute_c1
  // expected-error @below {{the target 4 is not one of the 4 ranks of {tp}; they are numbered from 0}}
  %0 = comm.permute %x pairs [0 -> 4] over @mesh {tp} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

comm.mesh @mesh [tp = 4]
func.func @f(%x: tensor<4xf32>) {
  // permute_c1
  // expected-error @below {{the source -1 is not one of the 4 ranks of {tp}}}
  %0 = comm.permute %x pairs [-1 -> 0] over @mesh {tp} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

comm.mesh @mesh [tp = 4]
func.func @f(%x: tensor<4xf32>) {
  // permute_c2
  // expected-error @below {{rank 0 is the source of two pairs; expected at most one}}
  %0 = comm.permute %x pairs [0 -> 1, 0 -> 2] over @mesh {tp} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

comm.mesh @mesh [tp = 4]
func.func @f(%x: tensor<4xf32>) {
  // permute_c2
  // expected-error @below {{rank 3 is the target of two pairs; expected at most one}}
  %0 = comm.permute %x pairs [0 -> 3, 1 -> 3] over @mesh {tp} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

comm.mesh @mesh [tp = 4]
func.func @f(%x: tensor<4xf32>) {
  // permute_c3
  // expected-error @below {{result #0 is 'tensor<5xf32>', but operand #0 is 'tensor<4xf32>'; they must be the same}}
  %0 = comm.permute %x pairs [0 -> 1] over @mesh {tp} : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

comm.mesh @mesh [tp = 4]
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{'pairs' has 1 numbers; each pair needs a source and a target}}
  %0 = "comm.permute"(%x) {pairs = array<i64: 0>, mesh = @mesh, axes = #comm<axes{tp}>, operandSegmentSizes = array<i32: 1, 0>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

comm.mesh @mesh [tp = 4]
func.func @f(%x: tensor<4xf32>) {
  // barrier_c1
  // expected-error @below {{sends or receives 2 tensors; a barrier has none}}
  %0 = comm.barrier %x over @mesh {tp} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

comm.mesh @mesh [tp = 4]
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{'comm.held_start' is a unit attribute on a collective, found 3 : i64}}
  %0 = comm.all_reduce sum %x over @mesh {tp} {comm.held_start = 3} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// expected-error @below {{'comm.ring' names one axis or more on a module, found #comm<axes{}>}}
module attributes {comm.ring = #comm<axes{}>} {
}

// -----

// expected-error @below {{'comm.zigzag' names one axis on a module, found #comm<axes{cp, tp}>}}
module attributes {comm.zigzag = #comm<axes{cp, tp}>} {
}

// -----

func.func @half(%x: tensor<4xf32>) {
  // expected-error @below {{'comm.half' is 0 or 1, found 2 : i64}}
  %0 = math.exp %x {comm.half = 2} : tensor<4xf32>
  return
}
