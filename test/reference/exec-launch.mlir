// A flat kernel launched on two tuples of different lengths, each in place; and
// with a tuple that reads what another writes.
//
// RUN: braid-interp %s --set lr=2 --set a=10 --set b=20 --set g=1 --set h=3 | FileCheck %s
// RUN: sed 's/exec.ref @h/exec.ref @a/' %s > %t.crossed.mlir
// RUN: not braid-interp %t.crossed.mlir 2>&1 | FileCheck %s --check-prefix=CROSSED

// CHECK: updates a: tensor<2x2xf32> = {{\[\[}}8, 8], [8, 8]]
// CHECK: updates b: tensor<3xf32> = [14, 14, 14]

// CROSSED: error: writes out 0 over operand 4, which it still reads

exec.tensor @a at 0 bytes 16 category parameters : tensor<2x2xf32> = #tg.param<"a", #tg.init<ones>>
exec.tensor @b at 64 bytes 12 category parameters : tensor<3xf32> = #tg.param<"b", #tg.init<ones>>

exec.kernel_def @sgd space [1] flat layouts [!exec.ref<1xf32, [1]>, !exec.ref<1xf32, [1]>, !exec.ref<f32, []>, !exec.ref<1xf32, [1]>]
    ties [0] {
^bb0(%p: tensor<1xf32>, %g: tensor<1xf32>, %lr: tensor<f32>):
  %e = tensor.empty() : tensor<1xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> (i)>],
                       iterator_types = ["parallel"], exec.dims = array<i64: 0>}
      ins(%p, %g, %lr : tensor<1xf32>, tensor<1xf32>, tensor<f32>) outs(%e : tensor<1xf32>) {
  ^bb0(%u: f32, %v: f32, %l: f32, %o: f32):
    %m = arith.mulf %v, %l : f32
    %s = arith.subf %u, %m : f32
    linalg.yield %s : f32
  } -> tensor<1xf32>
  exec.yield %r : tensor<1xf32>
}

exec.program @train arena 256 {
  exec.buffer @g at 128 bytes 16 live -1 to 0 category inputs name "g" "input" role "g" : tensor<2x2xf32>
  exec.buffer @h at 144 bytes 12 live -1 to 0 category inputs name "h" "input" role "h" : tensor<3xf32>
  exec.buffer @lr at 160 bytes 4 live -1 to 0 category inputs name "lr" "input" role "lr" : tensor<f32>
  %a = exec.ref @a + 0 : !exec.ref<2x2xf32, [2, 1]>
  %b = exec.ref @b + 0 : !exec.ref<3xf32, [1]>
  %g = exec.ref @g + 0 : !exec.ref<2x2xf32, [2, 1]>
  %h = exec.ref @h + 0 : !exec.ref<3xf32, [1]>
  %lr = exec.ref @lr + 0 : !exec.ref<f32, []>
  exec.launch @sgd batch 2 (%a, %g, %lr, %b, %h, %lr) outs(%a, %b)
      : !exec.ref<2x2xf32, [2, 1]>, !exec.ref<2x2xf32, [2, 1]>, !exec.ref<f32, []>, !exec.ref<3xf32, [1]>, !exec.ref<3xf32, [1]>, !exec.ref<f32, []>
      -> !exec.ref<2x2xf32, [2, 1]>, !exec.ref<3xf32, [1]>
}
