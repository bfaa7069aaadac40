// Every op that is registered with a rule must be there.
//
// RUN: not braid-opt %s --tg-print-sharding-rules=complete -o /dev/null 2>&1 | FileCheck %s
// CHECK-DAG: error: no tg.softmax, which has a sharding rule
// CHECK-DAG: error: no arith.addf, which has a sharding rule
// CHECK-NOT: no tg.gelu,

func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = tg.gelu tanh %x : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
