// Copies between a device and its host: the op, on values and in memory, and as a start and a wait.
// RUN: braid-opt %s | braid-opt | FileCheck %s
// RUN: braid-interp %s --function=f --compare --pipeline=canonicalize --rtol=0

// CHECK-LABEL: @f
// CHECK: %[[A:.*]]:2 = comm.copy %arg0, %arg1 to device : (tensor<4xf32>, tensor<2x3xbf16>) -> (tensor<4xf32>, tensor<2x3xbf16>)
// CHECK: comm.start
// CHECK-NEXT: comm.copy %[[A]]#0 to host : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: comm.wait
func.func @f(%x: tensor<4xf32> {exec.host, tg.state = #tg.state<"x.m", #tg.init<ones>, of = "x", kind = moment>},
             %y: tensor<2x3xbf16> {exec.host, tg.state = #tg.state<"y.m", #tg.init<ones>, of = "y", kind = moment>})
    -> (tensor<4xf32> {tg.updates = "x.m"}, tensor<2x3xbf16>) {
  %a, %b = comm.copy %x, %y to device : (tensor<4xf32>, tensor<2x3xbf16>) -> (tensor<4xf32>, tensor<2x3xbf16>)
  %t = comm.start {
    %c = comm.copy %a to host : (tensor<4xf32>) -> tensor<4xf32>
  } : !comm.ticket<tensor<4xf32>>
  %d = comm.wait %t : !comm.ticket<tensor<4xf32>> -> tensor<4xf32>
  return %d, %b : tensor<4xf32>, tensor<2x3xbf16>
}

// CHECK: exec.tensor @m at 0 bytes 16 host category optimizer_state : tensor<4xf32>
exec.tensor @m at 0 bytes 16 host category optimizer_state : tensor<4xf32>
    = #tg.state<"m", #tg.init<zeros>, of = "x", kind = moment>

// CHECK-LABEL: @p
// CHECK: comm.copy %{{.*}} outs(%{{.*}} : !exec.ref<4xf32, [1]>) to device : (!exec.ref<4xf32, [1]>) -> ()
exec.program @p arena 256 {
  exec.buffer @b at 0 bytes 16 live 0 to 1 category optimizer_state name "m"
  %m = exec.ref @m + 0 : !exec.ref<4xf32, [1]>
  %b = exec.ref @b + 0 : !exec.ref<4xf32, [1]>
  comm.copy %m outs(%b : !exec.ref<4xf32, [1]>) to device : (!exec.ref<4xf32, [1]>) -> ()
  comm.copy %b outs(%m : !exec.ref<4xf32, [1]>) to host : (!exec.ref<4xf32, [1]>) -> ()
}
