// Attention, forward and backward, with its sequence shared out: as a ring and with keys and values gathered
// it is that of one rank.
//
// DEFINE: %{ring} = comm-shard,canonicalize,cse,func.func(comm-form-rings)
// RUN: braid-opt %s --pass-pipeline="builtin.module(comm-shard,canonicalize,cse)" | FileCheck %s --check-prefix=GATHER
// RUN: braid-opt %s --pass-pipeline="builtin.module(%{ring},comm-verify-order)" | FileCheck %s
// RUN: braid-interp %s --compare --pipeline=comm-shard --rtol=1e-5
// RUN: braid-interp %s --compare --pipeline="%{ring}" --rtol=1e-5
// In primitives, too.
// RUN: braid-interp %s --compare --pipeline="%{ring},func.func(tg-decompose)" --rtol=1e-5
//
// Twice, because backward lets them go round again.
// GATHER-LABEL: func @causal
// GATHER-COUNT-2: comm.all_gather {{.*}} dims [1] over @mesh {cp} : (tensor<1x4x2x4xf32>) -> tensor<1x16x2x4xf32>
// GATHER-NOT: comm.all_gather
// GATHER-COUNT-2: comm.reduce_scatter sum {{.*}} dims [1] over @mesh {cp} : (tensor<1x16x2x4xf32>) -> tensor<1x4x2x4xf32>
//
// CHECK-LABEL: func @causal
// CHECK-NOT: comm.all_gather
// CHECK-NOT: comm.reduce_scatter
// CHECK: %[[RANK:.*]] = comm.axis_index over @mesh {cp}
// CHECK: %[[NEXT:.*]]:2 = comm.permute %{{.*}}, %{{.*}} pairs [0 -> 1, 1 -> 2, 2 -> 3, 3 -> 0] over @mesh {cp} {comm.held_start}
// CHECK: tg.attention %{{.*}}, %{{.*}}, %{{.*}} at %[[FIRST:.*]], %{{.*}} scale 5.000000e-01 causal
// CHECK: comm.permute %[[NEXT]]#0, %[[NEXT]]#1
// CHECK: tg.attention %{{.*}}, %[[NEXT]]#0, %[[NEXT]]#1 at %[[FIRST]], %{{.*}} scale
// CHECK-COUNT-2: tg.attention %
// CHECK-NOT: tg.attention %
// CHECK-COUNT-4: tg.attention_grad
// CHECK-NOT: tg.attention_grad
// CHECK: comm.permute
// CHECK: return
module attributes {comm.ring = #comm<axes{cp}>} {
  comm.mesh @mesh [dp = 2, cp = 4]

  func.func @causal(%q: tensor<2x16x4x4xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {cp} {} {}>}, %k: tensor<2x16x2x4xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {cp} {} {}>},
                    %v: tensor<2x16x2x4xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {cp} {} {}>}, %do: tensor<2x16x4x4xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {cp} {} {}>})
      -> (tensor<2x16x4x4xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {cp} {} {}>}, tensor<2x16x4x4xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {cp} {} {}>}, tensor<2x16x2x4xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {cp} {} {}>}, tensor<2x16x2x4xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {cp} {} {}>}) {
    %o, %lse = tg.attention %q, %k, %v scale 0.5 causal
        : (tensor<2x16x4x4xf32>, tensor<2x16x2x4xf32>, tensor<2x16x2x4xf32>) -> (tensor<2x16x4x4xf32>, tensor<2x4x16xf32>)
    %dq, %dk, %dv = tg.attention_grad %q, %k, %v, %o, %lse, %do scale 0.5 causal
        : (tensor<2x16x4x4xf32>, tensor<2x16x2x4xf32>, tensor<2x16x2x4xf32>, tensor<2x16x4x4xf32>, tensor<2x4x16xf32>, tensor<2x16x4x4xf32>)
        -> (tensor<2x16x4x4xf32>, tensor<2x16x2x4xf32>, tensor<2x16x2x4xf32>)
    return %o, %dq, %dk, %dv : tensor<2x16x4x4xf32>, tensor<2x16x4x4xf32>, tensor<2x16x2x4xf32>, tensor<2x16x2x4xf32>
  }

  func.func @window(%q: tensor<2x16x4x4xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {cp} {} {}>}, %k: tensor<2x16x2x4xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {cp} {} {}>},
                    %v: tensor<2x16x2x4xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {cp} {} {}>}, %do: tensor<2x16x4x4xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {cp} {} {}>})
      -> (tensor<2x16x4x4xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {cp} {} {}>}, tensor<2x16x4x4xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {cp} {} {}>}, tensor<2x16x2x4xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {cp} {} {}>}, tensor<2x16x2x4xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {cp} {} {}>}) {
    %o, %lse = tg.attention %q, %k, %v scale 0.5 causal window 5 softcap 2.0
        : (tensor<2x16x4x4xf32>, tensor<2x16x2x4xf32>, tensor<2x16x2x4xf32>) -> (tensor<2x16x4x4xf32>, tensor<2x4x16xf32>)
    %dq, %dk, %dv = tg.attention_grad %q, %k, %v, %o, %lse, %do scale 0.5 causal window 5 softcap 2.0
        : (tensor<2x16x4x4xf32>, tensor<2x16x2x4xf32>, tensor<2x16x2x4xf32>, tensor<2x16x4x4xf32>, tensor<2x4x16xf32>, tensor<2x16x4x4xf32>)
        -> (tensor<2x16x4x4xf32>, tensor<2x16x2x4xf32>, tensor<2x16x2x4xf32>)
    return %o, %dq, %dk, %dv : tensor<2x16x4x4xf32>, tensor<2x16x4x4xf32>, tensor<2x16x2x4xf32>, tensor<2x16x2x4xf32>
  }

  // No positions count, so none are told.
  // CHECK-LABEL: func @bidirectional
  // CHECK-NOT: comm.axis_index
  // CHECK-NOT: tg.attention {{.*}} at
  // CHECK: return
  func.func @bidirectional(%q: tensor<2x16x4x4xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {cp} {} {}>}, %k: tensor<2x16x2x4xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {cp} {} {}>},
                           %v: tensor<2x16x2x4xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {cp} {} {}>}) -> tensor<2x16x4x4xf32> {
    %o, %lse = tg.attention %q, %k, %v scale 0.5
        : (tensor<2x16x4x4xf32>, tensor<2x16x2x4xf32>, tensor<2x16x2x4xf32>) -> (tensor<2x16x4x4xf32>, tensor<2x4x16xf32>)
    return %o : tensor<2x16x4x4xf32>
  }

  func.func @documents(%q: tensor<2x16x4x4xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {cp} {} {}>}, %k: tensor<2x16x2x4xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {cp} {} {}>},
                    %v: tensor<2x16x2x4xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {cp} {} {}>}, %do: tensor<2x16x4x4xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {cp} {} {}>})
      -> (tensor<2x16x4x4xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {cp} {} {}>}, tensor<2x16x4x4xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {cp} {} {}>}, tensor<2x16x2x4xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {cp} {} {}>}, tensor<2x16x2x4xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {cp} {} {}>}) {
    %position = tg.iota dim 1 : tensor<2x16xi32>
    %size = arith.constant dense<6> : tensor<2x16xi32>
    %documents = arith.divsi %position, %size : tensor<2x16xi32>
    %o, %lse = tg.attention %q, %k, %v, %documents scale 0.5 causal
        : (tensor<2x16x4x4xf32>, tensor<2x16x2x4xf32>, tensor<2x16x2x4xf32>, tensor<2x16xi32>) -> (tensor<2x16x4x4xf32>, tensor<2x4x16xf32>)
    %dq, %dk, %dv = tg.attention_grad %q, %k, %v, %o, %lse, %do, %documents scale 0.5 causal
        : (tensor<2x16x4x4xf32>, tensor<2x16x2x4xf32>, tensor<2x16x2x4xf32>, tensor<2x16x4x4xf32>, tensor<2x4x16xf32>, tensor<2x16x4x4xf32>, tensor<2x16xi32>)
        -> (tensor<2x16x4x4xf32>, tensor<2x16x2x4xf32>, tensor<2x16x2x4xf32>)
    return %o, %dq, %dk, %dv : tensor<2x16x4x4xf32>, tensor<2x16x4x4xf32>, tensor<2x16x2x4xf32>, tensor<2x16x2x4xf32>
  }
}
