// Messages are unrolled, so there is an end to the ranks of a group.
//
// RUN: not braid-opt %s "--comm-decompose=algorithm=ring" 2>&1 | FileCheck %s
// RUN: not braid-opt %s "--comm-decompose=algorithm=direct" 2>&1 | FileCheck %s
// RUN: not braid-opt %s "--comm-decompose=algorithm=tree" 2>&1 | FileCheck %s

// CHECK: error: comm.all_reduce is over 1048576 ranks, but a collective of more than 512 is not decomposed
comm.mesh @mesh [dp = 1048576]
func.func @f(%x: tensor<1048576xf32>) -> tensor<1048576xf32> attributes {comm.program = #comm.program<@mesh>} {
  %y = comm.all_reduce sum %x over @mesh {dp} : (tensor<1048576xf32>) -> tensor<1048576xf32>
  return %y : tensor<1048576xf32>
}
