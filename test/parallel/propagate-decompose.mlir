// An op that is sharded where only its decomposition can be is replaced by it.
//
// RUN: braid-opt %s --comm-propagate --verify-diagnostics | FileCheck %s
// RUN: braid-interp %s --compare --pipeline=comm-shard

comm.mesh @mesh [tp = 2]

// CHECK-LABEL: func.func @lanes
// CHECK-NOT: tg.softmax
// CHECK: tg.reduce max {{.*}} {comm.shardings = [#comm.sharding<@mesh, {}>]}
// CHECK: math.exp {{.*}} {comm.shardings = [#comm.sharding<@mesh, {} {tp}>]}
// CHECK: tg.reduce sum {{.*}} {comm.shardings = [#comm.sharding<@mesh, {}>]}
// CHECK: arith.divf {{.*}} {comm.shardings = [#comm.sharding<@mesh, {} {tp}>]}
func.func @lanes(%x: tensor<4x8xf32> {comm.sharding = #comm.sharding<@mesh, {} {tp}>}) -> tensor<4x8xf32> {
  // expected-remark @below {{tg.softmax is decomposed, because it is sharded over {tp}, which only its decomposition supports}}
  %y = tg.softmax %x : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// A chain of them takes one round.
// CHECK-LABEL: func.func @chain
// CHECK-NOT: tg.softmax
// CHECK: return
func.func @chain(%x: tensor<4x8xf32> {comm.sharding = #comm.sharding<@mesh, {} {tp}>}) -> tensor<4x8xf32> {
  // expected-remark @below {{tg.softmax is decomposed}}
  %y = tg.softmax %x : tensor<4x8xf32>
  // expected-remark @below {{tg.softmax is decomposed}}
  %z = tg.softmax %y : tensor<4x8xf32>
  return %z : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @rows
func.func @rows(%x: tensor<4x8xf32> {comm.sharding = #comm.sharding<@mesh, {tp} {}>}) -> tensor<4x8xf32> {
  // CHECK: tg.softmax {{.*}} {comm.shardings = [#comm.sharding<@mesh, {tp} {}>]}
  %y = tg.softmax %x : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
