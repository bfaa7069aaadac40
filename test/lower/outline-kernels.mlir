// Equal kernels are defined once; elementwise ones do not depend on their length, and those
// that reduce rows to values do not depend on the number of rows.
// RUN: braid-opt %s --exec-plan-memory --exec-outline-kernels --exec-verify-memory | FileCheck %s
// RUN: braid-opt %s --exec-plan-memory --exec-outline-kernels --exec-batch-launches --exec-verify-plan | FileCheck %s --check-prefix=BATCH

// Two parameters of different shapes: one definition of length 1, written in place.
// CHECK: exec.kernel_def @update space [1] flat layouts
// CHECK-SAME: [!exec.ref<1xf32, [1]>, !exec.ref<1xf32, [1]>, !exec.ref<1xf32, [1]>] ties [0]
// CHECK-NOT: exec.kernel_def @update
// Sums over lanes of four rows and of two: one definition for one row.
// CHECK: exec.kernel_def @sum space [1, 8] flat layouts
// CHECK-SAME: [!exec.ref<1x8xf32, [8, 1]>, !exec.ref<1xf32, [1]>] ties [-1]
// CHECK-NOT: exec.kernel_def @sum
// CHECK: exec.program @train
// CHECK: exec.launch @update batch 1
// CHECK: exec.launch @sum batch 1
// CHECK: exec.launch @update batch 1
// CHECK: exec.launch @sum batch 1

// The second update moves up to the first: nothing between touches its memory.
// BATCH: exec.program @train
// BATCH: exec.launch @update batch 2
// BATCH-NOT: exec.launch @update
// The result of the second sum lies where the operand of the first was.
// BATCH: exec.launch @sum batch 1
// BATCH: exec.launch @sum batch 1

func.func @train(%p: tensor<4x8xf32> {tg.param = #tg.param<"p", #tg.init<zeros>>}, %q: tensor<2x8xf32> {tg.param = #tg.param<"q", #tg.init<zeros>>},
    %x: tensor<4x8xf32> {tg.input = "x"}, %y: tensor<2x8xf32> {tg.input = "y"})
    -> (tensor<4x8xf32> {tg.updates = "p"}, tensor<2x8xf32> {tg.updates = "q"}, tensor<4xf32> {tg.output = "a"}, tensor<2xf32> {tg.output = "b"}) {
  %0 = exec.kernel "update"(%p, %x) space [4, 8] : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
  ^bb0(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>):
    %e = tensor.empty() : tensor<4x8xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                         iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
        ins(%a, %b : tensor<4x8xf32>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
    ^bb0(%u: f32, %v: f32, %o: f32):
      %m = arith.subf %u, %v : f32
      linalg.yield %m : f32
    } -> tensor<4x8xf32>
    exec.yield %r : tensor<4x8xf32>
  }
  %1 = exec.kernel "sum"(%x) space [4, 8] : (tensor<4x8xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4x8xf32>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<4xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                         iterator_types = ["parallel", "reduction"], exec.dims = array<i64: 0, 1>}
        ins(%a : tensor<4x8xf32>) outs(%f : tensor<4xf32>) {
    ^bb0(%u: f32, %o: f32):
      %m = arith.addf %u, %o : f32
      linalg.yield %m : f32
    } -> tensor<4xf32>
    exec.yield %r : tensor<4xf32>
  }
  %2 = exec.kernel "update"(%q, %y) space [2, 8] : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32> {
  ^bb0(%a: tensor<2x8xf32>, %b: tensor<2x8xf32>):
    %e = tensor.empty() : tensor<2x8xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                         iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
        ins(%a, %b : tensor<2x8xf32>, tensor<2x8xf32>) outs(%e : tensor<2x8xf32>) {
    ^bb0(%u: f32, %v: f32, %o: f32):
      %m = arith.subf %u, %v : f32
      linalg.yield %m : f32
    } -> tensor<2x8xf32>
    exec.yield %r : tensor<2x8xf32>
  }
  %3 = exec.kernel "sum"(%y) space [2, 8] : (tensor<2x8xf32>) -> tensor<2xf32> {
  ^bb0(%a: tensor<2x8xf32>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<2xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2xf32>) -> tensor<2xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                         iterator_types = ["parallel", "reduction"], exec.dims = array<i64: 0, 1>}
        ins(%a : tensor<2x8xf32>) outs(%f : tensor<2xf32>) {
    ^bb0(%u: f32, %o: f32):
      %m = arith.addf %u, %o : f32
      linalg.yield %m : f32
    } -> tensor<2xf32>
    exec.yield %r : tensor<2xf32>
  }
  return %0, %2, %1, %3 : tensor<4x8xf32>, tensor<2x8xf32>, tensor<4xf32>, tensor<2xf32>
}
