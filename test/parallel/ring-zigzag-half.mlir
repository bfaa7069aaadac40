// Where nobody reads what the second half of queries makes, the first half alone goes round: no query counts the second
// piece of a block, whose gradient is zero.
//
// RUN: braid-opt %s --comm-form-rings | FileCheck %s
//
// CHECK: comm.permute
// CHECK: %{{.*}}, %[[DK:.*]], %{{.*}} = tg.attention_grad
// CHECK: %[[NONE:.*]] = arith.constant dense<0.000000e+00> : tensor<1x2x2x4xf32>
// CHECK: %[[HOME:.*]] = tg.concat %[[DK]], %[[NONE]] dim 1
// CHECK: tg.attention_grad
// CHECK: %[[AWAY:.*]] = tg.concat
// CHECK: %[[BACK:.*]] = comm.permute %[[AWAY]] pairs [0 -> 1, 1 -> 0]
// CHECK: %[[SUM:.*]] = arith.addf %[[HOME]], %[[BACK]]
// CHECK-NOT: tg.attention_grad
// CHECK: return %{{.*}}, %[[SUM]]
module attributes {comm.ring = #comm<axes{cp}>, comm.zigzag = #comm<axes{cp}>} {
  comm.mesh @mesh [cp = 2]
  func.func @train(%a: tensor<1x2x2x4xf32>, %k: tensor<1x4x2x4xf32>, %o: tensor<1x2x2x4xf32>, %lse: tensor<1x2x2xf32>,
                   %do: tensor<1x2x2x4xf32>, %first: tensor<i32>) -> (tensor<1x2x2x4xf32>, tensor<1x4x2x4xf32>)
      attributes {comm.program = #comm.program<@mesh>} {
    %zero = arith.constant dense<0> : tensor<i32>
    %gathered = comm.all_gather %k dims [1] over @mesh {cp} : (tensor<1x4x2x4xf32>) -> tensor<1x8x2x4xf32>
    %keys = tg.reorder %gathered dim 1 order [0, 2, 3, 1] : tensor<1x8x2x4xf32>
    %da, %dk, %dv = tg.attention_grad %a, %keys, %keys, %o, %lse, %do at %first, %zero scale 0.5 causal {comm.half = 0}
        : (tensor<1x2x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x2x2x4xf32>, tensor<1x2x2xf32>, tensor<1x2x2x4xf32>, tensor<i32>, tensor<i32>)
        -> (tensor<1x2x2x4xf32>, tensor<1x8x2x4xf32>, tensor<1x8x2x4xf32>)
    %held = tg.reorder %dk dim 1 order [0, 3, 1, 2] : tensor<1x8x2x4xf32>
    %sum = comm.reduce_scatter sum %held dims [1] over @mesh {cp} : (tensor<1x8x2x4xf32>) -> tensor<1x4x2x4xf32>
    return %da, %sum : tensor<1x2x2x4xf32>, tensor<1x4x2x4xf32>
  }
}
