// A bucket is one collective over tensors that stay in their own places: the arena
// is no larger than without it and nothing is copied.
// RUN: braid-opt %s --tg-derive-facts --exec-form-kernels --exec-plan-memory --exec-verify-memory --exec-verify-plan -o %t
// RUN: FileCheck %s < %t
// RUN: not grep '"copy"' %t
// RUN: braid-interp %s --compare --function=bucket --pipeline="func.func(exec-form-kernels),exec-plan-memory,exec-verify-plan"
// RUN: braid-interp %s --compare --function=single --pipeline="func.func(exec-form-kernels),exec-plan-memory,exec-verify-plan"
// RUN: braid-interp %s --compare --function=scatter_bucket --pipeline="func.func(exec-form-kernels),exec-plan-memory,exec-verify-plan"
// RUN: braid-interp %s --compare --function=scatter_single --pipeline="func.func(exec-form-kernels),exec-plan-memory,exec-verify-plan"

comm.mesh @mesh [dp = 2]

// Gradients are summed where they are.
// CHECK-LABEL: exec.program @single
// CHECK-SAME:  arena [[#BYTES:]]
// CHECK:       comm.all_reduce sum %[[A:[0-9]+]] outs(%[[A]] :
// CHECK:       comm.all_reduce sum %[[B:[0-9]+]] outs(%[[B]] :
func.func @single(%a: tensor<4x8xf32> {tg.param = #tg.param<"a", #tg.init<zeros>>}, %b: tensor<8xf32> {tg.param = #tg.param<"b", #tg.init<zeros>>},
                  %x: tensor<2x4xf32> {tg.input = "x"}, %z: tensor<2x8xf32> {tg.input = "z"})
    -> (tensor<4x8xf32> {tg.updates = "a"}, tensor<8xf32> {tg.updates = "b"}) attributes {comm.program = #comm.program<@mesh>} {
  %0 = exec.matmul "bi,bo->io"(%x, %z) : tensor<2x4xf32>, tensor<2x8xf32> -> tensor<4x8xf32>
  %1 = tg.reduce sum %z dims [0] : tensor<2x8xf32> -> tensor<8xf32>
  %2 = comm.all_reduce sum %0 over @mesh {dp} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = comm.all_reduce sum %1 over @mesh {dp} : (tensor<8xf32>) -> tensor<8xf32>
  %4 = arith.subf %a, %2 : tensor<4x8xf32>
  %5 = arith.subf %b, %3 : tensor<8xf32>
  return %4, %5 : tensor<4x8xf32>, tensor<8xf32>
}

// CHECK-LABEL: exec.program @bucket
// CHECK-SAME:  arena [[#BYTES]]
// CHECK:       comm.all_reduce sum %[[A:[0-9]+]], %[[B:[0-9]+]] outs(%[[A]], %[[B]] :
func.func @bucket(%a: tensor<4x8xf32> {tg.param = #tg.param<"a", #tg.init<zeros>>}, %b: tensor<8xf32> {tg.param = #tg.param<"b", #tg.init<zeros>>},
                  %x: tensor<2x4xf32> {tg.input = "x"}, %z: tensor<2x8xf32> {tg.input = "z"})
    -> (tensor<4x8xf32> {tg.updates = "a"}, tensor<8xf32> {tg.updates = "b"}) attributes {comm.program = #comm.program<@mesh>} {
  %0 = exec.matmul "bi,bo->io"(%x, %z) : tensor<2x4xf32>, tensor<2x8xf32> -> tensor<4x8xf32>
  %1 = tg.reduce sum %z dims [0] : tensor<2x8xf32> -> tensor<8xf32>
  %2, %3 = comm.all_reduce sum %0, %1 over @mesh {dp} : (tensor<4x8xf32>, tensor<8xf32>) -> (tensor<4x8xf32>, tensor<8xf32>)
  %4 = arith.subf %a, %2 : tensor<4x8xf32>
  %5 = arith.subf %b, %3 : tensor<8xf32>
  return %4, %5 : tensor<4x8xf32>, tensor<8xf32>
}

// Shards of parameters: gathered whole, in place of nothing, and gradients reduced
// into shards of their own.
// CHECK-LABEL: exec.program @scatter_single
// CHECK-SAME:  arena [[#SHARDED:]]
// CHECK-DAG:   exec.buffer {{.*}} category gathered name "d@2"
// CHECK-DAG:   exec.buffer {{.*}} category gradients name "d.grad@2"
func.func @scatter_single(%a: tensor<16xf32> {tg.param = #tg.param<"c", #tg.init<zeros>>, comm.sharding = #comm.sharding<@mesh, {} {}, flat {dp}>, comm.global = tensor<4x8xf32>},
                          %b: tensor<4xf32> {tg.param = #tg.param<"d", #tg.init<zeros>>, comm.sharding = #comm.sharding<@mesh, {dp}>, comm.global = tensor<8xf32>},
                          %x: tensor<2x4xf32> {tg.input = "x"})
    -> (tensor<16xf32> {tg.updates = "c", comm.sharding = #comm.sharding<@mesh, {} {}, flat {dp}>, comm.global = tensor<4x8xf32>},
        tensor<4xf32> {tg.updates = "d", comm.sharding = #comm.sharding<@mesh, {dp}>, comm.global = tensor<8xf32>}) attributes {comm.program = #comm.program<@mesh>} {
  %fa = comm.all_gather %a dims [flat] over @mesh {dp} : (tensor<16xf32>) -> tensor<4x8xf32>
  %fb = comm.all_gather %b dims [0] over @mesh {dp} : (tensor<4xf32>) -> tensor<8xf32>
  %z = exec.matmul "bi,io->bo"(%x, %fa bias %fb : tensor<8xf32>) : tensor<2x4xf32>, tensor<4x8xf32> -> tensor<2x8xf32>
  %0 = exec.matmul "bi,bo->io"(%x, %z) : tensor<2x4xf32>, tensor<2x8xf32> -> tensor<4x8xf32>
  %1 = tg.reduce sum %z dims [0] : tensor<2x8xf32> -> tensor<8xf32>
  %2 = comm.reduce_scatter sum %0 dims [flat] over @mesh {dp} : (tensor<4x8xf32>) -> tensor<16xf32>
  %3 = comm.reduce_scatter sum %1 dims [0] over @mesh {dp} : (tensor<8xf32>) -> tensor<4xf32>
  %4 = arith.subf %a, %2 : tensor<16xf32>
  %5 = arith.subf %b, %3 : tensor<4xf32>
  return %4, %5 : tensor<16xf32>, tensor<4xf32>
}

// CHECK-LABEL: exec.program @scatter_bucket
// CHECK-SAME:  arena [[#SHARDED]]
// CHECK-DAG:   exec.buffer @[[FA:[a-z0-9]+]] at {{[0-9]+}} bytes 128 {{.*}} category gathered name "c@2"
// CHECK-DAG:   exec.buffer @[[FB:[a-z0-9]+]] at {{[0-9]+}} bytes 32 {{.*}} category gathered name "d@2"
// CHECK-DAG:   exec.buffer @{{[a-z0-9]+}} at {{[0-9]+}} bytes 64 {{.*}} category gradients name "c.grad@2"
// CHECK-DAG:   exec.buffer @{{[a-z0-9]+}} at {{[0-9]+}} bytes 16 {{.*}} category gradients name "d.grad@2"
// CHECK-DAG:   exec.buffer @{{[a-z0-9]+}} at {{[0-9]+}} bytes 128 {{.*}} category buckets name "c.grad"
// CHECK:       comm.all_gather %{{[0-9]+}}, %{{[0-9]+}} outs(
// CHECK:       comm.reduce_scatter sum %{{[0-9]+}}, %{{[0-9]+}} outs(
func.func @scatter_bucket(%a: tensor<16xf32> {tg.param = #tg.param<"c", #tg.init<zeros>>, comm.sharding = #comm.sharding<@mesh, {} {}, flat {dp}>, comm.global = tensor<4x8xf32>},
                          %b: tensor<4xf32> {tg.param = #tg.param<"d", #tg.init<zeros>>, comm.sharding = #comm.sharding<@mesh, {dp}>, comm.global = tensor<8xf32>},
                          %x: tensor<2x4xf32> {tg.input = "x"})
    -> (tensor<16xf32> {tg.updates = "c", comm.sharding = #comm.sharding<@mesh, {} {}, flat {dp}>, comm.global = tensor<4x8xf32>},
        tensor<4xf32> {tg.updates = "d", comm.sharding = #comm.sharding<@mesh, {dp}>, comm.global = tensor<8xf32>}) attributes {comm.program = #comm.program<@mesh>} {
  %fa, %fb = comm.all_gather %a, %b dims [flat, 0] over @mesh {dp} : (tensor<16xf32>, tensor<4xf32>) -> (tensor<4x8xf32>, tensor<8xf32>)
  %z = exec.matmul "bi,io->bo"(%x, %fa bias %fb : tensor<8xf32>) : tensor<2x4xf32>, tensor<4x8xf32> -> tensor<2x8xf32>
  %0 = exec.matmul "bi,bo->io"(%x, %z) : tensor<2x4xf32>, tensor<2x8xf32> -> tensor<4x8xf32>
  %1 = tg.reduce sum %z dims [0] : tensor<2x8xf32> -> tensor<8xf32>
  %2, %3 = comm.reduce_scatter sum %0, %1 dims [flat, 0] over @mesh {dp} : (tensor<4x8xf32>, tensor<8xf32>) -> (tensor<16xf32>, tensor<4xf32>)
  %4 = arith.subf %a, %2 : tensor<16xf32>
  %5 = arith.subf %b, %3 : tensor<4xf32>
  return %4, %5 : tensor<16xf32>, tensor<4xf32>
}
