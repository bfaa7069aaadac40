// What the schedule takes collectives and actions to cost.  Over this link a message
// takes 1 us and a KiB 1 us; tensors of 256 floats have 1 KiB.
// RUN: braid-opt %s --split-input-file --exec-set-machine="link=1,1.024 compute=1,1.024" --comm-overlap=annotate-only 2>/dev/null | FileCheck %s

// Rings of four ranks: six messages and 2 * 3/4 of the bytes, or three and 3/4.
// CHECK-LABEL: @collectives
// CHECK: comm.all_reduce {{.*}} predicted_s = 7.500000e-06
// CHECK: comm.broadcast {{.*}} predicted_s = 7.500000e-06
// CHECK: comm.reduce_scatter {{.*}} predicted_s = 3.750000e-06
// CHECK: comm.all_gather {{.*}} predicted_s = 3.750000e-06
// CHECK: comm.all_to_all {{.*}} predicted_s = 3.750000e-06
// CHECK: comm.permute {{.*}} predicted_s = 2.000000e-06
// CHECK: comm.barrier {{.*}} predicted_s = 9.9999999999999995E-7
// Two tensors in one bucket: the messages of one.
// CHECK: comm.all_reduce {{.*}} predicted_s = 9.000000e-06
// A group of one rank.
// CHECK: comm.all_reduce {{.*}} over @mesh {one} {{.*}} predicted_s = 0.000000e+00
comm.mesh @mesh [dp = 4, one = 1]
func.func @collectives(%x: tensor<256xf32>, %s: tensor<64xf32>) -> (tensor<256xf32>, tensor<256xf32>, tensor<64xf32>,
    tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>)
    attributes {comm.program = #comm.program<@mesh>} {
  %0 = comm.all_reduce sum %x over @mesh {dp} : (tensor<256xf32>) -> tensor<256xf32>
  %1 = comm.broadcast %x root 0 over @mesh {dp} : (tensor<256xf32>) -> tensor<256xf32>
  %2 = comm.reduce_scatter sum %x dims [0] over @mesh {dp} : (tensor<256xf32>) -> tensor<64xf32>
  %3 = comm.all_gather %s dims [0] over @mesh {dp} : (tensor<64xf32>) -> tensor<256xf32>
  %4 = comm.all_to_all %x split [0] concat [0] over @mesh {dp} : (tensor<256xf32>) -> tensor<256xf32>
  %5 = comm.permute %x pairs [0 -> 1, 1 -> 2, 2 -> 3, 3 -> 0] over @mesh {dp} : (tensor<256xf32>) -> tensor<256xf32>
  comm.barrier over @mesh {dp} : () -> ()
  %6, %7 = comm.all_reduce sum %x, %0 over @mesh {dp} : (tensor<256xf32>, tensor<256xf32>) -> (tensor<256xf32>, tensor<256xf32>)
  %8 = comm.all_reduce sum %x over @mesh {one} : (tensor<256xf32>) -> tensor<256xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8 : tensor<256xf32>, tensor<256xf32>, tensor<64xf32>, tensor<256xf32>,
      tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>
}

// -----

// A matmul of 32x32 matrices has 65536 FLOPs and 12 KiB: 65.5 us, and 2 to launch it.
// CHECK-LABEL: @matmul
// CHECK-SAME: predicted_s = 6.753600e-05
comm.mesh @mesh [dp = 4]
func.func @matmul(%x: tensor<32x32xf32>) -> tensor<32x32xf32> attributes {comm.program = #comm.program<@mesh>} {
  %0 = exec.matmul "mk,kn->mn"(%x, %x) : tensor<32x32xf32>, tensor<32x32xf32> -> tensor<32x32xf32>
  return %0 : tensor<32x32xf32>
}

// -----

// A dot product of two vectors has 512 FLOPs and 2052 bytes, which count more.
// CHECK-LABEL: @bytes
// CHECK-SAME: predicted_s = 4.004000e-06
comm.mesh @mesh [dp = 4]
func.func @bytes(%x: tensor<256xf32>) -> tensor<f32> attributes {comm.program = #comm.program<@mesh>} {
  %0 = exec.matmul "k,k->"(%x, %x) : tensor<256xf32>, tensor<256xf32> -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// Of a table only the rows are read that indices name, whatever the table has: 4 rows
// of 256 bytes there and back, and 16 bytes of indices.
// CHECK-LABEL: @rows
// CHECK-SAME: predicted_s = 4.016000e-06
comm.mesh @mesh [dp = 4]
func.func @rows(%t: tensor<4096x64xf32>, %i: tensor<4xi32>) -> tensor<4x64xf32>
    attributes {comm.program = #comm.program<@mesh>} {
  %0 = exec.gather(%t, %i) : (tensor<4096x64xf32>, tensor<4xi32>) -> tensor<4x64xf32>
  return %0 : tensor<4x64xf32>
}
