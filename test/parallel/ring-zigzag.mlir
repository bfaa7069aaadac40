// Attention, forward and backward, with its sequence shared out in zigzag: as a ring and with keys and values gathered
// it is that of one rank.
//
// DEFINE: %{ring} = comm-shard,canonicalize,cse,func.func(comm-form-rings)
// RUN: braid-opt %s --pass-pipeline="builtin.module(comm-shard,canonicalize,cse)" | FileCheck %s --check-prefix=GATHER
// RUN: braid-opt %s --pass-pipeline="builtin.module(%{ring},comm-verify-order)" | FileCheck %s
// RUN: braid-interp %s --compare --pipeline=comm-shard --rtol=1e-5
// RUN: braid-interp %s --compare --pipeline="%{ring}" --rtol=1e-5
// In primitives, too.
// RUN: braid-interp %s --compare --pipeline="%{ring},func.func(tg-decompose)" --rtol=1e-5
// And on more ranks.
// RUN: sed 's/dp = 2, cp = 4/cp = 8, dp = 2/' %s > %t.mlir
// RUN: braid-interp %t.mlir --compare --pipeline="%{ring}" --rtol=1e-5
// All ranks have as much of the mask, and together all pairs once, in one example; in order the last one has most.
// RUN: braid-opt %s --pass-pipeline="builtin.module(%{ring})" > %t.ring.mlir
// RUN: python3 %S/Inputs/attention_work.py 4 causal < %t.ring.mlir | FileCheck %s --check-prefix=WORK
// RUN: python3 %S/Inputs/attention_work.py 4 window < %t.ring.mlir | FileCheck %s --check-prefix=WINDOW
// RUN: sed 's/, comm.zigzag = #comm<axes{cp}>//' %s > %t.straight.mlir
// RUN: braid-opt %t.straight.mlir --pass-pipeline="builtin.module(%{ring})" > %t.ring.mlir
// RUN: python3 %S/Inputs/attention_work.py 4 causal < %t.ring.mlir | FileCheck %s --check-prefix=STRAIGHT
// WORK: @causal tg.attention: [34, 34, 34, 34], together 136
// WORK: @causal tg.attention_grad: [34, 34, 34, 34], together 136
// WINDOW: together 70
// WINDOW: together 70
// STRAIGHT: @causal tg.attention: [10, 26, 42, 58], together 136
//
// Each half of a rank's queries is an op of its own, and of four ranks' 8 blocks it has those from either end.
// GATHER-LABEL: func @causal
// GATHER: %[[KEYS:.*]] = comm.all_gather {{.*}} dims [1] over @mesh {cp} : (tensor<1x4x2x4xf32>) -> tensor<1x16x2x4xf32>
// GATHER-NEXT: %[[ORDERED:.*]] = tg.reorder %[[KEYS]] dim 1 order [0, 2, 4, 6, 7, 5, 3, 1]
// GATHER: %[[RANK:.*]] = comm.axis_index over @mesh {cp}
// GATHER: %[[FIRST:.*]] = arith.muli %[[RANK]], %{{.*}}
// GATHER: %[[SECOND:.*]] = arith.subi %{{.*}}, %[[FIRST]]
// GATHER: tg.attention %{{.*}}, %[[ORDERED]], %{{.*}} at %[[FIRST]], {{.*}} causal {comm.half = 0 : i64} : (tensor<1x2x4x4xf32>, tensor<1x16x2x4xf32>
// GATHER: tg.attention %{{.*}}, %[[ORDERED]], %{{.*}} at %[[SECOND]], {{.*}} causal {comm.half = 1 : i64} : (tensor<1x2x4x4xf32>, tensor<1x16x2x4xf32>
// GATHER-COUNT-2: comm.reduce_scatter sum {{.*}} dims [1] over @mesh {cp} : (tensor<1x16x2x4xf32>) -> tensor<1x4x2x4xf32>
//
// Of the rank's own block each half counts its own positions first, and the second one all of the first's.  Of others
// there are three steps of three ops, of which one counts all, and of two one all and one nothing; and as many messages
// as in order.
// CHECK-LABEL: func @causal
// CHECK: %[[RANK:.*]] = comm.axis_index over @mesh {cp}
// CHECK: %[[NEXT:.*]]:2 = comm.permute %{{.*}}, %{{.*}} pairs [0 -> 1, 1 -> 2, 2 -> 3, 3 -> 0] over @mesh {cp} {comm.held_start}
// CHECK: tg.attention %[[A:[0-9]+]], %[[X:[0-9]+]], %[[XV:[0-9]+]] at %[[FIRST:[0-9]+]], %{{[0-9]+}} scale 5.000000e-01 causal : (tensor<1x2x4x4xf32>, tensor<1x2x2x4xf32>
// CHECK: tg.attention %[[B:[0-9]+]], %{{.*}}, %{{.*}} at %[[SECOND:[0-9]+]], %{{[0-9]+}} scale 5.000000e-01 causal
// CHECK: tg.attention %[[B]], %[[X]], %[[XV]] scale 5.000000e-01 :
// CHECK: comm.permute %[[NEXT]]#0, %[[NEXT]]#1
// CHECK: %[[Y:.*]] = tg.slice %[[NEXT]]#0 dim 1 offset 0 size 2
// CHECK: tg.attention %[[A]], %[[Y]], %{{.*}} at %[[FIRST]], %{{.*}} causal
// CHECK: tg.attention %[[B]], %[[Y]], %{{.*}} scale 5.000000e-01 :
// CHECK: tg.attention %[[B]], %{{.*}}, %{{.*}} at %[[SECOND]], %{{.*}} causal
// CHECK: comm.permute
// CHECK-COUNT-6: tg.attention %
// CHECK-NOT: tg.attention %
// CHECK-COUNT-12: tg.attention_grad
// CHECK-NOT: tg.attention_grad
// CHECK-NOT: comm.reduce_scatter
// CHECK: comm.permute
// CHECK: return
// A window, too, may leave out some of the first half's.
// CHECK-LABEL: func @window
// CHECK-COUNT-12: tg.attention %{{.*}} at {{.*}} causal window 5
// CHECK-NOT: tg.attention %
// Documents are told apart by position.
// CHECK-LABEL: func @documents
// CHECK-COUNT-4: tg.attention %{{.*}} at {{.*}} scale 5.000000e-01 :
// CHECK: return
module attributes {comm.ring = #comm<axes{cp}>, comm.zigzag = #comm<axes{cp}>} {
  comm.mesh @mesh [dp = 2, cp = 4]

  func.func @causal(%q: tensor<2x16x4x4xf32> {tg.role = #tg.role<tokens>, comm.sharding = #comm.sharding<@mesh, {dp} {cp} {} {}>}, %k: tensor<2x16x2x4xf32> {tg.role = #tg.role<tokens>, comm.sharding = #comm.sharding<@mesh, {dp} {cp} {} {}>},
                    %v: tensor<2x16x2x4xf32> {tg.role = #tg.role<tokens>, comm.sharding = #comm.sharding<@mesh, {dp} {cp} {} {}>}, %do: tensor<2x16x4x4xf32> {tg.role = #tg.role<tokens>, comm.sharding = #comm.sharding<@mesh, {dp} {cp} {} {}>})
      -> (tensor<2x16x4x4xf32>, tensor<2x16x4x4xf32>, tensor<2x16x2x4xf32>, tensor<2x16x2x4xf32>) {
    %o, %lse = tg.attention %q, %k, %v scale 0.5 causal
        : (tensor<2x16x4x4xf32>, tensor<2x16x2x4xf32>, tensor<2x16x2x4xf32>) -> (tensor<2x16x4x4xf32>, tensor<2x4x16xf32>)
    %dq, %dk, %dv = tg.attention_grad %q, %k, %v, %o, %lse, %do scale 0.5 causal
        : (tensor<2x16x4x4xf32>, tensor<2x16x2x4xf32>, tensor<2x16x2x4xf32>, tensor<2x16x4x4xf32>, tensor<2x4x16xf32>, tensor<2x16x4x4xf32>)
        -> (tensor<2x16x4x4xf32>, tensor<2x16x2x4xf32>, tensor<2x16x2x4xf32>)
    %rk = arith.mulf %dk, %k : tensor<2x16x2x4xf32>
    %rv = arith.mulf %dv, %v : tensor<2x16x2x4xf32>
    return %o, %dq, %rk, %rv : tensor<2x16x4x4xf32>, tensor<2x16x4x4xf32>, tensor<2x16x2x4xf32>, tensor<2x16x2x4xf32>
  }

  func.func @window(%q: tensor<2x16x4x4xf32> {tg.role = #tg.role<tokens>, comm.sharding = #comm.sharding<@mesh, {dp} {cp} {} {}>}, %k: tensor<2x16x2x4xf32> {tg.role = #tg.role<tokens>, comm.sharding = #comm.sharding<@mesh, {dp} {cp} {} {}>},
                    %v: tensor<2x16x2x4xf32> {tg.role = #tg.role<tokens>, comm.sharding = #comm.sharding<@mesh, {dp} {cp} {} {}>}, %do: tensor<2x16x4x4xf32> {tg.role = #tg.role<tokens>, comm.sharding = #comm.sharding<@mesh, {dp} {cp} {} {}>})
      -> (tensor<2x16x4x4xf32>, tensor<2x16x4x4xf32>, tensor<2x16x2x4xf32>, tensor<2x16x2x4xf32>) {
    %o, %lse = tg.attention %q, %k, %v scale 0.5 causal window 5 softcap 2.0
        : (tensor<2x16x4x4xf32>, tensor<2x16x2x4xf32>, tensor<2x16x2x4xf32>) -> (tensor<2x16x4x4xf32>, tensor<2x4x16xf32>)
    %dq, %dk, %dv = tg.attention_grad %q, %k, %v, %o, %lse, %do scale 0.5 causal window 5 softcap 2.0
        : (tensor<2x16x4x4xf32>, tensor<2x16x2x4xf32>, tensor<2x16x2x4xf32>, tensor<2x16x4x4xf32>, tensor<2x4x16xf32>, tensor<2x16x4x4xf32>)
        -> (tensor<2x16x4x4xf32>, tensor<2x16x2x4xf32>, tensor<2x16x2x4xf32>)
    %rk = arith.mulf %dk, %k : tensor<2x16x2x4xf32>
    %rv = arith.mulf %dv, %v : tensor<2x16x2x4xf32>
    return %o, %dq, %rk, %rv : tensor<2x16x4x4xf32>, tensor<2x16x4x4xf32>, tensor<2x16x2x4xf32>, tensor<2x16x2x4xf32>
  }

  func.func @documents(%q: tensor<2x16x4x4xf32> {tg.role = #tg.role<tokens>, comm.sharding = #comm.sharding<@mesh, {dp} {cp} {} {}>}, %k: tensor<2x16x2x4xf32> {tg.role = #tg.role<tokens>, comm.sharding = #comm.sharding<@mesh, {dp} {cp} {} {}>},
                    %v: tensor<2x16x2x4xf32> {tg.role = #tg.role<tokens>, comm.sharding = #comm.sharding<@mesh, {dp} {cp} {} {}>}, %do: tensor<2x16x4x4xf32> {tg.role = #tg.role<tokens>, comm.sharding = #comm.sharding<@mesh, {dp} {cp} {} {}>})
      -> (tensor<2x16x4x4xf32>, tensor<2x16x4x4xf32>, tensor<2x16x2x4xf32>, tensor<2x16x2x4xf32>) {
    %position = tg.iota dim 1 : tensor<2x16xi32>
    %size = arith.constant dense<6> : tensor<2x16xi32>
    %documents = arith.divsi %position, %size : tensor<2x16xi32>
    %o, %lse = tg.attention %q, %k, %v, %documents scale 0.5 causal
        : (tensor<2x16x4x4xf32>, tensor<2x16x2x4xf32>, tensor<2x16x2x4xf32>, tensor<2x16xi32>) -> (tensor<2x16x4x4xf32>, tensor<2x4x16xf32>)
    %dq, %dk, %dv = tg.attention_grad %q, %k, %v, %o, %lse, %do, %documents scale 0.5 causal
        : (tensor<2x16x4x4xf32>, tensor<2x16x2x4xf32>, tensor<2x16x2x4xf32>, tensor<2x16x4x4xf32>, tensor<2x4x16xf32>, tensor<2x16x4x4xf32>, tensor<2x16xi32>)
        -> (tensor<2x16x4x4xf32>, tensor<2x16x2x4xf32>, tensor<2x16x2x4xf32>)
    %rk = arith.mulf %dk, %k : tensor<2x16x2x4xf32>
    %rv = arith.mulf %dv, %v : tensor<2x16x2x4xf32>
    return %o, %dq, %rk, %rv : tensor<2x16x4x4xf32>, tensor<2x16x4x4xf32>, tensor<2x16x2x4xf32>, tensor<2x16x2x4xf32>
  }
}
