// RUN: not braid-opt %s --comm-root-parallel=function=f --split-input-file 2>&1 | FileCheck %s

// CHECK: error: comm-root-parallel needs a program that all ranks run, such as comm-shard makes; 'f' is not in the module
comm.mesh @mesh [dp = 2]

// -----

// CHECK: error: comm-root-parallel needs a program that all ranks run, such as comm-shard makes; 'f' is not run by all ranks
comm.mesh @mesh [dp = 2]
func.func @f() {
  return
}

// -----

// CHECK: error: comm-root-parallel: the mesh {dp = 2, tp = 2} has several axes, but the root serves the ranks of one axis
comm.mesh @mesh [dp = 2, tp = 2]
func.func @f() attributes {comm.program = #comm.program<@mesh>} {
  return
}

// -----

// CHECK: error: comm-root-parallel: argument #0 is #comm.sharding<@mesh, {}, flat {dp}>, but the root must keep every tensor that lives across steps; use zero=0 and no microbatches
comm.mesh @mesh [dp = 2]
func.func @f(%w: tensor<4xf32> {comm.global = tensor<8xf32>, comm.sharding = #comm.sharding<@mesh, {}, flat {dp}>})
    attributes {comm.program = #comm.program<@mesh>} {
  return
}

// -----

// CHECK: error: 'comm.all_gather' op is not an all_reduce; comm-root-parallel expects a program of plain data parallelism
comm.mesh @mesh [dp = 2]
func.func @f(%w: tensor<4xf32>) -> tensor<8xf32> attributes {comm.program = #comm.program<@mesh>} {
  %x = comm.all_gather %w dims [0] over @mesh {dp} : (tensor<4xf32>) -> tensor<8xf32>
  return %x : tensor<8xf32>
}
