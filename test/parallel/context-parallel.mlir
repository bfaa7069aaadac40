// Attention whose positions are shared out: heads change places with them, or nothing is said.
//
// RUN: split-file %s %t
// RUN: braid-opt %t/model.mlir --comm-context-parallel="axes=cp how=ulysses" | FileCheck %t/model.mlir --check-prefix=HEADS
// RUN: braid-opt %t/model.mlir --comm-context-parallel="axes=cp how=ulysses head-axes=tp" | FileCheck %t/model.mlir --check-prefix=BOTH
// RUN: braid-opt %t/model.mlir --comm-context-parallel="axes=cp how=gather" | FileCheck %t/model.mlir --check-prefix=GATHER
// RUN: braid-opt %t/model.mlir --comm-context-parallel="axes=cp how=ring" | FileCheck %t/model.mlir --check-prefix=RING
// By default it is the fastest: where computing is slow, that by which all ranks have equally much; where the link is
// slow, that by which they send least; and in between blocks arrive while others are computed.
// RUN: braid-opt %t/model.mlir --exec-set-machine=compute=0.001,1 --comm-context-parallel=axes=cp | FileCheck %t/model.mlir --check-prefix=HEADS
// RUN: braid-opt %t/model.mlir --exec-set-machine=link=1,0.001 --comm-context-parallel=axes=cp 2>&1 | FileCheck %t/model.mlir --check-prefixes=LEAST,GATHER
// RUN: not braid-opt %t/few.mlir --comm-context-parallel="axes=cp how=ulysses" 2>&1 | FileCheck %t/few.mlir --check-prefix=FEW
// RUN: braid-opt %t/few.mlir --exec-set-machine=compute=0.001,1 --comm-context-parallel=axes=cp 2>&1 | FileCheck %t/few.mlir
// A ring is in zigzag, where all ranks have as much of the mask, unless it is asked or said not to.
// RUN: braid-opt %t/model.mlir --comm-context-parallel="axes=cp how=ring order=zigzag" | FileCheck %t/model.mlir --check-prefix=RING
// RUN: braid-opt %t/model.mlir --comm-context-parallel="axes=cp how=ring order=straight" | FileCheck %t/model.mlir --check-prefix=STRAIGHT
// RUN: not braid-opt %t/model.mlir --comm-context-parallel="axes=cp how=gather order=zigzag" 2>&1 | FileCheck %t/model.mlir --check-prefix=NORING
// RUN: braid-opt %t/odd.mlir --comm-context-parallel="axes=cp how=ring" 2>&1 | FileCheck %t/odd.mlir --check-prefixes=CHECK,AUTO
// RUN: not braid-opt %t/odd.mlir --comm-context-parallel="axes=cp how=ring order=zigzag" 2>&1 | FileCheck %t/odd.mlir --check-prefixes=CHECK,ASKED
// RUN: braid-opt %t/later.mlir --comm-context-parallel="axes=cp how=ring" 2>&1 | FileCheck %t/later.mlir --check-prefixes=CHECK,AUTO
// RUN: not braid-opt %t/later.mlir --comm-context-parallel="axes=cp how=ring order=zigzag" 2>&1 | FileCheck %t/later.mlir --check-prefixes=CHECK,ASKED
// RUN: braid-opt %t/shares.mlir --comm-context-parallel="axes=cp behind-axes=tp how=ring" 2>&1 | FileCheck %t/shares.mlir
// RUN: not braid-opt %t/two.mlir --comm-context-parallel="axes=cp,cq how=ring order=zigzag" 2>&1 | FileCheck %t/two.mlir
// RUN: not braid-opt %t/dropout.mlir --comm-context-parallel="axes=cp how=ring" 2>&1 | FileCheck %t/dropout.mlir
// What is advised is not refused, too: beside an order that only a ring has, or where a ring cannot be.
// RUN: not braid-opt %t/few.mlir --comm-context-parallel="axes=cp how=ulysses order=zigzag" 2>&1 | FileCheck %t/few.mlir --check-prefix=ORDER
// RUN: not braid-opt %t/dropout.mlir --comm-context-parallel="axes=cp how=gather order=zigzag" 2>&1 | FileCheck %t/dropout.mlir --check-prefix=LEAVE
// RUN: not braid-opt %t/dropout.mlir --comm-context-parallel="axes=cp how=ring order=zigzag" 2>&1 | FileCheck %t/dropout.mlir --check-prefix=WITHOUT
// RUN: not braid-opt %t/odd.mlir --comm-context-parallel="axes=cp how=gather order=zigzag" 2>&1 | FileCheck %t/odd.mlir --check-prefix=LEAVE
// RUN: not braid-opt %t/none.mlir --comm-context-parallel="axes=cp how=ring" 2>&1 | FileCheck %t/none.mlir

//--- model.mlir
comm.mesh @mesh [cp = 2, tp = 2]

// RING: module attributes {comm.ring = #comm<axes{cp}>, comm.zigzag = #comm<axes{cp}>
// STRAIGHT: module attributes {comm.ring = #comm<axes{cp}>
// STRAIGHT-NOT: comm.zigzag
// NORING: error: positions over {cp} are read by a gather, but only a ring can be in zigzag; add --context=ring, or leave --context-order=zigzag out
// RING-NOT: comm.constrain
// LEAST: remark: attention reads positions of other ranks along {cp} by a gather: predicted are {{.*}} ms per microbatch by gather, which keeps 512 B, {{.*}} in a ring, {{.*}} by heads
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

// ORDER: do not divide; gather keys and values instead (--context=gather without --context-order=zigzag), or use a ring (--context=ring): 4
// FEW: error: 'tg.attention' op cannot share out heads over {cp}, 4 ranks: it has 2 heads of keys and values, which the ranks do not divide; gather keys and values instead (--context=gather), or use a ring (--context=ring): 4 divides 4, and 2 divides 2
// CHECK: remark: attention reads positions of other ranks along {cp} by a ring in zigzag: predicted are {{[0-9.]+}} ms per microbatch by gather, which keeps 768 B, {{[0-9.]+}} in a ring
// CHECK: comm.ring = #comm<axes{cp}>, comm.zigzag = #comm<axes{cp}>
// CHECK-NOT: comm.constrain
func.func @model(%q: tensor<2x8x4x4xf32> {tg.input = "q"}, %k: tensor<2x8x2x4xf32> {tg.input = "k"},
                 %v: tensor<2x8x2x4xf32> {tg.input = "v"}) -> tensor<2x8x4x4xf32> {
  %y, %lse = tg.attention %q, %k, %v scale 0.5 causal
      : (tensor<2x8x4x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>) -> (tensor<2x8x4x4xf32>, tensor<2x4x8xf32>)
  return %y : tensor<2x8x4x4xf32>
}

//--- dropout.mlir
comm.mesh @mesh [cp = 2]

// LEAVE: but only a ring can be in zigzag; leave --context-order=zigzag out
// WITHOUT: and a block has only some keys; gather the sequence instead (--context=gather without --context-order=zigzag)
// CHECK: error: 'tg.dropout_attention' op cannot be computed in a ring over {cp}: its dropout applies to a softmax over all keys, and a block has only some keys; gather the sequence instead (--context=gather)
func.func @model(%q: tensor<2x8x4x4xf32> {tg.input = "q"}, %random: tensor<4xi32> {tg.input = "key"}) -> tensor<2x8x4x4xf32> {
  %y = tg.dropout_attention %q, %q, %q, %random scale 0.5 causal rate 0.1 stream 3
      : (tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>, tensor<4xi32>) -> tensor<2x8x4x4xf32>
  return %y : tensor<2x8x4x4xf32>
}

//--- none.mlir
comm.mesh @mesh [cp = 2]

// CHECK: error: no op can use a ring over {cp}: no op reads a sequence block by block
func.func @model(%q: tensor<2x8x4xf32> {tg.input = "q"}) -> tensor<2x8x4xf32> {
  %y = tg.silu %q : tensor<2x8x4xf32>
  return %y : tensor<2x8x4xf32>
}

//--- odd.mlir
// LEAVE: but only a ring can be in zigzag; leave --context-order=zigzag out
comm.mesh @mesh [cp = 4]

// AUTO: remark: a ring over {cp} has positions in order, not in zigzag:
// ASKED: error: a ring over {cp} cannot be in zigzag:
// CHECK-SAME: 12 positions do not divide into 8 zigzag blocks over {cp}: 8 divides 8 and 16, and 6 and 12 divide 12
// ASKED-SAME: ; leave --context-order=zigzag out
// AUTO: module attributes {comm.ring = #comm<axes{cp}>
// AUTO-NOT: comm.zigzag
func.func @model(%q: tensor<2x12x4x4xf32> {tg.input = "q"}, %k: tensor<2x12x2x4xf32> {tg.input = "k"},
                 %v: tensor<2x12x2x4xf32> {tg.input = "v"}) -> tensor<2x12x4x4xf32> {
  %y, %lse = tg.attention %q, %k, %v scale 0.5 causal
      : (tensor<2x12x4x4xf32>, tensor<2x12x2x4xf32>, tensor<2x12x2x4xf32>) -> (tensor<2x12x4x4xf32>, tensor<2x4x12xf32>)
  return %y : tensor<2x12x4x4xf32>
}

//--- later.mlir
comm.mesh @mesh [cp = 2]

// AUTO: remark: a ring over {cp} has positions in order, not in zigzag:
// ASKED: error: a ring over {cp} cannot be in zigzag:
// CHECK-SAME: it also reads later positions, so all ranks have equal work in any order
func.func @model(%q: tensor<2x8x4x4xf32> {tg.input = "q"}, %k: tensor<2x8x2x4xf32> {tg.input = "k"},
                 %v: tensor<2x8x2x4xf32> {tg.input = "v"}) -> tensor<2x8x4x4xf32> {
  %y, %lse = tg.attention %q, %k, %v scale 0.5
      : (tensor<2x8x4x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>) -> (tensor<2x8x4x4xf32>, tensor<2x4x8xf32>)
  return %y : tensor<2x8x4x4xf32>
}

//--- shares.mlir
comm.mesh @mesh [cp = 2, tp = 3]

// CHECK: remark: a ring over {cp} has positions in order, not in zigzag: two blocks of a zigzag over 'cp' do not divide into 3 parts over {tp}
// CHECK-NOT: comm.zigzag
func.func @model(%q: tensor<2x12x4x4xf32> {tg.input = "q"}, %k: tensor<2x12x2x4xf32> {tg.input = "k"},
                 %v: tensor<2x12x2x4xf32> {tg.input = "v"}) -> tensor<2x12x4x4xf32> {
  %y, %lse = tg.attention %q, %k, %v scale 0.5 causal
      : (tensor<2x12x4x4xf32>, tensor<2x12x2x4xf32>, tensor<2x12x2x4xf32>) -> (tensor<2x12x4x4xf32>, tensor<2x4x12xf32>)
  return %y : tensor<2x12x4x4xf32>
}

//--- two.mlir
comm.mesh @mesh [cp = 2, cq = 2]

// CHECK: error: a ring over {cp, cq} cannot be in zigzag: more than one axis shards the sequence
func.func @model(%q: tensor<2x8x4x4xf32> {tg.input = "q"}, %k: tensor<2x8x2x4xf32> {tg.input = "k"},
                 %v: tensor<2x8x2x4xf32> {tg.input = "v"}) -> tensor<2x8x4x4xf32> {
  %y, %lse = tg.attention %q, %k, %v scale 0.5 causal
      : (tensor<2x8x4x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>) -> (tensor<2x8x4x4xf32>, tensor<2x4x8xf32>)
  return %y : tensor<2x8x4x4xf32>
}
