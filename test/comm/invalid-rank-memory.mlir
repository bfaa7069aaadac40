// What a rank does alone, in memory form: the constraints are those on values.
// RUN: braid-opt %s --split-input-file --verify-diagnostics

comm.mesh @mesh [tp = 2]
func.func @f(%x: !exec.ref<8xf32, [1]>) {
  // rank_c1
  // expected-error @below {{has 0 results and 0 outs: it needs one result (on values) or one out (in memory)}}
  comm.slice %x dim 0 over @mesh {tp} : !exec.ref<8xf32, [1]>
  return
}

// -----

comm.mesh @mesh [tp = 2]
func.func @f(%i: !exec.ref<i32, []>) {
  // rank_c1
  // expected-error @below {{has 1 results and 1 outs: it needs one result (on values) or one out (in memory)}}
  %0 = comm.axis_index outs(%i : !exec.ref<i32, []>) over @mesh {tp} : tensor<i32>
  return
}

// -----

comm.mesh @mesh [tp = 2]
func.func @f(%x: tensor<8xf32>, %y: !exec.ref<4xf32, [1]>) {
  // rank_c1
  // expected-error @below {{reads a tensor but writes into a reference; an op is on values or in memory}}
  comm.slice %x outs(%y : !exec.ref<4xf32, [1]>) dim 0 over @mesh {tp} : tensor<8xf32>
  return
}

// -----

comm.mesh @mesh [tp = 2]
func.func @f(%x: tensor<4xf32>, %y: !exec.ref<4xf32, [1]>) {
  // rank_c1
  // expected-error @below {{reads a reference but has a result; an op is on values or in memory}}
  %0 = comm.assemble %x, %y dim 0 shifts [0, 1] over @mesh {tp} : (tensor<4xf32>, !exec.ref<4xf32, [1]>) -> tensor<8xf32>
  return
}

// -----

comm.mesh @mesh [tp = 2]
func.func @f(%i: !exec.ref<f32, []>) {
  // expected-error @below {{gives 'tensor<f32>', but a rank's number is a 'tensor<i32>'}}
  comm.axis_index outs(%i : !exec.ref<f32, []>) over @mesh {tp}
  return
}

// -----

comm.mesh @mesh [tp = 2]
func.func @f(%x: !exec.ref<8xf32, [1]>, %y: !exec.ref<4xf32, [1]>) {
  // slice_c1
  // expected-error @below {{slices dim 1, but 'tensor<8xf32>' has 1 dims}}
  comm.slice %x outs(%y : !exec.ref<4xf32, [1]>) dim 1 over @mesh {tp} : !exec.ref<8xf32, [1]>
  return
}

// -----

comm.mesh @mesh [tp = 2]
func.func @f(%x: !exec.ref<7xf32, [1]>, %y: !exec.ref<4xf32, [1]>) {
  // slice_c2
  // expected-error @below {{slices dim 0 of size 7, which does not divide into 2 equal blocks; pad it with tg.pad, or slice it flat}}
  comm.slice %x outs(%y : !exec.ref<4xf32, [1]>) dim 0 over @mesh {tp} : !exec.ref<7xf32, [1]>
  return
}

// -----

comm.mesh @mesh [tp = 2]
func.func @f(%x: !exec.ref<8xf32, [1]>, %y: !exec.ref<3xf32, [1]>) {
  // slice_c3
  // expected-error @below {{gives 'tensor<3xf32>', but one of 2 blocks of 'tensor<8xf32>' is 'tensor<4xf32>'}}
  comm.slice %x outs(%y : !exec.ref<3xf32, [1]>) dim 0 over @mesh {tp} : !exec.ref<8xf32, [1]>
  return
}

// -----

// The strides of blocks may differ, their shapes may not.
comm.mesh @mesh [tp = 2]
func.func @f(%a: !exec.ref<2x2xf32, [2, 1]>, %b: !exec.ref<2x2xf32, [4, 1]>, %c: !exec.ref<2x3xf32, [3, 1]>, %y: !exec.ref<4x2xf32, [2, 1]>) {
  comm.assemble %a, %b outs(%y : !exec.ref<4x2xf32, [2, 1]>) dim 0 shifts [0, 1] over @mesh {tp} : (!exec.ref<2x2xf32, [2, 1]>, !exec.ref<2x2xf32, [4, 1]>) -> ()
  // assemble_c1
  // expected-error @below {{has blocks of different types; give all blocks one type}}
  comm.assemble %a, %c outs(%y : !exec.ref<4x2xf32, [2, 1]>) dim 0 shifts [0, 1] over @mesh {tp} : (!exec.ref<2x2xf32, [2, 1]>, !exec.ref<2x3xf32, [3, 1]>) -> ()
  return
}

// -----

comm.mesh @mesh [tp = 2]
func.func @f(%a: !exec.ref<4xf32, [1]>, %y: !exec.ref<8xf32, [1]>) {
  // assemble_c2
  // expected-error @below {{puts two blocks in one place: shift -1 occurs twice modulo 2}}
  comm.assemble %a, %a outs(%y : !exec.ref<8xf32, [1]>) dim 0 shifts [1, -1] over @mesh {tp} : (!exec.ref<4xf32, [1]>, !exec.ref<4xf32, [1]>) -> ()
  return
}

// -----

comm.mesh @mesh [tp = 2]
func.func @f(%a: !exec.ref<4xf32, [1]>, %y: !exec.ref<3x3xf32, [3, 1]>) {
  // assemble_c3
  // expected-error @below {{gives 'tensor<3x3xf32>', whose flat range on each of 2 ranks is 'tensor<5xf32>', but the blocks are 'tensor<4xf32>'}}
  comm.assemble %a, %a outs(%y : !exec.ref<3x3xf32, [3, 1]>) dim flat shifts [0, 1] over @mesh {tp} : (!exec.ref<4xf32, [1]>, !exec.ref<4xf32, [1]>) -> ()
  return
}
