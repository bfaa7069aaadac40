// RUN: braid-opt %s --tg-derive-facts --comm-name-tensors | FileCheck %s

comm.mesh @mesh [replica = 2, shard = 2]

// Hybrid sharding: what is gathered is stored, what is reduced, twice, becomes new
// values; gradients of microbatches are those of their parameters.  Names of ops say
// nothing of it.
// CHECK-LABEL: @train
// CHECK: comm.all_gather {{.*}} {comm.tensors = ["a", "b"]}
// CHECK: comm.reduce_scatter {{.*}} over @mesh {shard} {comm.tensors = ["b", "a"]}
// CHECK: comm.all_reduce {{.*}} over @mesh {replica} {comm.tensors = ["b", "a"]}
#flat = #comm.sharding<@mesh, {}, flat {shard}>
func.func @train(%a: tensor<4xf32> {tg.param = #tg.param<"a", #tg.init<ones>>, comm.global = tensor<8xf32>, comm.sharding = #flat},
                 %b: tensor<4xf32> {tg.param = #tg.param<"b", #tg.init<ones>>, comm.global = tensor<8xf32>, comm.sharding = #flat},
                 %acc: tensor<4xf32> {tg.state = #tg.state<"acc.b", #tg.init<zeros>, of = "b", kind = accumulator>, comm.global = tensor<8xf32>, comm.sharding = #flat},
                 %x: tensor<8xf32> {tg.input = "x"})
    -> (tensor<4xf32> {tg.updates = "a"}, tensor<4xf32> {tg.updates = "acc.b"})
    attributes {comm.program = #comm.program<@mesh>} {
  %half = tg.convert %a : tensor<4xf32> -> tensor<4xbf16>
  %other = tg.convert %b : tensor<4xf32> -> tensor<4xbf16>
  %w:2 = comm.all_gather %half, %other dims [flat, flat] over @mesh {shard}
    : (tensor<4xbf16>, tensor<4xbf16>) -> (tensor<8xbf16>, tensor<8xbf16>)
  %u = tg.convert %w#0 : tensor<8xbf16> -> tensor<8xf32>
  %v = tg.convert %w#1 : tensor<8xbf16> -> tensor<8xf32>
  %db = arith.mulf %u, %x : tensor<8xf32> loc("a")
  %da = arith.mulf %v, %x : tensor<8xf32> loc("b")
  %part:2 = comm.reduce_scatter sum %db, %da dims [flat, flat] over @mesh {shard}
    : (tensor<8xf32>, tensor<8xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %g:2 = comm.all_reduce sum %part#0, %part#1 over @mesh {replica}
    : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %sum = arith.addf %acc, %g#0 : tensor<4xf32>
  %new = arith.subf %a, %g#1 : tensor<4xf32>
  return %new, %sum : tensor<4xf32>, tensor<4xf32>
}

// A gradient of some of a parameter's rows; what is gathered once it is updated.
// CHECK-LABEL: @rows
// CHECK: comm.all_reduce {{.*}} {comm.tensors = ["w"]}
// CHECK: comm.all_gather {{.*}} {comm.tensors = ["w"]}
func.func @rows(%w: tensor<4x2xf32> {tg.param = #tg.param<"w", #tg.init<ones>>}, %x: tensor<2x2xf32> {tg.input = "x"})
    -> (tensor<4x2xf32> {tg.updates = "w"}) attributes {comm.program = #comm.program<@mesh>} {
  %rows = tg.slice %w dim 0 offset 0 size 2 : tensor<4x2xf32> -> tensor<2x2xf32>
  %d = arith.mulf %rows, %x : tensor<2x2xf32>
  %g = comm.all_reduce sum %d over @mesh {replica, shard} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %whole = tg.pad %g dim 0 low 0 high 2 value 0.0 : tensor<2x2xf32> -> tensor<4x2xf32>
  %mine = comm.slice %whole dim flat over @mesh {shard} : tensor<4x2xf32> -> tensor<4xf32>
  %old = comm.slice %w dim flat over @mesh {shard} : tensor<4x2xf32> -> tensor<4xf32>
  %new = arith.subf %old, %mine : tensor<4xf32>
  %all = comm.all_gather %new dims [flat] over @mesh {shard} : (tensor<4xf32>) -> tensor<4x2xf32>
  return %all : tensor<4x2xf32>
}

// Numbers are what they become.  What no parameter has a part in divides the loss.
// CHECK-LABEL: @numbers
// CHECK: comm.all_reduce sum %{{.*}} {comm.tensors = ["stop", "token count"]}
// CHECK: comm.all_reduce sum %{{.*}} {comm.tensors = ["loss"]}
// CHECK: comm.all_reduce sum %{{.*}} {comm.tensors = ["grad_norm"]}
func.func @numbers(%w: tensor<4xf32> {tg.param = #tg.param<"w", #tg.init<ones>>},
                   %t: tensor<4xi32> {tg.input = "tokens", tg.role = #tg.role<tokens>}, %stop: tensor<f32> {tg.input = "stop"})
    -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<f32> {tg.role = #tg.role<grad_norm>}, tensor<f32> {tg.role = #tg.role<stop>})
    attributes {comm.program = #comm.program<@mesh>} {
  %f = tg.convert %t : tensor<4xi32> -> tensor<4xf32>
  %count = tg.reduce sum %f dims [0] : tensor<4xf32> -> tensor<f32>
  %all:2 = comm.all_reduce sum %stop, %count over @mesh {replica, shard} : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  %y = arith.mulf %f, %w : tensor<4xf32>
  %part = tg.reduce sum %y dims [0] : tensor<4xf32> -> tensor<f32>
  %sum = comm.all_reduce sum %part over @mesh {replica, shard} : (tensor<f32>) -> tensor<f32>
  %loss = arith.divf %sum, %all#1 : tensor<f32>
  %square = tg.reduce sum %w dims [0] : tensor<4xf32> -> tensor<f32>
  %squares = comm.all_reduce sum %square over @mesh {shard} : (tensor<f32>) -> tensor<f32>
  %norm = math.sqrt %squares : tensor<f32>
  return %loss, %norm, %all#0 : tensor<f32>, tensor<f32>, tensor<f32>
}

// Activations belong to no parameter, though they are made of some and lead to the
// gradient of one.
// CHECK-LABEL: @activations
// CHECK-NOT: comm.tensors
func.func @activations(%w: tensor<2xf32> {tg.param = #tg.param<"w", #tg.init<ones>>}, %x: tensor<4x2xf32> {tg.input = "x"})
    -> (tensor<4x2xf32> {tg.output = "y"}, tensor<2xf32> {tg.updates = "w"}) attributes {comm.program = #comm.program<@mesh>} {
  %b = tg.broadcast %w dims [1] : tensor<2xf32> -> tensor<4x2xf32>
  %p = arith.mulf %b, %x : tensor<4x2xf32>
  %y = comm.all_reduce sum %p over @mesh {shard} : (tensor<4x2xf32>) -> tensor<4x2xf32>
  %g = tg.reduce sum %y dims [0] : tensor<4x2xf32> -> tensor<2xf32>
  return %y, %g : tensor<4x2xf32>, tensor<2xf32>
}

// Not a program of ranks.
// CHECK-LABEL: @model
func.func @model(%w: tensor<2xf32> {tg.param = #tg.param<"w", #tg.init<ones>>}) -> (tensor<2xf32> {tg.output = "y"}) {
  return %w : tensor<2xf32>
}
