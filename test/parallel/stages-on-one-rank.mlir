// Several stages on a rank.  Where two neighbours are on one, what the one makes is written to where
// the other reads it, and there is no message.
//
// Stages 1 and 2 of a V are on rank 1, stages 0 and 3 on rank 0.
// RUN: braid-opt %s --tg-derive-facts --comm-stages="schedule=zb-v microbatches=3" | FileCheck %s --check-prefix=V --implicit-check-not=@send_activation_1 --implicit-check-not=@receive_activation_2 --implicit-check-not=@send_gradient_2 --implicit-check-not=@receive_gradient_1
// V: comm.pipeline
// V-NOT: exec.slots @stage1_activation_out
// V-NOT: exec.slots @stage2_gradient_out
// V: func.func @forward_1(
// V-SAME: -> (tensor<4xf32> {tg.updates = "stage2_activation_in.0"})
// V-SAME: comm.program<@mesh, pp = [1]>
// V: func.func @forward_2(
// V-SAME: exec.slots = @stage2_activation_in
// V-SAME: comm.program<@mesh, pp = [1]>
// V: func.func @input_gradient_2(
// V-SAME: -> (tensor<4xf32> {tg.updates = "stage1_gradient_in.0"}
// V: func.func @send_activation_2(
// V-NEXT: comm.send %arg0 to 0 over @mesh {pp}
// V: func.func @receive_activation_3(
// V-NEXT: comm.recv from 1 over @mesh {pp}
// V: func.func @forward_3(
// V-SAME: comm.program<@mesh, pp = [0]>
//
// Stages in a loop are never beside each other, and the last of a round sends to rank 0.
// RUN: braid-opt %s --tg-derive-facts --comm-stages="schedule=interleaved chunks=2 microbatches=2" | FileCheck %s --check-prefix=LOOP
// LOOP: func.func @forward_1(
// LOOP-SAME: -> (tensor<4xf32> {tg.updates = "stage1_activation_out.0"})
// LOOP: func.func @send_activation_1(
// LOOP-NEXT: comm.send %arg0 to 0 over @mesh {pp}
// LOOP: func.func @receive_activation_2(
// LOOP-NEXT: comm.recv from 1 over @mesh {pp}
// LOOP: func.func @forward_2(
// LOOP-SAME: comm.program<@mesh, pp = [0]>
//
// A table puts stages where it likes: here all but the last are on rank 1.
// RUN: printf '3F0,3B0\n0F0,1F0,2F0,2B0,1B0,0B0\n' > %t.csv
// RUN: braid-opt %s --tg-derive-facts --comm-stages="schedule=%t.csv microbatches=1" | FileCheck %s --check-prefix=TABLE --implicit-check-not=@send_activation_0 --implicit-check-not=@send_activation_1
// TABLE: func.func @forward_0(
// TABLE-SAME: tg.updates = "stage1_activation_in.0"
// TABLE-SAME: comm.program<@mesh, pp = [1]>
// TABLE: func.func @send_activation_2(
// TABLE-NEXT: comm.send %arg0 to 0
// TABLE: func.func @receive_activation_3(
// TABLE-SAME: comm.program<@mesh, pp = [0]>
//
// One rank with all stages sends nothing.
// RUN: sed 's/pp = 2/pp = 1/' %s | braid-opt - --tg-derive-facts --comm-stages="schedule=interleaved chunks=4 microbatches=2" | FileCheck %s --check-prefix=ALONE --implicit-check-not='comm.send' --implicit-check-not='comm.recv'
// ALONE: func.func @forward_3(

comm.mesh @mesh [pp = 2]

func.func @accumulate(%x: tensor<4xf32> {tg.input = "x", tg.role = #tg.role<features>},
                      %t: tensor<4xf32> {tg.param = #tg.param<"t", #tg.init<ones>, unit = "a">},
                      %u: tensor<4xf32> {tg.param = #tg.param<"u", #tg.init<ones>, unit = "b">},
                      %v: tensor<4xf32> {tg.param = #tg.param<"v", #tg.init<ones>, unit = "c">},
                      %w: tensor<4xf32> {tg.param = #tg.param<"w", #tg.init<ones>, unit = "d">},
                      %sum: tensor<f32> {tg.state = #tg.state<"acc.loss", #tg.init<zeros>, kind = accumulator>},
                      %st: tensor<4xf32> {tg.state = #tg.state<"acc.t", #tg.init<zeros>, of = "t", kind = accumulator>})
    -> (tensor<f32> {tg.updates = "acc.loss"}, tensor<4xf32> {tg.updates = "acc.t"})
    attributes {comm.program = #comm.program<@mesh>} {
  %a = arith.mulf %x, %t : tensor<4xf32>
  %b = arith.mulf %a, %u : tensor<4xf32>
  %c = arith.mulf %b, %v : tensor<4xf32>
  %d = arith.mulf %c, %w : tensor<4xf32>
  %l = tg.reduce sum %d dims [0] : tensor<4xf32> -> tensor<f32>
  %nl = arith.addf %sum, %l : tensor<f32>
  %dc = arith.mulf %d, %w : tensor<4xf32>
  %db = arith.mulf %dc, %v : tensor<4xf32>
  %da = arith.mulf %db, %u : tensor<4xf32>
  %dt = arith.mulf %da, %x : tensor<4xf32>
  %nt = arith.addf %st, %dt : tensor<4xf32>
  return %nl, %nt : tensor<f32>, tensor<4xf32>
}
