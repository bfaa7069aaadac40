// Which weights belong to experts, where nothing is said.
//
// RUN: split-file %s %t
// RUN: braid-opt %t/models.mlir --comm-expert-parallel 2>%t/remarks | FileCheck %t/models.mlir
// RUN: FileCheck %t/models.mlir --check-prefix=REMARK --input-file=%t/remarks
// RUN: braid-interp %t/layer.mlir --compare --pipeline="comm-expert-parallel,tg-differentiate,comm-shard" --reference-pipeline=tg-differentiate 2>&1 | FileCheck %s --check-prefix=AGREE
// RUN: braid-interp %t/layer.mlir --compare --pipeline="comm-expert-parallel,tg-differentiate,tg-derive-facts,comm-data-parallel{axes=ep},comm-shard" --reference-pipeline=tg-differentiate 2>&1 | FileCheck %s --check-prefix=AGREE
// RUN: braid-interp %t/both.mlir --compare --pipeline="comm-expert-parallel,comm-tensor-parallel,tg-differentiate,tg-derive-facts,comm-data-parallel{axes=ep},comm-shard" --reference-pipeline=tg-differentiate 2>&1 | FileCheck %s --check-prefix=AGREE
// AGREE: results agree
//
// Where weights share an axis with the batch, it gives way, and storage to both.
// RUN: braid-opt %t/layer.mlir --comm-expert-parallel --tg-differentiate --tg-derive-facts --comm-data-parallel="axes=ep zero=3" 2>/dev/null | FileCheck %t/layer.mlir
//
// Tensor parallelism leaves the dims of experts alone, but not what they hold.
// RUN: braid-opt %t/both.mlir --comm-expert-parallel --comm-tensor-parallel 2>%t/remarks | FileCheck %t/both.mlir
// RUN: FileCheck %t/both.mlir --check-prefix=REMARK --input-file=%t/remarks
//
// RUN: not braid-opt %t/layer.mlir --comm-expert-parallel=axes=pp 2>&1 | FileCheck %s --check-prefix=AXIS
// AXIS: error: comm-expert-parallel: unknown mesh axis 'pp' (mesh: {ep = 2})
// RUN: not braid-opt %t/number.mlir --comm-expert-parallel 2>&1 | FileCheck %t/number.mlir
// RUN: not braid-opt %t/few.mlir --comm-expert-parallel 2>&1 | FileCheck %t/few.mlir
// RUN: braid-opt %t/none.mlir --comm-expert-parallel 2>&1 | FileCheck %t/none.mlir
// RUN: braid-opt %t/shared.mlir --comm-expert-parallel 2>&1 | FileCheck %t/shared.mlir

//--- models.mlir
comm.mesh @mesh [dp = 2, ep = 2]

// Weights as they are, transposed or rounded, and biases; not the router's, which knows experts as
// lanes, nor what all tokens are multiplied with behind them.
// REMARK: remark: ep = 2 shards h.*.experts.*.up: {ep} {} {}; h.*.experts.*.b: {ep} {}; h.*.experts.*.down: {} {ep} {}
// CHECK-LABEL: @model
// CHECK-SAME: %{{[a-z0-9]+}}: tensor<2x6x8xf32> {tg.input = "x"
// CHECK-SAME: %{{[a-z0-9]+}}: tensor<4x8xf32> {tg.param = #tg.param<"h.0.router"
// CHECK-SAME: %{{[a-z0-9]+}}: tensor<4x16x8xf32> {comm.sharding = #comm.sharding<@mesh, {ep} {} {}>, tg.param = #tg.param<"h.0.experts.*.up"
// CHECK-SAME: %{{[a-z0-9]+}}: tensor<4x16xf32> {comm.sharding = #comm.sharding<@mesh, {ep} {}>, tg.param = #tg.param<"h.0.experts.*.b"
// CHECK-SAME: %{{[a-z0-9]+}}: tensor<8x4x16xf32> {comm.sharding = #comm.sharding<@mesh, {} {ep} {}>, tg.param = #tg.param<"h.0.experts.*.down"
// CHECK-SAME: %{{[a-z0-9]+}}: tensor<8x8xf32> {tg.param = #tg.param<"h.0.out"
func.func @model(%x: tensor<2x6x8xf32> {tg.input = "x", tg.role = #tg.role<features>},
                 %router: tensor<4x8xf32> {tg.param = #tg.param<"h.0.router", #tg.init<ones>>},
                 %up: tensor<4x16x8xf32> {tg.param = #tg.param<"h.0.experts.*.up", #tg.init<ones>>},
                 %b: tensor<4x16xf32> {tg.param = #tg.param<"h.0.experts.*.b", #tg.init<ones>>},
                 %down: tensor<8x4x16xf32> {tg.param = #tg.param<"h.0.experts.*.down", #tg.init<ones>>},
                 %w: tensor<8x8xf32> {tg.param = #tg.param<"h.0.out", #tg.init<ones>>}) -> tensor<2x6x2x8xf32> {
  %logits = tg.contract "bsd,ed->bse" %x, %router : (tensor<2x6x8xf32>, tensor<4x8xf32>) -> tensor<2x6x4xf32>
  %p, %chosen = tg.top_k %logits k 2 : tensor<2x6x4xf32> -> (tensor<2x6x2xf32>, tensor<2x6x2xi32>)
  %slots, %choices = tg.expert_slots %chosen capacity 3 of 4 : tensor<2x6x2xi32> -> (tensor<2x6x2xi32>, tensor<4x2x3xi32>)
  %in = tg.dispatch %x, %slots, %choices : (tensor<2x6x8xf32>, tensor<2x6x2xi32>, tensor<4x2x3xi32>) -> tensor<4x2x3x8xf32>
  %rounded = tg.convert %up : tensor<4x16x8xf32> -> tensor<4x16x8xbf16>
  %exact = tg.convert %rounded : tensor<4x16x8xbf16> -> tensor<4x16x8xf32>
  %h = tg.contract "ebcd,efd->ebcf" %in, %exact : (tensor<4x2x3x8xf32>, tensor<4x16x8xf32>) -> tensor<4x2x3x16xf32>
  %r = tg.broadcast %b dims [0, 3] : tensor<4x16xf32> -> tensor<4x2x3x16xf32>
  %s = arith.addf %h, %r : tensor<4x2x3x16xf32>
  %a = tg.silu %s : tensor<4x2x3x16xf32>
  %moved = tg.transpose %down [1, 0, 2] : tensor<8x4x16xf32> -> tensor<4x8x16xf32>
  %out = tg.contract "ebcf,edf->ebcd" %a, %moved : (tensor<4x2x3x16xf32>, tensor<4x8x16xf32>) -> tensor<4x2x3x8xf32>
  %each = tg.collect %out, %slots, %choices : (tensor<4x2x3x8xf32>, tensor<2x6x2xi32>, tensor<4x2x3xi32>) -> tensor<2x6x2x8xf32>
  %y = tg.contract "bskd,od->bsko" %each, %w : (tensor<2x6x2x8xf32>, tensor<8x8xf32>) -> tensor<2x6x2x8xf32>
  return %y : tensor<2x6x2x8xf32>
}

// What is said stays.
// CHECK-LABEL: @said
// CHECK-SAME: comm.sharding = #comm.sharding<@mesh, {} {ep} {}>, tg.param = #tg.param<"up"
// CHECK-SAME: comm.sharding = #comm.sharding<@mesh, {ep} {} {}>, tg.param = #tg.param<"down"
func.func @said(%x: tensor<2x6x8xf32> {tg.input = "x", tg.role = #tg.role<features>}, %chosen: tensor<2x6x2xi32> {tg.input = "chosen"},
                %up: tensor<4x16x8xf32> {comm.sharding = #comm.sharding<@mesh, {} {ep} {}>, tg.param = #tg.param<"up", #tg.init<ones>>},
                %down: tensor<4x8x16xf32> {tg.param = #tg.param<"down", #tg.init<ones>>}) -> tensor<4x2x3x8xf32> {
  %slots, %choices = tg.expert_slots %chosen capacity 3 of 4 : tensor<2x6x2xi32> -> (tensor<2x6x2xi32>, tensor<4x2x3xi32>)
  %in = tg.dispatch %x, %slots, %choices : (tensor<2x6x8xf32>, tensor<2x6x2xi32>, tensor<4x2x3xi32>) -> tensor<4x2x3x8xf32>
  %h = tg.contract "ebcd,efd->ebcf" %in, %up : (tensor<4x2x3x8xf32>, tensor<4x16x8xf32>) -> tensor<4x2x3x16xf32>
  %out = tg.contract "ebcf,edf->ebcd" %h, %down : (tensor<4x2x3x16xf32>, tensor<4x8x16xf32>) -> tensor<4x2x3x8xf32>
  return %out : tensor<4x2x3x8xf32>
}

// A function without experts beside others.
// CHECK-LABEL: @dense
// CHECK-NOT: comm.sharding
func.func @dense(%x: tensor<4x8xf32> {tg.input = "x", tg.role = #tg.role<features>},
                 %w: tensor<8x8xf32> {tg.param = #tg.param<"w", #tg.init<ones>>}) -> tensor<4x8xf32> {
  %y = tg.contract "bd,df->bf" %x, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

//--- layer.mlir
comm.mesh @mesh [ep = 2]

// CHECK-LABEL: @model
// CHECK-SAME: {comm.sharding = #comm.sharding<@mesh, {ep} {} {}, priority 1>, tg.input = "x"
// CHECK-SAME: {comm.sharding = #comm.sharding<@mesh, {} {}, flat {ep}, priority 2>, tg.param = #tg.param<"router"
// CHECK-SAME: {comm.sharding = #comm.sharding<@mesh, {ep} {} {}>, tg.param = #tg.param<"up"
// CHECK-SAME: {comm.sharding = #comm.sharding<@mesh, {ep} {} {}>, tg.param = #tg.param<"down"
func.func @model(%x: tensor<2x6x8xf32> {tg.input = "x", tg.role = #tg.role<features>},
                 %router: tensor<4x8xf32> {tg.param = #tg.param<"router", #tg.init<normal, 0.0, 0.5>>},
                 %up: tensor<4x16x8xf32> {tg.param = #tg.param<"up", #tg.init<normal, 0.0, 0.5>>},
                 %down: tensor<4x8x16xf32> {tg.param = #tg.param<"down", #tg.init<normal, 0.0, 0.5>>})
    -> (tensor<f32> {tg.role = #tg.role<loss>}) {
  %logits = tg.contract "bsd,ed->bse" %x, %router : (tensor<2x6x8xf32>, tensor<4x8xf32>) -> tensor<2x6x4xf32>
  %p = tg.softmax %logits : tensor<2x6x4xf32>
  %weights, %chosen = tg.top_k %p k 2 : tensor<2x6x4xf32> -> (tensor<2x6x2xf32>, tensor<2x6x2xi32>)
  %slots, %choices = tg.expert_slots %chosen capacity 3 of 4 : tensor<2x6x2xi32> -> (tensor<2x6x2xi32>, tensor<4x2x3xi32>)
  %in = tg.dispatch %x, %slots, %choices : (tensor<2x6x8xf32>, tensor<2x6x2xi32>, tensor<4x2x3xi32>) -> tensor<4x2x3x8xf32>
  %h = tg.contract "ebcd,efd->ebcf" %in, %up : (tensor<4x2x3x8xf32>, tensor<4x16x8xf32>) -> tensor<4x2x3x16xf32>
  %a = tg.silu %h : tensor<4x2x3x16xf32>
  %out = tg.contract "ebcf,edf->ebcd" %a, %down : (tensor<4x2x3x16xf32>, tensor<4x8x16xf32>) -> tensor<4x2x3x8xf32>
  %each = tg.collect %out, %slots, %choices : (tensor<4x2x3x8xf32>, tensor<2x6x2xi32>, tensor<4x2x3xi32>) -> tensor<2x6x2x8xf32>
  %y = tg.contract "bskd,bsk->bsd" %each, %weights : (tensor<2x6x2x8xf32>, tensor<2x6x2xf32>) -> tensor<2x6x8xf32>
  %q = arith.mulf %y, %y : tensor<2x6x8xf32>
  %loss = tg.reduce sum %q dims [0, 1, 2] : tensor<2x6x8xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

//--- both.mlir
comm.mesh @mesh [ep = 2, tp = 2]

// REMARK: remark: ep = 2 shards up: {ep} {} {}; down: {ep} {} {}
// REMARK: remark: tp = 2 shards up: {} {tp} {}; down: {} {} {tp}
// CHECK-LABEL: @model
// CHECK-SAME: {comm.sharding = #comm.sharding<@mesh, {ep} {tp} {}>, tg.param = #tg.param<"up"
// CHECK-SAME: {comm.sharding = #comm.sharding<@mesh, {ep} {} {tp}>, tg.param = #tg.param<"down"
func.func @model(%x: tensor<2x6x8xf32> {tg.input = "x", tg.role = #tg.role<features>}, %chosen: tensor<2x6x2xi32> {tg.input = "chosen", tg.role = #tg.role<labels>},
                 %up: tensor<4x16x8xf32> {tg.param = #tg.param<"up", #tg.init<normal, 0.0, 0.5>>},
                 %down: tensor<4x8x16xf32> {tg.param = #tg.param<"down", #tg.init<normal, 0.0, 0.5>>})
    -> (tensor<f32> {tg.role = #tg.role<loss>}) {
  %slots, %choices = tg.expert_slots %chosen capacity 3 of 4 : tensor<2x6x2xi32> -> (tensor<2x6x2xi32>, tensor<4x2x3xi32>)
  %in = tg.dispatch %x, %slots, %choices : (tensor<2x6x8xf32>, tensor<2x6x2xi32>, tensor<4x2x3xi32>) -> tensor<4x2x3x8xf32>
  %h = tg.contract "ebcd,efd->ebcf" %in, %up : (tensor<4x2x3x8xf32>, tensor<4x16x8xf32>) -> tensor<4x2x3x16xf32>
  %a = tg.silu %h : tensor<4x2x3x16xf32>
  %out = tg.contract "ebcf,edf->ebcd" %a, %down : (tensor<4x2x3x16xf32>, tensor<4x8x16xf32>) -> tensor<4x2x3x8xf32>
  %each = tg.collect %out, %slots, %choices : (tensor<4x2x3x8xf32>, tensor<2x6x2xi32>, tensor<4x2x3xi32>) -> tensor<2x6x2x8xf32>
  %q = arith.mulf %each, %each : tensor<2x6x2x8xf32>
  %loss = tg.reduce sum %q dims [0, 1, 2, 3] : tensor<2x6x2x8xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

//--- number.mlir
comm.mesh @mesh [ep = 4]

// CHECK: error: 'tg.dispatch' op sends tokens to 6 experts, which ep = 4 does not divide; 3 or 6 ranks would
func.func @model(%x: tensor<2x6x8xf32> {tg.input = "x"}, %slots: tensor<2x6x2xi32> {tg.input = "slots"}, %choices: tensor<6x2x3xi32> {tg.input = "choices"},
                 %up: tensor<6x16x8xf32> {tg.param = #tg.param<"up", #tg.init<ones>>}) -> tensor<6x2x3x16xf32> {
  %in = tg.dispatch %x, %slots, %choices : (tensor<2x6x8xf32>, tensor<2x6x2xi32>, tensor<6x2x3xi32>) -> tensor<6x2x3x8xf32>
  %h = tg.contract "ebcd,efd->ebcf" %in, %up : (tensor<6x2x3x8xf32>, tensor<6x16x8xf32>) -> tensor<6x2x3x16xf32>
  return %h : tensor<6x2x3x16xf32>
}

//--- few.mlir
comm.mesh @mesh [ep = 8]

// CHECK: error: 'tg.dispatch' op sends tokens to 6 experts, which ep = 8 does not divide; 6 ranks would
func.func @model(%x: tensor<2x6x8xf32> {tg.input = "x"}, %slots: tensor<2x6x2xi32> {tg.input = "slots"}, %choices: tensor<6x2x3xi32> {tg.input = "choices"},
                 %up: tensor<6x16x8xf32> {tg.param = #tg.param<"up", #tg.init<ones>>}) -> tensor<6x2x3x16xf32> {
  %in = tg.dispatch %x, %slots, %choices : (tensor<2x6x8xf32>, tensor<2x6x2xi32>, tensor<6x2x3xi32>) -> tensor<6x2x3x8xf32>
  %h = tg.contract "ebcd,efd->ebcf" %in, %up : (tensor<6x2x3x8xf32>, tensor<6x16x8xf32>) -> tensor<6x2x3x16xf32>
  return %h : tensor<6x2x3x16xf32>
}

//--- none.mlir
comm.mesh @mesh [ep = 2]

// CHECK: remark: comm-expert-parallel: the model has no experts with their own weights, so ep = 2 shards only the batch, as dp does
func.func @model(%x: tensor<4x8xf32> {tg.input = "x"}, %w: tensor<8x8xf32> {tg.param = #tg.param<"w", #tg.init<ones>>}) -> tensor<4x8xf32> {
  %y = tg.contract "bd,df->bf" %x, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

//--- shared.mlir
comm.mesh @mesh [ep = 2]

// Experts that share their weights.
// CHECK: remark: comm-expert-parallel: the model has no experts with their own weights
func.func @model(%x: tensor<2x6x8xf32> {tg.input = "x"}, %slots: tensor<2x6x2xi32> {tg.input = "slots"}, %choices: tensor<4x2x3xi32> {tg.input = "choices"},
                 %up: tensor<16x8xf32> {tg.param = #tg.param<"up", #tg.init<ones>>}) -> tensor<4x2x3x16xf32> {
  %in = tg.dispatch %x, %slots, %choices : (tensor<2x6x8xf32>, tensor<2x6x2xi32>, tensor<4x2x3xi32>) -> tensor<4x2x3x8xf32>
  %h = tg.contract "ebcd,fd->ebcf" %in, %up : (tensor<4x2x3x8xf32>, tensor<16x8xf32>) -> tensor<4x2x3x16xf32>
  return %h : tensor<4x2x3x16xf32>
}
