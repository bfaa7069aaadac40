// What comm-overlap does not take.
// RUN: not braid-opt %s --comm-overlap="memory-limit=much" 2>&1 | FileCheck %s --check-prefix=LIMIT
// LIMIT: error: invalid memory limit 'much': expected a number of bytes, with an optional KiB, MiB or GiB
// RUN: not braid-opt %s --comm-overlap 2>&1 | FileCheck %s --check-prefix=ACTION
// ACTION: error: 'arith.addf' op is not an action, so its time is unknown; run exec-select-calls and exec-form-kernels before overlap

comm.mesh @mesh [dp = 2]
func.func @graph(%x: tensor<8xf32>) -> tensor<8xf32> attributes {comm.program = #comm.program<@mesh>} {
  %r = comm.all_reduce sum %x over @mesh {dp} : (tensor<8xf32>) -> tensor<8xf32>
  %s = arith.addf %r, %r : tensor<8xf32>
  return %s : tensor<8xf32>
}
