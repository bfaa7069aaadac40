// A launch that reads what was written since the first of its kernel stays behind;
// lives follow the new numbers.
// RUN: braid-opt %s --exec-batch-launches --split-input-file | FileCheck %s

// CHECK-LABEL: exec.program @p
// CHECK: exec.buffer @a at 0 bytes 32 live -1 to 1
// CHECK: exec.buffer @b at 64 bytes 32 live 0 to 1
// CHECK: exec.buffer @c at 128 bytes 32 live 1 to 2
// CHECK: exec.buffer @d at 192 bytes 32 live 1 to 2
// CHECK: exec.launch @double batch 1(%[[A:.*]]) outs(%[[B:.*]])
// CHECK: exec.launch @double batch 2(%[[B]], %[[A]]) outs(%[[C:.*]], %[[D:.*]])
// CHECK-NOT: exec.launch

exec.kernel_def @double space [1] flat layouts [!exec.ref<1xf32, [1]>, !exec.ref<1xf32, [1]>] ties [-1] {
^bb0(%a: tensor<1xf32>):
  %e = tensor.empty() : tensor<1xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                       iterator_types = ["parallel"], exec.dims = array<i64: 0>}
      ins(%a : tensor<1xf32>) outs(%e : tensor<1xf32>) {
  ^bb0(%u: f32, %o: f32):
    %m = arith.addf %u, %u : f32
    linalg.yield %m : f32
  } -> tensor<1xf32>
  exec.yield %r : tensor<1xf32>
}
exec.program @p arena 256 {
  exec.buffer @a at 0 bytes 32 live -1 to 2 category inputs name "a" "input" role "a" : tensor<8xf32>
  exec.buffer @b at 64 bytes 32 live 0 to 1 category activations name "b"
  exec.buffer @c at 128 bytes 32 live 1 to 3 category activations name "c" "result" role "c" : tensor<8xf32>
  exec.buffer @d at 192 bytes 32 live 2 to 3 category activations name "d" "result" role "d" : tensor<8xf32>
  %a = exec.ref @a + 0 : !exec.ref<8xf32, [1]>
  %b = exec.ref @b + 0 : !exec.ref<8xf32, [1]>
  %c = exec.ref @c + 0 : !exec.ref<8xf32, [1]>
  exec.launch @double batch 1 (%a) outs (%b) : !exec.ref<8xf32, [1]> -> !exec.ref<8xf32, [1]>
  exec.launch @double batch 1 (%b) outs (%c) : !exec.ref<8xf32, [1]> -> !exec.ref<8xf32, [1]>
  %d = exec.ref @d + 0 : !exec.ref<8xf32, [1]>
  exec.launch @double batch 1 (%a) outs (%d) : !exec.ref<8xf32, [1]> -> !exec.ref<8xf32, [1]>
}

// -----

// Launches of a kernel that is not flat are one where nothing forbids it; one that leaves a
// partial sum for each block of rows is launched by itself.
// CHECK-LABEL: exec.program @q
// CHECK: exec.launch @columns batch 2(%[[X:.*]], %[[Y:.*]]) outs
// CHECK: exec.launch @blocks batch 1
// CHECK: exec.launch @blocks batch 1
// CHECK-NOT: exec.launch

exec.kernel_def @columns space [4, 8] layouts [!exec.ref<4x8xf32, [8, 1]>, !exec.ref<8xf32, [1]>] ties [-1] {
^bb0(%a: tensor<4x8xf32>):
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>],
                       iterator_types = ["reduction", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%a : tensor<4x8xf32>) outs(%f : tensor<8xf32>) {
  ^bb0(%u: f32, %o: f32):
    %m = arith.addf %u, %o : f32
    linalg.yield %m : f32
  } -> tensor<8xf32>
  exec.yield %r : tensor<8xf32>
}
exec.kernel_def @blocks space [2, 2, 8] layouts [!exec.ref<2x2x8xf32, [16, 8, 1]>, !exec.ref<2x8xf32, [8, 1]>] ties [-1] {
^bb0(%a: tensor<2x2x8xf32>):
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x8xf32>) -> tensor<2x8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, k)>],
                       iterator_types = ["parallel", "reduction", "parallel"], exec.dims = array<i64: 0, 1, 2>}
      ins(%a : tensor<2x2x8xf32>) outs(%f : tensor<2x8xf32>) {
  ^bb0(%u: f32, %o: f32):
    %m = arith.addf %u, %o : f32
    linalg.yield %m : f32
  } -> tensor<2x8xf32>
  exec.yield %r : tensor<2x8xf32>
}
exec.program @q arena 768 {
  exec.buffer @x at 0 bytes 128 live -1 to 3 category inputs name "x" "input" role "x" : tensor<4x8xf32>
  exec.buffer @y at 128 bytes 128 live -1 to 3 category inputs name "y" "input" role "y" : tensor<4x8xf32>
  exec.buffer @a at 256 bytes 32 live 0 to 4 category activations name "a" "result" role "a" : tensor<8xf32>
  exec.buffer @b at 320 bytes 64 live 1 to 4 category activations name "b" "result" role "b" : tensor<2x8xf32>
  exec.buffer @c at 384 bytes 32 live 2 to 4 category activations name "c" "result" role "c" : tensor<8xf32>
  exec.buffer @d at 448 bytes 64 live 3 to 4 category activations name "d" "result" role "d" : tensor<2x8xf32>
  %x = exec.ref @x + 0 : !exec.ref<4x8xf32, [8, 1]>
  %y = exec.ref @y + 0 : !exec.ref<4x8xf32, [8, 1]>
  %xb = exec.ref @x + 0 : !exec.ref<2x2x8xf32, [16, 8, 1]>
  %yb = exec.ref @y + 0 : !exec.ref<2x2x8xf32, [16, 8, 1]>
  %a = exec.ref @a + 0 : !exec.ref<8xf32, [1]>
  %b = exec.ref @b + 0 : !exec.ref<2x8xf32, [8, 1]>
  %c = exec.ref @c + 0 : !exec.ref<8xf32, [1]>
  %d = exec.ref @d + 0 : !exec.ref<2x8xf32, [8, 1]>
  exec.launch @columns batch 1 (%x) outs (%a) : !exec.ref<4x8xf32, [8, 1]> -> !exec.ref<8xf32, [1]>
  exec.launch @blocks batch 1 (%xb) outs (%b) : !exec.ref<2x2x8xf32, [16, 8, 1]> -> !exec.ref<2x8xf32, [8, 1]>
  exec.launch @columns batch 1 (%y) outs (%c) : !exec.ref<4x8xf32, [8, 1]> -> !exec.ref<8xf32, [1]>
  exec.launch @blocks batch 1 (%yb) outs (%d) : !exec.ref<2x2x8xf32, [16, 8, 1]> -> !exec.ref<2x8xf32, [8, 1]>
}
