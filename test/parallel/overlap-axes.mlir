// Links by axis: a message of tp takes 1 us and a KiB of it 1 us; one of dp takes ten times as long, and so does a KiB.
// RUN: braid-opt %s --exec-set-machine=link=tp:1,1.024,10,0.1024 --comm-overlap=annotate-only 2>/dev/null | FileCheck %s
// RUN: braid-opt %s --exec-set-machine=link=dp:10,0.1024,tp:1,1.024,one:1000,0.001 --comm-overlap=annotate-only 2>/dev/null | FileCheck %s

comm.mesh @mesh [dp = 2, tp = 2, one = 1]
// Two messages and all of the bytes; over both axes six messages, and one and a half of the bytes, by the slower link.
// CHECK: comm.all_reduce {{.*}} over @mesh {tp} {{.*}} predicted_s = 3.000000e-06
// CHECK: comm.all_reduce {{.*}} over @mesh {dp} {{.*}} predicted_s = 3.000000e-05
// CHECK: comm.all_reduce {{.*}} over @mesh {dp, tp} {{.*}} predicted_s = 7.500000e-05
// An axis of one rank sends nothing.
// CHECK: comm.all_reduce {{.*}} over @mesh {tp, one} {{.*}} predicted_s = 3.000000e-06
func.func @collectives(%x: tensor<256xf32>) -> (tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>)
    attributes {comm.program = #comm.program<@mesh>} {
  %0 = comm.all_reduce sum %x over @mesh {tp} : (tensor<256xf32>) -> tensor<256xf32>
  %1 = comm.all_reduce sum %x over @mesh {dp} : (tensor<256xf32>) -> tensor<256xf32>
  %2 = comm.all_reduce sum %x over @mesh {dp, tp} : (tensor<256xf32>) -> tensor<256xf32>
  %3 = comm.all_reduce sum %x over @mesh {tp, one} : (tensor<256xf32>) -> tensor<256xf32>
  return %0, %1, %2, %3 : tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>
}
