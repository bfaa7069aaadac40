// RUN: braid-opt %s --exec-form-kernels --exec-set-machine="link=1,1.024 compute=52.4288,1e6" --comm-overlap 2>/dev/null | FileCheck %s

// What is predicted is what two queues do.  Two units, forward and backward; a matmul
// takes 12 us (2 to launch, 10 to compute), a collective 9 (1 for its message, 8 for its
// bytes), an update 2 and, for 2048 elements, a little more.
//
//   link      gather1 0-9, gather2 9-18, gather1 21-30, reduce2 57-66, reduce1 81-90
//   compute   forward1 9-21, forward2 21-33, backward2 33-45, weights2 45-57,
//             backward1 57-69, weights1 69-81, update2 81-83.3, update1 90-92.3
//
// The first gather has nothing to hide behind: 9.  The last reduction has one update:
// 9 - 2.3.  All others are hidden: the second gather starts at once, as 12 us are too
// short for what it counts (2 * 9 + 10); that of backward when 36 are left, because 24
// would be too short.

// CHECK: comm.timing = {exposed_s = 1.567{{[0-9]*[Ee]-0?5}} : f64, predicted_s = 9.232{{[0-9]*[Ee]-0?5}} : f64, waits_for = ""}
// CHECK: %[[G1:.*]] = comm.start
// CHECK-NEXT: comm.all_gather %arg1
// CHECK-NEXT: exposed_s = 9.000000e-06 : f64, predicted_s = 9.000000e-06 : f64, waits_for = ""
// CHECK: %[[G2:.*]] = comm.start
// CHECK-NEXT: comm.all_gather %arg2
// CHECK-NEXT: exposed_s = 0.000000e+00 : f64, predicted_s = 9.000000e-06 : f64, waits_for = "all_gather 1 #0"
// CHECK: comm.wait %[[G1]]
// CHECK-NEXT: %[[H1:.*]] = exec.matmul
// CHECK-NEXT: %[[AGAIN:.*]] = comm.start
// CHECK-NEXT: comm.all_gather %arg1
// CHECK-NEXT: exposed_s = 0.000000e+00
// CHECK: comm.wait %[[G2]]
// CHECK-NEXT: %[[H2:.*]] = exec.matmul
// CHECK-NEXT: %[[D2:.*]] = exec.matmul "mn,kn->mk"(%[[H2]]
// CHECK-NEXT: %[[W2:.*]] = exec.matmul
// CHECK-NEXT: %[[R2:.*]] = comm.start
// CHECK-NEXT: comm.reduce_scatter sum %[[W2]]
// CHECK-NEXT: exposed_s = 0.000000e+00 : f64, predicted_s = 9.000000e-06 : f64, waits_for = "weights2"
// CHECK: comm.wait %[[AGAIN]]
// CHECK-NEXT: exec.matmul
// CHECK-NEXT: %[[W1:.*]] = exec.matmul
// CHECK-NEXT: %[[R1:.*]] = comm.start
// CHECK-NEXT: comm.reduce_scatter sum %[[W1]]
// CHECK-NEXT: exposed_s = 6.67{{[0-9]*[Ee]-0?6}} : f64, predicted_s = 9.000000e-06 : f64, waits_for = "weights1"
// CHECK: comm.wait %[[R2]]
// CHECK-NEXT: exec.kernel "subf"(%arg2, 
// CHECK: comm.wait %[[R1]]
// CHECK-NEXT: exec.kernel "subf"(%arg1, 
#flat = #comm.sharding<@mesh, {} {}, flat {dp}>
comm.mesh @mesh [dp = 2]
func.func @train(%x: tensor<64x64xf32>,
    %a: tensor<2048xf32> {tg.param = #tg.param<"a", #tg.init<ones>, unit = "1">, comm.global = tensor<64x64xf32>, comm.sharding = #flat},
    %b: tensor<2048xf32> {tg.param = #tg.param<"b", #tg.init<ones>, unit = "2">, comm.global = tensor<64x64xf32>, comm.sharding = #flat})
    -> (tensor<64x64xf32>, tensor<2048xf32> {tg.updates = "a"}, tensor<2048xf32> {tg.updates = "b"})
    attributes {comm.program = #comm.program<@mesh>} {
  %w1 = comm.all_gather %a dims [flat] over @mesh {dp} {comm.unit = "1"} : (tensor<2048xf32>) -> tensor<64x64xf32>
  %h1 = exec.matmul "mk,kn->mn"(%x, %w1) : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %w2 = comm.all_gather %b dims [flat] over @mesh {dp} {comm.unit = "2"} : (tensor<2048xf32>) -> tensor<64x64xf32>
  %h2 = exec.matmul "mk,kn->mn"(%h1, %w2) : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %d2 = exec.matmul "mn,kn->mk"(%h2, %w2) : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %g2 = exec.matmul "mk,mn->kn"(%h1, %h2) : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32> loc("weights2")
  %r2 = comm.reduce_scatter sum %g2 dims [flat] over @mesh {dp} : (tensor<64x64xf32>) -> tensor<2048xf32>
  %again = comm.all_gather %a dims [flat] over @mesh {dp} {comm.unit = "1"} : (tensor<2048xf32>) -> tensor<64x64xf32>
  %d1 = exec.matmul "mn,kn->mk"(%d2, %again) : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %g1 = exec.matmul "mk,mn->kn"(%x, %d2) : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32> loc("weights1")
  %r1 = comm.reduce_scatter sum %g1 dims [flat] over @mesh {dp} : (tensor<64x64xf32>) -> tensor<2048xf32>
  %n1 = arith.subf %a, %r1 : tensor<2048xf32> loc("update1")
  %n2 = arith.subf %b, %r2 : tensor<2048xf32> loc("update2")
  return %d1, %n1, %n2 : tensor<64x64xf32>, tensor<2048xf32>, tensor<2048xf32>
}
