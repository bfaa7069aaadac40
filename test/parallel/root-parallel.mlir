// What workers use stays an all_reduce; results with a batch are gathered to the root,
// what a result alone reads is the root's, and last it tells the others of results
// without a batch.  A term that each rank adds is an argument of both.
//
// RUN: braid-opt %s --comm-root-parallel=function=f --comm-verify-order | FileCheck %s
// RUN: braid-interp %s --compare --pipeline="comm-root-parallel{function=f}" | FileCheck %s --check-prefix=SAME
// SAME: results agree

// CHECK: func.func @f(
// CHECK-SAME: %[[X:[^ ]+]]: tensor<4x3xf32> {tg.input = "x"}, %[[W:[^ ]+]]: tensor<3xf32> {tg.input = "w"}, %[[ALONE:[^ ]+]]: tensor<3xf32> {tg.input = "alone"},
// CHECK-SAME: %[[TERM:[^ ]+]]: tensor<f32> {comm.sharding = #comm.sharding<@mesh, partial sum {dp}>, tg.input = "term"})
// CHECK-SAME: -> (tensor<4x3xf32> {tg.output = "y"}, tensor<3xf32> {tg.output = "sum"}, tensor<f32> {tg.output = "terms"})
// CHECK-SAME: attributes {comm.entry = "f", comm.program = #comm.program<@mesh, dp = [0]>}
// CHECK: %[[PART:.*]] = comm.scatter %[[X]] dims [0]
// CHECK: comm.broadcast %[[W]] root 0 over @mesh {dp}{{.*}} : (tensor<3xf32>) -> ()
// CHECK: %[[COUNT:.*]] = comm.all_reduce sum
// CHECK: %[[ROWS:.*]] = tg.broadcast %[[COUNT]]
// CHECK: %[[Y:.*]] = arith.mulf %{{.*}}, %[[ROWS]]
// CHECK: %[[SUM:.*]] = comm.reduce sum
// CHECK: %[[OWN:.*]] = arith.addf %[[SUM]], %[[ALONE]]
// CHECK: %[[TERMS:.*]] = comm.reduce sum %[[TERM]] root 0
// CHECK: %[[ALL:.*]] = comm.gather %[[Y]] dims [0] root 0 over @mesh {dp}{{.*}} : (tensor<2x3xf32>) -> tensor<4x3xf32>
// CHECK: comm.broadcast %[[OWN]], %[[TERMS]] root 0 over @mesh {dp}{{.*}} : (tensor<3xf32>, tensor<f32>) -> ()
// CHECK: return %[[ALL]], %[[OWN]], %[[TERMS]]

// CHECK: func.func @f_workers(%[[TERM:[^ ]+]]: tensor<f32> {comm.sharding = #comm.sharding<@mesh, partial sum {dp}>, tg.input = "term"})
// CHECK-SAME: -> (tensor<3xf32> {tg.output = "sum"}, tensor<f32> {tg.output = "terms"})
// CHECK-SAME: attributes {comm.entry = "f", comm.program = #comm.program<@mesh, dp = [1]>}
// CHECK: comm.broadcast root 0 over @mesh {dp}{{.*}} : () -> tensor<3xf32>
// CHECK: comm.all_reduce sum
// CHECK: comm.reduce sum %{{.*}} root 0 over @mesh {dp}{{.*}} : (tensor<3xf32>) -> ()
// CHECK-NOT: arith.addf
// CHECK: comm.reduce sum %[[TERM]] root 0 over @mesh {dp}{{.*}} : (tensor<f32>) -> ()
// CHECK: comm.gather %{{.*}} dims [0] root 0 over @mesh {dp}{{.*}} : (tensor<2x3xf32>) -> ()
// CHECK: %[[TOLD:.*]]:2 = comm.broadcast root 0 over @mesh {dp}{{.*}} : () -> (tensor<3xf32>, tensor<f32>)
// CHECK-NEXT: return %[[TOLD]]#0, %[[TOLD]]#1
comm.mesh @mesh [dp = 2]

func.func @f(%x: tensor<2x3xf32> {comm.global = tensor<4x3xf32>, comm.sharding = #comm.sharding<@mesh, {dp} {}>, tg.input = "x"},
             %w: tensor<3xf32> {tg.input = "w"}, %alone: tensor<3xf32> {tg.input = "alone"},
             %term: tensor<f32> {comm.sharding = #comm.sharding<@mesh, partial sum {dp}>, tg.input = "term"})
    -> (tensor<2x3xf32> {comm.global = tensor<4x3xf32>, comm.sharding = #comm.sharding<@mesh, {dp} {}>, tg.output = "y"},
        tensor<3xf32> {tg.output = "sum"}, tensor<f32> {tg.output = "terms"}) attributes {comm.program = #comm.program<@mesh>} {
  %r = tg.broadcast %w dims [1] : tensor<3xf32> -> tensor<2x3xf32>
  %m = arith.mulf %x, %r : tensor<2x3xf32>
  %s = tg.reduce sum %m dims [0, 1] : tensor<2x3xf32> -> tensor<f32>
  %count = comm.all_reduce sum %s over @mesh {dp} : (tensor<f32>) -> tensor<f32>
  %c = tg.broadcast %count dims [] : tensor<f32> -> tensor<2x3xf32>
  %y = arith.mulf %m, %c : tensor<2x3xf32>
  %p = tg.reduce sum %y dims [0] : tensor<2x3xf32> -> tensor<3xf32>
  %g = comm.all_reduce sum %p over @mesh {dp} : (tensor<3xf32>) -> tensor<3xf32>
  %o = arith.addf %g, %alone : tensor<3xf32>
  %terms = comm.all_reduce sum %term over @mesh {dp} : (tensor<f32>) -> tensor<f32>
  return %y, %o, %terms : tensor<2x3xf32>, tensor<3xf32>, tensor<f32>
}
