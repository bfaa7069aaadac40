// Values that say the same thing share bytes.
// RUN: braid-opt %s --exec-form-kernels --exec-plan-memory --exec-verify-plan | FileCheck %s
// RUN: braid-interp %s --compare --function=chain --pipeline="func.func(exec-form-kernels),exec-plan-memory,exec-verify-plan"
// RUN: braid-interp %s --compare --function=views --pipeline="func.func(exec-form-kernels),exec-plan-memory,exec-verify-plan"
// RUN: braid-interp %s --compare --function=slices --pipeline="func.func(exec-form-kernels),exec-plan-memory,exec-verify-plan"
// RUN: braid-interp %s --compare --function=accumulate --pipeline="func.func(exec-form-kernels),exec-plan-memory,exec-verify-plan"
// RUN: braid-interp %s --compare --function=update --pipeline="func.func(exec-form-kernels),exec-plan-memory,exec-verify-plan"

// Persistent tensors come first, by category, each once for all programs.
// CHECK:      exec.tensor @w at 0 bytes 128 category parameters : tensor<4x8xf32> = #tg.param<"w"
// CHECK-NEXT: exec.tensor @b at 128 bytes 16 category parameters
// CHECK-NEXT: exec.tensor @w.sum at 192 bytes 128 category gradients
// CHECK-NEXT: exec.tensor @w.m at 320 bytes 128 category optimizer_state

// Each result overwrites the operand that dies; the last one is the program's
// result, so all are written where the caller reads it.
// CHECK-LABEL: exec.program @chain
// CHECK-NEXT:  exec.buffer @[[IN:[a-z0-9]+]] at {{[0-9]+}} bytes 128 live -1 to 2 category inputs name "x" "input" role "" : tensor<4x8xf32>
// CHECK-NEXT:  exec.buffer @[[OUT:[a-z0-9]+]] at {{[0-9]+}} bytes 128 live 0 to 4 category activations name "y" "result" role "y" : tensor<4x8xf32>
// CHECK-NEXT:  %[[X:[0-9]+]] = exec.ref @[[IN]] + 0
// CHECK-NEXT:  %[[Y:[0-9]+]] = exec.ref @[[OUT]] + 0
// CHECK-NOT:   exec.ref
// CHECK:       exec.kernel {{.*}}(%[[X]]) outs(%[[Y]] :
// CHECK:       exec.kernel {{.*}}(%[[Y]]) outs(%[[Y]] :
// CHECK:       exec.kernel {{.*}}(%[[Y]], %[[X]]) outs(%[[Y]] :
// CHECK:       exec.kernel {{.*}}(%[[Y]]) outs(%[[Y]] :
func.func @chain(%x: tensor<4x8xf32> {tg.input = "x"}) -> (tensor<4x8xf32> {tg.output = "y"}) {
  %0 = math.exp %x : tensor<4x8xf32>
  %1 = math.tanh %0 : tensor<4x8xf32>
  %2 = arith.addf %1, %x : tensor<4x8xf32>
  %3 = arith.negf %2 : tensor<4x8xf32>
  return %3 : tensor<4x8xf32>
}

// A view is a reference with other strides.
// CHECK-LABEL: exec.program @views
// CHECK:       exec.ref @[[X:[a-z0-9]+]] + 0 : <2x4x8xf32, [32, 8, 1]>
// CHECK-NEXT:  exec.ref @[[Y:[a-z0-9]+]] + 0 : <2x4x8xf32, [32, 8, 1]>
// CHECK-NEXT:  exec.ref @[[Y]] + 16 : <2x2x4xf32, [2, 32, 8]>
// CHECK-NEXT:  exec.ref @{{.*}} + 0 : <2x2x4xf32, [8, 4, 1]>
func.func @views(%x: tensor<2x4x8xf32> {tg.input = "x"}) -> (tensor<2x2x4xf32> {tg.output = "y"}) {
  %0 = math.exp %x : tensor<2x4x8xf32>
  %1 = exec.view %0 offset 4 strides [2, 32, 8] : tensor<2x4x8xf32> -> tensor<2x2x4xf32>
  %2 = math.tanh %1 : tensor<2x2x4xf32>
  return %2 : tensor<2x2x4xf32>
}

// The operands of a concat are written into its slices, through a reshape too.
// CHECK-LABEL: exec.program @slices
// CHECK-COUNT-3: exec.buffer
// CHECK-NOT:   exec.buffer
// CHECK:       %[[A:[0-9]+]] = exec.ref @[[ALL:[a-z0-9]+]] + 0 : <4x2x4xf32, [24, 4, 1]>
// CHECK:       %[[B:[0-9]+]] = exec.ref @[[ALL]] + 32 : <4x16xf32, [24, 1]>
// CHECK:       %[[C:[0-9]+]] = exec.ref @[[ALL]] + 0 : <4x24xf32, [24, 1]>
// CHECK:       exec.kernel {{.*}} outs(%[[A]] :
// CHECK:       exec.kernel {{.*}} outs(%[[B]] :
// CHECK:       exec.kernel {{.*}}(%[[C]]) outs(%[[C]] :
// CHECK-NOT:   "copy"
func.func @slices(%x: tensor<4x2x4xf32> {tg.input = "x"}, %z: tensor<4x16xf32> {tg.input = "z"}) -> (tensor<4x24xf32> {tg.output = "y"}) {
  %0 = math.exp %x : tensor<4x2x4xf32>
  %1 = exec.view %0 offset 0 strides [8, 1] : tensor<4x2x4xf32> -> tensor<4x8xf32>
  %2 = math.tanh %z : tensor<4x16xf32>
  %3 = exec.concat %1, %2 dim 1 : (tensor<4x8xf32>, tensor<4x16xf32>) -> tensor<4x24xf32>
  %4 = math.exp %3 : tensor<4x24xf32>
  return %4 : tensor<4x24xf32>
}

// An accumulator is summed where it lies: here all in the persistent sum.
// CHECK-LABEL: exec.program @accumulate
// CHECK:       %[[SUM:[0-9]+]] = exec.ref @w.sum + 0
// CHECK:       exec.matmul "ki,kj->ij"({{.*}} acc %[[SUM]] : {{.*}}) outs(%[[SUM]] :
// CHECK:       exec.matmul "ki,kj->ij"({{.*}} acc %[[SUM]] : {{.*}}) outs(%[[SUM]] :
func.func @accumulate(%sum: tensor<4x8xf32> {tg.state = #tg.state<"w.sum", #tg.init<zeros>, of = "w", kind = accumulator>},
                      %x: tensor<2x4xf32> {tg.input = "x"}, %z: tensor<2x8xf32> {tg.input = "z"}) -> (tensor<4x8xf32> {tg.updates = "w.sum"}) {
  %0 = exec.matmul "ki,kj->ij"(%x, %z acc %sum : tensor<4x8xf32>) : tensor<2x4xf32>, tensor<2x8xf32> -> tensor<4x8xf32>
  %1 = exec.matmul "ki,kj->ij"(%x, %z acc %0 : tensor<4x8xf32>) : tensor<2x4xf32>, tensor<2x8xf32> -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// A new value overwrites the old one where everyone who reads that is done; a
// state that stays as it is takes no action.
// CHECK-LABEL: exec.program @update
// CHECK:       %[[W:[0-9]+]] = exec.ref @w + 0
// CHECK:       %[[M:[0-9]+]] = exec.ref @w.m + 0
// CHECK:       exec.kernel {{.*}}(%[[W]]) outs(%[[T:[0-9]+]] :
// CHECK:       exec.kernel {{.*}}(%[[M]], %[[T]]) outs(%[[M]] :
// CHECK:       exec.kernel {{.*}}(%[[W]], %[[M]]) outs(%[[W]] :
// CHECK-NOT:   exec.kernel
func.func @update(%w: tensor<4x8xf32> {tg.param = #tg.param<"w", #tg.init<zeros>>}, %b: tensor<4xf32> {tg.param = #tg.param<"b", #tg.init<zeros>>},
                  %m: tensor<4x8xf32> {tg.state = #tg.state<"w.m", #tg.init<zeros>, of = "w", kind = moment>})
    -> (tensor<4x8xf32> {tg.updates = "w"}, tensor<4x8xf32> {tg.updates = "w.m"}, tensor<4xf32> {tg.updates = "b"}) {
  %0 = math.exp %w : tensor<4x8xf32>
  %1 = arith.addf %m, %0 : tensor<4x8xf32>
  %2 = arith.subf %w, %1 : tensor<4x8xf32>
  return %2, %1, %b : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xf32>
}
