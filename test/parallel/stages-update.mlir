// The end of a step: each rank updates what it holds, and sums over tensors of several ranks are
// added among them.
//
// RUN: braid-opt %s --tg-derive-facts --comm-stages="schedule=1f1b microbatches=2" | FileCheck %s
//
// A gradient that one of the ranks makes alone is sent to the other, which has no sum of its own.
// RUN: sed 's/arith.mulf %%d0, %%x/arith.mulf %%db, %%x/' %s | braid-opt - --tg-derive-facts --comm-stages="schedule=1f1b microbatches=2" | FileCheck %s --check-prefix=ONE
// ONE: func.func @train_pp0(
// ONE-NOT: "acc.e
// ONE: %[[DE:.*]] = comm.recv from 1 over @mesh {pp}
// ONE-NOT: comm.send
// ONE: arith.mulf %[[DE]], %[[DE]]
// ONE: func.func @train_pp1(
// ONE-SAME: %[[SE:arg3]]: tensor<4xf32> {tg.state = #tg.state<"acc.e", #tg.init<zeros>, of = "e", kind = accumulator>}
// ONE-NEXT: comm.send %[[SE]] to 0 over @mesh {pp}

comm.mesh @mesh [pp = 2]

// Both stages read %e: rank 0 looks it up, rank 1 multiplies with it, and each has a sum of its own.
func.func @accumulate(%x: tensor<4xf32> {tg.input = "x", tg.role = #tg.role<features>},
                      %e: tensor<4xf32> {tg.param = #tg.param<"e", #tg.init<ones>>},
                      %v: tensor<4xf32> {tg.param = #tg.param<"v", #tg.init<ones>, unit = "a">},
                      %w: tensor<4xf32> {tg.param = #tg.param<"w", #tg.init<ones>, unit = "b">},
                      %sum: tensor<f32> {tg.state = #tg.state<"acc.loss", #tg.init<zeros>, kind = accumulator>},
                      %se: tensor<4xf32> {tg.state = #tg.state<"acc.e", #tg.init<zeros>, of = "e", kind = accumulator>},
                      %sv: tensor<4xf32> {tg.state = #tg.state<"acc.v", #tg.init<zeros>, of = "v", kind = accumulator>},
                      %sw: tensor<4xf32> {tg.state = #tg.state<"acc.w", #tg.init<zeros>, of = "w", kind = accumulator>})
    -> (tensor<f32> {tg.updates = "acc.loss"}, tensor<4xf32> {tg.updates = "acc.e"}, tensor<4xf32> {tg.updates = "acc.v"}, tensor<4xf32> {tg.updates = "acc.w"})
    attributes {comm.program = #comm.program<@mesh>} {
  %0 = arith.mulf %x, %e : tensor<4xf32>
  %a = arith.mulf %0, %v : tensor<4xf32>
  %b = arith.mulf %a, %w : tensor<4xf32>
  %y = arith.mulf %b, %e : tensor<4xf32>
  %l = tg.reduce sum %y dims [0] : tensor<4xf32> -> tensor<f32>
  %nl = arith.addf %sum, %l : tensor<f32>
  %dy = arith.mulf %y, %b : tensor<4xf32>
  %db = arith.mulf %y, %e : tensor<4xf32>
  %dw = arith.mulf %db, %a : tensor<4xf32>
  %nw = arith.addf %sw, %dw : tensor<4xf32>
  %da = arith.mulf %db, %w : tensor<4xf32>
  %dv = arith.mulf %da, %0 : tensor<4xf32>
  %nv = arith.addf %sv, %dv : tensor<4xf32>
  %d0 = arith.mulf %da, %v : tensor<4xf32>
  %dx = arith.mulf %d0, %x : tensor<4xf32>
  %de = arith.addf %dy, %dx : tensor<4xf32>
  %ne = arith.addf %se, %de : tensor<4xf32>
  return %nl, %ne, %nv, %nw : tensor<f32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// %u is read by no microbatch, so rank 0 keeps it.
func.func @train(%e: tensor<4xf32> {tg.param = #tg.param<"e", #tg.init<ones>>},
                 %v: tensor<4xf32> {tg.param = #tg.param<"v", #tg.init<ones>, unit = "a">},
                 %w: tensor<4xf32> {tg.param = #tg.param<"w", #tg.init<ones>, unit = "b">},
                 %u: tensor<4xf32> {tg.param = #tg.param<"u", #tg.init<ones>>},
                 %sum: tensor<f32> {tg.state = #tg.state<"acc.loss", #tg.init<zeros>, kind = accumulator>},
                 %se: tensor<4xf32> {tg.state = #tg.state<"acc.e", #tg.init<zeros>, of = "e", kind = accumulator>},
                 %sv: tensor<4xf32> {tg.state = #tg.state<"acc.v", #tg.init<zeros>, of = "v", kind = accumulator>},
                 %sw: tensor<4xf32> {tg.state = #tg.state<"acc.w", #tg.init<zeros>, of = "w", kind = accumulator>},
                 %lr: tensor<f32> {tg.input = "lr", tg.role = #tg.role<lr>})
    -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<f32> {tg.role = #tg.role<grad_norm>},
        tensor<4xf32> {tg.updates = "e"}, tensor<4xf32> {tg.updates = "v"}, tensor<4xf32> {tg.updates = "w"}, tensor<4xf32> {tg.updates = "u"},
        tensor<f32> {tg.updates = "acc.loss"}, tensor<4xf32> {tg.updates = "acc.e"}, tensor<4xf32> {tg.updates = "acc.v"}, tensor<4xf32> {tg.updates = "acc.w"})
    attributes {comm.program = #comm.program<@mesh>} {
  %half = arith.constant dense<0.5> : tensor<f32>
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %none = arith.constant dense<0.0> : tensor<f32>
  %loss = arith.mulf %sum, %half : tensor<f32>
  %e2 = arith.mulf %se, %se : tensor<4xf32>
  %en = tg.reduce sum %e2 dims [0] : tensor<4xf32> -> tensor<f32>
  %v2 = arith.mulf %sv, %sv : tensor<4xf32>
  %vn = tg.reduce sum %v2 dims [0] : tensor<4xf32> -> tensor<f32>
  %w2 = arith.mulf %sw, %sw : tensor<4xf32>
  %wn = tg.reduce sum %w2 dims [0] : tensor<4xf32> -> tensor<f32>
  %n0 = arith.addf %en, %vn : tensor<f32>
  %n1 = arith.addf %n0, %wn : tensor<f32>
  %norm = math.sqrt %n1 : tensor<f32>
  %step = arith.mulf %lr, %norm : tensor<f32>
  %steps = tg.broadcast %step dims [] : tensor<f32> -> tensor<4xf32>
  %ed = arith.mulf %steps, %se : tensor<4xf32>
  %enew = arith.subf %e, %ed : tensor<4xf32>
  %vd = arith.mulf %steps, %sv : tensor<4xf32>
  %vnew = arith.subf %v, %vd : tensor<4xf32>
  %wd = arith.mulf %steps, %sw : tensor<4xf32>
  %wnew = arith.subf %w, %wd : tensor<4xf32>
  %unew = arith.subf %u, %steps : tensor<4xf32>
  return %loss, %norm, %enew, %vnew, %wnew, %unew, %none, %zero, %zero, %zero
    : tensor<f32>, tensor<f32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// In the cells, each stage adds to its own sum.
// CHECK-LABEL: func.func @backward_0(
// CHECK-SAME: tg.updates = "acc.e"}
// CHECK-LABEL: func.func @backward_1(
// CHECK-SAME: tg.updates = "acc.e.stage1"}

// Rank 0 adds the sum of the other rank to its own and sends back what comes out, so both have the same bits.
// CHECK-LABEL: func.func @train_pp0(
// CHECK-SAME: %[[E:arg0]]: tensor<4xf32> {tg.param = #tg.param<"e"
// CHECK-SAME: %[[V:arg1]]: tensor<4xf32> {tg.param = #tg.param<"v"
// CHECK-SAME: %[[U:arg2]]: tensor<4xf32> {tg.param = #tg.param<"u"
// CHECK-SAME: %[[SE:arg3]]: tensor<4xf32> {tg.state = #tg.state<"acc.e"
// CHECK-SAME: %[[SV:arg4]]: tensor<4xf32> {tg.state = #tg.state<"acc.v"
// CHECK-NOT: "acc.loss"
// CHECK-NOT: "w"
// CHECK-SAME: -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<f32> {tg.role = #tg.role<grad_norm>}, tensor<4xf32> {tg.updates = "e"}, tensor<4xf32> {tg.updates = "v"}, tensor<4xf32> {tg.updates = "u"}, tensor<4xf32> {tg.updates = "acc.e"}, tensor<4xf32> {tg.updates = "acc.v"})
// CHECK-SAME: comm.entry = "train", comm.program = #comm.program<@mesh, pp = [0]>
// CHECK-NEXT: %[[PART:.*]] = comm.recv from 1 over @mesh {pp}{{.*}} : () -> tensor<4xf32>
// CHECK-NEXT: %[[DE:.*]] = arith.addf %[[SE]], %[[PART]]
// CHECK-NEXT: comm.send %[[DE]] to 1 over @mesh {pp}
// A parameter of both ranks is in the norm once, on the first.
// CHECK: %[[E2:.*]] = arith.mulf %[[DE]], %[[DE]]
// CHECK-NEXT: %[[EN:.*]] = tg.reduce sum %[[E2]]
// CHECK: %[[VN:.*]] = tg.reduce sum
// CHECK: %[[OWN:.*]] = arith.addf %[[EN]], %[[VN]]
// CHECK-NEXT: %[[SQUARES:.*]] = comm.all_reduce sum %[[OWN]] over @mesh {pp}
// CHECK-NEXT: %[[NORM:.*]] = math.sqrt %[[SQUARES]]
// CHECK: arith.subf %[[E]],
// CHECK: arith.subf %[[V]],
// CHECK: arith.subf %[[U]],
// Every rank says the loss, which the last makes.
// CHECK-NEXT: %[[LOSS:.*]] = comm.broadcast root 1 over @mesh {pp}{{.*}} : () -> tensor<f32>
// CHECK-NEXT: return %[[LOSS]], %[[NORM]],

// CHECK-LABEL: func.func @train_pp1(
// CHECK-SAME: %[[E:arg0]]: tensor<4xf32> {tg.param = #tg.param<"e"
// CHECK-SAME: %[[W:arg1]]: tensor<4xf32> {tg.param = #tg.param<"w"
// CHECK-SAME: tg.state = #tg.state<"acc.loss"
// CHECK-SAME: %[[SE:arg3]]: tensor<4xf32> {tg.state = #tg.state<"acc.e.stage1", #tg.init<zeros>, of = "e", kind = accumulator>}
// CHECK-SAME: tensor<4xf32> {tg.updates = "acc.e.stage1"}
// CHECK: comm.send %[[SE]] to 0 over @mesh {pp}
// CHECK-NEXT: %[[DE:.*]] = comm.recv from 0 over @mesh {pp}
// CHECK: tg.reduce sum
// CHECK-NOT: tg.reduce
// CHECK: comm.all_reduce sum %{{.*}} over @mesh {pp}
// CHECK: arith.mulf %{{.*}}, %[[DE]]
// CHECK-NEXT: arith.subf %[[E]],
// CHECK: comm.broadcast %{{.*}} root 1 over @mesh {pp}{{.*}} : (tensor<f32>) -> ()
