// Actions move across the peak of memory where that lowers it.
// RUN: braid-opt %s --exec-lower-peak --split-input-file --verify-diagnostics | FileCheck %s
// RUN: braid-interp %s --compare --pipeline=exec-lower-peak --rtol=0 --seeds=2

// The first product is read last: it is computed once one of the large values is gone.
// CHECK-LABEL: @early
// CHECK: %[[A:.*]] = exec.matmul {{.*}}(%arg0, %arg1)
// CHECK-NEXT: %[[B:.*]] = exec.matmul {{.*}}(%[[A]], %arg2)
// CHECK-NEXT: exec.matmul {{.*}}(%arg0, %arg0)
// expected-remark @below {{@early: another order of the same actions holds}}
func.func @early(%x: tensor<64x64xf32> {tg.param = #tg.param<"x", #tg.init<ones>>},
                 %u: tensor<64x256xf32> {tg.param = #tg.param<"u", #tg.init<ones>>},
                 %v: tensor<256x256xf32> {tg.param = #tg.param<"v", #tg.init<ones>>},
                 %w: tensor<256x64xf32> {tg.param = #tg.param<"w", #tg.init<ones>>}) -> tensor<64x64xf32> {
  %early = exec.matmul "mk,kn->mn"(%x, %x) : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %a = exec.matmul "mk,kn->mn"(%x, %u) : tensor<64x64xf32>, tensor<64x256xf32> -> tensor<64x256xf32>
  %b = exec.matmul "mk,kn->mn"(%a, %v) : tensor<64x256xf32>, tensor<256x256xf32> -> tensor<64x256xf32>
  %c = exec.matmul "mk,kn->mn"(%b, %w) : tensor<64x256xf32>, tensor<256x64xf32> -> tensor<64x64xf32>
  %d = exec.matmul "mk,kn->mn"(%c, %early) : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  return %d : tensor<64x64xf32>
}

// -----

// A large value that only waits is read before the next one is made.
// CHECK-LABEL: @waits
// CHECK: %[[L:.*]] = exec.matmul {{.*}}(%arg0, %arg1)
// CHECK-NEXT: %[[A:.*]] = exec.matmul {{.*}}(%[[L]], %arg2)
// CHECK-NEXT: exec.matmul {{.*}}(%[[L]], %arg3)
// CHECK-NEXT: exec.matmul {{.*}}(%[[A]], %arg2)
// expected-remark @below {{@waits: another order of the same actions holds}}
func.func @waits(%x: tensor<64x64xf32> {tg.param = #tg.param<"x", #tg.init<ones>>},
                 %u: tensor<64x256xf32> {tg.param = #tg.param<"u", #tg.init<ones>>},
                 %v: tensor<256x256xf32> {tg.param = #tg.param<"v", #tg.init<ones>>},
                 %w: tensor<256x64xf32> {tg.param = #tg.param<"w", #tg.init<ones>>}) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %l = exec.matmul "mk,kn->mn"(%x, %u) : tensor<64x64xf32>, tensor<64x256xf32> -> tensor<64x256xf32>
  %a = exec.matmul "mk,kn->mn"(%l, %v) : tensor<64x256xf32>, tensor<256x256xf32> -> tensor<64x256xf32>
  %b = exec.matmul "mk,kn->mn"(%a, %v) : tensor<64x256xf32>, tensor<256x256xf32> -> tensor<64x256xf32>
  %c = exec.matmul "mk,kn->mn"(%b, %w) : tensor<64x256xf32>, tensor<256x64xf32> -> tensor<64x64xf32>
  %s = exec.matmul "mk,kn->mn"(%l, %w) : tensor<64x256xf32>, tensor<256x64xf32> -> tensor<64x64xf32>
  return %c, %s : tensor<64x64xf32>, tensor<64x64xf32>
}

// -----

// A chain has one order.
// CHECK-LABEL: @chain
// CHECK: exec.matmul {{.*}}(%arg0, %arg1)
// CHECK-NEXT: exec.matmul {{.*}}, %arg2)
// CHECK-NEXT: return
func.func @chain(%x: tensor<64x64xf32> {tg.param = #tg.param<"x", #tg.init<ones>>},
                 %u: tensor<64x256xf32> {tg.param = #tg.param<"u", #tg.init<ones>>},
                 %w: tensor<256x64xf32> {tg.param = #tg.param<"w", #tg.init<ones>>}) -> tensor<64x64xf32> {
  %a = exec.matmul "mk,kn->mn"(%x, %u) : tensor<64x64xf32>, tensor<64x256xf32> -> tensor<64x256xf32>
  %b = exec.matmul "mk,kn->mn"(%a, %w) : tensor<64x256xf32>, tensor<256x64xf32> -> tensor<64x64xf32>
  return %b : tensor<64x64xf32>
}

// -----

// Who reads a parameter stays before who overwrites it, though memory were lower the other way.
// CHECK-LABEL: @overwritten
// CHECK: exec.matmul {{.*}}(%arg0, %arg1)
// CHECK: exec.kernel "step"
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @overwritten(%x: tensor<64x64xf32> {tg.param = #tg.param<"x", #tg.init<ones>>},
                       %u: tensor<64x64xf32> {tg.param = #tg.param<"u", #tg.init<ones>>})
    -> (tensor<64x64xf32>, tensor<64x64xf32> {tg.updates = "u"}) {
  %a = exec.matmul "mk,kn->mn"(%x, %u) : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %s = exec.kernel "step"(%u) space [64, 64] : (tensor<64x64xf32>) -> tensor<64x64xf32> {
  ^bb0(%in: tensor<64x64xf32>):
    %empty = tensor.empty() : tensor<64x64xf32>
    %new = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%in : tensor<64x64xf32>) outs(%empty : tensor<64x64xf32>) attrs = {exec.dims = array<i64: 0, 1>} {
    ^bb0(%one: f32, %out: f32):
      %sum = arith.addf %one, %one : f32
      linalg.yield %sum : f32
    } -> tensor<64x64xf32>
    exec.yield %new : tensor<64x64xf32>
  }
  return %a, %s : tensor<64x64xf32>, tensor<64x64xf32>
}
