// Which dims of weights an axis shards, where nothing is said.
//
// RUN: split-file %s %t
// RUN: braid-opt %t/models.mlir --comm-tensor-parallel 2>&1 | FileCheck %t/models.mlir
// RUN: braid-opt %t/block.mlir --comm-tensor-parallel=sequence 2>&1 | FileCheck %t/block.mlir
// RUN: braid-interp %t/block.mlir --compare --pipeline="comm-tensor-parallel{sequence},tg-differentiate,comm-shard" --reference-pipeline=tg-differentiate 2>&1 | FileCheck %s --check-prefix=AGREE
// RUN: not braid-opt %t/block.mlir --comm-tensor-parallel=axis=pp 2>&1 | FileCheck %s --check-prefix=AXIS
// RUN: not braid-opt %t/odd.mlir --comm-tensor-parallel 2>&1 | FileCheck %t/odd.mlir
// RUN: sed -e 's/tp = 2/tp = 3/' %t/block.mlir > %t/three.mlir
// RUN: not braid-opt %t/three.mlir --comm-tensor-parallel=sequence 2>&1 | FileCheck %s --check-prefix=SEQUENCE
// AGREE: results agree
// SEQUENCE: error: sequence: argument #{{[0-9]}} 'tokens' has 4 positions, which do not divide over the 3 ranks of {tp}; leave sequences whole, or change their length: 3 divides 3 and 6, and 2 and 4 divide 4
// AXIS: error: comm-tensor-parallel: unknown mesh axis 'pp' (mesh: {tp = 2})

//--- models.mlir
comm.mesh @mesh [dp = 2, tp = 2]

// Columns, then rows; what is added to all rows afterwards stays whole.
// CHECK: remark: tp = 2 shards h.*.up: {} {tp}; h.*.b: {tp}; h.*.down: {tp} {}; activations and their gradients, of the whole batch, send 128 B in ops outside of units
// CHECK-LABEL: @mlp
func.func @mlp(%x: tensor<4x8xf32> {tg.input = "x", tg.role = #tg.role<features>},
               %w1: tensor<8x16xf32> {tg.param = #tg.param<"h.0.up", #tg.init<ones>>},
               %b1: tensor<16xf32> {tg.param = #tg.param<"h.0.b", #tg.init<ones>>},
               %w2: tensor<16x8xf32> {tg.param = #tg.param<"h.0.down", #tg.init<ones>>},
               %b2: tensor<8xf32> {tg.param = #tg.param<"h.0.out", #tg.init<ones>>}) -> tensor<4x8xf32> {
  %h = tg.contract "bd,df->bf" %x, %w1 : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %r1 = tg.broadcast %b1 dims [1] : tensor<16xf32> -> tensor<4x16xf32>
  %s = arith.addf %h, %r1 : tensor<4x16xf32>
  %a = tg.gelu tanh %s : tensor<4x16xf32>
  %y = tg.contract "bf,fd->bd" %a, %w2 : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
  %r2 = tg.broadcast %b2 dims [1] : tensor<8xf32> -> tensor<4x8xf32>
  %z = arith.addf %y, %r2 : tensor<4x8xf32>
  return %z : tensor<4x8xf32>
}

// A model that names the axis says it all.
// CHECK-LABEL: @said
// CHECK-SAME: %{{[a-z0-9]+}}: tensor<8x16xf32> {tg.param = #tg.param<"a", #tg.init<ones>>}
func.func @said(%x: tensor<4x8xf32> {tg.input = "x", tg.role = #tg.role<features>},
                %a: tensor<8x16xf32> {tg.param = #tg.param<"a", #tg.init<ones>>},
                %b: tensor<16x8xf32> {comm.sharding = #comm.sharding<@mesh, {} {tp}>, tg.param = #tg.param<"b", #tg.init<ones>>}) -> tensor<4x8xf32> {
  %h = tg.contract "bd,df->bf" %x, %a : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %y = tg.contract "bf,fd->bd" %h, %b : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// Parts that lie beside each other in files stay together.
// CHECK-LABEL: @parts
// CHECK-SAME: tensor<2x16x8xf32> {comm.sharding = #comm.sharding<@mesh, {} {tp} {}>,
func.func @parts(%x: tensor<4x8xf32> {tg.input = "x", tg.role = #tg.role<features>},
                 %w: tensor<2x16x8xf32> {tg.param = #tg.param<"h.0.parts", #tg.init<ones>, fused = 0>},
                 %down: tensor<8x2x16xf32> {tg.param = #tg.param<"h.0.down", #tg.init<ones>>}) -> tensor<4x8xf32> {
  %h = tg.contract "bd,pfd->bpf" %x, %w : (tensor<4x8xf32>, tensor<2x16x8xf32>) -> tensor<4x2x16xf32>
  %a = tg.gelu tanh %h : tensor<4x2x16xf32>
  %y = tg.contract "bpf,dpf->bd" %a, %down : (tensor<4x2x16xf32>, tensor<8x2x16xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

//--- block.mlir
comm.mesh @mesh [tp = 2]

// Positions are sharded where the norm and the residual are, and come together where columns are
// multiplied.
// CHECK-LABEL: @model
// CHECK: %[[X:.*]] = tg.gather
// CHECK: %[[PART:.*]] = comm.constrain %[[X]] <@mesh, {?} {tp} {}>
// CHECK: tg.rms_norm %[[PART]]
// CHECK: comm.constrain %{{.*}} <@mesh, {?} {} {}>
// CHECK: tg.contract
// CHECK: tg.silu
// CHECK: %[[DOWN:.*]] = tg.contract
// CHECK: %[[OWN:.*]] = comm.constrain %[[DOWN]] <@mesh, {?} {tp} {}>
// CHECK: arith.addf %[[PART]], %[[OWN]]
func.func @model(%tokens: tensor<2x4xi32> {tg.input = "tokens", tg.role = #tg.role<tokens>},
                 %targets: tensor<2x4xi32> {tg.input = "targets", tg.role = #tg.role<targets>},
                 %table: tensor<16x8xf32> {tg.param = #tg.param<"table", #tg.init<normal, 0.0, 1.0>>},
                 %norm: tensor<8xf32> {tg.param = #tg.param<"norm", #tg.init<ones>>},
                 %up: tensor<8x16xf32> {tg.param = #tg.param<"up", #tg.init<normal, 0.0, 1.0>>},
                 %down: tensor<16x8xf32> {tg.param = #tg.param<"down", #tg.init<normal, 0.0, 1.0>>})
    -> (tensor<f32> {tg.role = #tg.role<loss>}) {
  %x = tg.gather %table, %tokens : (tensor<16x8xf32>, tensor<2x4xi32>) -> tensor<2x4x8xf32>
  %n, %r = tg.rms_norm %x, %norm eps 1.0e-5 : (tensor<2x4x8xf32>, tensor<8xf32>) -> (tensor<2x4x8xf32>, tensor<2x4xf32>)
  %h = tg.contract "bsd,df->bsf" %n, %up : (tensor<2x4x8xf32>, tensor<8x16xf32>) -> tensor<2x4x16xf32>
  %a = tg.silu %h : tensor<2x4x16xf32>
  %y = tg.contract "bsf,fd->bsd" %a, %down : (tensor<2x4x16xf32>, tensor<16x8xf32>) -> tensor<2x4x8xf32>
  %z = arith.addf %x, %y : tensor<2x4x8xf32>
  %logits = tg.contract "bsd,vd->bsv" %z, %table : (tensor<2x4x8xf32>, tensor<16x8xf32>) -> tensor<2x4x16xf32>
  %loss, %lse = tg.cross_entropy mean %logits, %targets ignore -100 : (tensor<2x4x16xf32>, tensor<2x4xi32>) -> (tensor<f32>, tensor<2x4xf32>)
  return %loss : tensor<f32>
}

//--- odd.mlir
comm.mesh @mesh [tp = 2]

// CHECK: error: tp = 2 divides no weight, so all of its ranks would compute the same; 5 ranks divide some dims of weights
// CHECK: note: "w" of type 'tensor<7x5xf32>' is whole on every rank: none of its dims that may be sharded is a multiple of 2
func.func @model(%x: tensor<4x7xf32> {tg.input = "x", tg.role = #tg.role<features>},
                 %w: tensor<7x5xf32> {tg.param = #tg.param<"w", #tg.init<ones>>}) -> tensor<4x5xf32> {
  %y = tg.contract "bd,df->bf" %x, %w : (tensor<4x7xf32>, tensor<7x5xf32>) -> tensor<4x5xf32>
  return %y : tensor<4x5xf32>
}
