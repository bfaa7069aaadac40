// What cannot be cut in stages, and why.
//
// RUN: not braid-opt %s --split-input-file --tg-derive-facts --comm-stages="schedule=1f1b microbatches=2" 2>&1 | FileCheck %s --implicit-check-not=error:
//
// Schedules.
// RUN: sed '/^.. -----/q' %s > %t.good.mlir
// RUN: not braid-opt %t.good.mlir --tg-derive-facts --comm-stages="schedule=2f2b microbatches=2" 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: comm-stages: unknown schedule '2f2b' (schedules: gpipe, 1f1b, interleaved, zb-h1, zb-v, or a table as FILE.csv)
// RUN: not braid-opt %t.good.mlir --tg-derive-facts --comm-stages="schedule=1f1b chunks=2 microbatches=2" 2>&1 | FileCheck %s --check-prefix=CHUNKS
// CHUNKS: error: comm-stages: 1f1b has 1 chunk a rank, not 2; interleaved takes any number
// RUN: not braid-opt %t.good.mlir --tg-derive-facts --comm-stages="schedule=interleaved chunks=1 microbatches=3" 2>&1 | FileCheck %s --check-prefix=ROUNDS
// ROUNDS: error: comm-stages: interleaved on 2 ranks needs a multiple of 2 as number of microbatches: 2 or 4 instead of 3
// RUN: not braid-opt %t.good.mlir --tg-derive-facts --comm-stages="axis=tp microbatches=2" 2>&1 | FileCheck %s --check-prefix=AXIS
// AXIS: error: comm-stages: the mesh {pp = 2} has no axis 'tp'
//
// Tables.
// RUN: not braid-opt %t.good.mlir --tg-derive-facts --comm-stages="schedule=%t.none.csv microbatches=2" 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: comm-stages: {{.*}}.none.csv: No such file or directory
// RUN: printf '0F0,0B0\n1F0,1B0\n2F0,2B0\n' > %t.csv
// RUN: not braid-opt %t.good.mlir --tg-derive-facts --comm-stages="schedule=%t.csv microbatches=1" 2>&1 | FileCheck %s --check-prefix=ROWS
// ROWS: error: comm-stages: {{.*}}.csv: has 3 rows, but 'pp' has 2 ranks
// RUN: printf '0F0,0B0\n1F0,1B0\n' > %t.csv
// RUN: not braid-opt %t.good.mlir --tg-derive-facts --comm-stages="schedule=%t.csv microbatches=4" 2>&1 | FileCheck %s --check-prefix=COUNT
// COUNT: error: comm-stages: {{.*}}.csv: is for 1 microbatch, but a step has 4
// RUN: not braid-opt %t.good.mlir --tg-derive-facts --comm-stages="schedule=%t.csv chunks=2 microbatches=1" 2>&1 | FileCheck %s --check-prefix=STAGES
// STAGES: error: comm-stages: {{.*}}.csv: has 2 stages, but 2 ranks with 2 chunks have 4
// RUN: printf '0F0,0B0,0F1,0B1\n1F0,1F1,1B0,1B1\n' > %t.csv
// RUN: not braid-opt %t.good.mlir --tg-derive-facts --comm-stages="schedule=%t.csv microbatches=2" 2>&1 | FileCheck %s --check-prefix=DEADLOCK
// DEADLOCK: error: comm-stages: {{.*}}.csv: deadlock: rank 0 waits at 0B0 in step 1 for 1B0, which rank 1 runs in step 2
// RUN: printf '0F0,0SEND_F0,0B0\n1F0,1B0\n' > %t.csv
// RUN: not braid-opt %t.good.mlir --tg-derive-facts --comm-stages="schedule=%t.csv microbatches=1" 2>&1 | FileCheck %s --check-prefix=CELL
// CELL: error: comm-stages: {{.*}}.csv:1:5: '0SEND_F0' is a message: messages follow from the table, so leave them out
// RUN: printf '0F0,0B0\n1F0\n' > %t.csv
// RUN: not braid-opt %t.good.mlir --tg-derive-facts --comm-stages="schedule=%t.csv microbatches=1" 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: error: comm-stages: {{.*}}.csv: rank 1 has no 1B0 for its 1F0 in step 0

comm.mesh @mesh [pp = 2]
func.func @accumulate(%x: tensor<4xf32> {tg.input = "x", tg.role = #tg.role<features>},
                      %v: tensor<4xf32> {tg.param = #tg.param<"v", #tg.init<ones>, unit = "a">},
                      %w: tensor<4xf32> {tg.param = #tg.param<"w", #tg.init<ones>, unit = "b">},
                      %sum: tensor<f32> {tg.state = #tg.state<"acc.loss", #tg.init<zeros>, kind = accumulator>})
    -> (tensor<f32> {tg.updates = "acc.loss"}) attributes {comm.program = #comm.program<@mesh>} {
  %a = arith.mulf %x, %v : tensor<4xf32>
  %b = arith.mulf %a, %w : tensor<4xf32>
  %l = tg.reduce sum %b dims [0] : tensor<4xf32> -> tensor<f32>
  %nl = arith.addf %sum, %l : tensor<f32>
  return %nl : tensor<f32>
}

// -----

// CHECK: error: comm-stages needs the program @accumulate, which runs the microbatches; run tg-accumulate first
comm.mesh @mesh [pp = 2]
func.func @train(%x: tensor<4xf32> {tg.input = "x"}) attributes {comm.program = #comm.program<@mesh>} {
  return
}

// -----

// CHECK: error: comm-stages needs programs that all ranks run; run comm-shard first
comm.mesh @mesh [pp = 2]
func.func @accumulate() attributes {comm.program = #comm.program<@mesh, pp = [0]>} {
  return
}

// -----

// Which mesh it is of two, nobody says.
// CHECK: error: comm-stages needs programs that all ranks run; run comm-shard first
comm.mesh @mesh [pp = 2]
comm.mesh @other [pp = 3]
func.func @accumulate() {
  return
}

// -----

// CHECK: error: has 1 unit that is not at both ends (a), but is cut into 2 stages, each of which needs one; reduce pp in --mesh times --chunks to at most 1, or use a model with more layers
comm.mesh @mesh [pp = 2]
func.func @accumulate(%x: tensor<4xf32> {tg.input = "x", tg.role = #tg.role<features>},
                      %v: tensor<4xf32> {tg.param = #tg.param<"v", #tg.init<ones>, unit = "a">},
                      %sum: tensor<f32> {tg.state = #tg.state<"acc.loss", #tg.init<zeros>, kind = accumulator>})
    -> (tensor<f32> {tg.updates = "acc.loss"}) attributes {comm.program = #comm.program<@mesh>} {
  %a = arith.mulf %x, %v : tensor<4xf32>
  %l = tg.reduce sum %a dims [0] : tensor<4xf32> -> tensor<f32>
  %nl = arith.addf %sum, %l : tensor<f32>
  return %nl : tensor<f32>
}

// -----

// At the end of a step a tensor would go from rank to rank: that is a mistake of the update, which says of
// one parameter what another one is.
// CHECK: error: reads a 'tensor<5000xf32>' that ranks 0 of the pipeline hold, but other ranks run it, too; only numbers of the whole step are sent between ranks at its end
comm.mesh @mesh [pp = 2]
func.func @accumulate(%x: tensor<5000xf32> {tg.input = "x", tg.role = #tg.role<features>},
                      %v: tensor<5000xf32> {tg.param = #tg.param<"v", #tg.init<ones>, unit = "a">},
                      %w: tensor<5000xf32> {tg.param = #tg.param<"w", #tg.init<ones>, unit = "b">},
                      %sum: tensor<f32> {tg.state = #tg.state<"acc.loss", #tg.init<zeros>, kind = accumulator>})
    -> (tensor<f32> {tg.updates = "acc.loss"}) attributes {comm.program = #comm.program<@mesh>} {
  %a = arith.mulf %x, %v : tensor<5000xf32>
  %b = arith.mulf %a, %w : tensor<5000xf32>
  %l = tg.reduce sum %b dims [0] : tensor<5000xf32> -> tensor<f32>
  %nl = arith.addf %sum, %l : tensor<f32>
  return %nl : tensor<f32>
}
func.func @train(%v: tensor<5000xf32> {tg.param = #tg.param<"v", #tg.init<ones>, unit = "a">},
                 %w: tensor<5000xf32> {tg.param = #tg.param<"w", #tg.init<ones>, unit = "b">},
                 %sum: tensor<f32> {tg.state = #tg.state<"acc.loss", #tg.init<zeros>, kind = accumulator>})
    -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<5000xf32> {tg.updates = "v"}) attributes {comm.program = #comm.program<@mesh>} {
  %new = arith.mulf %v, %w : tensor<5000xf32>
  return %sum, %new : tensor<f32>, tensor<5000xf32>
}
