// What comm-stages makes of the program of a microbatch: functions for cells and messages, and
// slots for what they pass on.
//
// RUN: braid-opt %s --tg-derive-facts --comm-stages="schedule=1f1b microbatches=4" | FileCheck %s --implicit-check-not=func.func
//
// Slots depend on the schedule: all forwards first hold every microbatch.
// RUN: braid-opt %s --tg-derive-facts --comm-stages="schedule=gpipe microbatches=4" | FileCheck %s --check-prefix=GPIPE
// GPIPE: exec.slots @stage0_gradient_in 4
// GPIPE: exec.slots @stage1_activation_in 4
// GPIPE: exec.slots @stage2_saved 4

comm.mesh @mesh [dp = 2, pp = 3]

// CHECK: comm.pipeline over @mesh "pp" "0F0,{{.*}}\0A,1F0,{{.*}}\0A,,2F0,2B0,{{.*}}\0A"
// CHECK-SAME: stage_units = ["embed, a", "b", "c, head"], tensor_order = ["u", "v", "w", "acc.loss", "acc.u", "acc.w"]

// As many slots as a stage holds microbatches, two for what is sent.
// CHECK-NEXT: exec.slots @stage0_activation_out 2
// CHECK-NEXT: exec.slots @stage0_gradient_in 3
// CHECK-NEXT: exec.slots @stage1_activation_in 3
// CHECK-NEXT: exec.slots @stage1_activation_out 2
// CHECK-NEXT: exec.slots @stage1_gradient_in 1
// CHECK-NEXT: exec.slots @stage1_gradient_out 2
// CHECK-NEXT: exec.slots @stage2_activation_in 2
// CHECK-NEXT: exec.slots @stage2_saved 1
// CHECK-NEXT: exec.slots @stage2_gradient_out 2

func.func @accumulate(%x: tensor<4xf32> {tg.input = "x", tg.role = #tg.role<features>},
                      %y: tensor<4xf32> {tg.input = "y", tg.role = #tg.role<labels>},
                      %u: tensor<4xf32> {tg.param = #tg.param<"u", #tg.init<ones>, unit = "a">},
                      %v: tensor<4xf32> {tg.param = #tg.param<"v", #tg.init<ones>, unit = "b">},
                      %w: tensor<4xf32> {tg.param = #tg.param<"w", #tg.init<ones>, unit = "c">},
                      %sum: tensor<f32> {tg.state = #tg.state<"acc.loss", #tg.init<zeros>, kind = accumulator>},
                      %su: tensor<4xf32> {tg.state = #tg.state<"acc.u", #tg.init<zeros>, of = "u", kind = accumulator>},
                      %sw: tensor<4xf32> {tg.state = #tg.state<"acc.w", #tg.init<zeros>, of = "w", kind = accumulator>})
    -> (tensor<f32> {tg.updates = "acc.loss"}, tensor<4xf32> {tg.updates = "acc.u"}, tensor<4xf32> {tg.updates = "acc.w"})
    attributes {comm.program = #comm.program<@mesh>} {
  %mask = math.exp %y : tensor<4xf32>
  %whole = comm.all_reduce sum %w over @mesh {dp} : (tensor<4xf32>) -> tensor<4xf32>
  %a = arith.mulf %x, %u : tensor<4xf32>
  %b0 = arith.mulf %a, %v : tensor<4xf32>
  %b = arith.mulf %b0, %mask : tensor<4xf32>
  %c0 = arith.mulf %b, %whole : tensor<4xf32>
  %c1 = arith.mulf %c0, %mask : tensor<4xf32>
  %c = arith.addf %c1, %a : tensor<4xf32>
  %l = tg.reduce sum %c dims [0] : tensor<4xf32> -> tensor<f32>
  %nl = arith.addf %sum, %l : tensor<f32>
  %dw = arith.mulf %b, %mask : tensor<4xf32>
  %nw = arith.addf %sw, %dw : tensor<4xf32>
  %db = arith.mulf %whole, %mask : tensor<4xf32>
  %db2 = arith.mulf %db, %c : tensor<4xf32>
  %da = arith.mulf %db2, %v : tensor<4xf32>
  %du = arith.mulf %da, %x : tensor<4xf32>
  %nu = arith.addf %su, %du : tensor<4xf32>
  return %nl, %nu, %nw : tensor<f32>, tensor<4xf32>, tensor<4xf32>
}

// Every stage's forward takes all inputs of the batch, so that all ranks read the same rows.  What it
// sends lies in a slot.
// CHECK-NEXT: func.func @forward_0(%[[X:arg0]]: tensor<4xf32> {tg.input = "x"{{[^}]*}}}, %arg1: tensor<4xf32> {tg.input = "y"{{[^}]*}}},
// CHECK-SAME: %[[U:arg2]]: tensor<4xf32> {tg.param = #tg.param<"u"
// CHECK-SAME: %arg3: tensor<4xf32> {exec.slots = @stage0_activation_out, tg.state = #tg.state<"stage0_activation_out.0", #tg.init<zeros>, kind = message>}
// CHECK-SAME: -> (tensor<4xf32> {tg.updates = "stage0_activation_out.0"})
// CHECK-SAME: attributes {comm.cell = #comm.cell<forward, 0>, comm.program = #comm.program<@mesh, pp = [0]>} {
// CHECK-NEXT: %[[A:.*]] = arith.mulf %[[X]], %[[U]]
// CHECK-NEXT: return %[[A]] : tensor<4xf32>
// CHECK-NEXT: }

// The gradient that comes from stage 1 goes into the sum of the parameter, whose argument is there, too.
// CHECK-NEXT: func.func @backward_0(
// CHECK-SAME: tg.param = #tg.param<"u"
// CHECK-SAME: %[[SUM:arg3]]: tensor<4xf32> {tg.state = #tg.state<"acc.u"
// CHECK-SAME: %[[DA:arg4]]: tensor<4xf32> {exec.slots = @stage0_gradient_in, tg.state = #tg.state<"stage0_gradient_in.0", #tg.init<zeros>, kind = message>}
// CHECK-SAME: -> (tensor<4xf32> {tg.updates = "acc.u"})
// CHECK-SAME: comm.cell = #comm.cell<backward, 0>, comm.program = #comm.program<@mesh, pp = [0]>
// CHECK-NEXT: %[[DU:.*]] = arith.mulf %[[DA]], %arg0
// CHECK-NEXT: %[[NEW:.*]] = arith.addf %[[SUM]], %[[DU]]
// CHECK-NEXT: return %[[NEW]] : tensor<4xf32>
// CHECK-NEXT: }

// A message is a function on either side.
// CHECK-NEXT: func.func @send_activation_0(%arg0: tensor<4xf32> {exec.slots = @stage0_activation_out,
// CHECK-SAME: comm.cell = #comm.cell<send_activation, 0>, comm.program = #comm.program<@mesh, pp = [0]>
// CHECK-NEXT: comm.send %arg0 to 1 over @mesh {pp}{{.*}} : (tensor<4xf32>) -> ()
// CHECK-NEXT: return
// CHECK-NEXT: }
// CHECK-NEXT: func.func @receive_activation_1(%arg0: tensor<4xf32> {exec.slots = @stage1_activation_in,
// CHECK-SAME: -> (tensor<4xf32> {tg.updates = "stage1_activation_in.0"})
// CHECK-SAME: comm.cell = #comm.cell<receive_activation, 1>, comm.program = #comm.program<@mesh, pp = [1]>
// CHECK-NEXT: %[[IN:.*]] = comm.recv from 0 over @mesh {pp}{{.*}} : () -> tensor<4xf32>
// CHECK-NEXT: return %[[IN]] : tensor<4xf32>
// CHECK-NEXT: }

// Stage 2 reads what stage 0 made, so stage 1 hands it on.  The mask depends on inputs alone, and whoever
// reads it computes it.
// CHECK-NEXT: func.func @forward_1(
// CHECK-SAME: %[[Y:arg1]]: tensor<4xf32> {tg.input = "y"
// CHECK-SAME: %[[V:arg2]]: tensor<4xf32> {tg.param = #tg.param<"v"
// CHECK-SAME: %[[IN:arg3]]: tensor<4xf32> {exec.slots = @stage1_activation_in
// CHECK-SAME: -> (tensor<4xf32> {tg.updates = "stage1_activation_out.0"}, tensor<4xf32> {tg.updates = "stage1_activation_out.1"})
// CHECK-NEXT: %[[B0:.*]] = arith.mulf %[[IN]], %[[V]]
// CHECK-NEXT: %[[MASK:.*]] = math.exp %[[Y]]
// CHECK-NEXT: %[[B:.*]] = arith.mulf %[[B0]], %[[MASK]]
// CHECK-NEXT: return %[[IN]], %[[B]] : tensor<4xf32>, tensor<4xf32>
// CHECK-NEXT: }

// A parameter without an accumulator makes nothing but the gradient of the stage's input.
// CHECK-NEXT: func.func @backward_1(%[[V:arg0]]: tensor<4xf32> {tg.param = #tg.param<"v"
// CHECK-SAME: %[[DB:arg1]]: tensor<4xf32> {exec.slots = @stage1_gradient_in,
// CHECK-SAME: -> (tensor<4xf32> {tg.updates = "stage1_gradient_out.0"})
// CHECK-NEXT: %[[DA:.*]] = arith.mulf %[[DB]], %[[V]]
// CHECK-NEXT: return %[[DA]] : tensor<4xf32>
// CHECK-NEXT: }

// Both tensors are one message.
// CHECK-NEXT: func.func @send_activation_1(
// CHECK-NEXT: comm.send %arg0, %arg1 to 2 over @mesh {pp}{{.*}} : (tensor<4xf32>, tensor<4xf32>) -> ()
// CHECK: func.func @receive_activation_2(
// CHECK-NEXT: comm.recv from 1 over @mesh {pp}{{.*}} : () -> (tensor<4xf32>, tensor<4xf32>)
// CHECK: func.func @send_gradient_1(
// CHECK-NEXT: comm.send %arg0 to 0 over @mesh {pp}
// CHECK: func.func @receive_gradient_0(
// CHECK-NEXT: comm.recv from 1 over @mesh {pp}

// The loss is in the last stage.  What backward reads is saved; received tensors are not, as they stay
// in their slots, and what depends on weights alone is computed again.
// CHECK: func.func @forward_2(
// CHECK-SAME: tg.state = #tg.state<"acc.loss"
// CHECK-SAME: {exec.slots = @stage2_saved, tg.state = #tg.state<"stage2_saved.0", #tg.init<zeros>, kind = saved>}
// CHECK-SAME: -> (tensor<f32> {tg.updates = "acc.loss"}, tensor<4xf32> {tg.updates = "stage2_saved.0"})
// CHECK-NEXT: comm.all_reduce sum %{{.*}} over @mesh {dp}
// CHECK: %[[C:.*]] = arith.addf
// CHECK-NEXT: %[[L:.*]] = tg.reduce sum %[[C]]
// CHECK-NEXT: %[[NEW:.*]] = arith.addf %{{.*}}, %[[L]]
// CHECK-NEXT: return %[[NEW]], %[[C]] : tensor<f32>, tensor<4xf32>
// CHECK-NEXT: }
// CHECK-NEXT: func.func @backward_2(
// CHECK-SAME: %[[B:arg4]]: tensor<4xf32> {exec.slots = @stage2_activation_in, tg.state = #tg.state<"stage2_activation_in.1"
// CHECK-SAME: %[[SAVED:arg5]]: tensor<4xf32> {exec.slots = @stage2_saved
// CHECK-SAME: -> (tensor<4xf32> {tg.updates = "acc.w"}, tensor<4xf32> {tg.updates = "stage2_gradient_out.0"})
// CHECK: arith.mulf %[[B]],
// CHECK: comm.all_reduce sum %{{.*}} over @mesh {dp}
// CHECK: %[[DB:.*]] = arith.mulf %{{.*}}, %[[SAVED]]
// CHECK-NEXT: return %{{.*}}, %[[DB]]
// CHECK: func.func @send_gradient_2(
// CHECK: func.func @receive_gradient_1(
