// Starts and waits, one rule a program.  A matmul of 32x32 matrices takes 10 us, what
// else computes 2 us, and an all_reduce of 4 KiB 8 us.
// RUN: braid-opt %s --split-input-file --exec-set-machine="link=2,1 compute=8.192,1e6" --comm-overlap --comm-verify-order 2>/dev/null | FileCheck %s

// A reduction starts when its operand is there; computing waits when it reads the result.
// CHECK-LABEL: @reduction
// CHECK: %[[G:.*]] = exec.matmul
// CHECK-NEXT: %[[T:.*]] = comm.start
// CHECK-NEXT: comm.all_reduce sum %[[G]]
// CHECK-NEXT: {comm.timing = {exposed_s = 0.000000e+00 : f64, predicted_s = {{.*}}, waits_for = "matmul"}}
// CHECK-NEXT: %[[Y:.*]] = exec.matmul
// CHECK-NEXT: %[[R:.*]] = comm.wait %[[T]]
// CHECK-NEXT: exec.matmul "mk,kn->mn"(%[[Y]], %[[R]])
comm.mesh @mesh [dp = 2]
func.func @reduction(%x: tensor<32x32xf32>, %y: tensor<32x32xf32>) -> tensor<32x32xf32>
    attributes {comm.program = #comm.program<@mesh>} {
  %g = exec.matmul "mk,kn->mn"(%x, %x) : tensor<32x32xf32>, tensor<32x32xf32> -> tensor<32x32xf32>
  %r = comm.all_reduce sum %g over @mesh {dp} : (tensor<32x32xf32>) -> tensor<32x32xf32>
  %z = exec.matmul "mk,kn->mn"(%y, %y) : tensor<32x32xf32>, tensor<32x32xf32> -> tensor<32x32xf32>
  %s = exec.matmul "mk,kn->mn"(%z, %r) : tensor<32x32xf32>, tensor<32x32xf32> -> tensor<32x32xf32>
  return %s : tensor<32x32xf32>
}

// -----

// With nothing to compute meanwhile it stays one op, all of it exposed.
// CHECK-LABEL: @at_once
// CHECK-NOT: comm.start
// CHECK: comm.all_reduce sum {{.*}} {comm.timing = {exposed_s = [[S:.*]] : f64, predicted_s = [[S]] : f64, waits_for = "matmul"}}
comm.mesh @mesh [dp = 2]
func.func @at_once(%x: tensor<32x32xf32>) -> tensor<32x32xf32> attributes {comm.program = #comm.program<@mesh>} {
  %g = exec.matmul "mk,kn->mn"(%x, %x) : tensor<32x32xf32>, tensor<32x32xf32> -> tensor<32x32xf32>
  %r = comm.all_reduce sum %g over @mesh {dp} : (tensor<32x32xf32>) -> tensor<32x32xf32>
  %s = exec.matmul "mk,kn->mn"(%g, %r) : tensor<32x32xf32>, tensor<32x32xf32> -> tensor<32x32xf32>
  return %s : tensor<32x32xf32>
}

// -----

// A full gradient that a reduce_scatter has read is not kept until the shard is used:
// the wait comes once it is surely over.
// CHECK-LABEL: @wait_frees
// CHECK: %[[T:.*]] = comm.start
// CHECK-NEXT: comm.reduce_scatter
// CHECK: exec.matmul
// CHECK: exec.matmul
// CHECK: comm.wait %[[T]]
// CHECK: exec.matmul
// CHECK: exec.matmul
// CHECK: return
comm.mesh @mesh [dp = 2]
func.func @wait_frees(%x: tensor<32x32xf32>) -> (tensor<16x32xf32>, tensor<32x32xf32>)
    attributes {comm.program = #comm.program<@mesh>} {
  %g = exec.matmul "mk,kn->mn"(%x, %x) : tensor<32x32xf32>, tensor<32x32xf32> -> tensor<32x32xf32>
  %r = comm.reduce_scatter sum %g dims [0] over @mesh {dp} : (tensor<32x32xf32>) -> tensor<16x32xf32>
  %a = exec.matmul "mk,kn->mn"(%x, %x) : tensor<32x32xf32>, tensor<32x32xf32> -> tensor<32x32xf32>
  %b = exec.matmul "mk,kn->mn"(%a, %x) : tensor<32x32xf32>, tensor<32x32xf32> -> tensor<32x32xf32>
  %c = exec.matmul "mk,kn->mn"(%b, %x) : tensor<32x32xf32>, tensor<32x32xf32> -> tensor<32x32xf32>
  %d = exec.matmul "mk,kn->mn"(%c, %x) : tensor<32x32xf32>, tensor<32x32xf32> -> tensor<32x32xf32>
  return %r, %d : tensor<16x32xf32>, tensor<32x32xf32>
}

// -----

// The new value of a parameter, made by a gather in its place (ZeRO-1), waits for the
// last reader of the old one.
// CHECK-LABEL: @old_value
// CHECK: %[[T:.*]] = comm.start
// CHECK-NEXT: comm.reduce_scatter
// CHECK: exec.matmul "mk,kn->mn"(%{{.*}}, %arg0)
// CHECK: exec.matmul "mk,kn->mn"(%{{.*}}, %arg0)
// CHECK: comm.wait %[[T]]
// CHECK: comm.start
// CHECK-NEXT: comm.all_gather
// CHECK: exec.matmul "mk,kn->mn"(%{{.*}}, %arg1)
// CHECK: comm.wait
comm.mesh @mesh [dp = 2]
func.func @old_value(%w: tensor<32x32xf32> {tg.param = #tg.param<"w", #tg.init<zeros>>}, %x: tensor<32x32xf32>)
    -> (tensor<32x32xf32> {tg.updates = "w"}, tensor<32x32xf32>) attributes {comm.program = #comm.program<@mesh>} {
  %g = exec.matmul "mk,kn->mn"(%x, %x) : tensor<32x32xf32>, tensor<32x32xf32> -> tensor<32x32xf32>
  %r = comm.reduce_scatter sum %g dims [0] over @mesh {dp} : (tensor<32x32xf32>) -> tensor<16x32xf32>
  %a = exec.matmul "mk,kn->mn"(%x, %w) : tensor<32x32xf32>, tensor<32x32xf32> -> tensor<32x32xf32>
  %b = exec.matmul "mk,kn->mn"(%a, %w) : tensor<32x32xf32>, tensor<32x32xf32> -> tensor<32x32xf32>
  %new = comm.all_gather %r dims [0] over @mesh {dp} : (tensor<16x32xf32>) -> tensor<32x32xf32>
  %c = exec.matmul "mk,kn->mn"(%b, %x) : tensor<32x32xf32>, tensor<32x32xf32> -> tensor<32x32xf32>
  return %new, %c : tensor<32x32xf32>, tensor<32x32xf32>
}

// -----

// The reduction in place comes after who reads its operand, here the norm of a rank's
// own gradient.
// CHECK-LABEL: @in_place
// CHECK: %[[G:.*]] = exec.matmul
// CHECK: exec.matmul "mk,mk->"(%[[G]], %[[G]])
// CHECK-NEXT: comm.start
// CHECK-NEXT: comm.all_reduce sum %[[G]]
comm.mesh @mesh [dp = 2]
func.func @in_place(%x: tensor<32x32xf32>) -> (tensor<f32>, tensor<32x32xf32>, tensor<32x32xf32>)
    attributes {comm.program = #comm.program<@mesh>} {
  %g = exec.matmul "mk,kn->mn"(%x, %x) : tensor<32x32xf32>, tensor<32x32xf32> -> tensor<32x32xf32>
  %norm = exec.matmul "mk,mk->"(%g, %g) : tensor<32x32xf32>, tensor<32x32xf32> -> tensor<f32>
  %r = comm.all_reduce sum %g over @mesh {dp} : (tensor<32x32xf32>) -> tensor<32x32xf32>
  %a = exec.matmul "mk,kn->mn"(%x, %x) : tensor<32x32xf32>, tensor<32x32xf32> -> tensor<32x32xf32>
  return %norm, %r, %a : tensor<f32>, tensor<32x32xf32>, tensor<32x32xf32>
}

// -----

// Only some ranks run this function: the others match it in its order of starts, though
// the second could go first.
// CHECK-LABEL: @some_ranks
// CHECK: exec.matmul
// CHECK: exec.matmul
// CHECK: comm.start
// CHECK-NEXT: comm.all_reduce sum
// CHECK: comm.start
// CHECK-NEXT: comm.all_reduce max
comm.mesh @mesh [pp = 2, dp = 2]
func.func @some_ranks(%x: tensor<32x32xf32>, %y: tensor<32x32xf32>) -> (tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>)
    attributes {comm.program = #comm.program<@mesh, pp = [0]>} {
  %a = exec.matmul "mk,kn->mn"(%x, %x) : tensor<32x32xf32>, tensor<32x32xf32> -> tensor<32x32xf32>
  %b = exec.matmul "mk,kn->mn"(%a, %x) : tensor<32x32xf32>, tensor<32x32xf32> -> tensor<32x32xf32>
  %r = comm.all_reduce sum %b over @mesh {dp} : (tensor<32x32xf32>) -> tensor<32x32xf32>
  %s = comm.all_reduce max %a over @mesh {dp} : (tensor<32x32xf32>) -> tensor<32x32xf32>
  %c = exec.matmul "mk,kn->mn"(%x, %y) : tensor<32x32xf32>, tensor<32x32xf32> -> tensor<32x32xf32>
  return %r, %s, %c : tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>
}
func.func @others() attributes {comm.program = #comm.program<@mesh, pp = [1]>} {
  return
}

// -----

// What little a collective needs is computed in the beginning.
// CHECK-LABEL: @cheap
// CHECK-NEXT: %[[V:.*]] = exec.matmul "k,k->"(%arg1, %arg1)
// CHECK-NEXT: comm.start
// CHECK-NEXT: comm.all_reduce sum %[[V]]
// CHECK: exec.matmul "mk,kn->mn"
// CHECK: comm.wait
comm.mesh @mesh [dp = 2]
func.func @cheap(%x: tensor<32x32xf32>, %v: tensor<32xf32>) -> (tensor<32x32xf32>, tensor<f32>)
    attributes {comm.program = #comm.program<@mesh>} {
  %a = exec.matmul "mk,kn->mn"(%x, %x) : tensor<32x32xf32>, tensor<32x32xf32> -> tensor<32x32xf32>
  %n = exec.matmul "k,k->"(%v, %v) : tensor<32xf32>, tensor<32xf32> -> tensor<f32>
  %r = comm.all_reduce sum %n over @mesh {dp} : (tensor<f32>) -> tensor<f32>
  return %a, %r : tensor<32x32xf32>, tensor<f32>
}

// -----

// Left alone: no ranks, starts that are there already.  A program that does not
// communicate has a time.
// CHECK-LABEL: @one_rank
// CHECK-NOT: comm.
// CHECK-LABEL: @silent
// CHECK-SAME: comm.timing = {exposed_s = 0.000000e+00 : f64, predicted_s = 1.000000e-05 : f64, waits_for = ""}
// CHECK-LABEL: @scheduled
// CHECK: comm.start
// CHECK: exec.matmul
// CHECK: comm.wait
// CHECK-NOT: comm.timing
comm.mesh @mesh [dp = 2]
func.func @one_rank(%x: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %a = exec.matmul "mk,kn->mn"(%x, %x) : tensor<32x32xf32>, tensor<32x32xf32> -> tensor<32x32xf32>
  return %a : tensor<32x32xf32>
}
func.func @silent(%x: tensor<32x32xf32>) -> tensor<32x32xf32> attributes {comm.program = #comm.program<@mesh>} {
  %a = exec.matmul "mk,kn->mn"(%x, %x) : tensor<32x32xf32>, tensor<32x32xf32> -> tensor<32x32xf32>
  return %a : tensor<32x32xf32>
}
func.func @scheduled(%x: tensor<32x32xf32>) -> (tensor<32x32xf32>, tensor<32x32xf32>)
    attributes {comm.program = #comm.program<@mesh>} {
  %t = comm.start {
    %r = comm.all_reduce sum %x over @mesh {dp} : (tensor<32x32xf32>) -> tensor<32x32xf32>
  } : !comm.ticket<tensor<32x32xf32>>
  %a = exec.matmul "mk,kn->mn"(%x, %x) : tensor<32x32xf32>, tensor<32x32xf32> -> tensor<32x32xf32>
  %r = comm.wait %t : !comm.ticket<tensor<32x32xf32>> -> tensor<32x32xf32>
  return %a, %r : tensor<32x32xf32>, tensor<32x32xf32>
}
