// What does not depend on a collective is computed while that is on its way, and in memory each value is as before.
//
// RUN: braid-opt %s --split-input-file --exec-set-machine="link=0.5,0.256 compute=0.512,1024" --comm-fill-waits | FileCheck %s
// RUN: braid-opt %s --split-input-file --exec-set-machine="link=0.5,0.256 compute=0.512,1024" --comm-fill-waits 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK: remark: @delay: 3 of 4 actions moved to shorten waits for collectives
//
// A link that takes no time is not waited for.
// RUN: braid-opt %s --split-input-file --exec-set-machine="link=0,1000000 compute=0.512,1024" --comm-fill-waits 2>&1 | FileCheck %s --check-prefix=FAST --implicit-check-not=remark
// FAST-LABEL: @delay
// FAST: exec.matmul "km,kn->mn"
// FAST: comm.all_reduce

comm.mesh @mesh [tp = 2]

// CHECK-LABEL: @delay
// CHECK: %[[P:.*]] = exec.matmul "mk,kn->mn"(%arg0, %arg1)
// CHECK: %[[G:.*]] = comm.all_reduce sum %[[P]]
// CHECK: exec.matmul "km,kn->mn"(%arg0, %arg1)
// CHECK: exec.matmul "mk,kn->mn"(%[[G]], %arg1)
func.func @delay(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>)
    attributes {comm.program = #comm.program<@mesh>} {
  %w = exec.matmul "km,kn->mn"(%x, %y) : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  %p = exec.matmul "mk,kn->mn"(%x, %y) : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  %g = comm.all_reduce sum %p over @mesh {tp} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %s = exec.matmul "mk,kn->mn"(%g, %y) : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  return %w, %s : tensor<8x8xf32>, tensor<8x8xf32>
}

// What stands behind the reader, with the view that it reads.
// CHECK-LABEL: @hoist
// CHECK: %[[G:.*]] = comm.all_reduce sum %arg0
// CHECK: %[[V:.*]] = exec.view %arg1
// CHECK: %[[W:.*]] = exec.matmul "mk,kn->mn"(%[[V]], %arg1)
// CHECK: %[[S:.*]] = exec.matmul "mk,kn->mn"(%[[G]], %arg1)
// CHECK: exec.matmul "mk,kn->mn"(%[[S]], %[[W]])
func.func @hoist(%x: tensor<8x8xf32> {comm.sharding = #comm.sharding<@mesh, {} {}, partial sum {tp}>}, %y: tensor<8x8xf32>) -> tensor<8x8xf32>
    attributes {comm.program = #comm.program<@mesh>} {
  %g = comm.all_reduce sum %x over @mesh {tp} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %s = exec.matmul "mk,kn->mn"(%g, %y) : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  %v = exec.view %y offset 0 strides [1, 8] : tensor<8x8xf32> -> tensor<8x8xf32>
  %w = exec.matmul "mk,kn->mn"(%v, %y) : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  %t = exec.matmul "mk,kn->mn"(%s, %w) : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  return %t : tensor<8x8xf32>
}

// -----

// Not a function that nothing shards.
// CHECK-LABEL: @alone
// CHECK: exec.matmul "km,kn->mn"
// CHECK: exec.matmul "mk,kn->mn"
func.func @alone(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %w = exec.matmul "km,kn->mn"(%x, %y) : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  %p = exec.matmul "mk,kn->mn"(%x, %y) : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  return %w, %p : tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

comm.mesh @mesh [tp = 2]

// Nor where the large %w would live beside %t, which is as large: the program would hold more than a hundredth more.
// CHECK-LABEL: @large
// CHECK: comm.all_reduce
// CHECK: exec.matmul "mk,kn->mn"({{.*}} : tensor<8x8xf32>, tensor<8x512xf32>
// CHECK: exec.matmul "mk,kn->mn"({{.*}} : tensor<512x8xf32>, tensor<8x512xf32>
// CHECK: exec.matmul "mk,kn->mn"({{.*}} : tensor<8x512xf32>, tensor<512x512xf32>
// CHECK: exec.matmul "mk,kn->mn"({{.*}} : tensor<512x8xf32>, tensor<8x512xf32>
func.func @large(%x: tensor<8x8xf32> {comm.sharding = #comm.sharding<@mesh, {} {}, partial sum {tp}>}, %y: tensor<8x512xf32>, %z: tensor<512x8xf32>) -> tensor<8x512xf32>
    attributes {comm.program = #comm.program<@mesh>} {
  %g = comm.all_reduce sum %x over @mesh {tp} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %s = exec.matmul "mk,kn->mn"(%g, %y) : tensor<8x8xf32>, tensor<8x512xf32> -> tensor<8x512xf32>
  %t = exec.matmul "mk,kn->mn"(%z, %s) : tensor<512x8xf32>, tensor<8x512xf32> -> tensor<512x512xf32>
  %u = exec.matmul "mk,kn->mn"(%s, %t) : tensor<8x512xf32>, tensor<512x512xf32> -> tensor<8x512xf32>
  %w = exec.matmul "mk,kn->mn"(%z, %y) : tensor<512x8xf32>, tensor<8x512xf32> -> tensor<512x512xf32>
  %v = exec.matmul "mk,kn->mn"(%u, %w) : tensor<8x512xf32>, tensor<512x512xf32> -> tensor<8x512xf32>
  return %v : tensor<8x512xf32>
}
