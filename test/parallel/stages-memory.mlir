// Stages by what they hold: units take equally long, and some parameters have a state of megabytes.
//
// Three units in two stages: either way the slowest has two of them, so the fullest decides.
// RUN: braid-opt %s --split-input-file --tg-derive-facts --comm-stages="schedule=gpipe" | FileCheck %s --check-prefix=FULLEST
// FULLEST: stage_units = ["embed, h.0 to h.1", "h.2, head"]
// FULLEST: stage_units = ["embed, h.0", "h.1 to h.2, head"]
// FULLEST: stage_units = ["embed, h.0 to h.1", "h.2 to h.3, head"]
//
// A limit comes before time.
// RUN: braid-opt %s --split-input-file --tg-derive-facts --comm-stages="schedule=gpipe memory-limit=5MiB" 2> %t.remarks | FileCheck %s --check-prefix=LIMIT
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// REMARK: stages-memory.mlir:{{.*}}: remark: the slowest stage takes [[T:[0-9.]+]] ms per microbatch, or [[T]] without a limit
// REMARK: remark: the slowest stage takes [[T]] ms per microbatch, or [[T]] without a limit
// REMARK: remark: the slowest stage takes
// REMARK-NOT: [[T]] ms
// REMARK: ms per microbatch, or [[T]] without a limit
// LIMIT: stage_units = ["embed, h.0 to h.1", "h.2, head"]
// LIMIT: stage_units = ["embed, h.0", "h.1 to h.2, head"]
// LIMIT: stage_units = ["embed, h.0", "h.1 to h.3, head"]
//
// Where nothing fits the fullest stage is as empty as it can be; what it takes in the end, the plan of memory says.
// RUN: braid-opt %s --split-input-file --tg-derive-facts --comm-stages="schedule=gpipe memory-limit=1MiB" 2> %t.none | FileCheck %s --check-prefix=LIMIT
// RUN: FileCheck %s --check-prefix=NONE < %t.none
// NONE-COUNT-3: remark: in every cut some stage is predicted to hold at least 4.0{{[0-9]}} MiB, beyond its part of the memory limit, 1.00 MiB; the slowest stage takes
//
// RUN: not braid-opt %s --split-input-file --tg-derive-facts --comm-stages="schedule=gpipe memory-limit=much" 2>&1 | FileCheck %s --check-prefix=TEXT
// TEXT: error: {{.*}}much

comm.mesh @mesh [pp = 2]

func.func @accumulate(%x: tensor<8x64xf32> {tg.input = "x", tg.role = #tg.role<features>},
                      %u: tensor<64x64xf32> {tg.param = #tg.param<"u", #tg.init<ones>, unit = "h.0">},
                      %v: tensor<64x64xf32> {tg.param = #tg.param<"v", #tg.init<ones>, unit = "h.1">},
                      %w: tensor<64x64xf32> {tg.param = #tg.param<"w", #tg.init<ones>, unit = "h.2">},
                      %mv: tensor<256x1024xf32> {tg.state = #tg.state<"m.v", #tg.init<zeros>, of = "v", kind = moment>},
                      %mw: tensor<1024x1024xf32> {tg.state = #tg.state<"m.w", #tg.init<zeros>, of = "w", kind = moment>},
                      %sum: tensor<8x64xf32> {tg.state = #tg.state<"acc.loss", #tg.init<zeros>, kind = accumulator>})
    -> (tensor<8x64xf32> {tg.updates = "acc.loss"}) attributes {comm.program = #comm.program<@mesh>} {
  %d = arith.addf %x, %x : tensor<8x64xf32>
  %0 = tg.contract "bi,io->bo" %d, %u : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
  %1 = tg.contract "bi,io->bo" %0, %v : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
  %2 = tg.contract "bi,io->bo" %1, %w : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
  %nl = arith.addf %sum, %2 : tensor<8x64xf32>
  return %nl : tensor<8x64xf32>
}

// -----

comm.mesh @mesh [pp = 2]

func.func @accumulate(%x: tensor<8x64xf32> {tg.input = "x", tg.role = #tg.role<features>},
                      %u: tensor<64x64xf32> {tg.param = #tg.param<"u", #tg.init<ones>, unit = "h.0">},
                      %v: tensor<64x64xf32> {tg.param = #tg.param<"v", #tg.init<ones>, unit = "h.1">},
                      %w: tensor<64x64xf32> {tg.param = #tg.param<"w", #tg.init<ones>, unit = "h.2">},
                      %mu: tensor<1024x1024xf32> {tg.state = #tg.state<"m.u", #tg.init<zeros>, of = "u", kind = moment>},
                      %mv: tensor<256x1024xf32> {tg.state = #tg.state<"m.v", #tg.init<zeros>, of = "v", kind = moment>},
                      %sum: tensor<8x64xf32> {tg.state = #tg.state<"acc.loss", #tg.init<zeros>, kind = accumulator>})
    -> (tensor<8x64xf32> {tg.updates = "acc.loss"}) attributes {comm.program = #comm.program<@mesh>} {
  %d = arith.addf %x, %x : tensor<8x64xf32>
  %0 = tg.contract "bi,io->bo" %d, %u : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
  %1 = tg.contract "bi,io->bo" %0, %v : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
  %2 = tg.contract "bi,io->bo" %1, %w : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
  %nl = arith.addf %sum, %2 : tensor<8x64xf32>
  return %nl : tensor<8x64xf32>
}

// -----

comm.mesh @mesh [pp = 2]

func.func @accumulate(%x: tensor<8x64xf32> {tg.input = "x", tg.role = #tg.role<features>},
                      %u: tensor<64x64xf32> {tg.param = #tg.param<"u", #tg.init<ones>, unit = "h.0">},
                      %v: tensor<64x64xf32> {tg.param = #tg.param<"v", #tg.init<ones>, unit = "h.1">},
                      %w: tensor<64x64xf32> {tg.param = #tg.param<"w", #tg.init<ones>, unit = "h.2">},
                      %z: tensor<64x64xf32> {tg.param = #tg.param<"z", #tg.init<ones>, unit = "h.3">},
                      %mu: tensor<1024x1024xf32> {tg.state = #tg.state<"m.u", #tg.init<zeros>, of = "u", kind = moment>},
                      %mv: tensor<1024x1024xf32> {tg.state = #tg.state<"m.v", #tg.init<zeros>, of = "v", kind = moment>},
                      %sum: tensor<8x64xf32> {tg.state = #tg.state<"acc.loss", #tg.init<zeros>, kind = accumulator>})
    -> (tensor<8x64xf32> {tg.updates = "acc.loss"}) attributes {comm.program = #comm.program<@mesh>} {
  %d = arith.addf %x, %x : tensor<8x64xf32>
  %0 = tg.contract "bi,io->bo" %d, %u : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
  %1 = tg.contract "bi,io->bo" %0, %v : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
  %2 = tg.contract "bi,io->bo" %1, %w : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
  %3 = tg.contract "bi,io->bo" %2, %z : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
  %nl = arith.addf %sum, %3 : tensor<8x64xf32>
  return %nl : tensor<8x64xf32>
}
