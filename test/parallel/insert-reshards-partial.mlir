// Partial values pass through linear ops where that saves a reduction.
//
// RUN: braid-opt %s --comm-propagate --comm-insert-reshards --comm-verify-shardings | FileCheck %s
// RUN: braid-interp %s --compare --pipeline=comm-shard

comm.mesh @mesh [dp = 2, tp = 2]

#row = #comm.sharding<@mesh, {tp} {}>
#sharded = #comm.sharding<@mesh, {} {tp}>

// One reduction for the sum of both, scaled.
// CHECK-LABEL: func.func @sum
func.func @sum(%x: tensor<4x8xf32> {comm.sharding = #sharded}, %w: tensor<8x6xf32> {comm.sharding = #row},
               %v: tensor<8x6xf32> {comm.sharding = #row}) -> tensor<4x6xf32> {
  // CHECK: %[[S:.*]] = arith.addf {{.*}} {comm.shardings = [#comm.sharding<@mesh, {} {}, partial sum {tp}>]}
  // CHECK: %[[M:.*]] = arith.mulf %[[S]], {{.*}} {comm.shardings = [#comm.sharding<@mesh, {} {}, partial sum {tp}>]}
  // CHECK-NEXT: %[[R:.*]] = comm.reshard %[[M]] <@mesh, {} {}>
  // CHECK-NEXT: math.exp %[[R]]
  %a = tg.contract "bd,df->bf" %x, %w : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %b = tg.contract "bd,df->bf" %x, %v : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %s = arith.addf %a, %b : tensor<4x6xf32>
  %c = arith.constant dense<2.0> : tensor<4x6xf32>
  %m = arith.mulf %s, %c : tensor<4x6xf32>
  %e = math.exp %m : tensor<4x6xf32>
  return %e : tensor<4x6xf32>
}

// A whole value cannot be added to a partial one: reduce first.
// CHECK-LABEL: func.func @sum_with_whole
func.func @sum_with_whole(%x: tensor<4x8xf32> {comm.sharding = #sharded}, %w: tensor<8x6xf32> {comm.sharding = #row},
                          %y: tensor<4x6xf32> {comm.sharding = #comm.sharding<@mesh, {} {}>}) -> tensor<4x6xf32> {
  // CHECK: %[[R:.*]] = comm.reshard %{{.*}} <@mesh, {} {}>
  // CHECK-NEXT: arith.addf %[[R]], %arg2 {comm.shardings = [#comm.sharding<@mesh, {} {}>]}
  %a = tg.contract "bd,df->bf" %x, %w : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %s = arith.addf %a, %y : tensor<4x6xf32>
  return %s : tensor<4x6xf32>
}

// With two readers one reduction serves both.
// CHECK-LABEL: func.func @two_readers
func.func @two_readers(%x: tensor<4x8xf32> {comm.sharding = #sharded}, %w: tensor<8x6xf32> {comm.sharding = #row})
    -> (tensor<4x6xf32>, tensor<4x6xf32>) {
  // CHECK: tg.contract
  // CHECK-NEXT: %[[R:.*]] = comm.reshard %{{.*}} <@mesh, {} {}>
  // CHECK-NEXT: arith.negf %[[R]]
  // CHECK-NEXT: math.exp %[[R]]
  // CHECK-NEXT: return
  %a = tg.contract "bd,df->bf" %x, %w : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %n = arith.negf %a : tensor<4x6xf32>
  %e = math.exp %a : tensor<4x6xf32>
  return %n, %e : tensor<4x6xf32>, tensor<4x6xf32>
}

// An accumulator is reduced with what is added to it, though some of its rows are made
// larger first: not each by itself.
// CHECK-LABEL: func.func @accumulator
func.func @accumulator(%acc: tensor<16x6xf32> {comm.sharding = #comm.sharding<@mesh, {} {}, partial sum {tp}>},
                       %x: tensor<4x8xf32> {comm.sharding = #sharded}, %w: tensor<8x6xf32> {comm.sharding = #row})
    -> tensor<16x6xf32> {
  // CHECK: %[[P:.*]] = tg.pad {{.*}} {comm.shardings = [#comm.sharding<@mesh, {} {}, partial sum {tp}>]}
  // CHECK-NEXT: %[[S:.*]] = arith.addf %arg0, %[[P]] {comm.shardings = [#comm.sharding<@mesh, {} {}, partial sum {tp}>]}
  // CHECK-NEXT: %[[R:.*]] = comm.reshard %[[S]] <@mesh, {} {}>
  // CHECK-NEXT: math.exp %[[R]]
  %a = tg.contract "bd,df->bf" %x, %w : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %p = tg.pad %a dim 0 low 0 high 12 value 0.0 : tensor<4x6xf32> -> tensor<16x6xf32>
  %s = arith.addf %acc, %p : tensor<16x6xf32>
  %e = math.exp %s : tensor<16x6xf32>
  return %e : tensor<16x6xf32>
}

// Two accumulators take slices of one gradient, as those of merged weights do: neither reduces it.
// CHECK-LABEL: func.func @merged_gradient
func.func @merged_gradient(%a: tensor<2x6xf32> {comm.sharding = #comm.sharding<@mesh, {} {}, partial sum {tp}>},
                           %b: tensor<2x6xf32> {comm.sharding = #comm.sharding<@mesh, {} {}, partial sum {tp}>},
                           %x: tensor<4x8xf32> {comm.sharding = #sharded}, %w: tensor<8x6xf32> {comm.sharding = #row})
    -> (tensor<2x6xf32> {comm.sharding = #comm.sharding<@mesh, {} {}, partial sum {tp}>},
        tensor<2x6xf32> {comm.sharding = #comm.sharding<@mesh, {} {}, partial sum {tp}>}) {
  // CHECK-NOT: comm.reshard
  // CHECK: return
  %g = tg.contract "bd,df->bf" %x, %w : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %p = tg.slice %g dim 0 offset 0 size 2 : tensor<4x6xf32> -> tensor<2x6xf32>
  %q = tg.slice %g dim 0 offset 2 size 2 : tensor<4x6xf32> -> tensor<2x6xf32>
  %s = arith.addf %a, %p : tensor<2x6xf32>
  %t = arith.addf %b, %q : tensor<2x6xf32>
  return %s, %t : tensor<2x6xf32>, tensor<2x6xf32>
}

// What is asked of the dims leaves the sum to the accumulator.
// CHECK-LABEL: func.func @constrained
func.func @constrained(%acc: tensor<4x6xf32> {comm.sharding = #comm.sharding<@mesh, {} {}, partial sum {tp}>},
                       %x: tensor<4x8xf32> {comm.sharding = #sharded}, %w: tensor<8x6xf32> {comm.sharding = #row})
    -> (tensor<4x6xf32> {comm.sharding = #comm.sharding<@mesh, {} {}, partial sum {tp}>}) {
  // CHECK: arith.addf {{.*}}partial sum {tp}>
  // CHECK-NEXT: comm.reshard %{{.*}} <@mesh, {} {}, partial sum {tp}>
  // CHECK-NEXT: return
  %g = tg.contract "bd,df->bf" %x, %w : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %c = comm.constrain %g <@mesh, {dp} {}> : tensor<4x6xf32>
  %s = arith.addf %acc, %c : tensor<4x6xf32>
  return %s : tensor<4x6xf32>
}

// A broadcast would make what is reduced larger.
// CHECK-LABEL: func.func @broadcast
func.func @broadcast(%x: tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {tp}>}) -> tensor<4x6xf32> {
  // CHECK: tg.reduce sum {{.*}} {comm.shardings = [#comm.sharding<@mesh, partial sum {tp}>]}
  // CHECK-NEXT: comm.reshard %{{.*}} <@mesh>
  // CHECK-NEXT: tg.broadcast {{.*}} {comm.shardings = [#comm.sharding<@mesh, {} {}>]}
  %s = tg.reduce sum %x dims [0] : tensor<8xf32> -> tensor<f32>
  %b = tg.broadcast %s dims [] : tensor<f32> -> tensor<4x6xf32>
  return %b : tensor<4x6xf32>
}

// Partial along different axes: added along those in common.
// CHECK-LABEL: func.func @in_common
func.func @in_common(%x: tensor<8x8xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {tp}>},
                     %y: tensor<8x8xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {}>}) -> tensor<f32> {
  // CHECK: %[[A:.*]] = tg.reduce sum %arg0 {{.*}} {comm.shardings = [#comm.sharding<@mesh, partial sum {dp, tp}>]}
  // CHECK: %[[C:.*]] = comm.reshard %[[A]] <@mesh, partial sum {dp}>
  // CHECK: %[[B:.*]] = tg.reduce sum %arg1 {{.*}} {comm.shardings = [#comm.sharding<@mesh, partial sum {dp}>]}
  // CHECK: %[[S:.*]] = arith.addf %[[C]], %[[B]] {comm.shardings = [#comm.sharding<@mesh, partial sum {dp}>]}
  // CHECK: comm.reshard %[[S]] <@mesh>
  %a = tg.reduce sum %x dims [0, 1] : tensor<8x8xf32> -> tensor<f32>
  %b = tg.reduce sum %y dims [0, 1] : tensor<8x8xf32> -> tensor<f32>
  %s = arith.addf %a, %b : tensor<f32>
  return %s : tensor<f32>
}

// A value that is sharded where another operand is partial is reduced into the shards, as soon as it
// is there; the rest of the sum stays partial: an accumulator in shards with replicas.
// CHECK-LABEL: func.func @into_shards
func.func @into_shards(%x: tensor<4x8xf32> {comm.sharding = #comm.sharding<@mesh, {} {dp, tp}>},
                       %w: tensor<8x6xf32> {comm.sharding = #comm.sharding<@mesh, {dp, tp} {}>},
                       %sum: tensor<4x6xf32> {comm.sharding = #comm.sharding<@mesh, {} {}, partial sum {dp}, flat {tp}>})
    -> (tensor<4x6xf32> {comm.sharding = #comm.sharding<@mesh, {} {}, partial sum {dp}, flat {tp}>}) {
  // CHECK: %[[A:.*]] = tg.contract {{.*}} {comm.shardings = [#comm.sharding<@mesh, {} {}, partial sum {dp, tp}>]}
  // CHECK-NEXT: %[[CUT:.*]] = comm.reshard %[[A]] <@mesh, {} {}, partial sum {dp}, flat {tp}>
  // CHECK-NEXT: %[[S:.*]] = arith.addf %arg2, %[[CUT]] {comm.shardings = [#comm.sharding<@mesh, {} {}, partial sum {dp}, flat {tp}>]}
  // CHECK-NEXT: return %[[S]]
  %a = tg.contract "bd,df->bf" %x, %w : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %s = arith.addf %sum, %a : tensor<4x6xf32>
  return %s : tensor<4x6xf32>
}

// A result that is annotated so stays partial.
// CHECK-LABEL: func.func @asked_for
func.func @asked_for(%x: tensor<4x8xf32> {comm.sharding = #sharded}, %w: tensor<8x6xf32> {comm.sharding = #row})
    -> (tensor<4x6xf32> {comm.sharding = #comm.sharding<@mesh, {} {}, partial sum {tp}>}) {
  // CHECK: %[[A:.*]] = tg.contract
  // CHECK-NEXT: return %[[A]]
  %a = tg.contract "bd,df->bf" %x, %w : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  return %a : tensor<4x6xf32>
}
