// A flat kernel is launched over a table of vectors, or over one.
// RUN: braidc %s --emit=cpp | FileCheck %s
// RUN: braidc %s -o %t.native --cpu=native
// RUN: %t.native run --program train --outputs %t.st --threads 2 && braid-interp %s --function=train --inputs=%t.st --expect=%t.st
// RUN: braidc %s -o %t.x8664v3 --cpu=x86-64-v3
// RUN: %t.x8664v3 run --program train --outputs %t.st --threads 2 && braid-interp %s --function=train --inputs=%t.st --expect=%t.st
// RUN: braidc %s -o %t.x8664 --cpu=x86-64
// RUN: %t.x8664 run --program train --outputs %t.st --threads 2 && braid-interp %s --function=train --inputs=%t.st --expect=%t.st

// CHECK-LABEL: // sgd: vectors of any length
// CHECK-NEXT: static void sgd_kernel(Block block, float *__restrict io0,
// CHECK-NEXT:                        const float *__restrict a1, const float *__restrict a2) {
// CHECK-NEXT:   float t2 = ld1(a2);
// CHECK-NEXT:   float t3 = t2 * 2.0f;
// CHECK-NEXT:   lanes(block.begin, block.end, [&](int64_t l, auto n) {
// CHECK-NEXT:     V t0 = ld(io0 + l, n);
// CHECK-NEXT:     V t1 = ld(a1 + l, n);
// CHECK-NEXT:     V t4 = t1 * t3;
// CHECK-NEXT:     V t5 = t0 - t4;
// CHECK-NEXT:     st(io0 + l, t5, n);
// CHECK-NEXT:   });
// CHECK-NEXT: }
// CHECK: static constexpr Tuple<3> sgd_kernel_table0[] = {
// CHECK-NEXT:     {10000, {w, gw, lr}}, // w
// CHECK-NEXT:     {100, {b, gb, lr}}, // b
// CHECK-NEXT: };
// CHECK: launch_table(ctx, m, sgd_kernel_table0, sgd_kernel);
// CHECK: launch_lanes(ctx, 1, 3, sgd_kernel, m[c], m[gc], m[lr]);

#v = affine_map<(i) -> (i)>
#s = affine_map<(i) -> ()>
exec.kernel_def @sgd space [1] flat layouts [
    !exec.ref<1xf32, [1]>, !exec.ref<1xf32, [1]>, !exec.ref<f32, []>, !exec.ref<1xf32, [1]>] ties [0] {
^bb0(%p: tensor<1xf32>, %g: tensor<1xf32>, %lr: tensor<f32>):
  %e = tensor.empty() : tensor<1xf32>
  %two = arith.constant 2.0 : f32
  %y = linalg.generic {indexing_maps = [#v, #v, #s, #v], iterator_types = ["parallel"], exec.dims = array<i64: 0>}
      ins(%p, %g, %lr : tensor<1xf32>, tensor<1xf32>, tensor<f32>) outs(%e : tensor<1xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
    %c2 = arith.mulf %c, %two : f32
    %t = arith.mulf %b, %c2 : f32
    %u = arith.subf %a, %t : f32
    linalg.yield %u : f32
  } -> tensor<1xf32>
  exec.yield %y : tensor<1xf32>
}
exec.tensor @w at 0 bytes 40000 category parameters : tensor<100x100xf32> = #tg.param<"w", #tg.init<normal, 0.0, 0.02>, transposed>
exec.tensor @b at 40000 bytes 448 category parameters : tensor<100xf32> = #tg.param<"b", #tg.init<zeros>>
exec.tensor @c at 40448 bytes 64 category parameters : tensor<3xf32> = #tg.param<"c", #tg.init<uniform, -1.0, 1.0 layers 8>>
exec.program @train arena 81344 {
  exec.buffer @gw at 40512 bytes 40000 live -1 to 0 category inputs name "gw" "input" role "gw" : tensor<100x100xf32>
  exec.buffer @gb at 80512 bytes 448 live -1 to 0 category inputs name "gb" "input" role "gb" : tensor<100xf32>
  exec.buffer @gc at 80960 bytes 64 live -1 to 1 category inputs name "gc" "input" role "gc" : tensor<3xf32>
  exec.buffer @lr at 81024 bytes 64 live -1 to 1 category inputs name "lr" "input" role "lr" : tensor<f32>
  %w = exec.ref @w + 0 : !exec.ref<100x100xf32, [100, 1]>
  %b = exec.ref @b + 0 : !exec.ref<100xf32, [1]>
  %c = exec.ref @c + 0 : !exec.ref<3xf32, [1]>
  %gw = exec.ref @gw + 0 : !exec.ref<100x100xf32, [100, 1]>
  %gb = exec.ref @gb + 0 : !exec.ref<100xf32, [1]>
  %gc = exec.ref @gc + 0 : !exec.ref<3xf32, [1]>
  %lr = exec.ref @lr + 0 : !exec.ref<f32, []>
  exec.launch @sgd batch 2 (%w, %gw, %lr, %b, %gb, %lr) outs(%w, %b)
      : !exec.ref<100x100xf32, [100, 1]>, !exec.ref<100x100xf32, [100, 1]>, !exec.ref<f32, []>, !exec.ref<100xf32, [1]>, !exec.ref<100xf32, [1]>, !exec.ref<f32, []>
      -> !exec.ref<100x100xf32, [100, 1]>, !exec.ref<100xf32, [1]>
  exec.launch @sgd batch 1 (%c, %gc, %lr) outs(%c)
      : !exec.ref<3xf32, [1]>, !exec.ref<3xf32, [1]>, !exec.ref<f32, []> -> !exec.ref<3xf32, [1]>
}
