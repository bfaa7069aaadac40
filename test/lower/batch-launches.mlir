// A launch that reads what was written since the first of its kernel stays behind;
// lives follow the new numbers.
// RUN: braid-opt %s --exec-batch-launches | FileCheck %s

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
