// Attention whose positions are shared out: heads change places with them, or nothing is said.
//
// RUN: split-file %s %t
// RUN: braid-opt %t/model.mlir --comm-context-parallel="axes=cp how=ulysses" | FileCheck %t/model.mlir --check-prefix=HEADS
// RUN: braid-opt %t/model.mlir --comm-context-parallel="axes=cp how=ulysses head-axes=tp" | FileCheck %t/model.mlir --check-prefix=BOTH
// RUN: braid-opt %t/model.mlir --comm-context-parallel="axes=cp how=gather" | FileCheck %t/model.mlir --check-prefix=GATHER
// RUN: braid-opt %t/model.mlir --comm-context-parallel=axes=cp | FileCheck %t/model.mlir --check-prefix=HEADS
// RUN: not braid-opt %t/few.mlir --comm-context-parallel="axes=cp how=ulysses" 2>&1 | FileCheck %t/few.mlir --check-prefix=FEW
// RUN: braid-opt %t/few.mlir --comm-context-parallel=axes=cp | FileCheck %t/few.mlir

//--- model.mlir
comm.mesh @mesh [cp = 2, tp = 2]

// HEADS-COUNT-3: comm.constrain %{{.*}} <@mesh, {?} {} {cp} {?}>
// HEADS: %[[Y:[a-z0-9]+]], %{{.*}} = tg.attention
// HEADS-NEXT: comm.constrain %[[Y]] <@mesh, {?} {cp} {} {?}>
// BOTH-COUNT-3: comm.constrain %{{.*}} <@mesh, {?} {} {tp, cp} {?}>
// BOTH: comm.constrain %{{.*}} <@mesh, {?} {cp} {tp} {?}>
// GATHER-NOT: comm.constrain
func.func @model(%q: tensor<2x8x32x4xf32> {tg.input = "q"}, %k: tensor<2x8x4x4xf32> {tg.input = "k"},
                 %v: tensor<2x8x4x4xf32> {tg.input = "v"}) -> tensor<2x8x32x4xf32> {
  %y, %lse = tg.attention %q, %k, %v scale 0.5 causal
      : (tensor<2x8x32x4xf32>, tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>) -> (tensor<2x8x32x4xf32>, tensor<2x32x8xf32>)
  return %y : tensor<2x8x32x4xf32>
}

//--- few.mlir
comm.mesh @mesh [cp = 4]

// FEW: error: 'tg.attention' op cannot share out heads over {cp}, 4 ranks: it has 2 heads of keys and values, which these ranks do not divide; gather keys and values instead
// CHECK-NOT: comm.constrain
func.func @model(%q: tensor<2x8x4x4xf32> {tg.input = "q"}, %k: tensor<2x8x2x4xf32> {tg.input = "k"},
                 %v: tensor<2x8x2x4xf32> {tg.input = "v"}) -> tensor<2x8x4x4xf32> {
  %y, %lse = tg.attention %q, %k, %v scale 0.5 causal
      : (tensor<2x8x4x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>) -> (tensor<2x8x4x4xf32>, tensor<2x4x8xf32>)
  return %y : tensor<2x8x4x4xf32>
}
