// RUN: braid-opt %s --tg-derive-facts --comm-noise-scale --split-input-file --verify-diagnostics | FileCheck %s

// Without a norm there is nothing to compare with.
comm.mesh @mesh [dp = 2]
// expected-error @below {{comm-noise-scale reads the norm of all gradients, but no result has the role grad_norm; run tg-apply-optimizer with report-norm}}
func.func @train(%x: tensor<1x4xf32> {tg.role = #tg.role<features>, comm.global = tensor<2x4xf32>, comm.sharding = #comm.sharding<@mesh, {dp} {}>},
                 %w: tensor<4xf32> {tg.param = #tg.param<"w", #tg.init<ones>>}) -> (tensor<4xf32> {tg.updates = "w"})
    attributes {comm.program = #comm.program<@mesh>} {
  return %w : tensor<4xf32>
}

// -----

// A part of the gradient is another rank's of the model: no rank has its own.
comm.mesh @mesh [dp = 2, tp = 2]
func.func @train(%x: tensor<1x4xf32> {tg.role = #tg.role<features>, comm.global = tensor<2x4xf32>, comm.sharding = #comm.sharding<@mesh, {dp} {}>},
                 %w: tensor<4xf32> {tg.param = #tg.param<"w", #tg.init<ones>>})
    -> (tensor<4xf32> {tg.updates = "w"}, tensor<f32> {tg.role = #tg.role<grad_norm>}) attributes {comm.program = #comm.program<@mesh>} {
  // expected-error @below {{the gradient of 'w' is reduced over {dp, tp} but the batch is sharded over {dp}, so the gradient of a rank's own samples is not available}}
  %g = comm.all_reduce sum %w over @mesh {dp, tp} : (tensor<4xf32>) -> tensor<4xf32>
  %n = tg.global_norm %g : tensor<4xf32> -> tensor<f32>
  %new = arith.subf %w, %g : tensor<4xf32>
  return %new, %n : tensor<4xf32>, tensor<f32>
}

// -----

comm.mesh @mesh [dp = 2]
func.func @train(%x: tensor<1x4xf32> {tg.role = #tg.role<features>, comm.global = tensor<2x4xf32>, comm.sharding = #comm.sharding<@mesh, {dp} {}>},
                 %w: tensor<4xf32> {tg.param = #tg.param<"w", #tg.init<ones>>},
                 %acc: tensor<4xf32> {tg.state = #tg.state<"acc.w", #tg.init<zeros>, of = "w", kind = accumulator>})
    -> (tensor<4xf32> {tg.updates = "w"}, tensor<f32> {tg.role = #tg.role<grad_norm>}) attributes {comm.program = #comm.program<@mesh>} {
  // expected-error @below {{the gradient of 'w' is one of several microbatches; add accumulate=}}
  %g = comm.all_reduce sum %w over @mesh {dp} : (tensor<4xf32>) -> tensor<4xf32>
  %all = arith.addf %acc, %g : tensor<4xf32>
  %n = tg.global_norm %all : tensor<4xf32> -> tensor<f32>
  %new = arith.subf %w, %all : tensor<4xf32>
  return %new, %n : tensor<4xf32>, tensor<f32>
}

// -----

// One rank has the whole batch; and @eval has no gradients.
comm.mesh @mesh [dp = 1, tp = 2]
// CHECK-LABEL: func.func @train
// CHECK-NOT: grad_sq
func.func @train(%x: tensor<2x4xf32> {tg.role = #tg.role<features>}, %w: tensor<4xf32> {tg.param = #tg.param<"w", #tg.init<ones>>})
    -> (tensor<4xf32> {tg.updates = "w"}, tensor<f32> {tg.role = #tg.role<grad_norm>}) attributes {comm.program = #comm.program<@mesh>} {
  %n = tg.global_norm %w : tensor<4xf32> -> tensor<f32>
  %new = arith.subf %w, %w : tensor<4xf32>
  return %new, %n : tensor<4xf32>, tensor<f32>
}
// CHECK-LABEL: func.func @eval
// CHECK-NOT: grad_sq
func.func @eval(%x: tensor<2x4xf32> {tg.role = #tg.role<features>}) -> (tensor<2x4xf32> {tg.role = #tg.role<loss>})
    attributes {comm.program = #comm.program<@mesh>} {
  return %x : tensor<2x4xf32>
}
