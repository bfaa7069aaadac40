// RUN: braid-opt %s --tg-derive-facts --comm-bucket="bucket-mb=inf first-bucket-mb=inf" --verify-diagnostics | FileCheck %s

// Reductions of gradients, gathers of new parameters, numbers: each becomes one.

// CHECK: comm.mesh
comm.mesh @mesh [replica = 2, shard = 2]

// The gradient of %c is a sum over all ranks at once, of another group; that of %d
// has another element type.
// CHECK-LABEL: func.func @gradients
// CHECK:         %[[GB:.*]] = math.sin %{{.*}} : tensor<6xf32>
// CHECK-NEXT:    %[[GC:.*]] = math.sin
// CHECK-NEXT:    %[[RC:.*]] = comm.all_reduce sum %[[GC]] over @mesh {replica, shard}
// CHECK-NEXT:    %[[GA:.*]] = math.sin
// CHECK-NEXT:    %[[B:.*]]:2 = comm.all_reduce sum %[[GB]], %[[GA]] over @mesh {replica} : (tensor<6xf32>, tensor<2x3xf32>) -> (tensor<6xf32>, tensor<2x3xf32>)
// CHECK-NEXT:    comm.all_reduce sum %{{.*}} over @mesh {replica} : (tensor<4xbf16>) -> tensor<4xbf16>
func.func @gradients(%a: tensor<2x3xf32> {tg.param = #tg.param<"a", #tg.init<ones>>},
                     %b: tensor<6xf32> {tg.param = #tg.param<"b", #tg.init<ones>>},
                     %c: tensor<4xf32> {tg.param = #tg.param<"c", #tg.init<ones>>},
                     %d: tensor<4xbf16> {tg.param = #tg.param<"d", #tg.init<ones>>})
    -> (tensor<2x3xf32> {tg.updates = "a"}, tensor<6xf32> {tg.updates = "b"}, tensor<4xf32> {tg.updates = "c"},
        tensor<4xbf16> {tg.updates = "d"}) attributes {comm.program = #comm.program<@mesh>} {
  %gb = math.sin %b : tensor<6xf32>
  // expected-remark @below {{comm.all_reduce over {replica}: bucket of 2 tensors, 48 bytes, from 'b' to 'a'}}
  %rb = comm.all_reduce sum %gb over @mesh {replica} : (tensor<6xf32>) -> tensor<6xf32>
  %gc = math.sin %c : tensor<4xf32>
  %rc = comm.all_reduce sum %gc over @mesh {replica, shard} : (tensor<4xf32>) -> tensor<4xf32>
  %ga = math.sin %a : tensor<2x3xf32>
  %ra = comm.all_reduce sum %ga over @mesh {replica} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %rd = comm.all_reduce sum %d over @mesh {replica} : (tensor<4xbf16>) -> tensor<4xbf16>
  %na = arith.subf %a, %ra : tensor<2x3xf32>
  %nb = arith.subf %b, %rb : tensor<6xf32>
  %nc = arith.subf %c, %rc : tensor<4xf32>
  %nd = arith.subf %d, %rd : tensor<4xbf16>
  return %na, %nb, %nc, %nd : tensor<2x3xf32>, tensor<6xf32>, tensor<4xf32>, tensor<4xbf16>
}

// Into shards within a node, then across replicas in the same company; the new
// parameters are gathered together.
// CHECK-LABEL: func.func @hybrid
// CHECK:         %[[R:.*]]:2 = comm.reduce_scatter sum %{{.*}}, %{{.*}} dims [flat, 0] over @mesh {shard} : (tensor<2x3xf32>, tensor<4x2xf32>) -> (tensor<3xf32>, tensor<2x2xf32>)
// CHECK-NEXT:    %[[S:.*]]:2 = comm.all_reduce sum %[[R]]#0, %[[R]]#1 over @mesh {replica}
// CHECK:         comm.all_gather %{{.*}}, %{{.*}} dims [flat, 0] over @mesh {shard} : (tensor<3xf32>, tensor<2x2xf32>) -> (tensor<2x3xf32>, tensor<4x2xf32>)
func.func @hybrid(%a: tensor<4x2xf32> {tg.param = #tg.param<"a", #tg.init<ones>>},
                  %b: tensor<2x3xf32> {tg.param = #tg.param<"b", #tg.init<ones>>})
    -> (tensor<4x2xf32> {tg.updates = "a"}, tensor<2x3xf32> {tg.updates = "b"})
    attributes {comm.program = #comm.program<@mesh>} {
  // expected-remark @below {{comm.reduce_scatter over {shard}: bucket of 2 tensors, 56 bytes, from 'b' to 'a'}}
  %rb = comm.reduce_scatter sum %b dims [flat] over @mesh {shard} : (tensor<2x3xf32>) -> tensor<3xf32>
  // expected-remark @below {{comm.all_reduce over {replica}: bucket of 2 tensors, 28 bytes, the results of one bucket, from 'b' to 'a'}}
  %sb = comm.all_reduce sum %rb over @mesh {replica} : (tensor<3xf32>) -> tensor<3xf32>
  %ra = comm.reduce_scatter sum %a dims [0] over @mesh {shard} : (tensor<4x2xf32>) -> tensor<2x2xf32>
  %sa = comm.all_reduce sum %ra over @mesh {replica} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %pa = comm.slice %a dim 0 over @mesh {shard} : tensor<4x2xf32> -> tensor<2x2xf32>
  %na = arith.subf %pa, %sa : tensor<2x2xf32>
  %wa = comm.all_gather %na dims [0] over @mesh {shard} : (tensor<2x2xf32>) -> tensor<4x2xf32>
  %pb = comm.slice %b dim flat over @mesh {shard} : tensor<2x3xf32> -> tensor<3xf32>
  %nb = arith.subf %pb, %sb : tensor<3xf32>
  // expected-remark @below {{comm.all_gather over {shard}: bucket of 2 tensors, 56 bytes, from 'b' to 'a'}}
  %wb = comm.all_gather %nb dims [flat] over @mesh {shard} : (tensor<3xf32>) -> tensor<2x3xf32>
  return %wa, %wb : tensor<4x2xf32>, tensor<2x3xf32>
}

// The loss waits for nothing, but the norm is read before it is made; whether to stop
// is for the end.  A maximum is not a sum.
// CHECK-LABEL: func.func @numbers
// CHECK-SAME:      (%[[NORM:.*]]: tensor<f32> {tg.input = "n"}, %[[STOP:.*]]: tensor<f32> {tg.input = "s"}, %[[X:[^ ]*]]:
// CHECK-NEXT:    %[[T:.*]]:2 = comm.all_reduce sum %[[NORM]], %[[STOP]] over @mesh {replica, shard} : (tensor<f32>, tensor<f32>)
// CHECK-NEXT:    %[[M:.*]] = comm.all_reduce max %[[X]]
// CHECK-NEXT:    %[[L:.*]] = arith.mulf %[[T]]#0, %[[M]]
// CHECK-NEXT:    %[[LOSS:.*]] = comm.all_reduce sum %[[L]]
// CHECK-NEXT:    return %[[LOSS]], %[[T]]#1
func.func @numbers(%norm: tensor<f32> {tg.input = "n"}, %stop: tensor<f32> {tg.input = "s"},
                   %x: tensor<f32> {tg.input = "x"})
    -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<f32> {tg.role = #tg.role<stop>}) attributes {comm.program = #comm.program<@mesh>} {
  // expected-remark @below {{comm.all_reduce over {replica, shard}: bucket of 2 tensors, 8 bytes}}
  %n = comm.all_reduce sum %norm over @mesh {replica, shard} : (tensor<f32>) -> tensor<f32>
  %m = comm.all_reduce max %x over @mesh {replica, shard} : (tensor<f32>) -> tensor<f32>
  %l = arith.mulf %n, %m : tensor<f32>
  %loss = comm.all_reduce sum %l over @mesh {replica, shard} : (tensor<f32>) -> tensor<f32>
  %s = comm.all_reduce sum %stop over @mesh {replica, shard} : (tensor<f32>) -> tensor<f32>
  return %loss, %s : tensor<f32>, tensor<f32>
}

// Sums of gradients over microbatches, which follow their parameters; buckets may be
// there already.
// CHECK-LABEL: func.func @accumulate
// CHECK:         comm.reduce_scatter sum %{{.*}}, %{{.*}}, %{{.*}} dims [0, 0, 0] over @mesh {shard}
func.func @accumulate(%p: tensor<4xf32> {tg.param = #tg.param<"p", #tg.init<ones>>},
                      %q: tensor<6xf32> {tg.param = #tg.param<"q", #tg.init<ones>>},
                      %r: tensor<8xf32> {tg.param = #tg.param<"r", #tg.init<ones>>},
                      %ap: tensor<2xf32> {tg.state = #tg.state<"acc.p", #tg.init<zeros>, of = "p", kind = accumulator>,
                                          comm.sharding = #comm.sharding<@mesh, {}, flat {shard}>, comm.global = tensor<4xf32>},
                      %aq: tensor<3xf32> {tg.state = #tg.state<"acc.q", #tg.init<zeros>, of = "q", kind = accumulator>,
                                          comm.sharding = #comm.sharding<@mesh, {}, flat {shard}>, comm.global = tensor<6xf32>},
                      %ar: tensor<4xf32> {tg.state = #tg.state<"acc.r", #tg.init<zeros>, of = "r", kind = accumulator>,
                                          comm.sharding = #comm.sharding<@mesh, {}, flat {shard}>, comm.global = tensor<8xf32>})
    -> (tensor<2xf32> {tg.updates = "acc.p", comm.sharding = #comm.sharding<@mesh, {}, flat {shard}>, comm.global = tensor<4xf32>},
        tensor<3xf32> {tg.updates = "acc.q", comm.sharding = #comm.sharding<@mesh, {}, flat {shard}>, comm.global = tensor<6xf32>},
        tensor<4xf32> {tg.updates = "acc.r", comm.sharding = #comm.sharding<@mesh, {}, flat {shard}>, comm.global = tensor<8xf32>})
    attributes {comm.program = #comm.program<@mesh>} {
  // expected-remark @below {{bucket of 3 tensors, 72 bytes, from 'r' to 'p'}}
  %gr = comm.reduce_scatter sum %r dims [0] over @mesh {shard} : (tensor<8xf32>) -> tensor<4xf32>
  %gq, %gp = comm.reduce_scatter sum %q, %p dims [0, 0] over @mesh {shard} : (tensor<6xf32>, tensor<4xf32>) -> (tensor<3xf32>, tensor<2xf32>)
  %sp = arith.addf %ap, %gp : tensor<2xf32>
  %sq = arith.addf %aq, %gq : tensor<3xf32>
  %sr = arith.addf %ar, %gr : tensor<4xf32>
  return %sp, %sq, %sr : tensor<2xf32>, tensor<3xf32>, tensor<4xf32>
}
