// Upstream passes may merge and remove a collective only where every rank of the
// group does the same to it.
// RUN: braid-opt %s --cse --canonicalize | FileCheck %s

comm.mesh @mesh [dp = 4]

// CHECK-LABEL: @all
// CHECK-NOT:   comm.all_gather
// CHECK:       comm.all_reduce
// CHECK-NOT:   comm.all_reduce
// CHECK:       return
func.func @all(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {comm.program = #comm.program<@mesh>} {
  %unused = comm.all_gather %x dims [0] over @mesh {dp} : (tensor<4xf32>) -> tensor<16xf32>
  %a = comm.all_reduce sum %x over @mesh {dp} : (tensor<4xf32>) -> tensor<4xf32>
  %b = comm.all_reduce sum %x over @mesh {dp} : (tensor<4xf32>) -> tensor<4xf32>
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: @some
// CHECK:       comm.all_gather
// CHECK:       comm.all_reduce
// CHECK:       comm.all_reduce
// CHECK:       comm.reduce sum
// CHECK:       comm.barrier
func.func @some(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {comm.program = #comm.program<@mesh, dp = [1, 2]>} {
  %unused = comm.all_gather %x dims [0] over @mesh {dp} : (tensor<4xf32>) -> tensor<16xf32>
  %a = comm.all_reduce sum %x over @mesh {dp} : (tensor<4xf32>) -> tensor<4xf32>
  %b = comm.all_reduce sum %x over @mesh {dp} : (tensor<4xf32>) -> tensor<4xf32>
  comm.reduce sum %x root 0 over @mesh {dp} : (tensor<4xf32>) -> ()
  comm.barrier over @mesh {dp} : () -> ()
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}

// A started collective has its result in the ticket.
// CHECK-LABEL: @started
// CHECK-COUNT-2: comm.all_reduce
func.func @started(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {comm.program = #comm.program<@mesh>} {
  %s = comm.start {
    %a = comm.all_reduce sum %x over @mesh {dp} : (tensor<4xf32>) -> tensor<4xf32>
  } : !comm.ticket<tensor<4xf32>>
  %t = comm.start {
    %b = comm.all_reduce sum %x over @mesh {dp} : (tensor<4xf32>) -> tensor<4xf32>
  } : !comm.ticket<tensor<4xf32>>
  %y = comm.wait %s : !comm.ticket<tensor<4xf32>> -> tensor<4xf32>
  %z = comm.wait %t : !comm.ticket<tensor<4xf32>> -> tensor<4xf32>
  return %y, %z : tensor<4xf32>, tensor<4xf32>
}
