// What an algorithm does not decompose stays, with a remark that says why.
// RUN: braid-opt --comm-decompose=algorithm=ring --split-input-file --verify-diagnostics %s | FileCheck %s
// RUN: not braid-opt --comm-decompose=algorithm=star --split-input-file %s 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: error: option 'algorithm' of pass: 'star' is not valid, expected library, ring, tree, direct or hierarchical

comm.mesh @mesh [dp = 4]
// CHECK-LABEL: func @no_way
// CHECK: comm.all_to_all
// CHECK: comm.broadcast
// CHECK: comm.permute
// CHECK: comm.barrier
// CHECK-NEXT: return
func.func @no_way(%x: tensor<4x4xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {}>, comm.global = tensor<16x4xf32>}) -> (tensor<16x1xf32> {comm.sharding = #comm.sharding<@mesh, {} {dp}>, comm.global = tensor<16x4xf32>}, tensor<4x4xf32> {comm.sharding = #comm.sharding<@mesh, {} {}>}, tensor<4x4xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {}>, comm.global = tensor<16x4xf32>})
    attributes {comm.program = #comm.program<@mesh>} {
  // expected-remark @+1 {{comm.all_to_all is not decomposed by "ring": the algorithm does not support it}}
  %y = comm.all_to_all %x split [1] concat [0] over @mesh {dp} : (tensor<4x4xf32>) -> tensor<16x1xf32>
  // expected-remark @+1 {{comm.broadcast is not decomposed by "ring": the algorithm does not support it}}
  %z = comm.broadcast %x root 0 over @mesh {dp} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %p = comm.permute %x pairs [0 -> 1] over @mesh {dp} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  comm.barrier over @mesh {dp} : () -> ()
  return %y, %z, %p : tensor<16x1xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

comm.mesh @mesh [dp = 4]
// CHECK-LABEL: func @started
// CHECK: comm.all_reduce
// CHECK-NOT: comm.permute
func.func @started(%x: tensor<4xf32> {comm.sharding = #comm.sharding<@mesh, {}, partial sum {dp}>}) -> (tensor<4xf32> {comm.sharding = #comm.sharding<@mesh, {}>})
    attributes {comm.program = #comm.program<@mesh>} {
  %t = comm.start {
    // expected-remark @+1 {{comm.all_reduce is not decomposed by "ring": it is in a comm.start; decompose before communication is scheduled}}
    %r = comm.all_reduce sum %x over @mesh {dp} : (tensor<4xf32>) -> tensor<4xf32>
  } : !comm.ticket<tensor<4xf32>>
  %y = comm.wait %t : !comm.ticket<tensor<4xf32>> -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// The other stage's function would have to be decomposed alike.
comm.mesh @mesh [pp = 2, dp = 2]
// CHECK-LABEL: func @first
// CHECK: comm.all_reduce
// CHECK-COUNT-2: comm.permute {{.*}} {dp}
// CHECK-NOT: comm.permute
func.func @first(%x: tensor<4xf32> {comm.sharding = #comm.sharding<@mesh, {}, partial sum {dp}>}) -> (tensor<4xf32> {comm.sharding = #comm.sharding<@mesh, {}, partial sum {dp}>}, tensor<4xf32> {comm.sharding = #comm.sharding<@mesh, {}>})
    attributes {comm.program = #comm.program<@mesh, pp = [0]>} {
  // expected-remark @+1 {{comm.all_reduce is not decomposed by "ring": ranks of its group run another function}}
  %y = comm.all_reduce sum %x over @mesh {pp} : (tensor<4xf32>) -> tensor<4xf32>
  %z = comm.all_reduce sum %x over @mesh {dp} : (tensor<4xf32>) -> tensor<4xf32>
  return %y, %z : tensor<4xf32>, tensor<4xf32>
}
// CHECK-LABEL: func @second
func.func @second(%x: tensor<4xf32> {comm.sharding = #comm.sharding<@mesh, {}, partial sum {dp}>}) -> (tensor<4xf32> {comm.sharding = #comm.sharding<@mesh, {}, partial sum {dp}>})
    attributes {comm.program = #comm.program<@mesh, pp = [1]>} {
  // expected-remark @+1 {{comm.all_reduce is not decomposed by "ring": ranks of its group run another function}}
  %y = comm.all_reduce sum %x over @mesh {pp} : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
