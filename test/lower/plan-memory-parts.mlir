// Parts of a tensor are overwritten by results that are put together to another.
// DEFINE: %{memory} = func.func(tg-decompose,exec-select-calls,exec-form-kernels,exec-fuse-kernels),exec-plan-memory,exec-verify-plan
// RUN: braid-opt %s --pass-pipeline="builtin.module(%{memory})" | FileCheck %s
// RUN: braid-interp %s --compare --function=turned --pipeline="%{memory}"
// RUN: braid-interp %s --compare --function=exchanged --pipeline="%{memory}"
// RUN: braid-interp %s --compare --function=read_later --pipeline="%{memory}"
// RUN: braid-interp %s --compare --function=partly_read --pipeline="%{memory}"
// RUN: braid-interp %s --compare --function=two_turned --pipeline="%{memory}"
// RUN: braid-interp %s --compare --function=one_head --pipeline="%{memory}"

// The halves of a rotary embedding replace those of what it turns, so the matmul writes
// where the result is wanted.
// CHECK-LABEL: exec.program @turned
// CHECK: exec.buffer @[[Y:.*]] at {{.*}} name "y"
// CHECK: exec.matmul {{.*}} outs(%[[H:[^ ]*]] :
// CHECK: exec.kernel "rope"(%[[SECOND:[0-9]+]], %{{[0-9]+}}, %[[FIRST:[0-9]+]], %{{[0-9]+}}) outs(%[[FIRST]], %[[SECOND]] :
func.func @turned(%x: tensor<2x8x16xbf16> {tg.input = "x"}, %w: tensor<16x16xbf16> {tg.param = #tg.param<"w", #tg.init<zeros>>})
    -> (tensor<2x8x4x4xbf16> {tg.output = "y"}) {
  %h = tg.contract "bsd,de->bse" %x, %w : (tensor<2x8x16xbf16>, tensor<16x16xbf16>) -> tensor<2x8x16xbf16>
  %q = tg.reshape %h : tensor<2x8x16xbf16> -> tensor<2x8x4x4xbf16>
  %y = tg.rope %q theta 1.0e4 : tensor<2x8x4x4xbf16>
  return %y : tensor<2x8x4x4xbf16>
}

// Which half is made of which does not matter: all lanes are loaded before one is stored.
// CHECK-LABEL: exec.program @exchanged
// CHECK: exec.kernel "negf__addf"(%[[FIRST:[0-9]+]], %[[SECOND:[0-9]+]]) outs(%[[SECOND]], %[[FIRST]] :
func.func @exchanged(%x: tensor<4x8xf32> {tg.input = "x"}, %w: tensor<8x8xf32> {tg.param = #tg.param<"v", #tg.init<zeros>>})
    -> (tensor<4x8xf32> {tg.output = "y"}) {
  %h = tg.contract "bd,de->be" %x, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %a = tg.slice %h dim 1 offset 0 size 4 : tensor<4x8xf32> -> tensor<4x4xf32>
  %b = tg.slice %h dim 1 offset 4 size 4 : tensor<4x8xf32> -> tensor<4x4xf32>
  %c = arith.negf %a : tensor<4x4xf32>
  %d = arith.addf %a, %b : tensor<4x4xf32>
  %y = tg.concat %d, %c dim 1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// CHECK-LABEL: exec.program @read_later
// CHECK: exec.buffer @{{.*}} name "y"
// CHECK: exec.buffer @{{.*}} name "matmul"
func.func @read_later(%x: tensor<4x8xf32> {tg.input = "x"}, %w: tensor<8x8xf32> {tg.param = #tg.param<"u", #tg.init<zeros>>})
    -> (tensor<4x8xf32> {tg.output = "y"}, tensor<4x8xf32> {tg.output = "z"}) {
  %h = tg.contract "bd,de->be" %x, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %a = tg.slice %h dim 1 offset 0 size 4 : tensor<4x8xf32> -> tensor<4x4xf32>
  %b = tg.slice %h dim 1 offset 4 size 4 : tensor<4x8xf32> -> tensor<4x4xf32>
  %c = arith.mulf %a, %b : tensor<4x4xf32>
  %d = arith.addf %a, %b : tensor<4x4xf32>
  %y = tg.concat %c, %d dim 1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x8xf32>
  %z = tg.contract "bd,de->be" %h, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  return %y, %z : tensor<4x8xf32>, tensor<4x8xf32>
}

// The last quarter is not read, and what lies beside the parts that are belongs to others.
// CHECK-LABEL: exec.program @partly_read
// CHECK: exec.buffer @{{.*}} name "y"
// CHECK: exec.buffer @{{.*}} name "matmul"
func.func @partly_read(%x: tensor<4x8xf32> {tg.input = "x"}, %w: tensor<8x8xf32> {tg.param = #tg.param<"t", #tg.init<zeros>>})
    -> (tensor<4x8xf32> {tg.output = "y"}) {
  %h = tg.contract "bd,de->be" %x, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %a = tg.slice %h dim 1 offset 0 size 3 : tensor<4x8xf32> -> tensor<4x3xf32>
  %b = tg.slice %h dim 1 offset 3 size 3 : tensor<4x8xf32> -> tensor<4x3xf32>
  %c = arith.mulf %a, %b : tensor<4x3xf32>
  %d = arith.addf %a, %b : tensor<4x3xf32>
  %e = tg.slice %x dim 1 offset 0 size 2 : tensor<4x8xf32> -> tensor<4x2xf32>
  %f = arith.negf %e : tensor<4x2xf32>
  %y = tg.concat %c, %d, %f dim 1 : (tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x2xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// One kernel turns two tensors.  A result is written over one of them only: the other may wait unread at the same time.
// CHECK-LABEL: exec.program @two_turned
// CHECK: exec.buffer @[[A:.*]] at {{.*}} name "a"
// CHECK: exec.buffer @[[B:.*]] at {{.*}} name "b"
// CHECK-DAG: %[[A1:[0-9]+]] = exec.ref @[[A]] + 0 : <4x4xf32, [8, 1]>
// CHECK-DAG: %[[A2:[0-9]+]] = exec.ref @[[A]] + 16 : <4x4xf32, [8, 1]>
// CHECK-DAG: %[[B1:[0-9]+]] = exec.ref @[[B]] + 0 : <4x4xf32, [8, 1]>
// CHECK-DAG: %[[B2:[0-9]+]] = exec.ref @[[B]] + 16 : <4x4xf32, [8, 1]>
// CHECK: exec.kernel {{.*}} outs(%[[A1]], %[[A2]], %[[B1]], %[[B2]] :
func.func @two_turned(%x: tensor<4x8xf32> {tg.input = "x"}, %w: tensor<8x8xf32> {tg.param = #tg.param<"s", #tg.init<zeros>>})
    -> (tensor<4x8xf32> {tg.output = "a"}, tensor<4x8xf32> {tg.output = "b"}) {
  %g = tg.contract "bd,de->be" %x, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %h = tg.contract "bd,ed->be" %x, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %g1 = tg.slice %g dim 1 offset 0 size 4 : tensor<4x8xf32> -> tensor<4x4xf32>
  %g2 = tg.slice %g dim 1 offset 4 size 4 : tensor<4x8xf32> -> tensor<4x4xf32>
  %h1 = tg.slice %h dim 1 offset 0 size 4 : tensor<4x8xf32> -> tensor<4x4xf32>
  %h2 = tg.slice %h dim 1 offset 4 size 4 : tensor<4x8xf32> -> tensor<4x4xf32>
  %sum = arith.addf %g1, %h2 : tensor<4x4xf32>
  %a1 = arith.mulf %sum, %g1 : tensor<4x4xf32>
  %a2 = arith.subf %sum, %g2 : tensor<4x4xf32>
  %b1 = arith.mulf %sum, %h1 : tensor<4x4xf32>
  %b2 = arith.subf %sum, %h2 : tensor<4x4xf32>
  %a = tg.concat %a1, %a2 dim 1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x8xf32>
  %b = tg.concat %b1, %b2 dim 1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x8xf32>
  return %a, %b : tensor<4x8xf32>, tensor<4x8xf32>
}

// One head and one row: queries and keys are turned by one kernel and have the same strides.
// CHECK-LABEL: exec.program @one_head
func.func @one_head(%x: tensor<1x8x16xf32> {tg.input = "x"}, %w: tensor<16x8xf32> {tg.param = #tg.param<"q", #tg.init<zeros>>},
                    %k: tensor<16x8xf32> {tg.param = #tg.param<"k", #tg.init<zeros>>})
    -> (tensor<1x8x1x8xf32> {tg.output = "a"}, tensor<1x8x1x8xf32> {tg.output = "b"}) {
  %g = tg.contract "bsd,de->bse" %x, %w : (tensor<1x8x16xf32>, tensor<16x8xf32>) -> tensor<1x8x8xf32>
  %h = tg.contract "bsd,de->bse" %x, %k : (tensor<1x8x16xf32>, tensor<16x8xf32>) -> tensor<1x8x8xf32>
  %gs = tg.reshape %g : tensor<1x8x8xf32> -> tensor<1x8x1x8xf32>
  %hs = tg.reshape %h : tensor<1x8x8xf32> -> tensor<1x8x1x8xf32>
  %a = tg.rope %gs theta 1.0e4 : tensor<1x8x1x8xf32>
  %b = tg.rope %hs theta 1.0e4 : tensor<1x8x1x8xf32>
  return %a, %b : tensor<1x8x1x8xf32>, tensor<1x8x1x8xf32>
}
