// A rank's step of a small model, trained with the batch over two ranks: through
// all of exec it computes what it did on values.
// RUN: braid-interp %s --compare --function=train --pipeline="func.func(tg-decompose,exec-select-calls,exec-form-kernels,exec-fuse-kernels),exec-verify-values"
// RUN: braid-interp %s --compare --function=train --pipeline="func.func(tg-decompose,exec-select-calls,exec-form-kernels,exec-fuse-kernels),exec-verify-values,exec-plan-memory,exec-outline-kernels,exec-batch-launches,exec-verify-memory,exec-verify-plan"
// RUN: braid-opt %s --tg-decompose --exec-select-calls --exec-form-kernels --exec-fuse-kernels --exec-plan-memory --exec-outline-kernels --exec-batch-launches --exec-verify-memory --exec-verify-plan | FileCheck %s

// All updates run one flat kernel.  That of %w2 needs no more than the first wait;
// those of %w1 and %b1 become one launch, behind the second wait.
// CHECK-LABEL: exec.program @train
// CHECK:       %[[T:.*]] = comm.start {
// CHECK-NEXT:    comm.all_reduce mean %[[G2:[0-9]+]] outs(%[[G2]] :
// CHECK:       exec.matmul
// CHECK:       %[[U:.*]] = comm.start {
// CHECK-NEXT:    comm.all_reduce mean %[[G1:[0-9]+]], %[[GB:[0-9]+]] outs(%[[G1]], %[[GB]] :
// CHECK:       comm.wait %[[T]]
// CHECK:       exec.launch @{{[a-z_0-9]+}} batch 1(%[[W2:[0-9]+]], %[[G2]]) outs(%[[W2]])
// CHECK:       comm.wait %[[U]]
// CHECK:       exec.launch @{{[a-z_0-9]+}} batch 2(%[[W1:[0-9]+]], %[[G1]], %[[B1:[0-9]+]], %[[GB]]) outs(%[[W1]], %[[B1]])
comm.mesh @mesh [dp = 2]
func.func @train(%w1: tensor<16x8xf32> {tg.param = #tg.param<"w1", #tg.init<zeros>>}, %b1: tensor<16xf32> {tg.param = #tg.param<"b1", #tg.init<zeros>>},
                 %w2: tensor<4x16xf32> {tg.param = #tg.param<"w2", #tg.init<zeros>>},
                 %x: tensor<6x8xf32> {tg.input = "x", comm.sharding = #comm.sharding<@mesh, {dp} {}>, comm.global = tensor<12x8xf32>},
                 %dy: tensor<6x4xf32> {tg.input = "dy", comm.sharding = #comm.sharding<@mesh, {dp} {}>, comm.global = tensor<12x4xf32>})
    -> (tensor<6x4xf32> {tg.output = "y", comm.sharding = #comm.sharding<@mesh, {dp} {}>, comm.global = tensor<12x4xf32>},
        tensor<16x8xf32> {tg.updates = "w1"}, tensor<16xf32> {tg.updates = "b1"}, tensor<4x16xf32> {tg.updates = "w2"})
    attributes {comm.program = #comm.program<@mesh>} {
  // Forward.
  %p = tg.contract "bi,oi->bo" %x, %w1 : (tensor<6x8xf32>, tensor<16x8xf32>) -> tensor<6x16xf32>
  %b = tg.broadcast %b1 dims [1] : tensor<16xf32> -> tensor<6x16xf32>
  %h = arith.addf %p, %b : tensor<6x16xf32>
  %a = math.tanh %h : tensor<6x16xf32>
  %y = tg.contract "bi,oi->bo" %a, %w2 : (tensor<6x16xf32>, tensor<4x16xf32>) -> tensor<6x4xf32>
  // Backward; the gradients are reduced while the rest is computed.
  %dw2 = tg.contract "bo,bi->oi" %dy, %a : (tensor<6x4xf32>, tensor<6x16xf32>) -> tensor<4x16xf32>
  %t = comm.start {
    %r = comm.all_reduce mean %dw2 over @mesh {dp} : (tensor<4x16xf32>) -> tensor<4x16xf32>
  } : !comm.ticket<tensor<4x16xf32>>
  %da = tg.contract "bo,oi->bi" %dy, %w2 : (tensor<6x4xf32>, tensor<4x16xf32>) -> tensor<6x16xf32>
  %one = arith.constant dense<1.0> : tensor<6x16xf32>
  %aa = arith.mulf %a, %a : tensor<6x16xf32>
  %d = arith.subf %one, %aa : tensor<6x16xf32>
  %dh = arith.mulf %da, %d : tensor<6x16xf32>
  %dw1 = tg.contract "bo,bi->oi" %dh, %x : (tensor<6x16xf32>, tensor<6x8xf32>) -> tensor<16x8xf32>
  %db1 = tg.reduce sum %dh dims [0] : tensor<6x16xf32> -> tensor<16xf32>
  %u = comm.start {
    %r:2 = comm.all_reduce mean %dw1, %db1 over @mesh {dp} : (tensor<16x8xf32>, tensor<16xf32>) -> (tensor<16x8xf32>, tensor<16xf32>)
  } : !comm.ticket<tensor<16x8xf32>, tensor<16xf32>>
  // Updates.
  %g2 = comm.wait %t : !comm.ticket<tensor<4x16xf32>> -> tensor<4x16xf32>
  %n2 = arith.subf %w2, %g2 : tensor<4x16xf32>
  %g1:2 = comm.wait %u : !comm.ticket<tensor<16x8xf32>, tensor<16xf32>> -> tensor<16x8xf32>, tensor<16xf32>
  %n1 = arith.subf %w1, %g1#0 : tensor<16x8xf32>
  %nb = arith.subf %b1, %g1#1 : tensor<16xf32>
  return %y, %n1, %nb, %n2 : tensor<6x4xf32>, tensor<16x8xf32>, tensor<16xf32>, tensor<4x16xf32>
}
