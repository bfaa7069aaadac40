// A step that is a table: the op, the cells of functions and the slots of what they pass on print as they
// are read, and comm-verify-order follows the ranks through the table.
//
// RUN: braid-opt %s | braid-opt | FileCheck %s
// RUN: braid-opt %s --mlir-print-op-generic | braid-opt | FileCheck %s
// RUN: braid-opt %s --comm-verify-order | FileCheck %s

comm.mesh @mesh [pp = 2]

// CHECK: comm.pipeline over @mesh "pp" "0F0,0F1,,,0B0,0B1\0A,1F0,1F1,1B0,1B1\0A"
comm.pipeline over @mesh "pp" "0F0,0F1,,,0B0,0B1\0A,1F0,1F1,1B0,1B1\0A"

// CHECK: exec.slots @stage0_activation_out 2
exec.slots @stage0_activation_out 2
// CHECK: exec.slots @stage1_activation_in 2
exec.slots @stage1_activation_in 2

// CHECK: func.func @forward_0(%arg0: tensor<4xf32> {exec.slots = @stage0_activation_out}) attributes {comm.cell = #comm.cell<forward, 0>
func.func @forward_0(%out: tensor<4xf32> {exec.slots = @stage0_activation_out}) attributes {comm.cell = #comm.cell<forward, 0>, comm.program = #comm.program<@mesh, pp = [0]>} {
  return
}
// CHECK: comm.cell = #comm.cell<backward, 0>
func.func @backward_0() attributes {comm.cell = #comm.cell<backward, 0>, comm.program = #comm.program<@mesh, pp = [0]>} {
  return
}
// CHECK: comm.cell = #comm.cell<send_activation, 0>
func.func @send_0(%out: tensor<4xf32>) attributes {comm.cell = #comm.cell<send_activation, 0>, comm.program = #comm.program<@mesh, pp = [0]>} {
  comm.send %out to 1 over @mesh {pp} : (tensor<4xf32>) -> ()
  return
}
// CHECK: comm.cell = #comm.cell<receive_gradient, 0>
func.func @receive_0() -> tensor<4xf32> attributes {comm.cell = #comm.cell<receive_gradient, 0>, comm.program = #comm.program<@mesh, pp = [0]>} {
  %in = comm.recv from 1 over @mesh {pp} : () -> tensor<4xf32>
  return %in : tensor<4xf32>
}
// CHECK: comm.cell = #comm.cell<forward, 1>
func.func @forward_1() attributes {comm.cell = #comm.cell<forward, 1>, comm.program = #comm.program<@mesh, pp = [1]>} {
  return
}
// CHECK: comm.cell = #comm.cell<backward, 1>
func.func @backward_1() attributes {comm.cell = #comm.cell<backward, 1>, comm.program = #comm.program<@mesh, pp = [1]>} {
  return
}
// CHECK: comm.cell = #comm.cell<receive_activation, 1>
func.func @receive_1() -> tensor<4xf32> attributes {comm.cell = #comm.cell<receive_activation, 1>, comm.program = #comm.program<@mesh, pp = [1]>} {
  %in = comm.recv from 0 over @mesh {pp} : () -> tensor<4xf32>
  return %in : tensor<4xf32>
}
// CHECK: comm.cell = #comm.cell<send_gradient, 1>
func.func @send_1(%out: tensor<4xf32>) attributes {comm.cell = #comm.cell<send_gradient, 1>, comm.program = #comm.program<@mesh, pp = [1]>} {
  comm.send %out to 0 over @mesh {pp} : (tensor<4xf32>) -> ()
  return
}

// The other kinds.
// CHECK: #comm.cell<input_gradient, 5>, #comm.cell<weight_gradient, 0>
module attributes {test.cells = [#comm.cell<input_gradient, 5>, #comm.cell<weight_gradient, 0>]} {}
