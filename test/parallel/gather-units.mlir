// What is gathered together, and when.
//
// RUN: braid-opt %s --split-input-file --tg-derive-facts --comm-gather-units 2>/dev/null | FileCheck %s --implicit-check-not=comm.all_gather
// RUN: braid-opt %s --split-input-file --tg-derive-facts --comm-gather-units --verify-diagnostics -o /dev/null

comm.mesh @mesh [dp = 2, tp = 2]

// One collective for each element type and list of axes, in the order of arguments; a
// gather of what is gathered comes after it. A parameter without shards is no part.
// CHECK-LABEL: func.func @kinds
// CHECK: %[[F32:.+]]:2 = comm.all_gather %{{arg1|a}}, %{{arg4|d}} dims [flat, 0] over @mesh {dp} {comm.unit = "u"}
// CHECK: %[[I32:.+]] = comm.all_gather %{{arg2|b}} dims [flat] over @mesh {dp} {comm.unit = "u"}
// CHECK: %[[TP:.+]] = comm.all_gather %{{arg3|c}} dims [0] over @mesh {tp} {comm.unit = "u"}
// CHECK: %[[BOTH:.+]] = comm.all_gather %[[F32]]#1 dims [1] over @mesh {tp} {comm.unit = "u"}
// CHECK: arith.addf
func.func @kinds(%x: tensor<4x4xf32> {tg.input = "x"},
                 %a: tensor<8xf32> {comm.global = tensor<4x4xf32>, comm.sharding = #comm.sharding<@mesh, {} {}, flat {dp}>, tg.param = #tg.param<"a", #tg.init<ones>, unit = "u">},
                 %b: tensor<8xi32> {comm.global = tensor<4x4xi32>, comm.sharding = #comm.sharding<@mesh, {} {}, flat {dp}>, tg.param = #tg.param<"b", #tg.init<ones>, unit = "u">},
                 %c: tensor<2x4xf32> {comm.global = tensor<4x4xf32>, comm.sharding = #comm.sharding<@mesh, {tp} {}>, tg.param = #tg.param<"c", #tg.init<ones>, unit = "u">},
                 %d: tensor<2x2xf32> {comm.global = tensor<4x4xf32>, comm.sharding = #comm.sharding<@mesh, {dp} {tp}>, tg.param = #tg.param<"d", #tg.init<ones>, unit = "u">},
                 %e: tensor<4x4xf32> {tg.param = #tg.param<"e", #tg.init<ones>, unit = "u">})
    -> (tensor<4x4xf32> {tg.role = #tg.role<logits>}, tensor<4x4xi32>)
    attributes {comm.program = #comm.program<@mesh>} {
  %s0 = arith.addf %x, %e : tensor<4x4xf32>
  %wa = comm.all_gather %a dims [flat] over @mesh {dp} : (tensor<8xf32>) -> tensor<4x4xf32>
  %s1 = arith.addf %s0, %wa : tensor<4x4xf32>
  %wb = comm.all_gather %b dims [flat] over @mesh {dp} : (tensor<8xi32>) -> tensor<4x4xi32>
  %wc = comm.all_gather %c dims [0] over @mesh {tp} : (tensor<2x4xf32>) -> tensor<4x4xf32>
  %s2 = arith.addf %s1, %wc : tensor<4x4xf32>
  %half = comm.all_gather %d dims [0] over @mesh {dp} : (tensor<2x2xf32>) -> tensor<4x2xf32>
  %wd = comm.all_gather %half dims [1] over @mesh {tp} : (tensor<4x2xf32>) -> tensor<4x4xf32>
  %s3 = arith.addf %s2, %wd : tensor<4x4xf32>
  return %s3, %wb : tensor<4x4xf32>, tensor<4x4xi32>
}

// -----

comm.mesh @mesh [dp = 2]

// What is made of parameters alone goes with their gather. Backward gathers what it
// needs; the unit that is used last is kept.
// CHECK-LABEL: func.func @train
// CHECK: %[[CAST:.+]] = tg.convert %{{arg1|a}}
// CHECK: %[[A:.+]]:2 = comm.all_gather %[[CAST]], %{{arg2|b}} dims [flat, flat] over @mesh {dp} {comm.unit = "1"}
// CHECK: %[[T:.+]] = tg.transpose %[[A]]#0
// CHECK: tg.contract "bi,oi->bo" %{{.*}}, %[[T]]
// CHECK: comm.all_gather %{{arg3|c}} dims [flat] over @mesh {dp} {comm.unit = "2"}
// CHECK: tg.contract "bo,oi->bi"
// CHECK: %[[AGAIN:.+]] = comm.all_gather %[[CAST]] dims [flat] over @mesh {dp} {comm.unit = "1"}
// CHECK: %[[T_AGAIN:.+]] = tg.transpose %[[AGAIN]]
// CHECK: tg.contract "bo,oi->bi" %{{.*}}, %[[T_AGAIN]]
// expected-remark @+2 {{@train: unit "1" is gathered for forward (80 bytes) and again for backward (64 bytes); keeping it would hold its bytes in between and send 32 bytes less}}
// expected-remark @+1 {{@train: unit "2" is gathered once (64 bytes, 32 sent) and kept from forward to backward}}
func.func @train(%x: tensor<2x4xf32> {tg.input = "x"},
                 %a: tensor<8xbf16> {comm.global = tensor<4x4xbf16>, comm.sharding = #comm.sharding<@mesh, {} {}, flat {dp}>, tg.param = #tg.param<"a", #tg.init<ones>, unit = "1">},
                 %b: tensor<2xf32> {comm.global = tensor<4xf32>, comm.sharding = #comm.sharding<@mesh, {}, flat {dp}>, tg.param = #tg.param<"b", #tg.init<ones>, unit = "1">},
                 %c: tensor<8xf32> {comm.global = tensor<4x4xf32>, comm.sharding = #comm.sharding<@mesh, {} {}, flat {dp}>, tg.param = #tg.param<"c", #tg.init<ones>, unit = "2">})
    -> (tensor<2x4xf32> {tg.role = #tg.role<logits>}, tensor<2x4xf32> {tg.grad_of = "x"})
    attributes {comm.program = #comm.program<@mesh>} {
  %cast = tg.convert %a : tensor<8xbf16> -> tensor<8xf32>
  %wa = comm.all_gather %cast dims [flat] over @mesh {dp} : (tensor<8xf32>) -> tensor<4x4xf32>
  %ta = tg.transpose %wa [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
  %h = tg.contract "bi,oi->bo" %x, %ta : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %wb = comm.all_gather %b dims [flat] over @mesh {dp} : (tensor<2xf32>) -> tensor<4xf32>
  %rows = tg.broadcast %wb dims [1] : tensor<4xf32> -> tensor<2x4xf32>
  %s = arith.addf %h, %rows : tensor<2x4xf32>
  %wc = comm.all_gather %c dims [flat] over @mesh {dp} : (tensor<8xf32>) -> tensor<4x4xf32>
  %y = tg.contract "bi,oi->bo" %s, %wc : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %ds = tg.contract "bo,oi->bi" %y, %wc : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %dx = tg.contract "bo,oi->bi" %ds, %ta : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  return %y, %dx : tensor<2x4xf32>, tensor<2x4xf32>
}

// -----

comm.mesh @mesh [dp = 2]

// A unit that only forward or only backward uses is gathered once; one that the next
// unit uses too (tied) lives until then.
// CHECK-LABEL: func.func @once
// CHECK: comm.all_gather %{{arg1|a}} dims [flat] over @mesh {dp} {comm.unit = "1"}
// CHECK: comm.all_gather %{{arg2|b}} dims [flat] over @mesh {dp} {comm.unit = "2"}
// CHECK: tg.contract "bo,oi->bi"
// CHECK: comm.all_gather %{{arg3|c}} dims [flat] over @mesh {dp} {comm.unit = "3"}
// CHECK: arith.mulf
// expected-remark @+3 {{@once: unit "1" is gathered once (64 bytes, 32 sent) and kept from forward to backward}}
// expected-remark @+2 {{@once: unit "2" is gathered once (32 bytes, 16 sent)}}
// expected-remark @+1 {{@once: unit "3" is gathered once (32 bytes, 16 sent)}}
func.func @once(%x: tensor<2x4xf32> {tg.input = "x"},
                %a: tensor<8xf32> {comm.global = tensor<4x4xf32>, comm.sharding = #comm.sharding<@mesh, {} {}, flat {dp}>, tg.param = #tg.param<"a", #tg.init<ones>, unit = "1">},
                %b: tensor<4xf32> {comm.global = tensor<2x4xf32>, comm.sharding = #comm.sharding<@mesh, {} {}, flat {dp}>, tg.param = #tg.param<"b", #tg.init<ones>, unit = "2">},
                %c: tensor<4xf32> {comm.global = tensor<2x4xf32>, comm.sharding = #comm.sharding<@mesh, {} {}, flat {dp}>, tg.param = #tg.param<"c", #tg.init<ones>, unit = "3">})
    -> (tensor<2x4xf32> {tg.role = #tg.role<logits>}, tensor<2x4xf32> {tg.grad_of = "x"})
    attributes {comm.program = #comm.program<@mesh>} {
  %wa = comm.all_gather %a dims [flat] over @mesh {dp} : (tensor<8xf32>) -> tensor<4x4xf32>
  %wb = comm.all_gather %b dims [flat] over @mesh {dp} : (tensor<4xf32>) -> tensor<2x4xf32>
  %wc = comm.all_gather %c dims [flat] over @mesh {dp} : (tensor<4xf32>) -> tensor<2x4xf32>
  %h = tg.contract "bi,oi->bo" %x, %wa : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %s = arith.addf %h, %wb : tensor<2x4xf32>
  %y = tg.contract "bi,oi->bo" %s, %wa : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %d = tg.contract "bo,oi->bi" %y, %wa : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %dx = arith.mulf %d, %wc : tensor<2x4xf32>
  return %y, %dx : tensor<2x4xf32>, tensor<2x4xf32>
}

// -----

comm.mesh @mesh [dp = 2]

// Optimizer state and new parameters belong to no unit: their gathers stay.
// CHECK-LABEL: func.func @others
// CHECK: comm.all_gather %{{arg0|m}} dims [flat] over @mesh {dp} : (tensor<8xf32>)
// CHECK: arith.addf
// CHECK: comm.all_gather %{{.*}} dims [flat] over @mesh {dp} : (tensor<8xf32>)
func.func @others(%m: tensor<8xf32> {comm.global = tensor<4x4xf32>, comm.sharding = #comm.sharding<@mesh, {} {}, flat {dp}>, tg.state = #tg.state<"m", #tg.init<zeros>, of = "w", kind = moment>},
                  %w: tensor<8xf32> {comm.global = tensor<4x4xf32>, comm.sharding = #comm.sharding<@mesh, {} {}, flat {dp}>, tg.param = #tg.param<"w", #tg.init<ones>>})
    -> (tensor<4x4xf32>, tensor<4x4xf32>) attributes {comm.program = #comm.program<@mesh>} {
  %wm = comm.all_gather %m dims [flat] over @mesh {dp} : (tensor<8xf32>) -> tensor<4x4xf32>
  %new = arith.addf %w, %m : tensor<8xf32>
  %whole = comm.all_gather %new dims [flat] over @mesh {dp} : (tensor<8xf32>) -> tensor<4x4xf32>
  return %wm, %whole : tensor<4x4xf32>, tensor<4x4xf32>
}
