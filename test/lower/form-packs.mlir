// Parameters that are read as one tensor lie side by side, and reading them so is no work.
// RUN: braid-opt %s --exec-form-packs --split-input-file | FileCheck %s
// RUN: braid-opt %s --exec-form-packs --exec-plan-memory --exec-verify-plan --exec-verify-memory --split-input-file | FileCheck %s --check-prefix=MEMORY

// Each keeps its name; its new value is written where it is in the pack.
// CHECK-LABEL: @train
// CHECK-SAME: %arg0: tensor<16xf32> {exec.pack = "h.{q,k}.weight"
// CHECK-SAME: %arg2: tensor<32xf32> {exec.pack = "h.{q,k}.weight"
// MEMORY: exec.tensor @h.q.weight at [[Q:[0-9]+]] bytes 64
// MEMORY: exec.tensor @h.k.weight at [[K:[0-9]+]] bytes 128
// MEMORY: exec.tensor @scale
// MEMORY: exec.pack @"h.{q,k}.weight" at [[Q]] bytes 192 of [@h.q.weight, @h.k.weight]
// MEMORY: exec.program @train
// MEMORY-NOT: copy
// MEMORY-DAG: exec.ref @"h.{q,k}.weight" + 0 : <48xf32, [1]>
// MEMORY-DAG: %[[NEW_K:.*]] = exec.ref @"h.{q,k}.weight" + 64 : <32xf32, [1]>
// MEMORY: exec.kernel "double"(%[[NEW_K]]) outs(%[[NEW_K]]
#id = affine_map<(d0) -> (d0)>
func.func @train(%q: tensor<16xf32> {tg.param = #tg.param<"h.q.weight", #tg.init<ones>>},
                 %scale: tensor<16xf32> {tg.param = #tg.param<"scale", #tg.init<ones>>},
                 %k: tensor<32xf32> {tg.param = #tg.param<"h.k.weight", #tg.init<ones>>})
    -> (tensor<48xf32>, tensor<32xf32> {tg.updates = "h.k.weight"}) {
  %w = exec.concat %q, %k dim 0 : (tensor<16xf32>, tensor<32xf32>) -> tensor<48xf32>
  %y = exec.kernel "negate"(%w) space [48] : (tensor<48xf32>) -> tensor<48xf32> {
  ^bb0(%in: tensor<48xf32>):
    %empty = tensor.empty() : tensor<48xf32>
    %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
        ins(%in : tensor<48xf32>) outs(%empty : tensor<48xf32>) attrs = {exec.dims = array<i64: 0>} {
    ^bb0(%a: f32, %out: f32):
      %n = arith.negf %a : f32
      linalg.yield %n : f32
    } -> tensor<48xf32>
    exec.yield %r : tensor<48xf32>
  }
  %new = exec.kernel "double"(%k) space [32] : (tensor<32xf32>) -> tensor<32xf32> {
  ^bb0(%in: tensor<32xf32>):
    %empty = tensor.empty() : tensor<32xf32>
    %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
        ins(%in : tensor<32xf32>) outs(%empty : tensor<32xf32>) attrs = {exec.dims = array<i64: 0>} {
    ^bb0(%a: f32, %out: f32):
      %n = arith.addf %a, %a : f32
      linalg.yield %n : f32
    } -> tensor<32xf32>
    exec.yield %r : tensor<32xf32>
  }
  return %y, %new : tensor<48xf32>, tensor<32xf32>
}

// -----

// Left alone, and copied: a parameter that does not end where another may begin; arguments in
// another order; one that lies beside another already; a tensor that is no parameter.
// CHECK-LABEL: @left_alone
// CHECK-NOT: exec.pack = "{short
// CHECK: {exec.pack = "{a,b}"
// CHECK: {exec.pack = "{a,b}"
// CHECK-NOT: exec.pack
// CHECK: return
func.func @left_alone(%short: tensor<3xf32> {tg.param = #tg.param<"short", #tg.init<ones>>},
                      %a: tensor<16xf32> {tg.param = #tg.param<"a", #tg.init<ones>>},
                      %b: tensor<16xf32> {tg.param = #tg.param<"b", #tg.init<ones>>},
                      %c: tensor<16xf32> {tg.param = #tg.param<"c", #tg.init<ones>>},
                      %x: tensor<16xf32> {tg.input = "x"})
    -> (tensor<19xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>) {
  %0 = exec.concat %short, %a dim 0 : (tensor<3xf32>, tensor<16xf32>) -> tensor<19xf32>
  %1 = exec.concat %b, %a dim 0 : (tensor<16xf32>, tensor<16xf32>) -> tensor<32xf32>
  %2 = exec.concat %a, %b dim 0 : (tensor<16xf32>, tensor<16xf32>) -> tensor<32xf32>
  %3 = exec.concat %b, %c dim 0 : (tensor<16xf32>, tensor<16xf32>) -> tensor<32xf32>
  %4 = exec.concat %c, %x dim 0 : (tensor<16xf32>, tensor<16xf32>) -> tensor<32xf32>
  return %0, %1, %2, %3, %4 : tensor<19xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>
}

// -----

// Another program has one of the two alone: it could not say where that lies.
// CHECK-LABEL: @both
// CHECK-NOT: exec.pack
func.func @both(%a: tensor<16xf32> {tg.param = #tg.param<"a", #tg.init<ones>>},
                %b: tensor<16xf32> {tg.param = #tg.param<"b", #tg.init<ones>>}) -> tensor<32xf32> {
  %0 = exec.concat %a, %b dim 0 : (tensor<16xf32>, tensor<16xf32>) -> tensor<32xf32>
  return %0 : tensor<32xf32>
}
func.func @one(%b: tensor<16xf32> {tg.param = #tg.param<"b", #tg.init<ones>>}) -> tensor<16xf32> {
  return %b : tensor<16xf32>
}
