// What is annotated is not annotated again, and a module has one mesh.
//
// RUN: not braid-opt %s --comm-annotate="layout='x: {dp} {}'" 2>&1 | FileCheck %s --check-prefix=AGAIN
// RUN: not braid-opt %s --comm-annotate="layout='mesh tp = 2; y: {tp}'" 2>&1 | FileCheck %s --check-prefix=MESH

// AGAIN: layout:1:1: error: argument "x" of 'f' is already annotated, but 'x' names it, too
// MESH: error: the layout names a mesh, but the module already has @mesh; remove one of them
comm.mesh @mesh [dp = 2]

func.func @f(%x: tensor<4x8xf32> {tg.input = "x", comm.sharding = #comm.sharding<@mesh, {} {}>}) -> tensor<4x8xf32> {
  return %x : tensor<4x8xf32>
}
